/** Makes a flush cover what the system may show and not have on the disk. */

import { Buffer } from "node:buffer";
import { type DiskFile, writeAll } from "./disk.ts";

/** How much is written at a time. */
const CHUNK_BYTES = 1024 * 1024;

/**
 * Writes a range of a file again, as it is. After a flush that has failed, the
 * system may show bytes that the disk does not have, and flushes them no more:
 * the next flush says that all is well. What is written again is flushed.
 *
 * @param file The file.
 * @param from Where the range starts.
 * @param to Where it ends.
 */
export async function rewrite(
  file: DiskFile,
  from: number,
  to: number,
): Promise<void> {
  if (from >= to) return;
  const buffer = Buffer.allocUnsafe(Math.min(to - from, CHUNK_BYTES));
  for (let at = from; at < to;) {
    const into = buffer.subarray(0, Math.min(buffer.length, to - at));
    const read = await file.read(into, at);
    if (read < into.length) {
      throw new Error(`the file ends at ${at + read}, before ${to}`);
    }
    writeAll(file, into, at);
    at += read;
  }
}
