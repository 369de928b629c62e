/**
 * The entries of the log. Each is one line:
 *
 * ```text
 * CHECK LENGTH KIND SEQUENCE BORN VERSION EXPIRES ENDED BYTES CHECK "id" [parts] {small}part…part
 * ```
 *
 * The first check is the CRC-32 of the head, from `LENGTH` to the space in front
 * of `{small}`; `LENGTH` is how many bytes of the head come after the space
 * behind it. So the head can be trusted where the body cannot. `BYTES` and the
 * second check are those of the small fields; each part has a row
 * `["key",bytes,"check"]`, a part that a change drops the row `["key"]`. Checks
 * are 8 hexadecimal digits, all other numbers are decimal.
 *
 * JSON has no raw newline and no zero byte, so that a newline always ends an
 * entry, and zero bytes were never written.
 */

import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";

/**
 * What an entry is:
 * - `h` the header of a segment; its sequence number is that of the entry after it;
 * - `p` a whole record;
 * - `c` a change of the version before it: small fields to set, parts to set, fields to drop;
 * - `d` a deletion;
 * - `x` a task that is damaged, and has no state that could be served;
 * - `o` the number of the oldest segment, as its version.
 */
export type EntryKind = "h" | "p" | "c" | "d" | "x" | "o";

/** A row of the table of parts. */
export interface PartRow {
  /** The field of the record. */
  readonly key: string;
  /** Bytes of its JSON; -1: the change drops the field. */
  readonly bytes: number;
  /** The CRC-32 of its JSON. */
  readonly crc: number;
}

/** What stands in front of the body. */
export interface EntryHead {
  /** What it is. */
  readonly kind: EntryKind;
  /** One more than that of the entry before it. */
  readonly sequence: number;
  /** The sequence number of the entry that created the task: tells two tasks with one id apart. */
  readonly born: number;
  /** The version of the record with this entry. */
  readonly version: number;
  /** When the task expires, in milliseconds since the epoch, as of this version. */
  readonly expiresAt: number;
  /** Whether the task has ended, as of this version. */
  readonly ended: boolean;
  /** Bytes of the small fields. */
  readonly smallBytes: number;
  /** Their CRC-32. */
  readonly smallCrc: number;
  /** The task. */
  readonly taskId: string;
  /** The parts, in the order of the body. */
  readonly rows: readonly PartRow[];
}

const NO_ROWS: readonly PartRow[] = [];
const KINDS = new Map<number, EntryKind>(
  (["h", "p", "c", "d", "x", "o"] as const).map((
    kind,
  ) => [kind.charCodeAt(0), kind]),
);
/** Every byte in hexadecimal digits. */
const PAIRS: readonly string[] = Array.from(
  { length: 256 },
  (_, byte) => byte.toString(16).padStart(2, "0"),
);
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const CHECK_DIGITS = 8;
/** More would be no head, but damage that asks for memory. */
const LENGTH_DIGITS = 9;

/** The byte that ends an entry. */
export const NEWLINE = 0x0a;
/** No entry is shorter. */
export const LEAST_ENTRY_BYTES = 40;

/** A head as it is written. */
export interface EncodedHead {
  /** Its text: the body, and a newline, come right behind it. */
  readonly text: string;
  /** Its bytes. */
  readonly bytes: number;
}

/**
 * Encodes a head.
 *
 * @param head The head.
 * @returns Its text and its bytes.
 */
export function encodeHead(head: EntryHead): EncodedHead {
  const { kind, sequence, born, version, expiresAt, ended, rows } = head;
  const expires = expiresAt === Infinity ? "-" : expiresAt;
  const id = JSON.stringify(head.taskId);
  let text =
    `${kind} ${sequence} ${born} ${version} ${expires} ${ended ? 1 : 0} ` +
    `${head.smallBytes} ${toCheck(head.smallCrc)} ${id} `;
  if (rows.length > 0) {
    text += `${
      JSON.stringify(
        rows.map(({ key, bytes, crc }) =>
          bytes < 0 ? [key] : [key, bytes, toCheck(crc)]
        ),
      )
    } `;
  }
  const length = utf8Length(text);
  const digits = `${length}`;
  text = `${digits} ${text}`;
  return {
    text: `${toCheck(crc32(text))} ${text}`,
    bytes: CHECK_DIGITS + digits.length + 2 + length,
  };
}

/**
 * Counts the bytes of a text.
 *
 * @param text The text.
 * @returns Its bytes in UTF-8.
 */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text);
}

/** A head that was found, and where it ends. */
export interface FoundHead {
  /** The head. */
  readonly head: EntryHead;
  /** Where the body starts. */
  readonly bodyAt: number;
  /** Bytes of the body, without the newline. */
  readonly bodyBytes: number;
}

/**
 * Decodes a head and checks it.
 *
 * @param buffer What holds it.
 * @param at Where it starts.
 * @param end Where the bytes in the buffer end.
 * @returns The head; a number if that many bytes are needed at least, and are not there;
 * `undefined` if it is none.
 */
export function parseHead(
  buffer: Buffer,
  at: number,
  end: number,
): FoundHead | number | undefined {
  const check = parseCheck(buffer, at, end);
  if (check === undefined) return undefined;
  if (check < 0) return CHECK_DIGITS + LENGTH_DIGITS + 2;
  const lengthAt = at + CHECK_DIGITS + 1;
  let length = 0;
  let from = lengthAt;
  for (;; from++) {
    if (from === end) return CHECK_DIGITS + LENGTH_DIGITS + 2;
    const digit = buffer[from] - 0x30;
    if (digit < 0 || digit > 9) break;
    if (from - lengthAt === LENGTH_DIGITS) return undefined;
    length = length * 10 + digit;
  }
  if (buffer[from] !== SPACE || from === lengthAt) return undefined;
  from++;
  const bodyAt = from + length;
  if (bodyAt > end) return bodyAt - at;
  if (crc32(buffer.subarray(lengthAt, bodyAt)) !== check) return undefined;
  return parseFields(buffer, from, bodyAt);
}

/** Reads what the check has found sound. */
function parseFields(
  buffer: Buffer,
  from: number,
  bodyAt: number,
): FoundHead | undefined {
  const kind = KINDS.get(buffer[from]);
  if (!kind) return undefined;
  let at = from + 2;
  const number = (): number => {
    const start = at;
    let value = 0;
    for (; at < bodyAt && buffer[at] !== SPACE; at++) {
      value = value * 10 + buffer[at] - 0x30;
    }
    const digits = at - start;
    at++;
    // Not a plain integer, or too long to be exact: as it was printed.
    if (value >= 0 && value <= Number.MAX_SAFE_INTEGER && digits < 16) {
      const first = buffer[start];
      if (first >= 0x30 && first <= 0x39 && isDigits(buffer, start, at - 1)) {
        return value;
      }
    }
    const text = buffer.toString("latin1", start, at - 1);
    return text === "-" ? Infinity : Number(text);
  };
  const sequence = number();
  const born = number();
  const version = number();
  const expiresAt = number();
  const ended = number() === 1;
  const smallBytes = number();
  const smallCrc = parseCheck(buffer, at, bodyAt) ?? -1;
  at += CHECK_DIGITS + 1;
  const idAt = at;
  let escaped = false;
  for (at++; at < bodyAt && buffer[at] !== QUOTE; at++) {
    if (buffer[at] !== BACKSLASH) continue;
    escaped = true;
    at++;
  }
  const taskId: string = escaped
    ? JSON.parse(buffer.toString("utf8", idAt, at + 1))
    : buffer.toString("utf8", idAt + 1, at);
  at += 2;
  let rows = NO_ROWS;
  let bodyBytes = smallBytes;
  if (at < bodyAt) {
    rows = (JSON.parse(buffer.toString("utf8", at, bodyAt)) as [
      string,
      number?,
      string?,
    ][]).map(([key, bytes = -1, crc = "0"]) => ({
      key,
      bytes,
      crc: parseInt(crc, 16),
    }));
    for (const { bytes } of rows) if (bytes > 0) bodyBytes += bytes;
  }
  const head = {
    kind,
    sequence,
    born,
    version,
    expiresAt,
    ended,
    smallBytes,
    smallCrc,
    taskId,
    rows,
  };
  return { head, bodyAt, bodyBytes };
}

function isDigits(buffer: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = buffer[at];
    if (byte < 0x30 || byte > 0x39) return false;
  }
  return true;
}

/** Gives -1 if there are too few bytes. */
function parseCheck(
  buffer: Buffer,
  at: number,
  end: number,
): number | undefined {
  let value = 0;
  for (let digit = 0; digit < CHECK_DIGITS; digit++) {
    if (at + digit >= end) return -1;
    const byte = buffer[at + digit];
    if (byte >= 0x30 && byte <= 0x39) value = value * 16 + byte - 0x30;
    else if (byte >= 0x61 && byte <= 0x66) value = value * 16 + byte - 0x57;
    else return undefined;
  }
  if (at + CHECK_DIGITS >= end) return -1;
  return buffer[at + CHECK_DIGITS] === SPACE ? value : undefined;
}

/**
 * Tells whether the body of an entry passes its checks.
 *
 * @param found The head.
 * @param buffer What holds the entry.
 * @returns Whether every piece is as it was written.
 */
export function isBodySound(found: FoundHead, buffer: Buffer): boolean {
  const { head, bodyAt } = found;
  let at = bodyAt + head.smallBytes;
  if (crc32(buffer.subarray(bodyAt, at)) !== head.smallCrc) return false;
  for (const { bytes, crc } of head.rows) {
    if (bytes < 0) continue;
    if (crc32(buffer.subarray(at, at + bytes)) !== crc) return false;
    at += bytes;
  }
  return true;
}

/**
 * Tells whether bytes may be the beginning of a head that was never finished.
 *
 * @param text The bytes, fewer than the head has, one character each.
 * @returns Whether a write that was cut short can have left them.
 */
export function isHeadBeginning(text: string): boolean {
  return /^[0-9a-f]{0,8}$|^[0-9a-f]{8} [0-9]{0,9}$|^[0-9a-f]{8} [0-9]{1,9} ([hpcdxo]( [ -\xff]*)?)?$/
    .test(text);
}

function toCheck(crc: number): string {
  return PAIRS[crc >>> 24] + PAIRS[(crc >>> 16) & 0xff] +
    PAIRS[(crc >>> 8) & 0xff] + PAIRS[crc & 0xff];
}
