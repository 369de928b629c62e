import assert from "node:assert/strict";
import {
  TaskAlreadyTerminalError,
  TaskCancelled,
  TaskNotFoundError,
} from "../../mod.ts";
import { describe, it } from "../support/runner.ts";
import {
  aborted,
  another,
  ask,
  inWorld,
  named,
  refuses,
  settled,
} from "../support/engine_world.ts";

describe("two lifecycles on one store", () => {
  it("an answer that the other took settles a call that waits", () =>
    inWorld({ observeIntervalMs: 3 }, async (world) => {
      const { tasks } = world;
      const other = another(world);
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      const answers = task.requestInput({ name: ask() });
      await task.progress("asked");
      await other.updateTask(taskId, { name: named("Ada") });
      assert.deepEqual(await answers, { name: named("Ada") });
      assert.equal(await task.resumeInput(), undefined);
      await other.close();
    }));

  it("a cancel that the other heard aborts the signal and ends the wait", () =>
    inWorld({ observeIntervalMs: 3 }, async (world) => {
      const { tasks } = world;
      const other = another(world);
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      const refusal = refuses(
        () => task.requestInput({ name: ask() }),
        "ERR_TASK_CANCELLED",
      );
      await task.progress("asked");
      await other.cancelTask(taskId);
      assert.ok(await aborted(task.signal) instanceof TaskCancelled);
      await refusal;
      await other.close();
    }));

  it("a cancel that the other heard is noticed before the next write", () =>
    inWorld({ observeIntervalMs: null }, async (world) => {
      const { tasks } = world;
      const other = another(world);
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      await task.progress("1");
      await other.cancelTask(taskId);
      assert.equal(task.signal.aborted, false);
      await task.progress("2");
      assert.ok(task.signal.reason instanceof TaskCancelled);
      await other.close();
    }));

  it("an end that the other wrote reaches a listener, once, and the signal", () =>
    inWorld({ observeIntervalMs: 3 }, async (world) => {
      const { tasks } = world;
      const other = another(world);
      const { taskId } = await tasks.createTask();
      const told: string[] = [];
      tasks.onTaskChanged(taskId, (task) => told.push(task.status));
      const { signal } = tasks.handle(taskId);
      await settled();
      await other.handle(taskId).complete({ by: "the other" });
      const reason = await aborted(signal);
      assert.ok(reason instanceof TaskAlreadyTerminalError);
      assert.equal(reason.status, "completed");
      await settled();
      assert.deepEqual(told, ["completed"]);
      await other.close();
    }));

  it("an end that comes between subscribing and the first look is told", () =>
    inWorld({ observeIntervalMs: 3 }, async (world) => {
      const { tasks, store } = world;
      const other = another(world);
      const { taskId } = await tasks.createTask();
      const release = store.hold("get");
      const { promise, resolve } = Promise.withResolvers<string>();
      tasks.onTaskChanged(taskId, (task) => resolve(task.status));
      store.hold("get")();
      await other.handle(taskId).fail({ code: -32_000, message: "m" });
      release();
      assert.equal(await promise, "failed");
      await other.close();
    }));

  it("progress of the other reaches a listener in a snapshot", () =>
    inWorld({ observeIntervalMs: 3 }, async (world) => {
      const { tasks } = world;
      const other = another(world);
      const { taskId } = await tasks.createTask();
      const { promise, resolve } = Promise.withResolvers<unknown>();
      tasks.onTaskChanged(taskId, resolve);
      await settled();
      await other.handle(taskId).progress("from afar");
      assert.deepEqual(await promise, await tasks.getTask(taskId));
      await other.close();
    }));

  it("a cancel of the other is no change for a listener", () =>
    inWorld({ observeIntervalMs: 3 }, async (world) => {
      const { tasks } = world;
      const other = another(world);
      const { taskId } = await tasks.createTask();
      const told: unknown[] = [];
      tasks.onTaskChanged(taskId, (task) => told.push(task));
      const { signal } = tasks.handle(taskId);
      await settled();
      await other.cancelTask(taskId);
      await aborted(signal);
      await settled();
      assert.deepEqual(told, []);
      await other.close();
    }));

  it("a TTL that the other raised keeps the signal from aborting, one that it lowered aborts it", () =>
    inWorld({ observeIntervalMs: 3 }, async (world) => {
      const { tasks, clock } = world;
      const other = another(world);
      const { taskId } = await tasks.createTask({ ttlMs: 60 });
      const { signal } = tasks.handle(taskId);
      await other.handle(taskId).progress("longer", { ttlMs: 60_000 });
      clock.turn(61);
      // The timer of the first TTL has looked at the clock by then.
      await new Promise((resolve) => setTimeout(resolve, 90));
      assert.equal(signal.aborted, false);
      await other.handle(taskId).progress("shorter", { ttlMs: 1 }).catch(
        () => {},
      );
      assert.ok(await aborted(signal) instanceof TaskNotFoundError);
      await other.close();
    }));

  it("a write that hangs on one task hides nothing of the others", () =>
    inWorld({ observeIntervalMs: 3 }, async (world) => {
      const { tasks, store } = world;
      const other = another(world);
      const { taskId: slow } = await tasks.createTask();
      const { taskId } = await tasks.createTask();
      const release = store.hold("update");
      const writing = tasks.handle(slow).progress("slow");
      while (store.calls.update === 0) await settled();
      store.hold("update")();
      const { signal } = tasks.handle(taskId);
      await settled();
      await other.cancelTask(taskId);
      assert.ok(await aborted(signal) instanceof TaskCancelled);
      release();
      await writing;
      await other.close();
    }));

  it("a look at a thousand tasks lets others have their turn meanwhile", () =>
    inWorld({ observeIntervalMs: 1 }, async ({ tasks, store }) => {
      for (let i = 0; i < 1_000; i++) {
        tasks.handle((await tasks.createTask()).taskId);
      }
      await settled();
      // From the first read of a round to the next timer.
      const first = Promise.withResolvers<void>();
      store.onGet = first.resolve;
      const before = store.calls.get;
      await first.promise;
      await settled();
      const looks = store.calls.get - before;
      assert.ok(looks < 500, `${looks}`);
    }));

  it("a read that fails while it looks is reported, and it looks again", () =>
    inWorld({ observeIntervalMs: 3 }, async (world) => {
      const { tasks, store, operator } = world;
      const other = another(world);
      const { taskId } = await tasks.createTask();
      const { signal } = tasks.handle(taskId);
      await settled();
      await other.cancelTask(taskId);
      store.failures.set("get", new Error("down"));
      const event = operator.events.find(({ type }) => type === "error") ??
        await operator.next("error");
      assert.ok(event.type === "error");
      assert.equal(event.operation, "observe a task");
      assert.equal(event.taskId, taskId);
      store.failures.clear();
      assert.ok(await aborted(signal) instanceof TaskCancelled);
      await other.close();
    }));
});
