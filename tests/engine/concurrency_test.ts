import assert from "node:assert/strict";
import type { TaskHandle } from "../../mod.ts";
import { describe, it } from "../support/runner.ts";
import {
  another,
  ask,
  inWorld,
  named,
  ProbeStore,
  refuses,
  settled,
} from "../support/engine_world.ts";

describe("one task, many calls at once", () => {
  it("100 progress() calls and then complete(): all resolve, in order, without a retry", () =>
    inWorld({}, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      const told: unknown[] = [];
      tasks.onTaskChanged(taskId, (t) => told.push(t.statusMessage));
      const calls = Array.from(
        { length: 100 },
        (_, i) => task.progress(`step ${i}`),
      );
      calls.push(task.complete({ steps: 100 }));
      await Promise.all(calls);
      const record = await store.raw(taskId);
      assert.equal(record?.status, "completed");
      assert.equal(record?.version, 102);
      assert.equal(store.calls.update, 101);
      await settled();
      assert.deepEqual(told, [
        ...Array.from({ length: 100 }, (_, i) => `step ${i}`),
        "step 99",
      ]);
    }));

  it("six progress() calls that nobody awaits and complete(): completed", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      for (let i = 1; i <= 6; i++) task.progress(`step ${i}`);
      await task.complete({ done: true });
      const shown = await tasks.getTask(taskId);
      assert.equal(shown.status, "completed");
      assert.equal(shown.statusMessage, "step 6");
    }));

  it("ten clients that answer ten keys: all acknowledged, one settlement, working", () =>
    inWorld({}, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      const keys = Array.from({ length: 10 }, (_, i) => `key ${i}`);
      let settlements = 0;
      const answers = tasks.handle(taskId)
        .requestInput(Object.fromEntries(keys.map((key) => [key, ask(key)])))
        .then((answers) => {
          settlements++;
          return answers;
        });
      await Promise.all(
        keys.map((key) => tasks.updateTask(taskId, { [key]: named(key) })),
      );
      assert.deepEqual(
        await answers,
        Object.fromEntries(keys.map((key) => [key, named(key)])),
      );
      assert.equal(settlements, 1);
      assert.equal((await tasks.getTask(taskId)).status, "working");
      assert.equal((await store.raw(taskId))?.version, 12);
    }));

  it("ten answers to one key: all acknowledged, the first stays", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const answers = tasks.handle(taskId).requestInput({ name: ask() });
      await Promise.all(
        Array.from(
          { length: 10 },
          (_, i) => tasks.updateTask(taskId, { name: named(`${i}`) }),
        ),
      );
      assert.deepEqual(await answers, { name: named("0") });
    }));

  it("ends of all kinds: one wins, the others are refused", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      const ends = await Promise.allSettled([
        task.fail({ code: -32_000, message: "first" }),
        task.complete({}),
        task.cancelled(),
        tasks.handle(taskId).complete({}),
      ]);
      assert.deepEqual(ends.map(({ status }) => status), [
        "fulfilled",
        "rejected",
        "rejected",
        "rejected",
      ]);
      assert.equal((await tasks.getTask(taskId)).status, "failed");
    }));

  it("a call that fails does not hold up those behind it", () =>
    inWorld({}, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      store.failures.set("get", new Error("down"));
      const failing = refuses(() => task.progress("lost"), "ERR_STORE_FAILED");
      const behind = task.progress("kept");
      await failing;
      store.failures.clear();
      await behind.catch(() => {});
      await task.progress("and on");
      assert.equal((await tasks.getTask(taskId)).statusMessage, "and on");
    }));

  it("a task whose store hangs does not hold up the others", () =>
    inWorld({}, async ({ tasks, store }) => {
      const slow = tasks.handle((await tasks.createTask()).taskId);
      const quick = tasks.handle((await tasks.createTask()).taskId);
      await slow.progress("both there");
      const release = store.hold("update");
      const waiting = slow.progress("slow");
      while (store.calls.update < 2) await settled();
      const open = store.hold("update");
      open();
      await quick.complete({});
      release();
      await waiting;
    }));
});

describe("I9 compare-and-swap against other writers", () => {
  it("two lifecycles that write one task at once lose nothing", () =>
    inWorld({}, async (world) => {
      const { tasks, store } = world;
      const other = another(world);
      const { taskId } = await tasks.createTask();
      const keys = (who: string) =>
        Array.from({ length: 15 }, (_, i) => `${who} ${i}`);
      const asks = (task: TaskHandle, who: string) =>
        keys(who).map((key) => {
          task.requestInput({ [key]: ask(key) });
          return task.progress(key);
        });
      await Promise.all([
        ...asks(tasks.handle(taskId), "one"),
        ...asks(other.handle(taskId), "other"),
      ]);
      const record = await store.raw(taskId);
      assert.equal(record?.version, 61);
      assert.deepEqual(
        [...record?.usedInputKeys ?? []].sort(),
        [...keys("one"), ...keys("other")].sort(),
      );
      assert.equal(Object.keys(record?.inputRequests ?? {}).length, 30);
      await other.close();
    }));

  it("answers that two lifecycles take at once are all kept", () =>
    inWorld({}, async (world) => {
      const { tasks } = world;
      const other = another(world);
      const { taskId } = await tasks.createTask();
      const answers = tasks.handle(taskId).requestInput({
        a: ask(),
        b: ask(),
        c: ask(),
      });
      await tasks.handle(taskId).progress("asked");
      await Promise.all([
        tasks.updateTask(taskId, { a: named("A") }),
        other.updateTask(taskId, { b: named("B") }),
        other.updateTask(taskId, { c: named("C") }),
      ]);
      // The last write may be the other's; a read of ours notices.
      await tasks.getTask(taskId);
      assert.deepEqual(await answers, {
        a: named("A"),
        b: named("B"),
        c: named("C"),
      });
      await other.close();
    }));

  it("an end that another lifecycle was faster with is refused, and stands", () =>
    inWorld({}, async (world) => {
      const { tasks, store } = world;
      const other = another(world);
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      await task.progress("almost");
      const release = store.hold("update");
      const mine = refuses(
        () => task.complete({ by: "me" }),
        "ERR_TASK_TERMINAL",
      );
      while (store.calls.update < 2) await settled();
      store.hold("update")();
      await other.handle(taskId).complete({ by: "the other" });
      release();
      await mine;
      const shown = await tasks.getTask(taskId);
      assert.deepEqual(shown.status === "completed" && shown.result, {
        by: "the other",
      });
      await other.close();
    }));

  it("gives up after 64 lost races with ERR_CONCURRENT_UPDATE", () => {
    class ContestedStore extends ProbeStore {
      override async update(
        ...args: Parameters<ProbeStore["update"]>
      ): ReturnType<ProbeStore["update"]> {
        const [taskId, , version] = args;
        await super.update(taskId, { statusMessage: `${version}` }, version);
        return await super.update(...args);
      }
    }
    const random = Math.random;
    return inWorld(
      { store: new ContestedStore() },
      async ({ tasks, store }) => {
        const { taskId } = await tasks.createTask({ ttlMs: null });
        Math.random = () => 0;
        try {
          await refuses(
            () => tasks.handle(taskId).progress("mine"),
            "ERR_CONCURRENT_UPDATE",
            /version 64 was expected, 65 is stored/,
          );
        } finally {
          Math.random = random;
        }
        assert.equal((await store.raw(taskId))?.version, 65);
      },
    );
  });
});
