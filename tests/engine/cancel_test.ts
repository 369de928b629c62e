import assert from "node:assert/strict";
import { TaskCancelled } from "../../mod.ts";
import { describe, it } from "../support/runner.ts";
import {
  aborted,
  another,
  ask,
  inWorld,
  named,
  refuses,
  unchanged,
} from "../support/engine_world.ts";

describe("I14 cancel intent is durable", () => {
  it("cancelTask() aborts the signal with TaskCancelled and leaves the status", () =>
    inWorld({}, async ({ tasks, clock }) => {
      const { taskId } = await tasks.createTask();
      const { signal } = tasks.handle(taskId);
      const before = await tasks.getTask(taskId);
      clock.turn(777);
      assert.deepEqual(await tasks.cancelTask(taskId), {
        resultType: "complete",
      });
      assert.ok(signal.reason instanceof TaskCancelled);
      assert.equal(signal.reason.taskId, taskId);
      assert.deepEqual(await tasks.getTask(taskId), before);
    }));

  it("cancelTask() twice is acknowledged twice and written once", () =>
    inWorld({}, async ({ tasks, store, clock }) => {
      const { taskId } = await tasks.createTask();
      await tasks.cancelTask(taskId);
      clock.turn(50);
      await unchanged(store, taskId, () => tasks.cancelTask(taskId));
      const record = await store.raw(taskId);
      assert.equal(record?.cancelRequestedAt, "2026-08-01T12:00:00.000Z");
      assert.equal(record?.version, 2);
    }));

  for (const end of ["complete", "fail", "cancelled"] as const) {
    it(`${end}() may still end a task that was cancelled`, () =>
      inWorld({}, async ({ tasks }) => {
        const { taskId } = await tasks.createTask();
        const task = tasks.handle(taskId);
        await tasks.cancelTask(taskId);
        await task.progress("stopping");
        if (end === "complete") await task.complete({ done: true });
        if (end === "fail") await task.fail({ code: -32_010, message: "no" });
        if (end === "cancelled") await task.cancelled();
        const { status } = await tasks.getTask(taskId);
        assert.equal(
          status,
          {
            complete: "completed",
            fail: "failed",
            cancelled: "cancelled",
          }[end],
        );
        assert.ok(task.signal.reason instanceof TaskCancelled);
      }));
  }

  it("requestInput() after a cancel rejects before it writes", () =>
    inWorld({}, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      await tasks.cancelTask(taskId);
      await unchanged(
        store,
        taskId,
        () =>
          refuses(
            () => task.requestInput({ name: ask() }),
            "ERR_TASK_CANCELLED",
          ),
      );
    }));

  it("a requestInput() that waits rejects with TaskCancelled, and its keys stay open", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const answers = tasks.handle(taskId).requestInput({ name: ask() });
      const refusal = refuses(() => answers, "ERR_TASK_CANCELLED");
      await tasks.cancelTask(taskId);
      await refusal;
      const shown = await tasks.getTask(taskId);
      assert.equal(shown.status, "input_required");
      await tasks.updateTask(taskId, { name: named("Ada") });
      assert.equal((await tasks.getTask(taskId)).status, "working");
    }));

  it("a requestInput() that nobody awaits survives cancel and close", () =>
    inWorld({}, async ({ tasks }) => {
      const unhandled: unknown[] = [];
      const note = (event: Event) => {
        event.preventDefault();
        unhandled.push(event);
      };
      globalThis.addEventListener?.("unhandledrejection", note);
      try {
        const { taskId } = await tasks.createTask();
        const task = tasks.handle(taskId);
        task.requestInput({ name: ask() });
        task.progress("asked");
        await tasks.cancelTask(taskId);
        task.requestInput({ late: ask() });
        await tasks.close({ graceMs: 0 });
        task.requestInput({ later: ask() });
        task.progress("closed");
        await new Promise((resolve) => setTimeout(resolve, 5));
      } finally {
        globalThis.removeEventListener?.("unhandledrejection", note);
      }
      assert.deepEqual(unhandled, []);
    }));

  it("a new lifecycle on the same store hands out a signal that aborts", () =>
    inWorld({}, async (world) => {
      const { tasks } = world;
      const { taskId } = await tasks.createTask();
      await tasks.cancelTask(taskId);
      const restarted = another(world);
      const task = restarted.handle(taskId);
      assert.ok(await aborted(task.signal) instanceof TaskCancelled);
      await refuses(
        () => task.requestInput({ name: ask() }),
        "ERR_TASK_CANCELLED",
      );
      await restarted.close();
    }));

  it("a handle made after the cancel has an aborted signal", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      await tasks.cancelTask(taskId);
      const { signal } = tasks.handle(taskId);
      assert.ok(await aborted(signal) instanceof TaskCancelled);
    }));

  it("a signal that is first asked for after the close tells of the cancel before it", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      await tasks.cancelTask(taskId);
      await tasks.close();
      assert.ok(task.signal.reason instanceof TaskCancelled);
    }));

  it("handles of one task share a signal", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const first = tasks.handle(taskId);
      const second = tasks.handle(taskId);
      await tasks.cancelTask(taskId);
      assert.equal(first.signal, second.signal);
      assert.equal(first.signal.aborted, true);
    }));

  it("cancelTask() of one task leaves the others alone", () =>
    inWorld({}, async ({ tasks }) => {
      const one = await tasks.createTask();
      const other = await tasks.createTask();
      const { signal } = tasks.handle(other.taskId);
      await tasks.cancelTask(one.taskId);
      await tasks.handle(other.taskId).progress("going on");
      assert.equal(signal.aborted, false);
    }));

  it("cancelTask() says so when the store fails, and the signal stays", () =>
    inWorld({}, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      const { signal } = tasks.handle(taskId);
      store.failures.set("update", new Error("gone"));
      await unchanged(
        store,
        taskId,
        () => refuses(() => tasks.cancelTask(taskId), "ERR_STORE_FAILED"),
      );
      assert.equal(signal.aborted, false);
    }));
});
