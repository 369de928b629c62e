/** Directories for the tests of the write-ahead-log store. */

import { mkdtempSync, rmSync } from "node:fs";
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
