import assert from "node:assert/strict";
import { TaskNotFoundError } from "../../mod.ts";
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

const DAY = 86_400_000;

describe("I12 one clock: expiry", () => {
  it("a task with a TTL of 10 is there for 9 ms and gone at 10, for every verb", () =>
    inWorld({}, async ({ tasks, clock }) => {
      const { taskId } = await tasks.createTask({ ttlMs: 10 });
      clock.turn(9);
      assert.equal((await tasks.getTask(taskId)).status, "working");
      clock.turn(1);
      const task = tasks.handle(taskId);
      for (
        const call of [
          () => tasks.getTask(taskId),
          () => tasks.updateTask(taskId, { name: named("Ada") }),
          () => tasks.cancelTask(taskId),
          () => task.progress("late"),
          () => task.requestInput({ name: ask() }),
          () => task.resumeInput(),
          () => task.complete({}),
          () => task.fail({ code: -32_000, message: "late" }),
          () => task.cancelled(),
        ]
      ) await refuses(call, "ERR_TASK_NOT_FOUND", new RegExp(taskId));
    }));

  it("progress() raises a TTL, counted from the creation", () =>
    inWorld({}, async ({ tasks, clock }) => {
      const { taskId } = await tasks.createTask({ ttlMs: 1_000 });
      clock.turn(500);
      await tasks.handle(taskId).progress("longer", { ttlMs: 2_000 });
      clock.turn(1_000);
      await tasks.getTask(taskId);
      clock.turn(499);
      await tasks.getTask(taskId);
      clock.turn(1);
      await refuses(() => tasks.getTask(taskId), "ERR_TASK_NOT_FOUND");
    }));

  it("progress() lowers a TTL, and may end the task by that", () =>
    inWorld({}, async ({ tasks, clock }) => {
      const { taskId } = await tasks.createTask({ ttlMs: 9_000 });
      const { signal, progress } = tasks.handle(taskId);
      clock.turn(700);
      await progress("shorter", { ttlMs: 600 });
      await refuses(() => tasks.getTask(taskId), "ERR_TASK_NOT_FOUND");
      assert.ok(await aborted(signal) instanceof TaskNotFoundError);
    }));

  it("progress() with a TTL of null keeps the task for ever", () =>
    inWorld({}, async ({ tasks, clock }) => {
      const { taskId } = await tasks.createTask({ ttlMs: 1_000 });
      await tasks.handle(taskId).progress("for ever", { ttlMs: null });
      clock.turn(50_000 * DAY);
      assert.equal((await tasks.getTask(taskId)).ttlMs, null);
    }));

  it("a TTL counts after the end too", () =>
    inWorld({}, async ({ tasks, clock }) => {
      const { taskId } = await tasks.createTask({ ttlMs: 5_000 });
      await tasks.handle(taskId).complete({});
      clock.turn(4_999);
      await tasks.getTask(taskId);
      clock.turn(1);
      await refuses(() => tasks.getTask(taskId), "ERR_TASK_NOT_FOUND");
    }));

  it("the engine's clock decides, whatever the store's own says", () =>
    inWorld({}, async ({ tasks, store, clock }) => {
      clock.time = Date.parse("1999-12-31T23:59:00.000Z");
      const { taskId } = await tasks.createTask({ ttlMs: 60_000 });
      await tasks.getTask(taskId);
      await tasks.handle(taskId).progress("here");
      assert.equal(await store.get(taskId), undefined);
    }));

  for (const days of [30, 10_000]) {
    it(`a TTL of ${days} days does not fire early`, () =>
      inWorld({}, async ({ tasks, clock }) => {
        const { taskId } = await tasks.createTask({ ttlMs: days * DAY });
        const { signal } = tasks.handle(taskId);
        let ended = false;
        tasks.onTaskChanged(taskId, () => {});
        signal.addEventListener("abort", () => ended = true);
        await new Promise((resolve) => setTimeout(resolve, 30));
        assert.equal(ended, false);
        clock.turn(days * DAY - 1);
        await tasks.getTask(taskId);
        assert.equal(signal.aborted, false);
      }));
  }

  it("a TTL that passes while a worker runs aborts its signal and its wait", () =>
    inWorld({}, async ({ tasks, operator, clock }) => {
      const { taskId } = await tasks.createTask({ ttlMs: 60 });
      let reason: unknown;
      let refusal: unknown;
      await tasks.run(taskId, async (task) => {
        const answers = task.requestInput({ name: ask() });
        while ((await tasks.getTask(taskId)).status !== "input_required") {
          await settled();
        }
        clock.turn(60);
        reason = await aborted(task.signal);
        refusal = await answers.catch((error) => error);
        throw new Error("no time left");
      });
      assert.ok(reason instanceof TaskNotFoundError);
      assert.equal(refusal, reason);
      assert.deepEqual(operator.events.map(({ type }) => type), [
        "worker_error",
      ]);
    }));

  it("a TTL that passes while the store cannot be read aborts the signal later", () =>
    inWorld({}, async ({ tasks, store, clock, operator }) => {
      const { taskId } = await tasks.createTask({ ttlMs: 15 });
      const { signal } = tasks.handle(taskId);
      await settled();
      clock.turn(15);
      store.failures.set("get", new Error("EIO"));
      await operator.next("error");
      assert.equal(signal.aborted, false);
      store.failures.clear();
      assert.ok(await aborted(signal) instanceof TaskNotFoundError);
    }));

  it("a TTL that progress() raised leaves the signal alone until then", () =>
    inWorld({}, async ({ tasks, clock }) => {
      const { taskId } = await tasks.createTask({ ttlMs: 40 });
      const task = tasks.handle(taskId);
      await settled();
      await task.progress("longer", { ttlMs: 150 });
      clock.turn(149);
      // The timers of both have looked at the clock by then.
      await new Promise((resolve) => setTimeout(resolve, 170));
      assert.equal(task.signal.aborted, false);
      clock.turn(1);
      assert.ok(await aborted(task.signal) instanceof TaskNotFoundError);
    }));

  it("a read that was under way when the TTL was lowered does not undo that", () =>
    inWorld({}, async ({ tasks, store, clock }) => {
      let changed = () => {};
      store.watch = (_, report) => {
        changed = report;
        return () => {};
      };
      const { taskId } = await tasks.createTask({ ttlMs: 60_000 });
      const task = tasks.handle(taskId);
      await task.progress("on");
      const stale = await store.raw(taskId);
      await task.progress("shorter", { ttlMs: 200 });
      await settled();
      const real = store.get;
      let reads = 0;
      store.get = () => {
        reads++;
        return Promise.resolve(stale);
      };
      await tasks.getTask(taskId);
      changed();
      await settled();
      store.get = real;
      assert.equal(reads, 2);
      clock.turn(200);
      assert.ok(await aborted(task.signal) instanceof TaskNotFoundError);
    }));

  it("a deadline looks at the clock at least once a minute", () =>
    inWorld({}, async ({ tasks }) => {
      const real = globalThis.setTimeout;
      const delays: unknown[] = [];
      globalThis.setTimeout = ((...args: Parameters<typeof real>) => {
        delays.push(args[1]);
        return real(...args);
      }) as typeof real;
      try {
        const { taskId } = await tasks.createTask({ ttlMs: DAY });
        await tasks.handle(taskId).progress("on");
      } finally {
        globalThis.setTimeout = real;
      }
      assert.deepEqual(delays, [60_000]);
    }));

  it("a clock that breaks for a moment is reported and asked again", () => {
    let broken = false;
    const started = Date.now();
    const now = () => broken ? NaN : started;
    return inWorld({ now }, async ({ tasks, operator }) => {
      const { taskId } = await tasks.createTask({ ttlMs: 25 });
      tasks.handle(taskId);
      await settled();
      broken = true;
      const event = await operator.next("error");
      broken = false;
      assert.equal(event.operation, "read the clock");
      assert.equal(event.taskId, taskId);
    });
  });
});

describe("I4 time is monotonic", () => {
  it("lastUpdatedAt follows the clock", () =>
    inWorld({}, async ({ tasks, clock }) => {
      const { taskId, createdAt } = await tasks.createTask();
      clock.turn(1_500);
      await tasks.handle(taskId).progress("on");
      const shown = await tasks.getTask(taskId);
      assert.equal(shown.createdAt, createdAt);
      assert.equal(shown.lastUpdatedAt, "2026-08-01T12:00:01.500Z");
    }));

  it("lastUpdatedAt stays when the clock goes back a minute, and goes on with it", () =>
    inWorld({}, async ({ tasks, clock }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      clock.turn(10_000);
      await task.progress("1");
      const at = (await tasks.getTask(taskId)).lastUpdatedAt;
      clock.turn(-60_000);
      await task.progress("2");
      assert.equal((await tasks.getTask(taskId)).lastUpdatedAt, at);
      clock.turn(60_001);
      await task.complete({});
      assert.equal(
        (await tasks.getTask(taskId)).lastUpdatedAt,
        "2026-08-01T12:00:10.001Z",
      );
    }));

  it("a jump of a minute ahead ends what ends by then, and a jump back keeps what is there", () =>
    inWorld({}, async ({ tasks, clock }) => {
      const short = await tasks.createTask({ ttlMs: 60_000 });
      const long = await tasks.createTask({ ttlMs: 60_001 });
      clock.turn(60_000);
      await refuses(() => tasks.getTask(short.taskId), "ERR_TASK_NOT_FOUND");
      await tasks.getTask(long.taskId);
      clock.turn(-120_000);
      await tasks.getTask(long.taskId);
      await tasks.handle(long.taskId).complete({});
    }));

  it("a cancel and the taking of answers leave lastUpdatedAt alone", () =>
    inWorld({}, async (world) => {
      const { tasks, clock } = world;
      const { taskId } = await tasks.createTask();
      const restarted = another(world);
      tasks.handle(taskId).requestInput({ name: ask() });
      await tasks.updateTask(taskId, { name: named("Ada") });
      const { lastUpdatedAt } = await tasks.getTask(taskId);
      clock.turn(3_000);
      assert.deepEqual(await restarted.handle(taskId).resumeInput(), {
        name: named("Ada"),
      });
      await restarted.cancelTask(taskId);
      assert.equal((await tasks.getTask(taskId)).lastUpdatedAt, lastUpdatedAt);
      await restarted.close();
    }));
});
