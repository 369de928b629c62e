/** Reads a log from its beginning, and tells a torn tail from damage. */

import { Buffer } from "node:buffer";
import { StoreDamagedError } from "../errors.ts";
import type { DiskFile } from "./disk.ts";
import {
  decodeFrame,
  FRAME_HEAD_BYTES,
  frameLength,
  isFrameBeginning,
  NEWLINE,
} from "./frame.ts";

const CHUNK_BYTES = 256 * 1024;

/** Where the whole lines of a log end. */
export interface ScanEnd {
  /** Bytes of all whole lines: what follows is a torn tail, to be cut. */
  readonly end: number;
  /** The sequence number of the line that would come next; 0 if there is none yet. */
  readonly nextSequence: number;
}

/**
 * Reads every line of a log, in order, with one buffer as long as the longest line.
 *
 * Where no sound line follows, the rest is either a **torn tail**, which an
 * append that was cut short has left, or **damage**. It is torn if it is the
 * beginning of one line, without the newline, and nothing but zero bytes after
 * that. Everything else is damage: an append writes its newline last, so that
 * a line which has one was whole when it was written, and may have been
 * acknowledged, the last line too.
 *
 * @param file The log.
 * @param name Its path, for errors.
 * @param visit Takes the body of each line and its offset.
 * @returns Where the whole lines end.
 * @throws {StoreDamagedError} `ERR_STORE_DAMAGED`: a line fails its check.
 */
export async function scanLog(
  file: DiskFile,
  name: string,
  visit: (body: string, offset: number) => void,
): Promise<ScanEnd> {
  let buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  /** Where in the file the buffer starts, and how much of it is filled. */
  let base = 0;
  let filled = 0;
  /** Where in the buffer the current line starts, and how far it has no newline. */
  let start = 0;
  let searched = 0;
  let nextSequence = 0;

  for (;;) {
    const found = buffer.subarray(0, filled).indexOf(NEWLINE, searched);
    if (found >= 0) {
      const offset = base + start;
      const frame = decodeFrame(buffer.subarray(start, found));
      if (!frame) {
        throw new StoreDamagedError(name, offset, "a line fails its checksum");
      }
      if (nextSequence !== 0 && frame.sequence !== nextSequence) {
        throw new StoreDamagedError(
          name,
          offset,
          `a line has sequence number ${frame.sequence}, ${nextSequence} was expected`,
        );
      }
      visit(frame.body, offset);
      nextSequence = frame.sequence + 1;
      start = searched = found + 1;
      continue;
    }
    searched = filled;
    // Keep the line that has begun, and make room for more of it: no more than
    // it asks for, so that one bad length does not ask for gigabytes.
    buffer.copy(buffer, 0, start, filled);
    base += start;
    filled -= start;
    searched -= start;
    start = 0;
    const wanted = frameLength(buffer.subarray(0, filled));
    if (filled >= FRAME_HEAD_BYTES && filled > (wanted ?? -1)) {
      return await judgeTail(file, name, base, nextSequence);
    }
    if (filled === buffer.length) {
      const larger = Buffer.allocUnsafe(
        Math.min(buffer.length * 2, Math.max(wanted! + 1, CHUNK_BYTES)),
      );
      buffer.copy(larger, 0, 0, filled);
      buffer = larger;
    }
    const more = await file.read(buffer.subarray(filled), base + filled);
    if (more === 0) return await judgeTail(file, name, base, nextSequence);
    filled += more;
  }
}

/** Passes if all from an offset on is a torn tail, and throws if it is damage. */
async function judgeTail(
  file: DiskFile,
  name: string,
  offset: number,
  nextSequence: number,
): Promise<ScanEnd> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  /** Bytes up to the last that is not zero. */
  let length = 0;
  for (let at = offset;;) {
    const chunk = buffer.subarray(0, await file.read(buffer, at));
    if (chunk.length === 0) break;
    if (at === offset) chunk.copy(head);
    const last = chunk.findLastIndex((byte) => byte !== 0);
    if (last >= 0) length = at - offset + last + 1;
    at += chunk.length;
  }
  if (!isFrameBeginning(head, length)) {
    throw new StoreDamagedError(
      name,
      offset,
      "the file ends in something that is no beginning of a line",
    );
  }
  return { end: offset, nextSequence };
}
