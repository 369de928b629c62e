/** Opens what a crash has left, and holds it against what may be there. */

import { LogTaskStore } from "../../../src/wal/store.ts";
import { CREATED_MS } from "../records.ts";
import { ABSENT, brief, type Expected, textOf } from "./model.ts";
import {
  type Heard,
  type ProofOptions,
  proofOptions,
} from "./proof_options.ts";
import { createdBy, END_MS, patchOf } from "./script.ts";
import { SimDisk } from "./sim_disk.ts";
import type { Image } from "./snapshot.ts";

/** The task that is created to see that the store works. */
const PROBE = "probe 0";

/**
 * Opens an image and compares it. With `deep`, it works on it, and compares it
 * again after another opening.
 *
 * @param image What is on the disk.
 * @param expected What may be there.
 * @param options How to open the store.
 * @param deep Whether to go on.
 * @returns What must not be.
 */
export async function verifyImage(
  image: Image,
  expected: Expected,
  options: ProofOptions,
  deep: boolean,
): Promise<string[]> {
  const violations: string[] = [];
  // Without a flush a power loss may take whatever the system still had.
  const strict = image.loss === "kill" || options.fsync;
  const disk = new SimDisk(image.files);
  const heard: Heard = {
    compactionError: (error) => violations.push(`a compaction: ${error}`),
    damages: [],
  };
  const found = new Map<string, string>();
  const run = async (body: (store: LogTaskStore) => Promise<void>) => {
    const resolved = proofOptions(options, heard);
    const store = new LogTaskStore(resolved, disk.session());
    try {
      await store.ready();
      await body(store);
    } catch (error) {
      violations.push(`the recovered store: ${(error as Error).stack}`);
    } finally {
      await store.close().catch((error) => violations.push(`close: ${error}`));
    }
    if (disk.openFiles) violations.push(`${disk.openFiles} files stay open`);
  };

  await run(async (store) => {
    for (const [taskId, allowed] of expected.tasks) {
      const possible = strict
        ? [allowed.acknowledged, ...allowed.open]
        : allowed.since;
      const state = await stateOf(store, taskId);
      found.set(taskId, state);
      if (possible.includes(state)) continue;
      if (state === DAMAGED && (image.reordered || !strict)) continue;
      violations.push(
        `${taskId} is ${brief(state)}, allowed: ${possible.map(brief)}`,
      );
    }
    if (strict && !image.reordered && heard.damages.length > 0) {
      violations.push(`damage is reported: ${JSON.stringify(heard.damages)}`);
    }
    if (!deep) return;
    let serial = 1_000_000;
    const probe = createdBy(PROBE, ++serial, 100);
    await Promise.all([
      store.create(probe),
      ...[...found].map(async ([taskId, state]) => {
        if (state === ABSENT || state === DAMAGED) return;
        const { version } = JSON.parse(state);
        const patch = patchOf(taskId, ++serial, "progress");
        const made = await store.update(taskId, patch, version, CREATED_MS);
        found.set(taskId, textOf(made));
      }),
    ]);
    found.set(PROBE, textOf(probe));
    await store.compact();
  });
  if (!deep || violations.length > 0) return violations;

  await run(async (store) => {
    for (const [taskId, state] of found) {
      const again = await stateOf(store, taskId);
      if (again === state) continue;
      violations.push(
        `after a compaction and another opening ${taskId} is ${
          brief(again)
        }, not ${brief(state)}`,
      );
    }
    // Nobody lists tasks, but a sweep at the end of all time counts them.
    const there = [...found.values()].filter((state) =>
      state !== ABSENT && state !== DAMAGED
    ).length;
    const count = await store.sweep(END_MS);
    const damaged = [...found.values()].includes(DAMAGED);
    if (count !== there && !damaged) {
      violations.push(`${count} tasks are in the store, not ${there}`);
    }
  });
  return violations;
}

/** The state of a task that answers with the error of damage. */
export const DAMAGED = "damaged";

/**
 * Reads the state of a task.
 *
 * @param store The store.
 * @param taskId The task.
 * @returns Its text, `ABSENT` or `DAMAGED`.
 */
export async function stateOf(
  store: LogTaskStore,
  taskId: string,
): Promise<string> {
  try {
    return textOf(await store.get(taskId, CREATED_MS));
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_STORE_DAMAGED") {
      return DAMAGED;
    }
    throw error;
  }
}
