/** Directories for the tests of the write-ahead-log store. */

import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Makes an empty directory.
 *
 * @returns Its path.
 */
export function makeTempDir(): string {
  return mkdtempSync(join(tmpdir(), "durable-tasks-"));
}

/**
 * Runs a body with an empty directory, and removes it.
 *
 * @param body Takes the path.
 * @returns What the body returns.
 */
export async function withTempDir<T>(
  body: (dir: string) => Promise<T>,
): Promise<T> {
  const dir = makeTempDir();
  try {
    return await body(dir);
  } finally {
    removeDir(dir);
  }
}

/**
 * Removes a directory and all in it.
 *
 * @param dir The path.
 */
export function removeDir(dir: string): void {
  rmSync(dir, { recursive: true, force: true });
}

/**
 * Finds the segments of a log.
 *
 * @param dir The directory of the store.
 * @returns Their paths, in order.
 */
export function segmentsIn(dir: string): string[] {
  return readdirSync(dir).filter((name) => /^tasks-.*\.log$/.test(name)).sort()
    .map((name) => join(dir, name));
}

/**
 * Adds up the segments of a log.
 *
 * @param dir The directory of the store.
 * @returns Bytes of them all.
 */
export function logBytes(dir: string): number {
  return segmentsIn(dir).reduce((sum, path) => sum + statSync(path).size, 0);
}
