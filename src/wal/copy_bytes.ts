/** Copies bytes between files, however many there are. */

import { Buffer } from "node:buffer";
import { type DiskFile, writeAll } from "./disk.ts";

/** How much is copied at a time. */
const CHUNK_BYTES = 1024 * 1024;

/** Which bytes are copied, and where they go. */
export interface CopyRange {
  /** Where they start in the source. */
  readonly from: number;
  /** How many they are. */
  readonly bytes: number;
  /** Where they go in the target. */
  readonly to: number;
}

/**
 * Copies a range, as far as the source goes.
 *
 * @param source The file to read.
 * @param target The file to write; it may be the same.
 * @param range The bytes.
 * @returns How many were copied.
 */
export async function copyBytes(
  source: DiskFile,
  target: DiskFile,
  { from, bytes, to }: CopyRange,
): Promise<number> {
  const buffer = Buffer.allocUnsafe(Math.min(bytes, CHUNK_BYTES));
  let done = 0;
  while (done < bytes) {
    const into = buffer.subarray(0, Math.min(buffer.length, bytes - done));
    const read = await source.read(into, from + done);
    if (read === 0) break;
    writeAll(target, into.subarray(0, read), to + done);
    done += read;
  }
  return done;
}
