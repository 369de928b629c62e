/** Reads the lines of a file that another library wrote, and may still write. */

import { Buffer } from "node:buffer";
import type { DiskFile } from "./disk.ts";

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;
/** Engines differ in how long a string may be; all of them take this. */
const LONGEST_LINE_BYTES = 256 * 1024 * 1024;

/** A line. */
export interface ForeignLine {
  /** Where it starts. */
  readonly offset: number;
  /** Its bytes without the newline, good until the next step; absent: it is too long for any string. */
  readonly body?: Uint8Array;
  /** How many they are. */
  readonly bytes: number;
}

/**
 * Reads the whole lines of a range, in order, with one buffer as long as the
 * longest line. What comes behind the last newline is not given: it was never
 * finished, or is being written.
 *
 * @param file The file.
 * @param from Where a line starts.
 * @param to Where to stop.
 * @param longestBytes From how many bytes on a line is not kept.
 * @returns The lines, as many at a time as were read at a time.
 */
export async function* readLines(
  file: DiskFile,
  from: number,
  to: number,
  longestBytes: number = LONGEST_LINE_BYTES,
): AsyncGenerator<readonly ForeignLine[], void, undefined> {
  let buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, longestBytes));
  /** Where in the file the line that has begun starts, and how much of it is in the buffer. */
  let offset = from;
  let filled = 0;
  /** Where the next bytes are read: beyond the buffer, where a line is too long to be kept. */
  let position = from;
  while (position < to) {
    if (filled === buffer.length && filled < longestBytes) {
      const larger = Math.min(buffer.length * 2, longestBytes);
      buffer = Buffer.concat([buffer], larger);
    }
    const skips = filled === buffer.length;
    const free = skips
      ? Buffer.allocUnsafe(Math.min(CHUNK_BYTES, longestBytes))
      : buffer;
    const start = skips ? 0 : filled;
    const wanted = Math.min(free.length - start, to - position);
    const more = await file.read(
      free.subarray(start, start + wanted),
      position,
    );
    if (more === 0) return;
    const end = start + more;
    const lines: ForeignLine[] = [];
    let lineAt = 0;
    for (
      let newline = free.subarray(0, end).indexOf(NEWLINE, start);
      newline >= 0;
      newline = free.subarray(0, end).indexOf(NEWLINE, lineAt)
    ) {
      const next = position + newline - start + 1;
      const bytes = next - 1 - offset;
      lines.push(
        skips && lineAt === 0
          ? { offset, bytes }
          : { offset, bytes, body: free.subarray(lineAt, newline) },
      );
      offset = next;
      lineAt = newline + 1;
    }
    position += more;
    if (lines.length > 0) yield lines;
    if (lineAt > 0) {
      free.copy(buffer, 0, lineAt, end);
      filled = end - lineAt;
    } else if (!skips) filled = end;
  }
}
