/**
 * A process on a directory of mcp-durable-tasks: `process_wal_child.ts ROLE DIR NAME`.
 *
 * - `old`: writes as mcp-durable-tasks does, until it is killed. It has tasks of
 *   its own, and compacts now and then.
 * - `new`: opens a `WalTaskStore`, creates tasks, and changes them and the tasks
 *   `shared N`, which the old process has left alone, until it is killed.
 * - `leave`: opens a `WalTaskStore`, and has nothing more to do.
 *
 * Before each operation it says `issued ID VERSION`, after it `acknowledged ID
 * VERSION`. The status message of every state is `ID VERSION`.
 */

import process from "node:process";
import type { TaskRecord } from "../../mod.ts";
import { WalTaskStore } from "../../wal.ts";
import { OldProcess } from "./process_wal_old.ts";
import { aRecord } from "./records.ts";
import { say } from "./say.ts";

/** Tasks that the old process creates first. */
export const SHARED = 40;
/** Tasks that the old process changes. */
const OWN = 7;
/** Tasks that do nothing but make the takeover long. */
const IDLE = 3_000;
const COMPACT_EVERY = 400;

/**
 * Makes a state of a task.
 *
 * @param taskId The task.
 * @param version The version.
 * @returns The record.
 */
export function stateOf(taskId: string, version: number): TaskRecord {
  const text = `${taskId} ${version} `.repeat(1 + version % 100);
  return aRecord(taskId, {
    version,
    statusMessage: `${taskId} ${version}`,
    result: { text },
  });
}

const [role, dir, name] = process.argv.slice(2);

if (role === "old") {
  const old = new OldProcess(dir);
  for (let number = 0; number < IDLE; number++) {
    old.put(stateOf(`idle ${number}`, 0));
  }
  for (let number = 0; number < SHARED; number++) {
    old.put(stateOf(`shared ${number}`, 0));
  }
  say("ready");
  for (let step = 0;; step++) {
    const taskId = `${name} ${step % OWN}`;
    const version = Math.floor(step / OWN);
    say(`issued ${taskId} ${version}`);
    old.put(stateOf(taskId, version));
    say(`acknowledged ${taskId} ${version}`);
    if (step % COMPACT_EVERY === COMPACT_EVERY - 1) old.compact();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
} else if (role === "new") {
  say("opening");
  const store = await WalTaskStore.open({ dir });
  say("open");
  for (let step = 0;; step++) {
    const taskId = `${name} ${step}`;
    say(`issued ${taskId} 1`);
    await store.create(stateOf(taskId, 1));
    say(`acknowledged ${taskId} 1`);
    for (const changed of [taskId, `shared ${step % SHARED}`]) {
      const { version } = (await store.get(changed))!;
      const next = stateOf(changed, version + 1);
      say(`issued ${changed} ${next.version}`);
      await store.update(changed, next, version);
      say(`acknowledged ${changed} ${next.version}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
} else if (role === "leave") {
  await WalTaskStore.open({ dir });
  say("open");
}
