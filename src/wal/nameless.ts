/** A file that somebody has deleted while it was open: it takes every write, and is gone after a restart. */

import { Buffer } from "node:buffer";
import { type Disk, type DiskFile, writeAll } from "./disk.ts";
import type { Segment } from "./segment.ts";

const CHUNK_BYTES = 1024 * 1024;

/**
 * Writes a segment that has no name any more anew, from its handle. What somebody
 * has put under the name is overwritten.
 *
 * @param segment The segment, open.
 * @param disk The file system.
 * @returns The handle of the new file.
 */
export async function copyNameless(
  segment: Segment,
  disk: Disk,
): Promise<DiskFile> {
  const { path, size } = segment;
  const file = segment.file!;
  const copy = disk.open(path);
  try {
    const buffer = Buffer.allocUnsafe(Math.min(size, CHUNK_BYTES));
    for (let at = 0; at < size;) {
      const length = Math.min(buffer.length, size - at);
      const read = await file.read(buffer.subarray(0, length), at);
      if (read === 0) throw new Error(`${path} was deleted, and cut`);
      writeAll(copy, buffer.subarray(0, read), at);
      at += read;
    }
    // What was there may be longer.
    copy.truncate(size);
    return copy;
  } catch (error) {
    copy.close();
    throw error;
  }
}
