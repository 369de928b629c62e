/**
 * A process with a `WalTaskStore`: `wal_child.ts COMMAND DIR [FSYNC PREFIX]`.
 *
 * - `hold`: opens the directory, says `held`, and closes it on the first line of its input.
 * - `try`: opens it if it is free, and says `opened` or the code of the error.
 * - `run`: works until it is killed. Before each operation it says `issued ID VERSION`,
 *   after it `acknowledged ID VERSION`; the version of a deletion is 0.
 */

import { writeSync } from "node:fs";
import process from "node:process";
import { WalTaskStore } from "../../wal.ts";
import { CREATED_MS } from "./records.ts";
import { EXPIRED_MS, historyOf, patchOf, recordOf } from "./wal_history.ts";

const LANES = 8;
const [command, dir, fsync, prefix] = process.argv.slice(2);

if (command === "hold") {
  const store = await WalTaskStore.open({ dir });
  say("held");
  process.stdin.once("data", async () => {
    await store.close();
    say("closed");
    process.exit();
  });
} else if (command === "try") {
  try {
    const store = await WalTaskStore.open({ dir, lockTimeoutMs: 0 });
    await store.close();
    say("opened");
  } catch (error) {
    say((error as { code: string }).code);
  }
} else {
  say("opening");
  const store = await WalTaskStore.open({
    dir,
    fsync: fsync === "true",
    compactEvery: 100,
  });
  for (let lane = 0; lane < LANES; lane++) void work(store, lane);
}

/** Takes one task after the other from its creation to its end. */
async function work(store: WalTaskStore, lane: number): Promise<void> {
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

/** Writes at once: what an asynchronous stream holds dies with the process. */
function say(line: string): void {
  const bytes = new TextEncoder().encode(`${line}\n`);
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(1, bytes, done);
    } catch (error) {
      // The pipe is full: the parent is about to read.
      if ((error as { code?: string }).code !== "EAGAIN") throw error;
    }
  }
}
