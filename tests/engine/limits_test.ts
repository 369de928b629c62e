import assert from "node:assert/strict";
import {
  hasErrorCode,
  type LimitExceededError,
  type TaskEntryTooLargeError,
  TaskLifecycle,
  type TaskLimits,
} from "../../mod.ts";
import { jsonBytes } from "../../src/model/json.ts";
import { describe, it } from "../support/runner.ts";
import {
  ask,
  inWorld,
  named,
  ProbeStore,
  refuses,
  throws,
  unchanged,
  type World,
} from "../support/engine_world.ts";

/** A world with one limit that differs. */
const limited = (
  limits: Partial<TaskLimits>,
  body: (world: World) => Promise<void>,
) => inWorld({ limits }, body);

/** Checks that a limit stops a call, and is named with its value. */
async function stops(
  name: keyof TaskLimits,
  maximum: number,
  call: () => Promise<unknown>,
): Promise<void> {
  const error = await refuses(
    call,
    "ERR_LIMIT_EXCEEDED",
    new RegExp(`: ${name} is ${maximum}$`),
  ) as LimitExceededError;
  assert.equal(error.limit, name);
  assert.equal(error.maximum, maximum);
}

/** Arrays in arrays, as many as asked for, as a member of an object. */
function nested(levels: number): { deep: never } {
  let value: unknown = "core";
  for (let i = 1; i < levels; i++) value = [value];
  return { deep: value as never };
}

describe("I13 nothing unbounded", () => {
  it("maxStatusMessageLength: a message of exactly that length, and one more", () =>
    limited({ maxStatusMessageLength: 12 }, async ({ tasks, store }) => {
      const fits = "x".repeat(12);
      const { taskId } = await tasks.createTask({ statusMessage: fits });
      const task = tasks.handle(taskId);
      await task.progress(fits);
      const calls = [
        () => tasks.createTask({ statusMessage: `${fits}y` }),
        () => task.progress(`${fits}y`),
        () => task.cancelled(`${fits}y`),
      ];
      for (const call of calls) {
        await unchanged(
          store,
          taskId,
          () => stops("maxStatusMessageLength", 12, call),
        );
      }
      assert.equal(store.calls.create, 1);
      await task.cancelled(fits);
    }));

  it("maxStatusMessageLength: a failure's message is cut to it, the error is whole", () =>
    limited({ maxStatusMessageLength: 12 }, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const message = "x".repeat(300);
      await tasks.handle(taskId).fail({ code: -32_001, message });
      const shown = await tasks.getTask(taskId);
      assert.equal(shown.statusMessage, `${"x".repeat(11)}…`);
      assert.equal(shown.status === "failed" && shown.error.message, message);
    }));

  it("maxNameLength: an owner and a method of exactly that length, and one more", () =>
    limited({ maxNameLength: 7 }, async ({ tasks, store }) => {
      const fits = "n".repeat(7);
      await tasks.createTask({ owner: fits, method: fits });
      await stops(
        "maxNameLength",
        7,
        () => tasks.createTask({ owner: `${fits}o` }),
      );
      await stops(
        "maxNameLength",
        7,
        () => tasks.createTask({ method: `${fits}o` }),
      );
      assert.equal(store.calls.create, 1);
    }));

  it("maxTtlMs: a TTL of exactly that, one more, and no end at all", () =>
    limited({ maxTtlMs: 5_000 }, async ({ tasks, store }) => {
      assert.equal((await tasks.createTask()).ttlMs, 5_000);
      const { taskId } = await tasks.createTask({ ttlMs: 5_000 });
      const task = tasks.handle(taskId);
      await task.progress("as long as possible", { ttlMs: 5_000 });
      for (const ttlMs of [5_001, null]) {
        await stops("maxTtlMs", 5_000, () => tasks.createTask({ ttlMs }));
        await unchanged(
          store,
          taskId,
          () => stops("maxTtlMs", 5_000, () => task.progress("m", { ttlMs })),
        );
      }
    }));

  it("maxTtlMs: a default TTL over it is refused", () => {
    throws(
      () =>
        new TaskLifecycle({
          store: new ProbeStore(),
          defaultTtlMs: 6_000,
          limits: { maxTtlMs: 5_000 },
        }),
      "ERR_LIMIT_EXCEEDED",
      /defaultTtlMs: the value is 6000: maxTtlMs is 5000$/,
    );
  });

  it("maxDepth: nesting of exactly that in each way in, and one more", () =>
    limited({ maxDepth: 9 }, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      const roots = (levels: number) => ({
        [`levels ${levels}`]: {
          method: "roots/list" as const,
          params: nested(levels - 1),
        },
      });
      const answer = (levels: number) => ({
        [`levels ${9}`]: { roots: [], ...nested(levels) },
      });
      const error = (levels: number) => ({
        code: -32_000,
        message: "m",
        data: nested(levels - 1),
      });
      await unchanged(store, taskId, async () => {
        await stops("maxDepth", 9, () => task.requestInput(roots(10)));
        await stops("maxDepth", 9, () => task.complete(nested(10)));
        await stops("maxDepth", 9, () => task.fail(error(10)));
      });
      const answers = task.requestInput(roots(9));
      await refuses(
        () => tasks.updateTask(taskId, answer(10)),
        "ERR_INVALID_INPUT_RESPONSE",
        /"levels 9": .*maxDepth is 9/,
      );
      await tasks.updateTask(taskId, answer(9));
      assert.deepEqual(await answers, answer(9));
      await task.complete(nested(9));
      const other = await tasks.createTask();
      await tasks.handle(other.taskId).fail(error(9));
      const shown = await tasks.getTask(taskId);
      assert.deepEqual(
        shown.status === "completed" && shown.result,
        nested(9),
      );
    }));

  it("maxInputKeys: exactly that many over the life of a task, and one more", () =>
    limited({ maxInputKeys: 4 }, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      const first = task.requestInput({ a: ask(), b: ask(), c: ask() });
      await tasks.updateTask(taskId, {
        a: named("A"),
        b: named("B"),
        c: named("C"),
      });
      await first;
      await unchanged(
        store,
        taskId,
        () =>
          stops(
            "maxInputKeys",
            4,
            () => task.requestInput({ d: ask(), e: ask() }),
          ),
      );
      task.requestInput({ d: ask() });
      await stops("maxInputKeys", 4, () => task.requestInput({ e: ask() }));
    }));

  it("maxInputKeyLength: a key of exactly that length, and one more", () =>
    limited({ maxInputKeyLength: 6 }, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      await unchanged(
        store,
        taskId,
        () =>
          stops(
            "maxInputKeyLength",
            6,
            () => task.requestInput({ fine: ask(), seventy: ask() }),
          ),
      );
      const answers = task.requestInput({ sixsix: ask() });
      await tasks.updateTask(taskId, { sixsix: named("Ada") });
      await answers;
    }));

  it("maxWaiters: exactly that many over all tasks, and one more, until one is done", () =>
    limited({ maxWaiters: 3 }, async ({ tasks, store }) => {
      const ids: string[] = [];
      for (let i = 0; i < 4; i++) ids.push((await tasks.createTask()).taskId);
      // All at once, so that none is there yet when the next is looked at.
      const calls = ids.map((id) =>
        tasks.handle(id).requestInput({ a: ask() })
      );
      await stops("maxWaiters", 3, () => calls[3]);
      assert.equal((await store.raw(ids[3]))?.version, 1);
      await tasks.updateTask(ids[1], { a: named("A") });
      assert.deepEqual(await calls[1], { a: named("A") });
      const last = tasks.handle(ids[3]);
      const again = last.requestInput({ a: ask() });
      await stops("maxWaiters", 3, () => last.requestInput({ b: ask() }));
      await tasks.cancelTask(ids[0]);
      await refuses(() => calls[0], "ERR_TASK_CANCELLED");
      last.requestInput({ b: ask() });
      await tasks.updateTask(ids[3], { a: named("A") });
      await again;
    }));

  it("maxListeners: exactly that many over all tasks, and one more, until one is gone", () =>
    limited({ maxListeners: 2 }, async ({ tasks }) => {
      const one = (await tasks.createTask()).taskId;
      const other = (await tasks.createTask()).taskId;
      const full = () =>
        throws(
          () => tasks.onTaskChanged(other, () => {}),
          "ERR_LIMIT_EXCEEDED",
          /^Cannot listen to a task: .+: maxListeners is 2$/,
        );
      const stop = tasks.onTaskChanged(one, () => {});
      tasks.onTaskChanged(other, () => {});
      full();
      stop();
      stop();
      tasks.onTaskChanged(one, () => {});
      full();
      await tasks.handle(one).complete({});
      tasks.onTaskChanged(other, () => {});
      full();
    }));

  it("maxListeners: a listener that leaves inside an abort is counted once", () =>
    limited({ maxListeners: 2 }, async ({ tasks }) => {
      for (let round = 0; round < 3; round++) {
        const { taskId } = await tasks.createTask();
        const { signal } = tasks.handle(taskId);
        const stop = tasks.onTaskChanged(taskId, () => {});
        signal.addEventListener("abort", stop);
        await tasks.cancelTask(taskId);
      }
      const { taskId } = await tasks.createTask();
      tasks.onTaskChanged(taskId, () => {});
      tasks.onTaskChanged(taskId, () => {});
      throws(() => tasks.onTaskChanged(taskId, () => {}), "ERR_LIMIT_EXCEEDED");
    }));

  it("maxTasks: exactly that many, and one more, until one has expired", () =>
    limited({ maxTasks: 2 }, async ({ tasks, clock, store }) => {
      await tasks.createTask({ ttlMs: 1_000, owner: "ada" });
      await tasks.createTask({ ttlMs: 3_000, owner: "bob" });
      clock.turn(999);
      await stops("maxTasks", 2, () => tasks.createTask());
      assert.equal(store.calls.create, 2);
      clock.turn(1);
      await tasks.createTask({ ttlMs: 9_000 });
      await stops("maxTasks", 2, () => tasks.createTask());
    }));

  it("maxTasksPerOwner: exactly that many for each owner, and for nobody", () =>
    limited({ maxTasksPerOwner: 2 }, async ({ tasks, clock }) => {
      for (const owner of ["ada", "bob", undefined]) {
        const init = { ttlMs: 1_000, ...(owner && { owner }) };
        await tasks.createTask(init);
        await tasks.createTask(init);
        await stops("maxTasksPerOwner", 2, () => tasks.createTask(init));
      }
      clock.turn(1_000);
      await tasks.createTask({ owner: "ada" });
    }));

  it("maxTasksPerOwner: an id that exists is not counted twice", () => {
    let id = 0;
    const ids = ["one", "one", "one", "two", "three", "four"];
    return inWorld(
      { limits: { maxTasksPerOwner: 2 }, generateTaskId: () => ids[id++] },
      async ({ tasks, clock }) => {
        await tasks.createTask({ ttlMs: 500 });
        await refuses(() => tasks.createTask(), "ERR_DUPLICATE_TASK_ID");
        await refuses(() => tasks.createTask(), "ERR_DUPLICATE_TASK_ID");
        await tasks.createTask({ ttlMs: 500 });
        clock.turn(500);
        await tasks.createTask();
        await tasks.createTask();
      },
    );
  });

  it("maxRecordBytes: a result that fills the record exactly, and one byte more", () =>
    limited({ maxRecordBytes: 2_000 }, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      const { status: _, ...working } = (await store.raw(taskId))!;
      const end = { ...working, status: "completed", result: { text: "" } };
      const room = 2_000 - jsonBytes(end);
      await unchanged(store, taskId, async () => {
        const error = await refuses(
          () => task.complete({ text: "é".repeat(room / 2) + "xx" }),
          "ERR_ENTRY_TOO_LARGE",
          /it takes 200\d bytes, at most 2000 are allowed/,
        ) as TaskEntryTooLargeError;
        assert.equal(error.maxBytes, 2_000);
      });
      await refuses(
        () => task.complete({ text: "x".repeat(room + 1) }),
        "ERR_ENTRY_TOO_LARGE",
      );
      await task.complete({ text: "x".repeat(room) });
      assert.equal(jsonBytes(await store.raw(taskId)), 2_000);
    }));

  it("maxRecordBytes: what the store says of itself", () =>
    inWorld(
      { store: new ProbeStore({ maxRecordBytes: 1_500 }) },
      async (world) => {
        const { tasks } = world;
        const { taskId } = await tasks.createTask();
        await refuses(
          () => tasks.handle(taskId).complete({ text: "x".repeat(1_500) }),
          "ERR_ENTRY_TOO_LARGE",
          /at most 1500 are allowed/,
        );
        await tasks.handle(taskId).complete({ text: "x".repeat(900) });
      },
    ));

  it("maxRecordBytes: a task that could not end is not created", () =>
    limited({ maxRecordBytes: 900 }, async ({ tasks, store }) => {
      await refuses(
        () => tasks.createTask({ owner: "o".repeat(600) }),
        "ERR_ENTRY_TOO_LARGE",
        /at most 900 are allowed/,
      );
      await refuses(
        () => tasks.createTask({ statusMessage: "m".repeat(800) }),
        "ERR_ENTRY_TOO_LARGE",
      );
      assert.equal(store.calls.create, 0);
      await tasks.createTask({ owner: "o".repeat(200) });
    }));

  it("maxRecordBytes: keys and answers pile up to where fail() still fits", () =>
    limited({ maxRecordBytes: 2_000 }, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask({ owner: "o".repeat(300) });
      const access = { owner: "o".repeat(300) };
      const task = tasks.handle(taskId);
      let keys = 0;
      for (;; keys++) {
        const key = `key-${keys}`.padEnd(90, ".");
        const answers = task.requestInput({ [key]: { method: "roots/list" } });
        try {
          const answer = { [key]: { roots: [] } };
          await tasks.updateTask(taskId, answer, access);
          await answers;
        } catch (error) {
          assert.ok(hasErrorCode(error, "ERR_ENTRY_TOO_LARGE"), `${error}`);
          break;
        }
      }
      assert.ok(keys > 2);
      await tasks.cancelTask(taskId, access);
      await task.fail({ code: -32_000, message: "m".repeat(5_000) });
      assert.ok(jsonBytes(await store.raw(taskId)) <= 2_000);
      assert.equal((await store.raw(taskId))?.usedInputKeys?.length, keys);
    }));
});
