import assert from "node:assert/strict";
import { TaskLifecycle } from "../../mod.ts";
import { describe, it } from "../support/runner.ts";
import { inWorld, ProbeStore, settled } from "../support/engine_world.ts";

describe("I12 the sweep", () => {
  it("takes 5,000 expired tasks without a call, and says how many", () =>
    inWorld(
      { sweepIntervalMs: 20 },
      async ({ tasks, store, clock, operator }) => {
        const living: string[] = [];
        for (let i = 0; i < 5_010; i++) {
          const isLiving = i % 501 === 0;
          const { taskId } = await tasks.createTask({
            ttlMs: isLiving ? 5_000 : 4_000,
          });
          if (isLiving) living.push(taskId);
        }
        const swept = operator.next("sweep");
        clock.turn(4_000);
        assert.equal((await swept).deleted, 5_010 - living.length);
        for (const taskId of living) assert.ok(await store.raw(taskId));
      },
    ));

  it("is on where nobody says otherwise", async () => {
    const real = globalThis.setTimeout;
    const delays: unknown[] = [];
    globalThis.setTimeout = ((...args: Parameters<typeof real>) => {
      delays.push(args[1]);
      return real(...args);
    }) as typeof real;
    const tasks = new TaskLifecycle({ store: new ProbeStore() });
    try {
      await tasks.createTask();
    } finally {
      globalThis.setTimeout = real;
      await tasks.close();
    }
    assert.deepEqual(delays, [60_000]);
  });

  it("starts with handle() alone, as after a restart", () =>
    inWorld(
      { sweepIntervalMs: 5 },
      async ({ tasks, store, clock, operator }) => {
        await store.create({
          taskId: "old",
          status: "working",
          createdAt: new Date(clock.time - 100).toISOString(),
          lastUpdatedAt: new Date(clock.time).toISOString(),
          ttlMs: 50,
          version: 1,
        });
        const swept = operator.next("sweep");
        tasks.handle("another");
        assert.deepEqual(await swept, { type: "sweep", deleted: 1 });
      },
    ));

  it("that fails reaches onEvent, and the next one comes", () =>
    inWorld(
      { sweepIntervalMs: 5 },
      async ({ tasks, store, clock, operator }) => {
        await tasks.createTask({ ttlMs: 10 });
        clock.turn(10);
        const cause = new Error("locked");
        store.failures.set("sweep", cause);
        const failed = await operator.next("error");
        assert.equal(failed.operation, "sweep expired tasks");
        assert.equal((failed.error as Error).cause, cause);
        const swept = operator.next("sweep");
        store.failures.clear();
        assert.equal((await swept).deleted, 1);
      },
    ));

  it("is never run twice at once, and not after close()", () =>
    inWorld({ sweepIntervalMs: 1 }, async ({ tasks, store }) => {
      const release = store.hold("sweep");
      await tasks.createTask();
      await new Promise((resolve) => setTimeout(resolve, 30));
      assert.equal(store.calls.sweep, 1);
      release();
      await new Promise((resolve) => setTimeout(resolve, 30));
      assert.ok(store.calls.sweep > 1);
      await tasks.close();
      const { sweep } = store.calls;
      await new Promise((resolve) => setTimeout(resolve, 10));
      assert.equal(store.calls.sweep, sweep);
    }));

  it("with an interval over 2^31 ms is no busy loop", () =>
    inWorld({ sweepIntervalMs: 2 ** 31 }, async ({ tasks, store }) => {
      await tasks.createTask();
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(store.calls.sweep, 0);
    }));

  it("that finds nothing says nothing", () =>
    inWorld({ sweepIntervalMs: 1 }, async ({ tasks, store, operator }) => {
      await tasks.createTask();
      while (store.calls.sweep < 3) await settled();
      assert.deepEqual(operator.events, []);
    }));

  it("that is off stays off", () =>
    inWorld({ sweepIntervalMs: null }, async ({ tasks, store }) => {
      await tasks.createTask();
      await new Promise((resolve) => setTimeout(resolve, 10));
      assert.equal(store.calls.sweep, 0);
    }));
});

describe("onEvent", () => {
  it("cannot change an outcome, whatever it throws", () => {
    const onEvent = () => {
      throw new Error("operator asleep");
    };
    return inWorld(
      { onEvent, sweepIntervalMs: 1 },
      async ({ tasks, store, clock }) => {
        const { taskId } = await tasks.createTask({ ttlMs: 50 });
        await tasks.run(taskId, () => {
          throw new Error("tool broke");
        });
        assert.equal((await tasks.getTask(taskId)).status, "completed");
        clock.turn(50);
        while (await store.raw(taskId)) await settled();
        const { sweep } = store.calls;
        while (store.calls.sweep === sweep) await settled();
      },
    );
  });
});
