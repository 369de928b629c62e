/** Temporary folders that are gone when this process is, Ctrl-C included. */
import {
  accessSync,
  constants,
  mkdtempSync,
  rmSync,
  statfsSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

const folders = new Set<string>();

/** Where Linux has files in memory, and how much has to be free there. */
const MEMORY = "/dev/shm";
const ENOUGH_BYTES = 2 * 1024 ** 3;

/**
 * Where the files go of tests that are not about the disk: in memory, where
 * there is a place for them, so that a disk with slow flushes holds nobody up.
 */
export function memoryTmpdir(): string {
  try {
    accessSync(MEMORY, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize >= ENOUGH_BYTES) return MEMORY;
  } catch {
    // There is none.
  }
  return tmpdir();
}

/** Makes a folder; {@link removeFolder} or the end of the process removes it. */
export function temporaryFolder(prefix: string, parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, prefix));
  if (folders.size === 0) process.once("exit", removeAll);
  folders.add(folder);
  return folder;
}

/** Removes a folder and all that is in it. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  folders.delete(folder);
  if (folders.size === 0) process.off("exit", removeAll);
}

function removeAll(): void {
  for (const folder of [...folders]) removeFolder(folder);
}
