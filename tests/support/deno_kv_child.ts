/**
 * A process with a `DenoKvTaskStore` on a file: `deno_kv_child.ts COMMAND FILE NAME [CHANGES]`.
 *
 * - `run`: works on tasks of its own until it is killed. Before each operation it says
 *   `issued ID VERSION`, after it `acknowledged ID VERSION`; the version of a deletion is 0.
 * - `share`: makes so many changes on tasks that it shares with others, and says
 *   `wrote ID VERSION MARK` after each. Its sweeps take the parts of whoever is writing.
 * - `watch`: watches a task, changes it, closes all, and has nothing left to wait for.
 * - `hold`: holds a task that waits for an answer, closes nothing, and has nothing left to wait for.
 */

import process from "node:process";
import { DenoKvTaskStore } from "../../deno_kv.ts";
import { hasErrorCode, TaskLifecycle } from "../../mod.ts";
import { openTestKv } from "./deno_kv.ts";
import { patchOf, recordOf, SWEPT_MS } from "./deno_kv_history.ts";
import { aPatch, aRecord, CREATED_MS } from "./records.ts";
import { say } from "./say.ts";
import { historyOf } from "./wal_history.ts";

const LANES = 4;
/** How many tasks are shared. */
const SHARED = 5;
const [command, path, name, changes] = process.argv.slice(2);

const kv = await openTestKv(path);
if (command === "run") {
  const store = new DenoKvTaskStore(kv);
  for (let lane = 0; lane < LANES; lane++) void work(store, lane);
} else if (command === "share") {
  const early = () => Date.now() + 700_000;
  await share(new DenoKvTaskStore(kv), new DenoKvTaskStore(kv, { now: early }));
  kv.close();
  say("done");
} else if (command === "hold") {
  const tasks = new TaskLifecycle({ store: new DenoKvTaskStore(kv) });
  const { taskId } = await tasks.createTask();
  const question = { method: "roots/list", params: {} } as const;
  tasks.onTaskChanged(taskId, () => say("asked"));
  void tasks.handle(taskId).requestInput({ question });
} else {
  const store = new DenoKvTaskStore(kv, { watch: true });
  const tasks = new TaskLifecycle({ store });
  const { taskId } = await tasks.createTask();
  const task = tasks.handle(taskId);
  await task.progress("half");
  tasks.onTaskChanged(taskId, () => {});
  await tasks.close();
  kv.close();
  say("closed");
}

/** Takes one task after the other from its creation to its end. */
async function work(store: DenoKvTaskStore, lane: number): Promise<void> {
  for (let number = lane;; number += LANES) {
    const taskId = `${name} ${number}`;
    const { completed, expiring } = historyOf(taskId);
    await acknowledged(taskId, 1, () => store.create(recordOf(taskId, 1)));
    for (let version = 2; version <= (expiring ?? completed); version++) {
      const patch = patchOf(taskId, version);
      await acknowledged(
        taskId,
        version,
        () => store.update(taskId, patch, version - 1, CREATED_MS),
      );
    }
    if (expiring) await acknowledged(taskId, 0, () => store.sweep(SWEPT_MS));
  }
}

async function acknowledged(
  taskId: string,
  version: number,
  operation: () => Promise<unknown>,
): Promise<void> {
  say(`issued ${taskId} ${version}`);
  await operation();
  say(`acknowledged ${taskId} ${version}`);
}

/** Changes shared tasks as an engine would: reads, decides, writes, and begins anew where it lost. */
async function share(
  store: DenoKvTaskStore,
  early: DenoKvTaskStore,
): Promise<void> {
  for (let made = 0; made < Number(changes);) {
    const taskId = `shared ${Math.floor(Math.random() * SHARED)}`;
    const mark = `${name}:${made}`;
    const found = await store.get(taskId);
    try {
      if (!found) {
        await store.create(aRecord(taskId, { marks: [mark] }));
        say(`wrote ${taskId} 1 ${mark}`);
        made++;
        continue;
      }
      const { marks } = found as unknown as { marks: readonly string[] };
      const text = `漢 ${mark} `.repeat(10_000);
      const patch = {
        marks: [...marks, mark],
        ...(made % 10 === 7 && { result: { mark, text } }),
        ...(made % 10 === 2 && { result: undefined }),
      };
      await store.update(taskId, aPatch(patch), found.version);
      say(`wrote ${taskId} ${found.version + 1} ${mark}`);
      made++;
    } catch (error) {
      if (
        !hasErrorCode(error, "ERR_CONCURRENT_UPDATE") &&
        !hasErrorCode(error, "ERR_DUPLICATE_TASK_ID")
      ) throw error;
    }
    if (Math.random() < 0.1) await early.sweep(0);
  }
  await store.close();
  await early.close();
}
