/** Makes a flush cover what the system may show and not have on the disk. */

import { copyBytes } from "./copy_bytes.ts";
import type { DiskFile } from "./disk.ts";

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
  const bytes = to - from;
  const done = await copyBytes(file, file, { from, bytes, to: from });
  if (done < bytes) {
    throw new Error(`the file ends at ${from + done}, before ${to}`);
  }
}
