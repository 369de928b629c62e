/** Waiting for a database file that another process has locked. */

import { LONGEST_PAUSE_MS } from "./limits.ts";

/**
 * Tells whether an error says that another process has the file locked: nothing
 * was written then.
 *
 * @param error What was thrown.
 * @returns Whether it does.
 */
function isLocked(error: unknown): boolean {
  return error instanceof Error &&
    /database (?:table |schema )?is locked/i.test(error.message);
}

/**
 * Does something again as long as the file is locked, after pauses of a random
 * length, so that those who wait do not meet again.
 *
 * @param operation What to do.
 * @param timeoutMs For how long, in milliseconds.
 * @returns What it gives.
 */
export async function untilUnlocked<T>(
  operation: () => Promise<T>,
  timeoutMs: number,
): Promise<T> {
  let started: number | undefined;
  for (
    let longestMs = 1;;
    longestMs = Math.min(2 * longestMs, LONGEST_PAUSE_MS)
  ) {
    try {
      return await operation();
    } catch (error) {
      if (!isLocked(error)) throw error;
      const now = performance.now();
      started ??= now;
      if (now - started >= timeoutMs) throw error;
      const pauseMs = Math.random() * longestMs;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
