/** The engine over a store that has `head()` and `commit()`, or one of them. */
import assert from "node:assert/strict";
import {
  type GetTaskResult,
  MemoryTaskStore,
  type TaskHead,
  TaskLifecycle,
  type TaskPatch,
  type TaskStore,
} from "../../mod.ts";
import { describe, it } from "../support/runner.ts";
import {
  aborted,
  another,
  ask,
  inWorld,
  named,
  ProbeStore,
  refuses,
  settled,
  type World,
} from "../support/engine_world.ts";

/** Counts the short cuts apart; `held` keeps the answer of a commit back. */
class ShortStore extends ProbeStore {
  heads = 0;
  commits = 0;
  held: Promise<void> | undefined;

  override async head(
    taskId: string,
    now?: number,
  ): Promise<TaskHead | undefined> {
    this.heads++;
    return await MemoryTaskStore.prototype.head.call(this, taskId, now);
  }

  override async commit(
    taskId: string,
    patch: TaskPatch,
    version: number,
    now?: number,
  ): Promise<number> {
    this.commits++;
    const { commit } = MemoryTaskStore.prototype;
    const answer = await commit.call(this, taskId, patch, version, now);
    await this.held;
    return answer;
  }

  /** How often payloads were read, by a read or after a write. */
  get wholes(): number {
    return this.calls.get + this.calls.update;
  }
}

const inShortWorld = (
  body: (world: World & { readonly store: ShortStore }) => Promise<void>,
  observeIntervalMs: number | null = null,
): Promise<void> => {
  const store = new ShortStore();
  return inWorld(
    { store, observeIntervalMs },
    (world) => body({ ...world, store }),
  );
};

/** A task with an open request and an answer. */
async function withInput({ tasks }: World): Promise<string> {
  const { taskId } = await tasks.createTask();
  void tasks.handle(taskId).requestInput({ open: ask(), answered: ask() });
  await tasks.updateTask(taskId, { answered: named("Ada") });
  return taskId;
}

function listen({ tasks }: Pick<World, "tasks">, taskId: string) {
  const told: GetTaskResult[] = [];
  tasks.onTaskChanged(taskId, (task) => void told.push(task));
  return told;
}

describe("a store with head() and commit()", () => {
  it("reads no payload for a progress, a cancel, an end and the method", () =>
    inShortWorld(async (world) => {
      const { tasks, store } = world;
      const ends = [
        (taskId: string) => tasks.handle(taskId).complete({ content: [] }),
        (taskId: string) =>
          tasks.handle(taskId).fail({ code: -32000, message: "no" }),
        (taskId: string) => tasks.handle(taskId).cancelled("stopped"),
      ];
      for (const [index, end] of ends.entries()) {
        const taskId = await withInput(world);
        await settled();
        const { wholes, commits } = store;
        await tasks.handle(taskId).progress("1 of 2", { ttlMs: 77_000 });
        await tasks.cancelTask(taskId);
        assert.equal(await tasks.methodOf(taskId), "tools/call");
        await end(taskId);
        assert.deepEqual(
          [store.wholes, store.commits],
          [wholes, commits + 3],
          `end ${index}`,
        );
        const { version, inputRequests, inputResponses, ttlMs } =
          (await store.raw(taskId))!;
        assert.deepEqual([version, ttlMs], [6, 77_000]);
        assert.deepEqual([inputRequests, inputResponses], [
          undefined,
          undefined,
        ]);
      }
    }));

  it("reads no payload to start a worker, nor to observe a task that stays as it is", () =>
    inShortWorld(async (world) => {
      const { tasks, store } = world;
      const { taskId } = await tasks.createTask();
      const over = Promise.withResolvers<void>();
      const run = tasks.run(taskId, async () => {
        await over.promise;
        return { content: [] };
      });
      const before = store.heads;
      while (store.heads < before + 5) await settled();
      assert.equal(store.wholes, 0);
      over.resolve();
      await run;
      assert.equal((await store.raw(taskId))?.status, "completed");
      assert.equal(store.wholes, 0);
    }, 2));

  it("reads the answers that another has taken, for whom they are for", () =>
    inShortWorld(async (world) => {
      const { tasks, store } = world;
      const { taskId } = await tasks.createTask();
      const answers = tasks.handle(taskId).requestInput({ name: ask() });
      await settled();
      const other = another(world);
      await other.updateTask(taskId, { name: named("Ada") });
      assert.deepEqual(await answers, { name: named("Ada") });
      await other.close();
      assert.ok(store.heads > 0);
    }, 2));

  it("learns by the head of a cancel and of an end that another wrote", () =>
    inShortWorld(async (world) => {
      const { tasks, store } = world;
      const other = another(world);
      const one = await tasks.createTask();
      const two = await tasks.createTask();
      const signals = [one, two].map(({ taskId }) =>
        tasks.handle(taskId).signal
      );
      await settled();
      await other.cancelTask(one.taskId);
      await other.handle(two.taskId).complete({ content: [] });
      await settled();
      const wholes = store.wholes;
      const codes = await Promise.all(signals.map(aborted)) as {
        code: string;
      }[];
      assert.deepEqual(codes.map(({ code }) => code), [
        "ERR_TASK_CANCELLED",
        "ERR_TASK_TERMINAL",
      ]);
      assert.equal(store.wholes, wholes);
      await other.close();
    }, 2));
});

describe("a write of a task that was seen before", () => {
  it("does not read it again, and goes by what others wrote all the same", () =>
    inShortWorld(async (world) => {
      const { tasks, store, clock } = world;
      const other = another(world);
      // So that the write itself has to find it out.
      Object.assign(store, { watch: undefined });
      const { taskId } = await tasks.createTask({ ttlMs: 5_000 });
      const task = tasks.handle(taskId);
      await task.progress("seen");
      const { heads } = store;
      for (let i = 0; i < 5; i++) await task.progress(`${i}`);
      assert.deepEqual([store.heads, store.wholes], [heads, 0]);
      await other.cancelTask(taskId);
      await task.progress("after the cancel");
      assert.equal(
        (task.signal.reason as { code: string }).code,
        "ERR_TASK_CANCELLED",
      );
      assert.equal(store.heads, heads + 1);
      await other.handle(taskId).progress("by the other", { ttlMs: 9_000 });
      clock.turn(6_000);
      await task.progress("in the time that the other gave");
      const { statusMessage, version } = (await store.raw(taskId))!;
      assert.deepEqual([statusMessage, version], [
        "in the time that the other gave",
        11,
      ]);
      await other.handle(taskId).complete({ content: [] });
      await refuses(() => task.progress("late"), "ERR_TASK_TERMINAL");
      await other.close();
    }));

  it("is read where there is nothing to write: no store says then that the task has expired", () =>
    inShortWorld(async ({ tasks, store, clock }) => {
      const { taskId } = await tasks.createTask({ ttlMs: 50_000 });
      tasks.handle(taskId);
      await tasks.cancelTask(taskId);
      const { commits } = store;
      await tasks.cancelTask(taskId);
      clock.turn(50_000);
      await refuses(() => tasks.cancelTask(taskId), "ERR_TASK_NOT_FOUND");
      assert.equal(store.commits, commits);
    }));

  it("reads it first where the store cannot tell what is old", async () => {
    const store = new ShortStore({ compareAndSwap: false });
    await inWorld({ store, observeIntervalMs: null }, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const task = tasks.handle(taskId);
      await task.progress("seen");
      const { heads } = store;
      await task.progress("again");
      assert.equal(store.heads, heads + 1);
    });
  });
});

describe("a task that was just created, over a store for one process", () => {
  const inOwnWorld = (
    body: (world: World & { store: ShortStore }) => Promise<void>,
  ) => {
    const store = new ShortStore({ writers: "exclusive" });
    return inWorld(
      { store, now: Date.now },
      (world) => body({ ...world, store }),
    );
  };

  it("begins to be worked on without a look at it", () =>
    inOwnWorld(async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      const told = listen({ tasks }, taskId);
      const task = tasks.handle(taskId);
      await task.progress("on");
      assert.equal((await tasks.getTask(taskId)).statusMessage, "on");
      await task.complete({ content: [] });
      await settled();
      assert.deepEqual([store.heads, store.wholes, store.commits], [0, 1, 2]);
      assert.deepEqual(told.map(({ status }) => status), [
        "working",
        "completed",
      ]);
    }));

  it("ends at the end of its TTL", () =>
    inOwnWorld(async ({ tasks }) => {
      const { taskId } = await tasks.createTask({ ttlMs: 20 });
      const { signal } = tasks.handle(taskId);
      const reason = await aborted(signal) as { code: string };
      assert.equal(reason.code, "ERR_TASK_NOT_FOUND");
    }));

  it("is looked at where this process has changed it since", () =>
    inOwnWorld(async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      await tasks.cancelTask(taskId);
      const { heads } = store;
      const { signal } = tasks.handle(taskId);
      const reason = await aborted(signal) as { code: string };
      assert.equal(reason.code, "ERR_TASK_CANCELLED");
      assert.equal(store.heads, heads + 1);
    }));

  it("is looked at where many were created since", () =>
    inOwnWorld(async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      for (let i = 0; i < 256; i++) await tasks.createTask();
      tasks.handle(taskId);
      await settled();
      assert.equal(store.heads, 1);
    }));

  it("is looked at where others may have changed it", () =>
    inShortWorld(async (world) => {
      const { tasks } = world;
      const other = another(world);
      const { taskId } = await tasks.createTask();
      await other.cancelTask(taskId);
      const reason = await aborted(tasks.handle(taskId).signal);
      assert.equal((reason as { code: string }).code, "ERR_TASK_CANCELLED");
      await other.close();
    }));
});

describe("a listener over a store with head() and commit()", () => {
  it("hears of each commit as getTask() shows it, open requests and result included", () =>
    inShortWorld(async (world) => {
      const { tasks } = world;
      const taskId = await withInput(world);
      const told = listen(world, taskId);
      await settled();
      const task = tasks.handle(taskId);
      const shown: GetTaskResult[] = [];
      for (
        const step of [
          () => task.progress("asked"),
          () => tasks.updateTask(taskId, { open: named("Bo") }),
          () => task.progress("half"),
          () => task.complete({ content: [], rows: [1] }),
        ]
      ) {
        await step();
        shown.push(await tasks.getTask(taskId));
      }
      await settled();
      assert.equal(shown[0].status, "input_required");
      assert.deepEqual(told, shown);
    }));

  it("hears of the change of another, and of no cancel, on a task whose head alone was seen", () =>
    inShortWorld(async (world) => {
      const { tasks } = world;
      const first = another(world);
      const { taskId } = await tasks.createTask();
      void first.handle(taskId).requestInput({ a: ask(), b: ask() });
      await settled();
      await tasks.handle(taskId).progress("seen by its head");
      const told = listen(world, taskId);
      await settled();
      // In the same millisecond, so that only the open requests differ.
      await first.updateTask(taskId, { a: named("Ada") });
      const shown = await tasks.getTask(taskId);
      await settled();
      assert.deepEqual(told, [shown]);
      await first.cancelTask(taskId);
      await tasks.getTask(taskId);
      await settled();
      assert.equal(told.length, 1);
      await first.close();
    }));

  it("that comes while a change is being written hears of it, also where it cannot be read at once", () =>
    inShortWorld(async (world) => {
      const { tasks, store, operator } = world;
      for (const fails of [false, true]) {
        const taskId = await withInput(world);
        await settled();
        const { promise, resolve } = Promise.withResolvers<void>();
        store.held = promise;
        const progress = tasks.handle(taskId).progress("under way");
        await settled();
        store.held = undefined;
        if (fails) store.failures.set("get", new Error("EIO"));
        const told = listen(world, taskId);
        resolve();
        await progress;
        await settled();
        assert.equal(told.length, fails ? 0 : 1);
        assert.equal(operator.events.length > 0, fails);
        store.failures.clear();
        await tasks.getTask(taskId);
        await settled();
        assert.deepEqual(told, [await tasks.getTask(taskId)]);
      }
    }));
});

describe("a store with one short cut", () => {
  const stores: Record<string, (store: MemoryTaskStore) => Partial<TaskStore>> =
    {
      "head() alone": (store) => ({ head: store.head.bind(store) }),
      "commit() alone": (store) => ({ commit: store.commit.bind(store) }),
      "neither": () => ({}),
    };
  for (const [what, shortCuts] of Object.entries(stores)) {
    it(`serves a whole life of a task (${what})`, async () => {
      const memory = new MemoryTaskStore();
      const tasks = new TaskLifecycle({
        store: {
          create: memory.create.bind(memory),
          get: memory.get.bind(memory),
          update: memory.update.bind(memory),
          sweep: memory.sweep.bind(memory),
          close: memory.close.bind(memory),
          ...shortCuts(memory),
        },
        sweepIntervalMs: null,
      });
      const { taskId } = await tasks.createTask();
      const told = listen({ tasks }, taskId);
      const task = tasks.handle(taskId);
      const answers = task.requestInput({ name: ask() });
      await task.progress("asked");
      await tasks.updateTask(taskId, { name: named("Ada") });
      assert.deepEqual(await answers, { name: named("Ada") });
      await tasks.cancelTask(taskId);
      assert.ok(task.signal.aborted);
      await task.complete({ content: [], in: "spite" });
      await settled();
      assert.deepEqual(told.map(({ status }) => status), [
        "input_required",
        "input_required",
        "working",
        "completed",
      ]);
      assert.deepEqual(told[3], await tasks.getTask(taskId));
      assert.equal((await memory.get(taskId))?.version, 6);
      await tasks.close();
    });
  }
});
