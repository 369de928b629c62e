/**
 * The lines of the log: `CHECKSUM LENGTH SEQUENCE BODY` and a newline, the first
 * three in hexadecimal digits of a fixed number, the body JSON on one line. The
 * checksum is the CRC-32 of all that follows it up to the newline; the length
 * is that of the body in bytes. JSON has no raw newline and no zero byte, so
 * that a newline always ends a line, and zero bytes were never written.
 */

import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";

/** Bytes of a line before its body. */
export const FRAME_HEAD_BYTES = 31;
/** Bytes of a line beside its body: the head and the newline. */
export const FRAME_BYTES: number = FRAME_HEAD_BYTES + 1;
/** The byte that ends a line. */
export const NEWLINE = 0x0a;

const HEAD = /^[0-9a-f]{8} [0-9a-f]{8} [0-9a-f]{12} $/;
const HEAD_PATTERN = "00000000 00000000 000000000000 ";
/** Where the length starts: what the checksum covers. */
const LENGTH_AT = 9;
const SEQUENCE_AT = 18;

/** One line of the log. */
export interface Frame {
  /** Its sequence number: each line has that of the line before it plus 1. */
  readonly sequence: number;
  /** The JSON. */
  readonly body: string;
}

/**
 * Encodes lines that follow each other.
 *
 * @param sequence The sequence number of the first.
 * @param bodies The JSON of each.
 * @returns The bytes of all.
 */
export function encodeFrames(
  sequence: number,
  bodies: readonly string[],
): Buffer {
  const lengths = bodies.map((body) => Buffer.byteLength(body));
  const total = lengths.reduce((sum, length) => sum + length + FRAME_BYTES, 0);
  const bytes = Buffer.allocUnsafe(total);
  let at = 0;
  bodies.forEach((body, index) => {
    const length = lengths[index];
    const end = at + FRAME_HEAD_BYTES + length;
    bytes.write(` ${hex(length, 8)} ${hex(sequence + index, 12)} `, at + 8);
    bytes.write(body, at + FRAME_HEAD_BYTES);
    bytes.write(hex(crc32(bytes.subarray(at + LENGTH_AT, end)), 8), at);
    bytes[end] = NEWLINE;
    at = end + 1;
  });
  return bytes;
}

/**
 * Decodes a line.
 *
 * @param line Its bytes without the newline.
 * @returns What it holds; `undefined` if it fails its check.
 */
export function decodeFrame(line: Buffer): Frame | undefined {
  const length = frameLength(line);
  if (length !== line.length) return undefined;
  if (
    line.toString("latin1", 0, 8) !== hex(crc32(line.subarray(LENGTH_AT)), 8)
  ) {
    return undefined;
  }
  return {
    sequence: parseInt(
      line.toString("latin1", SEQUENCE_AT, SEQUENCE_AT + 12),
      16,
    ),
    body: line.toString("utf8", FRAME_HEAD_BYTES),
  };
}

/**
 * Reads how long a line says that it is.
 *
 * @param start The first bytes of the line.
 * @returns Its bytes without the newline; `undefined` if these bytes are no
 * whole head of a line.
 */
export function frameLength(start: Buffer): number | undefined {
  const head = start.toString("latin1", 0, FRAME_HEAD_BYTES);
  if (!HEAD.test(head)) return undefined;
  return FRAME_HEAD_BYTES + parseInt(head.slice(LENGTH_AT, LENGTH_AT + 8), 16);
}

/**
 * Tells whether bytes may be the beginning of a line that was never finished.
 *
 * @param start The first bytes, at least a whole head if there are as many.
 * @param length How many bytes there are in all.
 * @returns Whether a write that was cut short can have left them.
 */
export function isFrameBeginning(start: Buffer, length: number): boolean {
  if (length >= FRAME_HEAD_BYTES) return length <= (frameLength(start) ?? -1);
  return HEAD.test(
    start.toString("latin1", 0, length) + HEAD_PATTERN.slice(length),
  );
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}
