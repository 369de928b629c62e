/** The files of a takeover: what the other library left, and what they are called afterwards. */

import { Buffer } from "node:buffer";
import { join } from "node:path";
import { StoreFailedError } from "../errors.ts";
import type { Disk, DiskFile } from "./disk.ts";
import { retried } from "./retry.ts";
import { ForeignDecoder } from "./takeover_entry.ts";
import { readLines } from "./takeover_lines.ts";

/** The log of process-wal. */
export const FOREIGN_LOG = "wal.jsonl";
/** Its checkpoint. */
export const FOREIGN_CHECKPOINT = "wal.checkpoint";
/** What is put behind both names; from the second time on, with a number behind it. */
const TAKEN = ".taken";
const TAKEN_LOG = /^wal\.jsonl\.taken(?:\.([1-9][0-9]{0,8}))?$/;
/** A checkpoint is one number. */
const LONGEST_CHECKPOINT_BYTES = 64;

/**
 * Finds the logs that were taken over, the oldest first.
 *
 * @param names The names in the directory.
 * @returns Their names.
 */
export function findTakenLogs(names: readonly string[]): string[] {
  return names.filter((name) => TAKEN_LOG.test(name))
    .sort((a, b) => numberOf(a) - numberOf(b));
}

/**
 * Finds a name that no taken log has, or ever had: what is known of a log is
 * kept by its name.
 *
 * @param names The names in the directory, and those that are known.
 * @returns The name.
 */
export function freeTakenName(names: readonly string[]): string {
  const used = new Set(names);
  const last = Math.max(0, ...findTakenLogs(names).map(numberOf));
  for (let number = last + 1;; number++) {
    const end = number === 1 ? TAKEN : `${TAKEN}.${number}`;
    if (!used.has(FOREIGN_CHECKPOINT + end)) return FOREIGN_LOG + end;
  }
}

function numberOf(name: string): number {
  return Number(TAKEN_LOG.exec(name)![1] ?? 1);
}

/**
 * Looks whether the log is of mcp-durable-tasks.
 *
 * @param dir The directory.
 * @param disk The file system.
 * @throws {StoreFailedError} `ERR_STORE_FAILED`: it is of another program.
 */
export async function refuseAlien(dir: string, disk: Disk): Promise<void> {
  const path = join(dir, FOREIGN_LOG);
  const file = disk.openToRead(path);
  try {
    if (await isAlien(file)) {
      throw new StoreFailedError(
        `take over ${path}: it is not of mcp-durable-tasks; use a directory that no other program has`,
      );
    }
  } finally {
    file.close();
  }
}

/**
 * Gives the log its new name. From then on the other library finds it by its
 * open handle at most, and only to append: to compact it, it would need the
 * name. So what is behind the new name only ever grows.
 *
 * @param dir The directory.
 * @param name The new name.
 * @param disk The file system.
 */
export async function takeLog(
  dir: string,
  name: string,
  disk: Disk,
): Promise<void> {
  const path = join(dir, FOREIGN_LOG);
  await retried(() => disk.rename(path, join(dir, name)));
}

/** Tells whether the first line that can be read is of another program. */
async function isAlien(file: DiskFile): Promise<boolean> {
  const decoder = new ForeignDecoder();
  for await (const lines of readLines(file, 0, file.size())) {
    for (const { body } of lines) {
      const entry = decoder.decode(body);
      if (!entry) continue;
      if (!("problem" in entry)) return false;
      if (entry.alien) return true;
    }
  }
  return false;
}

/**
 * Reads up to which sequence number the entries count no longer. mcp-durable-tasks
 * writes it when it has appended every living record once more: what comes
 * before is in there again, or expired. Like process-wal, it takes what is no number for 0:
 * then all entries are read, and the last of each id wins.
 *
 * @param dir The directory.
 * @param disk The file system.
 * @returns The number; 0 if there is none.
 */
export async function readCheckpoint(dir: string, disk: Disk): Promise<number> {
  if (!disk.list(dir).includes(FOREIGN_CHECKPOINT)) return 0;
  const file = disk.openToRead(join(dir, FOREIGN_CHECKPOINT));
  try {
    const bytes = Buffer.alloc(LONGEST_CHECKPOINT_BYTES);
    const text = bytes.toString("latin1", 0, await file.read(bytes, 0)).trim();
    return /^[0-9]{1,16}$/.test(text) ? Number(text) : 0;
  } finally {
    file.close();
  }
}

/**
 * Puts the checkpoint beside the log that it belongs to.
 *
 * @param dir The directory.
 * @param log The new name of the log.
 * @param disk The file system.
 */
export async function takeCheckpoint(
  dir: string,
  log: string,
  disk: Disk,
): Promise<void> {
  const names = disk.list(dir);
  const name = FOREIGN_CHECKPOINT + log.slice(FOREIGN_LOG.length);
  if (!names.includes(FOREIGN_CHECKPOINT) || names.includes(name)) return;
  const path = join(dir, FOREIGN_CHECKPOINT);
  await retried(() => disk.rename(path, join(dir, name)));
}
