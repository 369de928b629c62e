/**
 * A process with a write-ahead-log store: `wal_child.ts COMMAND DIR …`.
 *
 * - `hold DIR [TASK]`: opens the directory, says `held` and the tasks `held 0` to `held 9` that are
 *   there, creates the task, says `created`, and closes on the first line of its input.
 * - `try DIR TIMEOUT`: opens it if it is free in time, and says `opened`, or the error's code and directory.
 * - `run DIR FSYNC PREFIX`: works until it is killed. Before each operation it says
 *   `issued ID VERSION`, after it `acknowledged ID VERSION`; the version of a deletion is 0.
 */

import process from "node:process";
import { LogTaskStore } from "../../src/wal/store.ts";
import { realDisk } from "../../src/wal/disk.ts";
import { WalTaskStore } from "../../wal.ts";
import { aRecord, CREATED_MS } from "./records.ts";
import { say } from "./say.ts";
import { EXPIRED_MS, historyOf, patchOf, recordOf } from "./wal_history.ts";
import { smallOptions } from "./wal_proof/proof_options.ts";

const LANES = 8;
const [command, dir, ...rest] = process.argv.slice(2);

if (command === "hold") {
  const store = await WalTaskStore.open({ dir, lockTimeoutMs: 60_000 });
  const found: string[] = [];
  for (let number = 0; number < 10; number++) {
    if (await store.get(`held ${number}`)) found.push(`${number}`);
  }
  say(`held ${found}`);
  if (rest.length > 0) await store.create(aRecord(rest[0]));
  say("created");
  process.stdin.once("data", async () => {
    await store.close();
    say("closed");
    process.exit();
  });
} else if (command === "try") {
  try {
    const lockTimeoutMs = Number(rest[0]);
    const store = await WalTaskStore.open({ dir, lockTimeoutMs });
    await store.close();
    say("opened");
  } catch (error) {
    const { code, dir } = error as { code: string; dir: string };
    say(`${code} ${dir}`);
  }
} else {
  say("opening");
  const [fsync, prefix] = rest;
  const options = smallOptions({ dir, fsync: fsync === "true" });
  const store = new LogTaskStore(options, realDisk);
  await store.ready();
  for (let lane = 0; lane < LANES; lane++) void work(store, prefix, lane);
}

/** Takes one task after the other from its creation to its end. */
async function work(
  store: LogTaskStore,
  prefix: string,
  lane: number,
): Promise<void> {
  for (let number = lane;; number += LANES) {
    const taskId = `${prefix} ${number}`;
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
    if (expiring) await acknowledged(taskId, 0, () => store.sweep(EXPIRED_MS));
    if (number % 50 === 49) await store.compact();
    // Without a flush no operation leaves the turn: let a signal in.
    await new Promise((resolve) => setTimeout(resolve));
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
