import assert from "node:assert/strict";
import { TaskCancelled, type TaskHandle } from "../../mod.ts";
import { describe, it } from "../support/runner.ts";
import {
  ask,
  inWorld,
  named,
  refuses,
  unchanged,
} from "../support/engine_world.ts";

const ends: Record<string, (task: TaskHandle) => Promise<void>> = {
  completed: (task) => task.complete({ answer: 42 }),
  failed: (task) => task.fail({ code: -32_050, message: "no ink" }),
  cancelled: (task) => task.cancelled("gave up"),
};

const writes: Record<string, (task: TaskHandle) => Promise<unknown>> = {
  "progress()": (task) => task.progress("more"),
  "requestInput()": (task) => task.requestInput({ late: ask() }),
  "resumeInput()": (task) => task.resumeInput(),
  "complete()": (task) => task.complete({ answer: 43 }),
  "fail()": (task) => task.fail({ code: -32_051, message: "late" }),
  "cancelled()": (task) => task.cancelled("late"),
};

describe("I2 terminal means final", () => {
  for (const [status, end] of Object.entries(ends)) {
    for (const [method, write] of Object.entries(writes)) {
      it(`${method} is refused once the task is ${status}`, () =>
        inWorld({}, async ({ tasks, store, clock }) => {
          const { taskId } = await tasks.createTask();
          const task = tasks.handle(taskId);
          await end(task);
          clock.turn(5);
          for (const handle of [task, tasks.handle(taskId)]) {
            await unchanged(store, taskId, () =>
              refuses(
                () => write(handle),
                "ERR_TASK_TERMINAL",
                new RegExp(`it is already ${status}, and that is final`),
              ));
          }
        }));
    }

    it(`a client's update and cancel are acknowledged once the task is ${status}`, () =>
      inWorld({}, async ({ tasks, store, clock }) => {
        const { taskId } = await tasks.createTask();
        const task = tasks.handle(taskId);
        task.requestInput({ name: ask() });
        await end(task);
        clock.turn(5);
        await unchanged(store, taskId, async () => {
          assert.deepEqual(
            await tasks.updateTask(taskId, { name: named("Ada") }),
            { resultType: "complete" },
          );
          assert.deepEqual(await tasks.cancelTask(taskId), {
            resultType: "complete",
          });
        });
      }));

    it(`a task that is ${status} keeps its input keys and drops its input`, () =>
      inWorld({}, async ({ tasks, store }) => {
        const { taskId } = await tasks.createTask();
        const task = tasks.handle(taskId);
        task.requestInput({ first: ask(), second: ask() });
        await tasks.updateTask(taskId, { first: named("Ada") });
        await task.resumeInput();
        await end(task);
        const record = await store.raw(taskId);
        assert.deepEqual(record?.usedInputKeys, ["first", "second"]);
        for (
          const field of ["inputRequests", "inputResponses", "takenInputKeys"]
        ) {
          assert.equal(field in record!, false, field);
        }
      }));
  }

  it("complete() twice at once: the first stands, the second is refused", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      const first = task.complete({ which: 1 });
      await refuses(() => task.complete({ which: 2 }), "ERR_TASK_TERMINAL");
      await first;
      const shown = await tasks.getTask(taskId);
      assert.deepEqual(shown.status === "completed" && shown.result, {
        which: 1,
      });
    }));

  it("cancelled() without a cancel ends the task, and aborts its signal for good", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      assert.equal(task.signal.aborted, false);
      await task.cancelled("changed my mind");
      assert.ok(task.signal.reason instanceof TaskCancelled);
      const shown = await tasks.getTask(taskId);
      assert.equal(shown.status, "cancelled");
      assert.equal(shown.statusMessage, "changed my mind");
    }));

  it("complete() keeps the last progress as the status message", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask({ statusMessage: "start" });
      const task = tasks.handle(taskId);
      await task.progress("3 of 3");
      await task.complete({});
      assert.equal((await tasks.getTask(taskId)).statusMessage, "3 of 3");
    }));

  it("fail() makes the error's message the status message", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask({ statusMessage: "start" });
      const data = { page: 7, rest: [null] };
      await tasks.handle(taskId).fail({ code: -32_001, message: "jam", data });
      const shown = await tasks.getTask(taskId);
      assert.equal(shown.statusMessage, "jam");
      assert.deepEqual(shown.status === "failed" && shown.error, {
        code: -32_001,
        message: "jam",
        data,
      });
    }));

  it("fail() with an empty message leaves the last progress", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask({ statusMessage: "page 7" });
      await tasks.handle(taskId).fail({ code: -32_001, message: "" });
      assert.equal((await tasks.getTask(taskId)).statusMessage, "page 7");
    }));

  it("progress() replaces the message and changes what it is given alone", () =>
    inWorld({}, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask({
        ttlMs: 50_000,
        pollIntervalMs: 400,
      });
      const task = tasks.handle(taskId);
      await task.progress("1 of 2", { pollIntervalMs: 900 });
      assert.equal((await store.raw(taskId))?.ttlMs, 50_000);
      await task.progress("2 of 2", { ttlMs: 60_000 });
      const record = await store.raw(taskId);
      assert.equal(record?.statusMessage, "2 of 2");
      assert.equal(record?.pollIntervalMs, 900);
      assert.equal(record?.ttlMs, 60_000);
      assert.equal(record?.version, 3);
    }));
});

describe("I3 pure reads", () => {
  it("getTask() twice gives the same and writes nothing", () =>
    inWorld({}, async ({ tasks, store, clock }) => {
      const { taskId } = await tasks.createTask({ statusMessage: "start" });
      await tasks.handle(taskId).progress("half");
      const updates = store.calls.update;
      await unchanged(store, taskId, async () => {
        const first = await tasks.getTask(taskId);
        clock.turn(1_234);
        assert.deepEqual(await tasks.getTask(taskId), first);
      });
      assert.equal(store.calls.update, updates);
    }));
});

describe("I10 copies", () => {
  it("what getTask() and complete() share with the caller is nothing", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const result = { list: [1, 2], inner: { name: "Ada" } };
      await tasks.handle(taskId).complete(result);
      result.list.push(3);
      result.inner.name = "Bob";
      // deno-lint-ignore no-explicit-any -- written to, as a caller might
      const shown = await tasks.getTask(taskId) as any;
      assert.deepEqual(shown.result, { list: [1, 2], inner: { name: "Ada" } });
      shown.result.inner.name = "Eve";
      // deno-lint-ignore no-explicit-any -- the same
      const again = await tasks.getTask(taskId) as any;
      assert.equal(again.result.inner.name, "Ada");
    }));

  it("a request that its worker changes afterwards is asked as it was", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      // deno-lint-ignore no-explicit-any -- written to, as a caller might
      const request = ask("Which one?") as any;
      tasks.handle(taskId).requestInput({ which: request });
      request.params.message = "Another?";
      await tasks.handle(taskId).progress("asked");
      const shown = await tasks.getTask(taskId);
      assert.deepEqual(
        shown.status === "input_required" && shown.inputRequests,
        { which: ask("Which one?") },
      );
    }));
});

describe("I7 no enumeration", () => {
  it("nothing that a client can call lists tasks", () =>
    inWorld({}, ({ tasks }) => {
      const verbs = Object.getOwnPropertyNames(
        Object.getPrototypeOf(tasks),
      ).sort();
      assert.deepEqual(verbs, [
        "cancelTask",
        "close",
        "constructor",
        "createTask",
        "getTask",
        "handle",
        "methodOf",
        "onTaskChanged",
        "run",
        "updateTask",
      ]);
      return Promise.resolve();
    }));
});
