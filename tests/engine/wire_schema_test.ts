import assert from "node:assert/strict";
import {
  CancelTaskResultV2Schema,
  CreateTaskResultV2Schema,
  GetTaskResultV2Schema,
  UpdateTaskResultV2Schema,
} from "@modelcontextprotocol/ext-tasks/core/v2";
import type { CreateTaskInit, InputRequests, TaskHandle } from "../../mod.ts";
import { describe, it } from "../support/runner.ts";
import { ask, inWorld, named } from "../support/engine_world.ts";

const requests: InputRequests = {
  form: ask(),
  page: {
    method: "elicitation/create",
    params: { mode: "url", message: "Sign in", url: "https://example.com/in" },
  },
  model: {
    method: "sampling/createMessage",
    params: {
      maxTokens: 40,
      messages: [{ role: "user", content: { type: "text", text: "Hi" } }],
    },
  },
  folders: { method: "roots/list" },
};

const states: Record<string, (task: TaskHandle) => unknown> = {
  working: () => {},
  input_required: (task) => {
    task.requestInput(requests);
    return task.progress("asked");
  },
  completed: (task) =>
    task.complete({
      resultType: "complete",
      content: [{ type: "text", text: "done" }],
      structuredContent: [1],
    }),
  failed: (task) => task.fail({ code: -32_050, message: "jam", data: [1] }),
  cancelled: (task) => task.cancelled("gave up"),
};

const inits: Record<string, CreateTaskInit> = {
  "everything": { ttlMs: 90_000, pollIntervalMs: 450, statusMessage: "start" },
  "nothing that may be absent": { ttlMs: null, pollIntervalMs: null },
};

describe("the official schemas accept", () => {
  for (const [what, init] of Object.entries(inits)) {
    it(`createTask() with ${what}`, () =>
      inWorld({}, async ({ tasks }) => {
        const created = await tasks.createTask(init);
        assert.deepEqual(CreateTaskResultV2Schema.parse(created), created);
      }));

    for (const [status, reach] of Object.entries(states)) {
      it(`getTask() of a task that is ${status}, created with ${what}`, () =>
        inWorld({}, async ({ tasks }) => {
          const { taskId } = await tasks.createTask({ ...init, owner: "ada" });
          await reach(tasks.handle(taskId));
          const shown = await tasks.getTask(taskId, { owner: "ada" });
          assert.equal(shown.status, status);
          assert.deepEqual(GetTaskResultV2Schema.parse(shown), shown);
        }));
    }
  }

  it("what updateTask() and cancelTask() answer", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      tasks.handle(taskId).requestInput({ form: ask() });
      const updated = await tasks.updateTask(taskId, { form: named("Ada") });
      assert.deepEqual(UpdateTaskResultV2Schema.parse(updated), updated);
      const cancelled = await tasks.cancelTask(taskId);
      assert.deepEqual(CancelTaskResultV2Schema.parse(cancelled), cancelled);
    }));
});
