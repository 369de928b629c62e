import assert from "node:assert/strict";
import { describe, it } from "../support/runner.ts";
import {
  another,
  ask,
  inWorld,
  named,
  refuses,
  unchanged,
  type World,
} from "../support/engine_world.ts";

/** A task whose worker died after it had asked, and the process after that. */
async function orphaned(
  world: World,
  ...keys: string[]
): Promise<string> {
  const died = another(world);
  const { taskId } = await died.createTask();
  const task = died.handle(taskId);
  task.requestInput(Object.fromEntries(keys.map((key) => [key, ask(key)])));
  await task.progress("asked");
  await died.close();
  return taskId;
}

describe("resumeInput()", () => {
  it("gives an answer that came after a restart once, then undefined", () =>
    inWorld({}, async (world) => {
      const { tasks } = world;
      const taskId = await orphaned(world, "name");
      await tasks.updateTask(taskId, { name: named("Ada") });
      const task = tasks.handle(taskId);
      assert.deepEqual(await task.resumeInput(), { name: named("Ada") });
      assert.equal(await task.resumeInput(), undefined);
      assert.equal(await tasks.handle(taskId).resumeInput(), undefined);
    }));

  it("by two callers at once: one gets the answers, the other undefined", () =>
    inWorld({}, async (world) => {
      const { tasks } = world;
      const taskId = await orphaned(world, "name");
      await tasks.updateTask(taskId, { name: named("Ada") });
      const other = another(world);
      const got = await Promise.all([
        tasks.handle(taskId).resumeInput(),
        other.handle(taskId).resumeInput(),
        tasks.handle(taskId).resumeInput(),
      ]);
      assert.deepEqual(got.filter((answers) => answers !== undefined), [
        { name: named("Ada") },
      ]);
      await other.close();
    }));

  it("gives a part of the answers, and the rest when it has come", () =>
    inWorld({}, async (world) => {
      const { tasks } = world;
      const taskId = await orphaned(world, "a", "b");
      const task = tasks.handle(taskId);
      assert.equal(await task.resumeInput(), undefined);
      await tasks.updateTask(taskId, { b: named("B") });
      assert.deepEqual(await task.resumeInput(), { b: named("B") });
      assert.equal((await tasks.getTask(taskId)).status, "input_required");
      await tasks.updateTask(taskId, { a: named("A") });
      assert.deepEqual(await task.resumeInput(), { a: named("A") });
      assert.equal(await task.resumeInput(), undefined);
    }));

  it("still gives what a later requestInput() has left untaken", () =>
    inWorld({}, async (world) => {
      const { tasks } = world;
      const taskId = await orphaned(world, "old");
      const task = tasks.handle(taskId);
      await tasks.updateTask(taskId, { old: named("Old") });
      const answers = task.requestInput({ fresh: ask() });
      await tasks.updateTask(taskId, { fresh: named("Fresh") });
      assert.deepEqual(await answers, { fresh: named("Fresh") });
      assert.deepEqual(await task.resumeInput(), { old: named("Old") });
    }));

  it("does not take the answers of a call that waits, nor those that it got", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      const answers = task.requestInput({ a: ask(), b: ask() });
      await tasks.updateTask(taskId, { a: named("A") });
      assert.equal(await task.resumeInput(), undefined);
      await tasks.updateTask(taskId, { b: named("B") });
      assert.deepEqual(await answers, { a: named("A"), b: named("B") });
      assert.equal(await task.resumeInput(), undefined);
      assert.equal(await tasks.handle(taskId).resumeInput(), undefined);
    }));

  it("writes nothing when there is nothing to give", () =>
    inWorld({}, async (world) => {
      const { tasks, store } = world;
      const taskId = await orphaned(world, "name");
      await unchanged(store, taskId, async () => {
        assert.equal(await tasks.handle(taskId).resumeInput(), undefined);
      });
      const { taskId: silent } = await tasks.createTask();
      await unchanged(store, silent, async () => {
        assert.equal(await tasks.handle(silent).resumeInput(), undefined);
      });
    }));

  it("keeps the answers when the store fails to note that they are taken", () =>
    inWorld({}, async (world) => {
      const { tasks, store } = world;
      const taskId = await orphaned(world, "name");
      await tasks.updateTask(taskId, { name: named("Ada") });
      const task = tasks.handle(taskId);
      store.failures.set("update", new Error("down"));
      await refuses(() => task.resumeInput(), "ERR_STORE_FAILED");
      store.failures.clear();
      assert.deepEqual(await task.resumeInput(), { name: named("Ada") });
    }));

  it("of a task that is unknown, expired or ended is refused", () =>
    inWorld({}, async ({ tasks, clock }) => {
      await refuses(
        () => tasks.handle("nobody").resumeInput(),
        "ERR_TASK_NOT_FOUND",
      );
      const ended = (await tasks.createTask()).taskId;
      await tasks.handle(ended).complete({});
      await refuses(
        () => tasks.handle(ended).resumeInput(),
        "ERR_TASK_TERMINAL",
      );
      const expired = (await tasks.createTask({ ttlMs: 20 })).taskId;
      clock.turn(20);
      await refuses(
        () => tasks.handle(expired).resumeInput(),
        "ERR_TASK_NOT_FOUND",
      );
    }));
});
