import assert from "node:assert/strict";
import type { TaskAccess, TaskLifecycle } from "../../mod.ts";
import { describe, it } from "../support/runner.ts";
import {
  ask,
  inWorld,
  named,
  refuses,
  unchanged,
} from "../support/engine_world.ts";

const verbs: Record<
  string,
  (tasks: TaskLifecycle, id: string, access?: TaskAccess) => Promise<unknown>
> = {
  "getTask()": (tasks, id, access) => tasks.getTask(id, access),
  "updateTask()": (tasks, id, access) =>
    tasks.updateTask(id, { name: named("Eve") }, access),
  "cancelTask()": (tasks, id, access) => tasks.cancelTask(id, access),
};

const strangers: [string, string | undefined, TaskAccess | undefined][] = [
  ["another owner", "ada", { owner: "eve" }],
  ["an owner that differs in case", "ada", { owner: "Ada" }],
  ["an empty owner", "ada", { owner: "" }],
  ["nobody", "ada", undefined],
  ["nobody, said so", "ada", {}],
  ["an owner, for a task of nobody", undefined, { owner: "eve" }],
  ["an empty owner, for a task of nobody", undefined, { owner: "" }],
];

describe("I16 owners", () => {
  for (const [verb, call] of Object.entries(verbs)) {
    for (const [who, owner, access] of strangers) {
      it(`${verb} by ${who}: as if there were no task, and nothing happens`, () =>
        inWorld({}, async ({ tasks, store, operator }) => {
          const { taskId } = await tasks.createTask({
            ...(owner !== undefined && { owner }),
          });
          const task = tasks.handle(taskId);
          const told: string[] = [];
          tasks.onTaskChanged(taskId, ({ status }) => void told.push(status));
          const answers = task.requestInput({ name: ask() });
          await task.resumeInput();
          let refusal: Error | undefined;
          await unchanged(store, taskId, async () => {
            refusal = await refuses(
              () => call(tasks, taskId, access),
              "ERR_TASK_NOT_FOUND",
            );
          });

          // Its worker, its wait and its listeners never learn of the stranger.
          assert.equal(task.signal.aborted, false);
          const rightful = owner === undefined ? undefined : { owner };
          await tasks.updateTask(taskId, { name: named("Ada") }, rightful);
          assert.deepEqual(await answers, { name: named("Ada") });
          await task.complete({});
          assert.deepEqual(told, ["input_required", "working", "completed"]);
          assert.deepEqual(operator.events, []);

          const unknown = await inEmptyWorld((empty) =>
            refuses(() => call(empty, taskId, access), "ERR_TASK_NOT_FOUND")
          );
          assert.equal(String(refusal), String(unknown));
          assert.equal(JSON.stringify(refusal), JSON.stringify(unknown));
        }));
    }

    it(`${verb} by the owner finds the task`, () =>
      inWorld({}, async ({ tasks }) => {
        const { taskId } = await tasks.createTask({ owner: "ada" });
        await call(tasks, taskId, { owner: "ada" });
      }));

    it(`${verb} by nobody finds a task of nobody`, () =>
      inWorld({}, async ({ tasks }) => {
        const { taskId } = await tasks.createTask();
        await call(tasks, taskId);
        await call(tasks, taskId, {});
        await call(tasks, taskId, { owner: undefined });
      }));
  }

  it("an owner named like a member of every object is a name", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask({ owner: "__proto__" });
      await tasks.getTask(taskId, { owner: "__proto__" });
      await refuses(
        () => tasks.getTask(taskId, { owner: "constructor" }),
        "ERR_TASK_NOT_FOUND",
      );
    }));
});

async function inEmptyWorld<T>(
  body: (tasks: TaskLifecycle) => Promise<T>,
): Promise<T> {
  let value: T;
  await inWorld({}, async ({ tasks }) => {
    value = await body(tasks);
  });
  return value!;
}
