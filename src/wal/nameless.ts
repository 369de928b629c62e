/** A file that somebody has deleted while it was open: it takes every write, and is gone after a restart. */

import { copyBytes } from "./copy_bytes.ts";
import type { Disk, DiskFile } from "./disk.ts";
import type { Segment } from "./segment.ts";

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
    const whole = { from: 0, bytes: size, to: 0 };
    const done = await copyBytes(file, copy, whole);
    if (done < size) throw new Error(`${path} was deleted, and cut`);
    // What was there may be longer.
    copy.truncate(size);
    return copy;
  } catch (error) {
    copy.close();
    throw error;
  }
}
