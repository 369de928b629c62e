import assert from "node:assert/strict";
import { describe, it } from "../support/runner.ts";
import {
  another,
  ask,
  inWorld,
  named,
  refuses,
  settled,
  unchanged,
} from "../support/engine_world.ts";

describe("requestInput()", () => {
  it("makes the task input_required and lists the request", () =>
    inWorld({}, async ({ tasks, clock }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      clock.turn(40);
      task.requestInput({ name: ask("Your name?") });
      await task.progress("asked");
      const shown = await tasks.getTask(taskId);
      assert.equal(shown.status, "input_required");
      assert.deepEqual(
        shown.status === "input_required" && shown.inputRequests,
        { name: ask("Your name?") },
      );
      assert.equal(shown.lastUpdatedAt, "2026-08-01T12:00:00.040Z");
    }));

  it("lists the open keys alone, and settles with all answers at once", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      let done = false;
      const answers = tasks.handle(taskId)
        .requestInput({ first: ask("1"), second: ask("2") })
        .finally(() => done = true);
      await tasks.updateTask(taskId, { second: named("Bob") });
      const shown = await tasks.getTask(taskId);
      assert.deepEqual(
        shown.status === "input_required" && shown.inputRequests,
        { first: ask("1") },
      );
      await settled();
      assert.equal(done, false);
      await tasks.updateTask(taskId, { first: named("Ada") });
      assert.deepEqual(await answers, {
        first: named("Ada"),
        second: named("Bob"),
      });
      assert.equal((await tasks.getTask(taskId)).status, "working");
    }));

  it("twice at once: each gets the answers to its own keys", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      const one = task.requestInput({ a: ask(), b: ask() });
      const other = task.requestInput({ c: ask() });
      await tasks.updateTask(taskId, { c: named("C"), a: named("A") });
      assert.deepEqual(await other, { c: named("C") });
      assert.equal((await tasks.getTask(taskId)).status, "input_required");
      await tasks.updateTask(taskId, { b: named("B") });
      assert.deepEqual(await one, { a: named("A"), b: named("B") });
    }));

  it("takes keys named like members of every object", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const requests = Object.fromEntries(
        ["__proto__", "constructor", "toString", ""].map((key) => [key, ask()]),
      );
      const answers = tasks.handle(taskId).requestInput(requests);
      const responses = Object.fromEntries(
        Object.keys(requests).map((key) => [key, named(`for ${key}`)]),
      );
      await tasks.updateTask(taskId, {});
      assert.equal((await tasks.getTask(taskId)).status, "input_required");
      await tasks.updateTask(taskId, responses);
      const got = await answers;
      assert.deepEqual(Object.keys(got).sort(), Object.keys(requests).sort());
      assert.equal(JSON.stringify(got), JSON.stringify(responses));
    }));

  it("rejects when the store fails, and nothing waits any more", () =>
    inWorld({ limits: { maxWaiters: 1 } }, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      store.failures.set("update", new Error("full"));
      await unchanged(
        store,
        taskId,
        () =>
          refuses(
            () => task.requestInput({ a: ask() }),
            "ERR_STORE_FAILED",
            /^Cannot request input/,
          ),
      );
      store.failures.clear();
      const answers = task.requestInput({ a: ask() });
      await tasks.updateTask(taskId, { a: named("A") });
      assert.deepEqual(await answers, { a: named("A") });
    }));

  for (const end of ["complete", "fail", "cancelled"] as const) {
    it(`that waits rejects when ${end}() ends the task`, () =>
      inWorld({}, async ({ tasks }) => {
        const { taskId } = await tasks.createTask();
        const task = tasks.handle(taskId);
        const answers = task.requestInput({ a: ask() });
        if (end === "complete") await task.complete({});
        if (end === "fail") await task.fail({ code: -32_000, message: "m" });
        if (end === "cancelled") await task.cancelled();
        await refuses(
          () => answers,
          end === "cancelled" ? "ERR_TASK_CANCELLED" : "ERR_TASK_TERMINAL",
        );
      }));
  }

  it("of an unknown task rejects", () =>
    inWorld({}, async ({ tasks }) => {
      await refuses(
        () => tasks.handle("no-such-task").requestInput({ a: ask() }),
        "ERR_TASK_NOT_FOUND",
      );
    }));

  it("takes a URL without an elicitation id and a tool whose output is an array", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      task.requestInput({
        page: {
          method: "elicitation/create",
          params: {
            mode: "url",
            message: "Sign in",
            url: "https://example.com",
          },
        },
        model: {
          method: "sampling/createMessage",
          params: {
            maxTokens: 9,
            messages: [{
              role: "user",
              content: {
                type: "tool_result",
                toolUseId: "t",
                content: [],
                structuredContent: [1],
              },
            }],
            tools: [{
              name: "list",
              inputSchema: { type: "object" },
              outputSchema: { type: "array" },
            }],
          },
        },
        roots: { method: "roots/list" },
      });
      await task.progress("asked");
      const shown = await tasks.getTask(taskId);
      assert.deepEqual(
        shown.status === "input_required" && Object.keys(shown.inputRequests),
        ["page", "model", "roots"],
      );
    }));

  it("refuses a URL that is a script", () =>
    inWorld({}, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      await unchanged(store, taskId, () =>
        refuses(
          () =>
            tasks.handle(taskId).requestInput({
              page: {
                method: "elicitation/create",
                params: { mode: "url", message: "m", url: "javascript:1" },
              },
            }),
          "ERR_INVALID_INPUT_REQUEST",
          /key "page".*http or https/,
        ));
    }));
});

describe("I5 keys for life", () => {
  it("requestInput() refuses a key that is open, that was answered, and none of the call is asked", () =>
    inWorld({}, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      task.requestInput({ open: ask() });
      const answered = task.requestInput({ answered: ask() });
      await tasks.updateTask(taskId, { answered: named("Ada") });
      await answered;
      for (const key of ["open", "answered"]) {
        await unchanged(store, taskId, () =>
          refuses(
            () => task.requestInput({ fresh: ask(), [key]: ask() }),
            "ERR_DUPLICATE_INPUT_KEY",
            new RegExp(`under key "${key}" of task "${taskId}"`),
          ));
      }
      task.requestInput({ fresh: ask() });
      await task.progress("asked again");
    }));

  it("requestInput() refuses a key that was used before a restart, through a plain handle", () =>
    inWorld({}, async (world) => {
      const { tasks, store } = world;
      const { taskId } = await tasks.createTask();
      const restarted = another(world);
      tasks.handle(taskId).requestInput({ open: ask(), answered: ask() });
      await tasks.updateTask(taskId, { answered: named("Ada") });
      const task = restarted.handle(taskId);
      for (const key of ["open", "answered"]) {
        await unchanged(store, taskId, () =>
          refuses(
            () => task.requestInput({ [key]: ask() }),
            "ERR_DUPLICATE_INPUT_KEY",
          ));
      }
      await task.resumeInput();
      await refuses(
        () => task.requestInput({ answered: ask() }),
        "ERR_DUPLICATE_INPUT_KEY",
      );
      await restarted.close();
    }));

  it("requestInput() twice at once under one key: one asks, one is refused", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      const first = task.requestInput({ name: ask() });
      await refuses(
        () => task.requestInput({ name: ask() }),
        "ERR_DUPLICATE_INPUT_KEY",
      );
      await tasks.updateTask(taskId, { name: named("Ada") });
      assert.deepEqual(await first, { name: named("Ada") });
    }));

  it("one key may be used by two tasks", () =>
    inWorld({}, async ({ tasks }) => {
      const one = (await tasks.createTask()).taskId;
      const other = (await tasks.createTask()).taskId;
      const first = tasks.handle(one).requestInput({ name: ask() });
      const second = tasks.handle(other).requestInput({ name: ask() });
      await tasks.updateTask(other, { name: named("Bob") });
      await tasks.updateTask(one, { name: named("Ada") });
      assert.deepEqual(await first, { name: named("Ada") });
      assert.deepEqual(await second, { name: named("Bob") });
    }));
});
