import assert from "node:assert/strict";
import { ANONYMOUS_OWNER } from "../../mcp.ts";
import {
  type GetTaskResult,
  StoreFailedError,
  TaskLifecycle,
  type TaskPatch,
  type TaskRecord,
} from "../../mod.ts";
import { listenHost } from "../../src/mcp/listen_options.ts";
import { ListenRegistry } from "../../src/mcp/listen_registry.ts";
import { TaskStream } from "../../src/mcp/listen_stream.ts";
import {
  listenHandler,
  listenRequest,
  readListening,
} from "../support/mcp_listen.ts";
import { describe, it } from "../support/runner.ts";
import { PlainStore } from "../support/plain_store.ts";

/** A store whose reads and writes take as long as the test wants, and may fail. */
class SlowStore extends PlainStore {
  /** Called before a read reads. */
  beforeGet: () => Promise<void> = () => Promise.resolve();
  /** Called after a read has read and before it answers. */
  afterGet: () => Promise<void> = () => Promise.resolve();
  /** Called after a write is done and before it is acknowledged. */
  afterUpdate: () => Promise<void> = () => Promise.resolve();

  override async get(
    taskId: string,
    now?: number,
  ): Promise<TaskRecord | undefined> {
    await this.beforeGet();
    const record = await super.get(taskId, now);
    await this.afterGet();
    return record;
  }

  override async update(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<TaskRecord> {
    const record = await super.update(taskId, patch, expectedVersion, now);
    await this.afterUpdate();
    return record;
  }
}

/** Follows one task, and notes what is told. */
function follow(tasks: TaskLifecycle, taskId: string) {
  const told: string[] = [];
  const ends: string[] = [];
  const granted = {
    tasks: new Map([[taskId, "tools/call"]]),
    access: { owner: ANONYMOUS_OWNER },
    place: new ListenRegistry(1).enter(undefined),
  };
  const stream = new TaskStream(listenHost(tasks, {}), granted, 1, {
    send: ({ params }) => {
      const { statusMessage, status } = params as GetTaskResult;
      told.push(statusMessage ?? status);
    },
    whenRead: () => Promise.resolve(),
    done: () => ends.push("done"),
    lost: () => ends.push("lost"),
  });
  return { stream, told, ends };
}

/** Lets everything happen that waits for nothing. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

/** A gate that opens when it is told to. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { wait: () => promise, open: resolve };
}

async function start(now?: () => number) {
  const store = new SlowStore();
  const tasks = new TaskLifecycle({
    store,
    sweepIntervalMs: null,
    observeIntervalMs: null,
    ...(now && { now }),
  });
  const { taskId } = await tasks.createTask({ owner: ANONYMOUS_OWNER });
  return { store, tasks, taskId, task: tasks.handle(taskId) };
}

describe("TaskStream", () => {
  it("shows a change before its read ended once, in its place", async () => {
    const { store, tasks, taskId, task } = await start(() => 1_800_000_000_000);
    await task.progress("old");
    for (const changes of [1, 2, 5]) {
      const { stream, told } = follow(tasks, taskId);
      const reading = gate();
      store.afterGet = reading.wait;
      stream.start();
      await settle();
      // The read has seen "old", and has not answered.
      store.afterGet = () => Promise.resolve();
      const names = Array.from(
        { length: changes },
        (_, i) => `${changes}.${i}`,
      );
      for (const name of names) await task.progress(name);
      assert.deepEqual(told, []);
      reading.open();
      await settle();
      assert.deepEqual(told.slice(1), names);
      await task.progress("old");
      await settle();
      assert.deepEqual(told, ["old", ...names, "old"]);
      stream.stop();
    }
    await tasks.close();
  });

  it("finds what the read shows among changes that look the same", async () => {
    const { store, tasks, taskId, task } = await start(() => 1_800_000_000_000);
    const { stream, told } = follow(tasks, taskId);
    const reading = gate();
    store.beforeGet = reading.wait;
    stream.start();
    await settle();
    store.beforeGet = () => Promise.resolve();
    for (const message of ["x", "y", "x"]) await task.progress(message);
    reading.open();
    await settle();
    await task.progress("x");
    await settle();
    assert.deepEqual(told, ["x", "x"]);
    stream.stop();
    await tasks.close();
  });

  it("does not repeat the change that the read shows before its writer tells", async () => {
    const { store, tasks, taskId, task } = await start(() => 1_800_000_000_000);
    const writing = gate();
    store.afterUpdate = writing.wait;
    const change = task.progress("new");
    await settle();
    store.afterUpdate = () => Promise.resolve();
    const { stream, told } = follow(tasks, taskId);
    stream.start();
    await settle();
    assert.deepEqual(told, ["new"]);
    writing.open();
    await change;
    await settle();
    assert.deepEqual(told, ["new"]);
    await task.progress("newer");
    await task.progress("new");
    await task.progress("newer");
    await settle();
    assert.deepEqual(told, ["new", "newer", "new", "newer"]);
    stream.stop();
    await tasks.close();
  });

  it("misses, repeats and swaps nothing while a worker writes, at any moment", async () => {
    const { store, tasks, taskId, task } = await start();
    let written = 0;
    let running = true;
    const pause = () =>
      Math.random() < 0.3
        ? new Promise<void>((resolve) => setTimeout(resolve, 0))
        : Promise.resolve();
    store.afterGet = pause;
    store.afterUpdate = pause;
    const worker = (async () => {
      while (running) await task.progress(`${written++}`);
    })();
    for (let round = 0; round < 100; round++) {
      const { stream, told } = follow(tasks, taskId);
      stream.start();
      while (told.length < 12) await settle();
      stream.stop();
      const first = told[0] === "working" ? -1 : Number(told[0]);
      assert.deepEqual(
        told,
        told.map((_, i) => i + first < 0 ? "working" : `${first + i}`),
      );
    }
    running = false;
    await worker;
    await tasks.close();
  });

  it("tells of the end once, whether it comes before, during or after the read", async () => {
    for (const when of ["before", "during", "after"]) {
      const { store, tasks, taskId, task } = await start();
      const { stream, told, ends } = follow(tasks, taskId);
      if (when === "before") await task.cancelled("over");
      const reading = gate();
      if (when === "during") store.afterGet = reading.wait;
      stream.start();
      await settle();
      store.afterGet = () => Promise.resolve();
      if (when !== "before") await task.cancelled("over");
      reading.open();
      await settle();
      assert.deepEqual(
        told,
        when === "before" ? ["over"] : ["working", "over"],
        when,
      );
      assert.deepEqual(ends, ["done"]);
      await tasks.close();
    }
  });

  it("is lost where more changes come during a read than may wait", async () => {
    const { store, tasks, taskId, task } = await start();
    const { stream, told, ends } = follow(tasks, taskId);
    const reading = gate();
    store.afterGet = reading.wait;
    stream.start();
    await settle();
    store.afterGet = () => Promise.resolve();
    for (let i = 0; i < 256; i++) await task.progress(`${i}`);
    assert.deepEqual(ends, []);
    await task.progress("one more");
    await settle();
    assert.deepEqual(ends, ["lost"]);
    reading.open();
    await settle();
    assert.deepEqual(told, []);
    await tasks.close();
  });

  it("says nothing after stop(), wherever it was", async () => {
    const { store, tasks, taskId, task } = await start();
    const { stream, told, ends } = follow(tasks, taskId);
    const reading = gate();
    store.afterGet = reading.wait;
    stream.start();
    await settle();
    store.afterGet = () => Promise.resolve();
    stream.stop();
    reading.open();
    await task.complete({});
    await settle();
    assert.deepEqual([told, ends], [[], []]);
    await tasks.close();
  });
});

describe("a store", () => {
  it("that fails refuses a stream with an error that says nothing, and gives its place back", async () => {
    const store = new SlowStore();
    const host = listenHandler({
      store,
      notifications: { maxStreamsPerOwner: 1 },
    });
    const { taskId } = await host.tasks.createTask({ owner: ANONYMOUS_OWNER });
    const open = async () =>
      await readListening(
        await host.handler.fetch(
          listenRequest("http://host/mcp", { taskIds: [taskId] }),
        ),
      );
    store.afterGet = () => Promise.reject(new Error("/secret/path is gone"));
    for (let i = 1; i < 4; i++) {
      const { status, error } = await open();
      assert.equal(status, 200);
      assert.deepEqual(error, { code: -32_603, message: "Internal error" });
      assert.equal(host.errors.length, i);
    }
    assert.ok(host.errors[0] instanceof StoreFailedError);
    store.afterGet = () => Promise.resolve();
    const stream = await open();
    assert.equal(stream.error, undefined);
    await stream.leave();
    await host.handler.close();
    await host.tasks.close();
  });

  it("that fails ends a stream without a result when a task cannot be shown", async () => {
    const store = new SlowStore();
    const host = listenHandler({ store });
    const { taskId } = await host.tasks.createTask({ owner: ANONYMOUS_OWNER });
    const response = await host.handler.fetch(
      listenRequest("http://host/mcp", { taskIds: [taskId] }),
    );
    store.afterGet = () => Promise.reject(new Error("the disk is gone"));
    const stream = await readListening(response);
    const { method } = await stream.next();
    assert.equal(method, "notifications/subscriptions/acknowledged");
    assert.equal(await stream.next(), undefined);
    assert.equal(host.errors.length, 1);
    assert.equal(host.listeners(), 0);
    store.afterGet = () => Promise.resolve();
    await host.handler.close();
    await host.tasks.close();
  });

  it("that is slow does not keep a stream open after the handler is closed", async () => {
    const store = new SlowStore();
    const host = listenHandler({ store });
    const { taskId } = await host.tasks.createTask({ owner: ANONYMOUS_OWNER });
    const reading = gate();
    store.afterGet = reading.wait;
    const request = listenRequest("http://host/mcp", { taskIds: [taskId] });
    const response = host.handler.fetch(request);
    await settle();
    await host.handler.close();
    reading.open();
    const stream = await readListening(await response);
    const { method } = await stream.next();
    assert.equal(method, "notifications/subscriptions/acknowledged");
    assert.equal((await stream.next()).result.resultType, "complete");
    assert.equal(await stream.next(), undefined);
    assert.equal(host.listeners(), 0);
    await host.tasks.close();
  });
});
