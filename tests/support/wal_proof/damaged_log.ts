/** A log of which is known whose entry lies where, to be damaged. */

import { Model } from "./model.ts";
import { Player } from "./player.ts";
import type { ProofOptions } from "./proof_options.ts";
import type { Operation, Random } from "./script.ts";
import { SimDisk } from "./sim_disk.ts";

/** Where one operation has written. */
export interface WrittenEntry {
  /** The path of the file. */
  readonly file: string;
  /** The offset of the first byte. */
  readonly start: number;
  /** The offset after the last byte. */
  readonly end: number;
  /** Whose it is, and the state of each task with it. */
  readonly states: ReadonlyMap<string, string>;
}

/** A log that was closed. */
export interface WrittenLog {
  /** Its files. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** The segments, in order. */
  readonly segments: readonly string[];
  /** What was written, in order. */
  readonly entries: readonly WrittenEntry[];
  /** The state of each task at the end. */
  readonly states: ReadonlyMap<string, string>;
}

/** A log with a task of every kind, in a few segments, and two tasks of one id. */
export const SMALL_LOG: readonly Operation[] = [
  { do: "create", id: "often" },
  { do: "create", id: "ended" },
  { do: "update", id: "often", change: "progress" },
  { do: "create", id: "large" },
  { do: "update", id: "ended", change: "complete", size: 10 },
  { do: "create", id: "swept" },
  { do: "update", id: "often", change: "ask", size: 20 },
  { do: "update", id: "ended", change: "progress" },
  { do: "update", id: "swept", change: "expire" },
  { do: "sweep" },
  // A second life of the id, whose versions are those of the first.
  { do: "create", id: "swept" },
  { do: "update", id: "often", change: "answer", size: 20 },
  { do: "update", id: "large", change: "complete", size: 150 },
  { do: "update", id: "swept", change: "progress" },
  { do: "create", id: "once" },
  { do: "update", id: "ended", change: "expire" },
  { do: "update", id: "often", change: "progress" },
];

/**
 * Makes operations for a larger log.
 *
 * @param random Where the choices come from.
 * @param length How many.
 * @returns The operations, none of which compacts.
 */
export function largeLog(random: Random, length: number): Operation[] {
  const id = () => `task ${random(1 + length / 4 | 0)}`;
  return Array.from({ length }, (): Operation => {
    const dice = random(20);
    const size = [0, 100, 1_000, 6_000][random(4)];
    if (dice < 8) return { do: "create", id: id(), size };
    if (dice === 8) return { do: "sweep" };
    const change =
      (["progress", "ask", "answer", "complete", "expire"] as const)[random(5)];
    return { do: "update", id: id(), change, size };
  });
}

/**
 * Writes a log, one operation after the other.
 *
 * @param operations What is done.
 * @param options How to open the store.
 * @returns The log.
 */
export async function writeLog(
  operations: readonly Operation[],
  options: ProofOptions,
): Promise<WrittenLog> {
  const disk = new SimDisk();
  const model = new Model();
  const player = new Player(disk, options, model);
  const entries: WrittenEntry[] = [];
  const states = new Map<string, string>();
  await player.open();
  for (const operation of operations) {
    const before = disk.files();
    await player.step(operation);
    const changed = new Map<string, string>();
    for (const taskId of model.taskIds()) {
      const state = model.acknowledged(taskId);
      if (states.get(taskId) !== state) changed.set(taskId, state);
      states.set(taskId, state);
    }
    for (const [file, bytes] of disk.files()) {
      const start = before.get(file)?.length ?? headerLength(bytes);
      if (start >= bytes.length) continue;
      entries.push({ file, start, end: bytes.length, states: changed });
    }
  }
  await player.close();
  if (player.violations.length > 0) throw new Error(player.violations[0]);
  const files = disk.files();
  return { files, segments: [...files.keys()].sort(), entries, states };
}

/** The first line of a file is its header. */
function headerLength(bytes: Uint8Array): number {
  return bytes.indexOf(0x0a) + 1;
}
