/** Reports of progress on a store that takes few writes. */

import assert from "node:assert/strict";
import {
  type GetTaskResult,
  MemoryTaskStore,
  TaskLifecycle,
  type TaskPatch,
} from "../../mod.ts";
import { rejects } from "../support/rejects.ts";
import { describe, it } from "../support/runner.ts";

/** A store whose writes wait until they are let through. */
class SlowStore extends MemoryTaskStore {
  override readonly traits = { minWriteIntervalMs: 700 };
  /** What was written, in order. */
  readonly patches: TaskPatch[] = [];
  readonly #gate = Promise.withResolvers<void>();
  readonly #reached = Promise.withResolvers<void>();

  /** Resolves when a write waits. */
  get reached(): Promise<void> {
    return this.#reached.promise;
  }

  /** Lets writes through. */
  open(): void {
    this.#gate.resolve();
  }

  override async commit(...args: Parameters<MemoryTaskStore["commit"]>) {
    this.#reached.resolve();
    await this.#gate.promise;
    this.patches.push(args[1]);
    return await super.commit(...args);
  }
}

async function start() {
  const store = new SlowStore();
  const tasks = new TaskLifecycle({ store, sweepIntervalMs: null });
  const { taskId } = await tasks.createTask({ ttlMs: 41_000 });
  return { store, tasks, taskId, worker: tasks.handle(taskId) };
}

describe("progress() on a store that takes few writes", () => {
  it("merges the reports that wait for the same write", async () => {
    const { store, tasks, taskId, worker } = await start();
    const first = worker.progress("1");
    await store.reached;
    const reports = [
      first,
      ...Array.from({ length: 98 }, (_, i) => worker.progress(`${i + 2}`)),
      worker.progress("100", { pollIntervalMs: 250 }),
      worker.progress("101", { ttlMs: 90_000 }),
      worker.progress("102"),
    ];
    const seen: GetTaskResult[] = [];
    tasks.onTaskChanged(taskId, (task) => void seen.push(task));
    store.open();
    await Promise.all(reports);
    assert.deepEqual(
      store.patches.map(({ statusMessage }) => statusMessage),
      ["1", "102"],
    );
    const task = await tasks.getTask(taskId);
    assert.deepEqual(
      [task.statusMessage, task.pollIntervalMs, task.ttlMs],
      ["102", 250, 90_000],
    );
    await worker.progress("103");
    assert.equal(store.patches.length, 3);
    await tasks.close();
  });

  it("keeps reports after what was called before them", async () => {
    const { store, tasks, taskId, worker } = await start();
    const first = [worker.progress("1")];
    await store.reached;
    first.push(worker.progress("2"));
    const asked = worker.requestInput({
      colour: { method: "roots/list", params: {} },
    });
    const second = [worker.progress("3"), worker.progress("4")];
    const resumed = worker.resumeInput();
    const third = worker.progress("5");
    store.open();
    await Promise.all([...first, ...second, resumed, third]);
    assert.deepEqual(
      store.patches.map(({ statusMessage, status }) => statusMessage ?? status),
      ["1", "2", "input_required", "4", "5"],
    );
    await tasks.updateTask(taskId, { colour: { roots: [] } });
    await asked;
    const last = worker.progress("6");
    const end = worker.complete({ n: 1 });
    const late = worker.progress("7");
    await Promise.all([last, end]);
    await rejects(late, "ERR_TASK_TERMINAL");
    assert.equal((await tasks.getTask(taskId)).statusMessage, "6");
    await tasks.close();
  });

  it("keeps the order of calls of several handles of a task", async () => {
    const { store, tasks, taskId, worker } = await start();
    const other = tasks.handle(taskId);
    const first = worker.progress("1");
    await store.reached;
    const reports = [
      worker.progress("2"),
      other.progress("3", { ttlMs: 5_000 }),
      other.progress("4", { ttlMs: 6_000 }),
      worker.progress("5", { ttlMs: 90_000 }),
    ];
    const cancelled = tasks.cancelTask(taskId);
    const last = worker.progress("6");
    store.open();
    await Promise.all([first, ...reports, cancelled, last]);
    assert.deepEqual(
      store.patches.map((patch) => [patch.statusMessage, patch.ttlMs]),
      [["1", undefined], ["5", 90_000], [undefined, undefined], [
        "6",
        undefined,
      ]],
    );
    const { ttlMs } = await tasks.getTask(taskId);
    assert.equal(ttlMs, 90_000);
    const end = other.complete({ n: 2 });
    await rejects(worker.progress("7"), "ERR_TASK_TERMINAL");
    await end;
    await tasks.close();
  });

  it("rejects each report of a write that fails", async () => {
    const { store, tasks, worker, taskId } = await start();
    const first = worker.progress("1");
    await store.reached;
    store.commit = () => Promise.reject(new Error("no disk"));
    const reports = ["2", "3"].map((text) => worker.progress(text));
    store.open();
    await first;
    for (const report of reports) await rejects(report, "ERR_STORE_FAILED");
    delete (store as Partial<SlowStore>).commit;
    await worker.progress("4");
    assert.equal((await tasks.getTask(taskId)).statusMessage, "4");
    await tasks.close();
  });

  it("writes each report on any other store", async () => {
    const store = new MemoryTaskStore();
    const tasks = new TaskLifecycle({ store, sweepIntervalMs: null });
    const { taskId } = await tasks.createTask();
    const worker = tasks.handle(taskId);
    await Promise.all(["1", "2", "3"].map((text) => worker.progress(text)));
    assert.equal((await store.get(taskId))?.version, 4);
    await tasks.close();
  });
});
