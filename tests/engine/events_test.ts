import assert from "node:assert/strict";
import {
  type GetTaskResult,
  MemoryTaskStore,
  type TaskHandle,
} from "../../mod.ts";
import { describe, it } from "../support/runner.ts";
import {
  another,
  ask,
  inWorld,
  named,
  ProbeStore,
  refuses,
  settled,
  throws,
  unchanged,
  type World,
} from "../support/engine_world.ts";

/** Collects what a listener hears. */
function heard({ tasks }: Pick<World, "tasks">, taskId: string): {
  readonly told: GetTaskResult[];
  readonly stop: () => void;
} {
  const told: GetTaskResult[] = [];
  return { told, stop: tasks.onTaskChanged(taskId, (task) => told.push(task)) };
}

describe("onTaskChanged()", () => {
  it("tells each commit in order, as getTask() shows it at that moment", () =>
    inWorld({}, async (world) => {
      const { tasks, clock } = world;
      const { taskId } = await tasks.createTask({ statusMessage: "start" });
      const { told } = heard(world, taskId);
      const task = tasks.handle(taskId);
      const shown: GetTaskResult[] = [];
      const step = async (call: () => Promise<unknown>) => {
        clock.turn(7);
        await call();
        shown.push(await tasks.getTask(taskId));
      };
      await step(() => task.progress("1 of 2", { pollIntervalMs: 350 }));
      await step(() => {
        task.requestInput({ a: ask("A?"), b: ask("B?") });
        return task.progress("asking", { ttlMs: 99_000 });
      });
      await step(() => tasks.updateTask(taskId, { a: named("A") }));
      await step(() => tasks.updateTask(taskId, { b: named("B") }));
      await step(() => task.progress("same"));
      await step(() => task.progress("same"));
      await step(() => task.complete({ pages: [1, 2] }));
      const [asked] = told.splice(1, 1);
      assert.deepEqual(told, shown);
      assert.equal(asked.status, "input_required");
      assert.equal(asked.statusMessage, "1 of 2");
    }));

  it("tells what was read, whatever the reader does to its own", () => {
    class LateStore extends ProbeStore {
      answer = Promise.resolve();
      override async update(...args: Parameters<ProbeStore["update"]>) {
        const record = await super.update(...args);
        await this.answer;
        return record;
      }
    }
    const store = new LateStore();
    return inWorld({ store }, async (world) => {
      const { tasks } = world;
      const { taskId } = await tasks.createTask();
      const { told } = heard(world, taskId);
      await settled();
      const { promise, resolve } = Promise.withResolvers<void>();
      store.answer = promise;
      const progress = tasks.handle(taskId).progress("written, not answered");
      await settled();
      const { version } = (await store.raw(taskId))!;
      const end = { status: "completed", result: { rows: [1] } } as const;
      const { update } = MemoryTaskStore.prototype;
      await update.call(store, taskId, end, version, world.clock.now());
      const mine = await tasks.getTask(taskId) as { result?: unknown };
      (mine.result as { rows: number[] }).rows.push(2);
      resolve();
      await progress;
      await settled();
      const shown = await tasks.getTask(taskId);
      assert.deepEqual(told.at(-1), shown);
      assert.equal(told.length, 2);
    });
  });

  it("calls onEnd once, after the last change was heard", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const heard: string[] = [];
      tasks.onTaskChanged(taskId, ({ status }) => void heard.push(status), {
        onEnd: () => void heard.push("end"),
      });
      await tasks.handle(taskId).progress("half");
      await tasks.handle(taskId).complete({});
      await tasks.close();
      await settled();
      assert.deepEqual(heard, ["working", "completed", "end"]);
    }));

  it("calls onEnd at the end of the TTL and on close(), not after unsubscribing", () =>
    inWorld({}, async ({ tasks, clock, operator }) => {
      const heard: string[] = [];
      const listen = (name: string, taskId: string) =>
        tasks.onTaskChanged(taskId, () => {}, {
          onEnd() {
            heard.push(name);
            throw new Error(`${name} throws`);
          },
        });
      const { taskId: short } = await tasks.createTask({ ttlMs: 900 });
      const { taskId: long } = await tasks.createTask({ ttlMs: 90_000 });
      listen("short", short);
      listen("long", long);
      listen("unsubscribed", long)();
      clock.turn(900);
      await refuses(
        () => tasks.handle(short).progress(""),
        "ERR_TASK_NOT_FOUND",
      );
      await settled();
      assert.deepEqual(heard, ["short"]);
      await tasks.close();
      await settled();
      assert.deepEqual(heard, ["short", "long"]);
      const errors = operator.events.map((event) =>
        "error" in event && `${event.error}`
      );
      assert.deepEqual(errors, ["Error: short throws", "Error: long throws"]);
    }));

  it("refuses an onEnd that is no function, and listens to nothing", () =>
    inWorld({ limits: { maxListeners: 1 } }, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      throws(
        () => tasks.onTaskChanged(taskId, () => {}, { onEnd: 5 as never }),
        "ERR_INVALID_ARGUMENT",
        /onEnd is 5, a function is needed/,
      );
      tasks.onTaskChanged(taskId, () => {})();
    }));

  it("tells each of two equal reports in one millisecond", () =>
    inWorld({}, async (world) => {
      const { taskId } = await world.tasks.createTask();
      const { told } = heard(world, taskId);
      const task = world.tasks.handle(taskId);
      await Promise.all([task.progress("same"), task.progress("same")]);
      await settled();
      assert.equal(told.length, 2);
    }));

  it("is silent about reads, a cancel, the taking of answers and updates that change nothing", () =>
    inWorld({}, async (world) => {
      const { tasks } = world;
      const dead = another(world);
      const { taskId } = await dead.createTask();
      const asking = dead.handle(taskId);
      asking.requestInput({ name: ask() });
      await asking.progress("asked");
      await tasks.updateTask(taskId, { name: named("Ada") });
      await dead.close();

      const { told } = heard(world, taskId);
      const task = tasks.handle(taskId);
      await tasks.getTask(taskId);
      assert.deepEqual(await task.resumeInput(), { name: named("Ada") });
      await tasks.updateTask(taskId, { name: named("Eve"), unknown: null });
      await tasks.cancelTask(taskId);
      await refuses(
        () => task.requestInput({ late: ask() }),
        "ERR_TASK_CANCELLED",
      );
      await settled();
      assert.equal(told.length, 0);
      await task.progress("heard");
      await settled();
      assert.deepEqual(told.map((t) => t.statusMessage), ["heard"]);
    }));

  it("is silent about a write that failed and one that lost its race until it wins", () =>
    inWorld({}, async (world) => {
      const { tasks, store } = world;
      const { taskId } = await tasks.createTask();
      const { told } = heard(world, taskId);
      const task = tasks.handle(taskId);
      store.failures.set("update", new Error("down"));
      await refuses(() => task.progress("lost"), "ERR_STORE_FAILED");
      store.failures.clear();
      const release = store.hold("update");
      const { update } = store.calls;
      const mine = task.progress("mine");
      while (store.calls.update === update) await settled();
      store.hold("update")(); // Those that come now pass the one that waits.
      const other = another(world);
      await other.handle(taskId).progress("theirs");
      release();
      await mine;
      await settled();
      await other.close();
      assert.deepEqual(told.map(({ statusMessage }) => statusMessage), [
        "theirs",
        "mine",
      ]);
    }));

  it("is told after the commit, and not before the writer's call returns to it", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const order: string[] = [];
      tasks.onTaskChanged(taskId, () => order.push("told"));
      const writing = tasks.handle(taskId).progress("on");
      order.push("called");
      await writing;
      await settled();
      assert.deepEqual(order, ["called", "told"]);
    }));

  const ends: Record<string, (task: TaskHandle) => Promise<void>> = {
    completed: (task) => task.complete({}),
    failed: (task) => task.fail({ code: -32_000, message: "m" }),
    cancelled: (task) => task.cancelled(),
  };
  for (const [status, end] of Object.entries(ends)) {
    it(`ends after it has told that the task is ${status}`, () =>
      inWorld({ limits: { maxListeners: 1 } }, async (world) => {
        const { tasks } = world;
        const { taskId } = await tasks.createTask();
        const { told } = heard(world, taskId);
        await end(tasks.handle(taskId));
        await settled();
        assert.deepEqual(told.map((task) => task.status), [status]);
        // The place is free again, and a task that has ended tells it once.
        const { told: late } = heard(world, taskId);
        await settled();
        assert.deepEqual(late, [await tasks.getTask(taskId)]);
        heard(world, taskId);
      }));
  }

  it("gives each listener a snapshot of its own", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      // deno-lint-ignore no-explicit-any -- written to, as a listener might
      const told: any[] = [];
      for (let i = 0; i < 2; i++) {
        tasks.onTaskChanged(taskId, (task) => {
          told.push(task);
          // deno-lint-ignore no-explicit-any -- the same
          (task as any).result.list.push("mine");
        });
      }
      await tasks.handle(taskId).complete({ list: ["first"] });
      await settled();
      assert.deepEqual(told.map((task) => task.result.list), [
        ["first", "mine"],
        ["first", "mine"],
      ]);
      const shown = await tasks.getTask(taskId);
      assert.deepEqual(shown.status === "completed" && shown.result, {
        list: ["first"],
      });
    }));

  it("that throws or rejects hurts nobody, and the operator hears of it", () =>
    inWorld({}, async (world) => {
      const { tasks, operator } = world;
      const { taskId } = await tasks.createTask();
      const thrown = new Error("thrown");
      const rejected = new Error("rejected");
      tasks.onTaskChanged(taskId, () => {
        throw thrown;
      });
      tasks.onTaskChanged(taskId, () => Promise.reject(rejected));
      const { told } = heard(world, taskId);
      const task = tasks.handle(taskId);
      await task.progress("on");
      await task.complete({});
      await settled();
      assert.deepEqual(told.map(({ status }) => status), [
        "working",
        "completed",
      ]);
      assert.deepEqual(
        operator.events.map((event) =>
          event.type === "error" && [
            event.operation,
            event.taskId,
            (event.error as Error).message,
          ]
        ),
        ["thrown", "rejected", "thrown", "rejected"].map((message) => [
          "onTaskChanged listener",
          taskId,
          message,
        ]),
      );
    }));

  it("hears nothing after it was unsubscribed, not even what was on its way", () =>
    inWorld({}, async (world) => {
      const { tasks } = world;
      const { taskId } = await tasks.createTask();
      const { told, stop } = heard(world, taskId);
      const { told: other } = heard(world, taskId);
      const task = tasks.handle(taskId);
      await task.progress("1");
      stop();
      stop();
      await task.progress("2");
      await settled();
      assert.equal(told.length, 1);
      assert.equal(other.length, 2);

      const stopInside = tasks.onTaskChanged(taskId, () => {
        stopInside();
        stopLast();
      });
      const last: unknown[] = [];
      const stopLast = tasks.onTaskChanged(taskId, (task) => last.push(task));
      await task.progress("3");
      await settled();
      assert.deepEqual(last, []);
    }));

  it("that is added by a listener hears of later changes alone", () =>
    inWorld({}, async (world) => {
      const { tasks } = world;
      const { taskId } = await tasks.createTask();
      let added: ReturnType<typeof heard> | undefined;
      tasks.onTaskChanged(taskId, () => {
        added ??= heard(world, taskId);
      });
      const task = tasks.handle(taskId);
      await task.progress("1");
      await task.progress("2");
      await settled();
      assert.deepEqual(added?.told.map((t) => t.statusMessage), ["2"]);
    }));

  it("of an unknown task ends without a word", () =>
    inWorld({ limits: { maxListeners: 1 } }, async (world) => {
      const { told } = heard(world, "unknown");
      await settled();
      heard(world, "unknown as well");
      await settled();
      assert.deepEqual(told, []);
    }));

  it("ends without a word when the TTL passes", () =>
    inWorld(
      { now: Date.now, limits: { maxListeners: 1 } },
      async (world) => {
        const { tasks } = world;
        const { taskId } = await tasks.createTask({ ttlMs: 30 });
        const { told } = heard(world, taskId);
        const { signal } = tasks.handle(taskId);
        await new Promise((resolve) =>
          signal.addEventListener("abort", resolve)
        );
        const next = await tasks.createTask();
        heard(world, next.taskId);
        assert.deepEqual(told, []);
      },
    ));

  it("ends on close(), after what had been committed", () =>
    inWorld({}, async (world) => {
      const { tasks } = world;
      const { taskId } = await tasks.createTask();
      const { told } = heard(world, taskId);
      await tasks.handle(taskId).progress("last words");
      await tasks.close();
      await settled();
      assert.deepEqual(told.map((task) => task.statusMessage), ["last words"]);
    }));

  it("is refused after close()", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      await tasks.close();
      await refuses(
        // deno-lint-ignore require-await -- it throws
        async () => tasks.onTaskChanged(taskId, () => {}),
        "ERR_LIFECYCLE_CLOSED",
      );
    }));

  it("tells a commit that a read had shown before its writer had its answer", () =>
    inWorld({}, async (world) => {
      const { tasks, store } = world;
      const { taskId } = await tasks.createTask();
      const update = store.update.bind(store);
      store.update = async (...args) => {
        const record = await update(...args);
        // The subscription's first look and a client's read come in between.
        heardFirst = heard(world, taskId);
        await tasks.getTask(taskId);
        await settled();
        return record;
      };
      let heardFirst: ReturnType<typeof heard> | undefined;
      await tasks.handle(taskId).progress("seen early");
      await settled();
      assert.deepEqual(heardFirst?.told.map((t) => t.statusMessage), [
        "seen early",
      ]);
    }));

  it("never goes back to an older version that a slow read brings", () =>
    inWorld({}, async (world) => {
      const { tasks, store } = world;
      const { taskId } = await tasks.createTask();
      const { told } = heard(world, taskId);
      const task = tasks.handle(taskId);
      await task.progress("1");
      const old = await store.raw(taskId);
      await task.progress("2");
      const get = store.get;
      store.get = () => Promise.resolve(old);
      assert.equal((await tasks.getTask(taskId)).statusMessage, "1");
      store.get = get;
      await task.progress("3");
      assert.deepEqual(told.map((t) => t.statusMessage), ["1", "2", "3"]);
    }));

  it("writes nothing by listening", () =>
    inWorld({}, async (world) => {
      const { taskId } = await world.tasks.createTask();
      await unchanged(world.store, taskId, async () => {
        heard(world, taskId).stop();
        heard(world, taskId);
        await settled();
      });
    }));
});
