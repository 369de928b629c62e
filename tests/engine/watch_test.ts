import assert from "node:assert/strict";
import {
  MemoryTaskStore,
  TaskCancelled,
  type TaskHead,
  TaskLifecycle,
  type TaskLifecycleOptions,
} from "../../mod.ts";
import { aborted, ask, named, Operator } from "../support/engine_world.ts";
import { describe, it } from "../support/runner.ts";

/** A store whose watch the test has in its hands. */
class WatchedStore extends MemoryTaskStore {
  /** Who watches which task, in the order in which they began. */
  readonly watchers: [taskId: string, changed: () => void][] = [];
  /** How often a head was read. */
  reads = 0;
  /** What `watch()` throws, where it does. */
  failure: unknown;
  /** What reads and writes wait for. */
  gate: Promise<void> = Promise.resolve();

  override watch(taskId: string, changed: () => void): () => void {
    if (this.failure) throw this.failure;
    const entry: [string, () => void] = [taskId, changed];
    this.watchers.push(entry);
    return () => {
      if (this.failure) throw this.failure;
      this.watchers.splice(this.watchers.indexOf(entry), 1);
    };
  }

  override async head(
    ...args: Parameters<MemoryTaskStore["head"]>
  ): Promise<TaskHead | undefined> {
    this.reads++;
    const head = await super.head(...args);
    await this.gate;
    return head;
  }

  override async commit(
    ...args: Parameters<MemoryTaskStore["commit"]>
  ): Promise<number> {
    const version = await super.commit(...args);
    await this.gate;
    return version;
  }
}

/** A lifecycle that learns of others by the store's watch alone. */
function lifecycle(
  store: MemoryTaskStore,
  options: Partial<TaskLifecycleOptions> = {},
): TaskLifecycle {
  return new TaskLifecycle({
    store,
    observeIntervalMs: null,
    sweepIntervalMs: null,
    ...options,
  });
}

/** Lets all that is under way come to its end. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

describe("a store with watch(), under two lifecycles", () => {
  it("makes a cancel known to the one that works", async () => {
    const store = new MemoryTaskStore();
    const [worker, server] = [lifecycle(store), lifecycle(store)];
    const { taskId } = await worker.createTask();
    const { signal } = worker.handle(taskId);
    await settled();
    await server.cancelTask(taskId);
    assert.ok(await aborted(signal) instanceof TaskCancelled);
    await worker.close();
    await server.close();
  });

  it("makes an answer known to the call that waits", async () => {
    const store = new MemoryTaskStore();
    const [worker, server] = [lifecycle(store), lifecycle(store)];
    const { taskId } = await worker.createTask();
    const task = worker.handle(taskId);
    const answers = task.requestInput({ name: ask() });
    await task.progress("asked");
    await settled();
    await server.updateTask(taskId, { name: named("Ada") });
    assert.deepEqual(await answers, { name: named("Ada") });
    await worker.close();
    await server.close();
  });

  it("makes every kind of change known to a listener", async () => {
    const store = new MemoryTaskStore();
    const [worker, server] = [lifecycle(store), lifecycle(store)];
    const { taskId } = await worker.createTask();
    const told: string[] = [];
    server.onTaskChanged(taskId, ({ status, statusMessage }) => {
      told.push(`${status} ${statusMessage}`);
    });
    await settled();
    const task = worker.handle(taskId);
    await task.progress("half");
    await settled();
    await task.complete({ rows: [7] });
    await settled();
    assert.deepEqual(told, ["working half", "completed half"]);
    await worker.close();
    await server.close();
  });
});

describe("the watch of a live task", () => {
  it("is one for all that a process has of the task, and ends with it", async () => {
    const store = new WatchedStore();
    const tasks = lifecycle(store);
    const { taskId } = await tasks.createTask();
    const { taskId: second } = await tasks.createTask();
    assert.deepEqual(store.watchers, []);
    const task = tasks.handle(taskId);
    tasks.handle(taskId);
    tasks.onTaskChanged(taskId, () => {});
    const stop = tasks.onTaskChanged(second, () => {});
    const watched = () => store.watchers.map(([taskId]) => taskId);
    assert.deepEqual(watched(), [taskId, second]);
    stop();
    assert.deepEqual(watched(), [taskId]);
    await task.complete({});
    assert.deepEqual(watched(), []);
    tasks.handle((await tasks.createTask()).taskId);
    assert.equal(watched().length, 1);
    await tasks.close();
    assert.deepEqual(watched(), []);
  });

  it("reads once for a change, and once more for all that come meanwhile", async () => {
    const store = new WatchedStore();
    const tasks = lifecycle(store);
    const { taskId } = await tasks.createTask();
    tasks.handle(taskId);
    await settled();
    const [[, changed]] = store.watchers;
    const before = store.reads;
    const { promise, resolve } = Promise.withResolvers<void>();
    store.gate = promise;
    for (let i = 0; i < 25; i++) changed();
    await settled();
    assert.equal(store.reads, before + 1);
    resolve();
    await settled();
    assert.equal(store.reads, before + 2);
    changed();
    await settled();
    assert.equal(store.reads, before + 3);
    await tasks.close();
  });

  it("reads nothing while this process writes the task itself", async () => {
    const store = new WatchedStore();
    const tasks = lifecycle(store);
    const { taskId } = await tasks.createTask();
    const task = tasks.handle(taskId);
    await settled();
    const [[, changed]] = store.watchers;
    const { promise, resolve } = Promise.withResolvers<void>();
    store.gate = promise;
    const written = task.progress("going");
    await settled();
    const before = store.reads;
    for (let i = 0; i < 5; i++) changed();
    await settled();
    assert.equal(store.reads, before);
    resolve();
    await written;
    await tasks.close();
  });

  it("is not heard any more after its end", async () => {
    const store = new WatchedStore();
    const tasks = lifecycle(store);
    const { taskId } = await tasks.createTask();
    const stop = tasks.onTaskChanged(taskId, () => {});
    await settled();
    const [[, changed]] = store.watchers;
    stop();
    const before = store.reads;
    changed();
    await settled();
    assert.equal(store.reads, before);
    await tasks.close();
  });

  it("may call back at once, and may fail: that is an event, and polling goes on", async () => {
    const store = new WatchedStore();
    const operator = new Operator();
    const worker = lifecycle(store, {
      observeIntervalMs: 3,
      onEvent: operator.onEvent,
    });
    const server = lifecycle(
      new Proxy(store, {
        get: (target, name) =>
          name === "watch"
            ? (_: string, changed: () => void) => {
              changed();
              return () => {};
            }
            : (target[name as keyof WatchedStore] as (() => void)).bind?.(
              target,
            ),
      }),
    );
    const { taskId } = await worker.createTask();
    store.failure = new Error("no streams left");
    const { signal } = worker.handle(taskId);
    server.handle(taskId);
    await server.cancelTask(taskId);
    assert.ok(await aborted(signal) instanceof TaskCancelled);
    assert.deepEqual(operator.events, [{
      type: "error",
      operation: "watch a task",
      taskId,
      error: store.failure,
    }]);
    await worker.close();
    await server.close();
  });

  it("may fail to end: that is an event too", async () => {
    const store = new WatchedStore();
    const operator = new Operator();
    const tasks = lifecycle(store, { onEvent: operator.onEvent });
    const { taskId } = await tasks.createTask();
    const task = tasks.handle(taskId);
    store.failure = new Error("the stream is gone");
    await task.complete({ rows: [] });
    assert.equal((await tasks.getTask(taskId)).status, "completed");
    assert.deepEqual(operator.events, [{
      type: "error",
      operation: "watch a task",
      taskId,
      error: store.failure,
    }]);
    store.failure = undefined;
    await tasks.close();
  });
});
