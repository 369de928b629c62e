import assert from "node:assert/strict";
import { describe, it } from "../support/runner.ts";
import {
  ask,
  inWorld,
  named,
  refuses,
  settled,
} from "../support/engine_world.ts";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("nothing is left behind", () => {
  it("10,000 waits put no listener on a signal", () =>
    inWorld({}, async ({ tasks }) => {
      let listeners = 0;
      let waits = 0;
      for (let round = 0; round < 20; round++) {
        const { taskId } = await tasks.createTask();
        const task = tasks.handle(taskId);
        const add = task.signal.addEventListener;
        task.signal.addEventListener = (...args: unknown[]) => {
          listeners++;
          return Reflect.apply(add, task.signal, args);
        };
        const keys = Array.from({ length: 500 }, (_, i) => `${i}`);
        const waiting = keys.map((key) =>
          task.requestInput({ [key]: { method: "roots/list" } })
        );
        await tasks.updateTask(
          taskId,
          Object.fromEntries(keys.map((key) => [key, { roots: [] }])),
        );
        waits += (await Promise.all(waiting)).length;
        assert.equal(task.signal, tasks.handle(taskId).signal);
      }
      assert.equal(waits, 10_000);
      assert.equal(listeners, 0);
    }));

  it("tasks that ended in every way are not looked at any more", () =>
    inWorld(
      { observeIntervalMs: 1, limits: { maxWaiters: 1, maxListeners: 1 } },
      async ({ tasks, store, clock }) => {
        for (let i = 0; i < 60; i++) {
          const { taskId } = await tasks.createTask({ ttlMs: 1_000 });
          const task = tasks.handle(taskId);
          tasks.onTaskChanged(taskId, () => {});
          const answers = task.requestInput({ name: ask() });
          if (i % 3 === 0) {
            await tasks.updateTask(taskId, { name: named("Ada") });
            await answers;
          }
          if (i % 6 === 0) await task.complete({});
          else if (i % 6 === 1) await task.cancelled();
          else if (i % 6 === 2) {
            await task.fail({ code: -32_000, message: "m" });
          } else if (i % 6 === 3) {
            await tasks.cancelTask(taskId);
            await task.cancelled();
          } else if (i % 6 === 4) {
            clock.turn(1_000);
            await refuses(() => task.progress("late"), "ERR_TASK_NOT_FOUND");
          } else await tasks.run(taskId, () => ({}));
        }
        await pause(10);
        const { get } = store.calls;
        await pause(20);
        assert.equal(store.calls.get, get);
      },
    ));

  it("a task that has a worker is looked at, until it ends", () =>
    inWorld({ observeIntervalMs: 1 }, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      const { get } = store.calls;
      while (store.calls.get < get + 3) await settled();
      await task.complete({});
      await pause(5);
      const after = store.calls.get;
      await pause(10);
      assert.equal(store.calls.get, after);
    }));

  it("a listener that was unsubscribed leaves nothing to look at", () =>
    inWorld({ observeIntervalMs: 1 }, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      tasks.onTaskChanged(taskId, () => {})();
      await pause(5);
      const { get } = store.calls;
      await pause(10);
      assert.equal(store.calls.get, get);
    }));

  it("handles of unknown ids leave nothing to look at", () =>
    inWorld({ observeIntervalMs: 1 }, async ({ tasks, store }) => {
      for (let i = 0; i < 100; i++) tasks.handle(`unknown ${i}`);
      await pause(10);
      const { get } = store.calls;
      await pause(10);
      assert.equal(store.calls.get, get);
    }));

  it("calls of clients alone leave nothing to look at", () =>
    inWorld({ observeIntervalMs: 1 }, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      await tasks.getTask(taskId);
      await tasks.updateTask(taskId, {});
      await tasks.cancelTask(taskId);
      const { get } = store.calls;
      await pause(10);
      assert.equal(store.calls.get, get);
    }));

  it("a task without a client's interest keeps no timer for its TTL", () =>
    inWorld({}, async ({ tasks }) => {
      const real = globalThis.setTimeout;
      const started = new Set<unknown>();
      globalThis.setTimeout = ((...args: Parameters<typeof real>) => {
        const id = real(...args);
        started.add(id);
        return id;
      }) as typeof real;
      const clear = globalThis.clearTimeout;
      globalThis.clearTimeout = (id) => {
        started.delete(id);
        clear(id);
      };
      try {
        const { taskId } = await tasks.createTask({ ttlMs: 5_000 });
        await tasks.getTask(taskId);
        assert.equal(started.size, 0);
        const task = tasks.handle(taskId);
        await task.progress("on");
        assert.equal(started.size, 1);
        await task.progress("longer", { ttlMs: 6_000 });
        assert.equal(started.size, 1);
        await task.complete({});
        assert.equal(started.size, 0);
      } finally {
        globalThis.setTimeout = real;
        globalThis.clearTimeout = clear;
      }
    }));
});
