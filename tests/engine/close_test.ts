import assert from "node:assert/strict";
import { LifecycleClosedError, type TaskLifecycle } from "../../mod.ts";
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

describe("close()", () => {
  it("closes the store once, however often it is called", () =>
    inWorld({}, async ({ tasks, store }) => {
      await tasks.createTask();
      await Promise.all([tasks.close(), tasks.close({ graceMs: 1 })]);
      await tasks.close();
      assert.equal(store.calls.close, 1);
    }));

  it("works on a lifecycle that was never used", () =>
    inWorld({}, async ({ tasks, store }) => {
      await tasks.close();
      assert.equal(store.calls.close, 1);
    }));

  it("rejects each time when the store cannot be closed", () =>
    inWorld({}, async ({ tasks, store }) => {
      const cause = new Error("stuck");
      store.failures.set("close", cause);
      const failed = () =>
        refuses(
          () => tasks.close(),
          "ERR_STORE_FAILED",
          /^Cannot close the store: the store failed \(stuck\)$/,
        );
      assert.equal((await failed()).cause, cause);
      await failed();
      assert.equal(store.calls.close, 1);
      // The world closes it once more.
      await assert.rejects(tasks.close());
    }).catch((error) => assert.equal(error.code, "ERR_STORE_FAILED")));

  it("aborts the signals and wakes the waiting with LifecycleClosedError", () =>
    inWorld({}, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      const idle = tasks.handle((await tasks.createTask()).taskId);
      const answers = task.requestInput({ name: ask() });
      await task.progress("asked");
      const record = await store.raw(taskId);
      const refusal = refuses(() => answers, "ERR_LIFECYCLE_CLOSED");
      const release = store.hold("close");
      const closing = tasks.close();
      await refusal;
      for (const { signal } of [task, idle]) {
        assert.ok(signal.reason instanceof LifecycleClosedError);
      }
      assert.deepEqual(await store.raw(taskId), record);
      release();
      await closing;
    }));

  const verbs: Record<string, (tasks: TaskLifecycle, id: string) => unknown> = {
    "createTask()": (tasks) => tasks.createTask(),
    "getTask()": (tasks, id) => tasks.getTask(id),
    "updateTask()": (tasks, id) => tasks.updateTask(id, {}),
    "cancelTask()": (tasks, id) => tasks.cancelTask(id),
  };
  it("refuses every verb from its call on, and after it", () =>
    inWorld({}, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      const release = store.hold("close");
      const closing = tasks.close();
      for (const phase of ["closing", "closed"]) {
        for (const call of Object.values(verbs)) {
          await refuses(
            () => call(tasks, taskId) as Promise<unknown>,
            "ERR_LIFECYCLE_CLOSED",
            /: the TaskLifecycle is closed$/,
          );
        }
        if (phase === "closing") release();
        await closing;
      }
      assert.equal(store.calls.create, 1);
    }));

  it("refuses writes through old and new handles afterwards", () =>
    inWorld({}, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      const old = tasks.handle(taskId);
      await tasks.close();
      const { update } = store.calls;
      const fresh = tasks.handle(taskId);
      assert.ok(fresh.signal.reason instanceof LifecycleClosedError);
      for (const task of [old, fresh]) {
        for (
          const call of [
            () => task.progress("late"),
            () => task.requestInput({ late: ask() }),
            () => task.resumeInput(),
            () => task.complete({}),
            () => task.fail({ code: -32_000, message: "late" }),
            () => task.cancelled(),
          ]
        ) await refuses(call, "ERR_LIFECYCLE_CLOSED");
      }
      assert.equal(store.calls.update, update);
    }));

  it("waits for a worker that ends within the grace, and keeps its result", () =>
    inWorld({}, async (world) => {
      const { tasks } = world;
      const { taskId } = await tasks.createTask();
      // What is stored has to be read after the store was closed.
      let result: unknown;
      const running = tasks.run(taskId, async (task) => {
        await aborted(task.signal);
        await new Promise((resolve) => setTimeout(resolve, 20));
        await task.progress("last page");
        await task.complete({ pages: 7 });
        result = (await world.store.raw(taskId))?.result;
      });
      await settled();
      await tasks.close({ graceMs: 60_000 });
      assert.deepEqual(result, { pages: 7 });
      await running;
    }));

  it("reaches a worker whose task somebody else in this process has ended", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const { promise: stopped, resolve } = Promise.withResolvers<unknown>();
      const run = tasks.run(taskId, async (task) => {
        resolve(await aborted(task.signal));
      });
      await tasks.handle(taskId).fail({ code: -32000, message: "by hand" });
      await settled();
      await tasks.close();
      assert.ok(await stopped instanceof LifecycleClosedError);
      await run;
    }));

  it("gives up after the grace on a worker that does not end, and refuses what it writes", () =>
    inWorld({}, async ({ tasks, store, operator }) => {
      const { taskId } = await tasks.createTask();
      const { promise: started, resolve: start } = Promise.withResolvers<
        void
      >();
      const { promise: stuck, resolve: free } = Promise.withResolvers<void>();
      const running = tasks.run(taskId, async () => {
        start();
        await stuck;
        return { late: true };
      });
      await started;
      const before = Date.now();
      await tasks.close({ graceMs: 30 });
      assert.ok(Date.now() - before >= 25);
      const { update } = store.calls;
      free();
      await running;
      assert.equal(store.calls.update, update);
      const [event] = operator.events;
      assert.ok(event.type === "worker_error");
      assert.equal(event.outcome, "none");
    }));

  it("with a grace of 0 waits for nobody", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const { promise: started, resolve: start } = Promise.withResolvers<
        void
      >();
      tasks.run(taskId, () => {
        start();
        return new Promise(() => {});
      });
      await started;
      const begun = performance.now();
      await tasks.close({ graceMs: 0 });
      // The grace where nobody says otherwise is 5 s.
      assert.ok(performance.now() - begun < 4_000);
    }));

  it("does not make an outcome of a throw that it caused", () =>
    inWorld({}, async (world) => {
      const { tasks, store } = world;
      const survivor = another(world);
      const { taskId } = await tasks.createTask();
      const waiting = (await tasks.createTask()).taskId;
      const runs = [
        tasks.run(taskId, async (task) => {
          await aborted(task.signal);
          throw new Error("interrupted");
        }),
        tasks.run(waiting, async (task) => {
          await task.requestInput({ name: ask() });
        }),
      ];
      await settled();
      const before = [await store.raw(taskId), await store.raw(waiting)];
      const release = store.hold("close");
      const closing = tasks.close();
      await Promise.all(runs);
      assert.deepEqual(
        [await store.raw(taskId), await store.raw(waiting)],
        before,
      );
      // The next process goes on from there.
      await survivor.updateTask(waiting, { name: named("Ada") });
      assert.deepEqual(await survivor.handle(waiting).resumeInput(), {
        name: named("Ada"),
      });
      release();
      await closing;
      await survivor.close();
    }));

  it("refuses requestInput() while it waits for workers", () =>
    inWorld({}, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      const running = tasks.run(taskId, async (task) => {
        await aborted(task.signal);
        const { version } = (await store.raw(taskId))!;
        await refuses(
          () => task.requestInput({ name: ask() }),
          "ERR_LIFECYCLE_CLOSED",
        );
        assert.equal((await store.raw(taskId))?.version, version);
        return { checked: true };
      });
      await tasks.close();
      await running;
    }));

  it("wakes a requestInput() whose requests were being written when it was called", () =>
    inWorld({}, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      const release = store.hold("update");
      const answers = tasks.handle(taskId).requestInput({ name: ask() });
      while (store.calls.update === 0) await settled();
      const refusal = refuses(() => answers, "ERR_LIFECYCLE_CLOSED");
      const closing = tasks.close();
      release();
      await refusal;
      await closing;
    }));

  it("waits for the writes that are under way", () =>
    inWorld({}, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      const release = store.hold("update");
      const writing = tasks.handle(taskId).progress("under way");
      while (store.calls.update === 0) await settled();
      const closing = tasks.close();
      await settled();
      assert.equal(store.calls.close, 0);
      release();
      await writing;
      await closing;
      assert.equal(store.calls.close, 1);
    }));

  it("leaves no timer that does something", () =>
    inWorld(
      { sweepIntervalMs: 2, observeIntervalMs: 2 },
      async ({ tasks, store, operator }) => {
        const { taskId } = await tasks.createTask();
        tasks.handle(taskId);
        tasks.onTaskChanged(taskId, () => {});
        await new Promise((resolve) => setTimeout(resolve, 10));
        await tasks.close();
        const calls = { ...store.calls };
        await new Promise((resolve) => setTimeout(resolve, 20));
        assert.deepEqual(store.calls, calls);
        assert.deepEqual(operator.events, []);
      },
    ));
});
