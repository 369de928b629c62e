/** Renaming where a virus scanner or an indexer may hold the file for a moment. */

import { setTimeout } from "node:timers";
import type { Disk } from "./disk.ts";

const REFUSALS = new Set(["EPERM", "EBUSY", "EACCES"]);
const DELAYS_MS = [20, 100, 400];

/**
 * Renames a file over another in one step. A refusal is tried again three
 * times, with growing delays.
 *
 * @param disk The file system.
 * @param from The file.
 * @param to The file that it replaces.
 */
export async function renameOver(
  disk: Disk,
  from: string,
  to: string,
): Promise<void> {
  for (const delay of DELAYS_MS) {
    try {
      return disk.rename(from, to);
    } catch (error) {
      if (!REFUSALS.has((error as { code?: string }).code ?? "")) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, delay));
  }
  disk.rename(from, to);
}
