/** Reads what memory does not hold, and checks it again. */

import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import { copyJson } from "../model/json.ts";
import { type Disk, type DiskFile, isMissing } from "./disk.ts";
import { applyChanges } from "./fields.ts";
import { parseHead } from "./frame.ts";
import { HotTexts } from "./hot_texts.ts";
import type { UnwrittenParts } from "./records.ts";
import type { Segment, SegmentFiles } from "./segment.ts";
import type { Fields, PartRef, TaskState } from "./task_state.ts";

const HOT_LENGTH = 16 * 1024 * 1024;
/** Fields of so many tasks are kept from their creation until they are read or changed. */
const RECENT = 256;
/** Larger than any offset: an entry starts before the end of a segment, and is at most some hundred MiB long. */
const OFFSETS = 2 ** 30;

/** Bytes that were sound when they were written, and are no more. */
export class ReadDamage extends Error {
  /** The segment. */
  readonly segment: Segment;
  /** Where they start. */
  readonly offset: number;
  /** How many they are. */
  readonly bytes: number;

  /**
   * @param segment The segment.
   * @param offset Where they start.
   * @param bytes How many they are.
   * @param reason What is wrong with them.
   */
  constructor(
    segment: Segment,
    offset: number,
    bytes: number,
    reason: string,
  ) {
    super(reason);
    this.name = "ReadDamage";
    this.segment = segment;
    this.offset = offset;
    this.bytes = bytes;
  }
}

/** A part that was read more than once: a copy costs less than to decode it again. */
class Decoded {
  readonly value: unknown;
  readonly length: number;

  constructor(text: string) {
    this.value = JSON.parse(text);
    // About so much more memory than the text.
    this.length = 2 * text.length;
  }
}

/** Reads the fields of records. */
export class Reader {
  readonly #files: SegmentFiles;
  readonly #fields = new HotTexts<Fields>(HOT_LENGTH / 4);
  readonly #parts = new HotTexts<string | Decoded>(HOT_LENGTH - HOT_LENGTH / 4);
  /** What was written last of tasks that go on, by the end of their sequence numbers. */
  readonly #recent: {
    readonly state: TaskState;
    readonly fields: Fields;
  }[] = [];

  /** @param files The handles of the segments. */
  constructor(files: SegmentFiles) {
    this.#files = files;
  }

  /**
   * Gives what a record holds.
   *
   * @param taskId The id.
   * @param state The state of the task, on the disk.
   * @returns Its fields.
   * @throws {ReadDamage} They fail their check.
   */
  fields(taskId: string, state: TaskState): Fields {
    const { overlay } = state;
    let fields = overlay?.fields ?? this.#front(taskId, state, !overlay);
    if (!overlay || overlay.changes.length === 0) return fields;
    fields = applyChanges(fields, overlay.changes, state.version);
    state.overlay = { fields, changes: [] };
    return fields;
  }

  /**
   * Gives a part.
   *
   * @param part The part, on the disk.
   * @returns A copy of its value.
   * @throws {ReadDamage} It fails its check.
   */
  value(part: PartRef): unknown {
    const place = placeOf(part);
    const hot = this.#parts.get(place, lengthOfHot);
    if (hot === undefined) {
      const text = this.bytes(part).toString();
      this.#parts.set(place, text, text.length);
      return JSON.parse(text);
    }
    if (typeof hot !== "string") return copyJson(hot.value);
    const decoded = new Decoded(hot);
    const isKept = this.#parts.set(place, decoded, decoded.length);
    return isKept ? copyJson(decoded.value) : decoded.value;
  }

  /**
   * Gives a part that may be on its way to the disk.
   *
   * @param part The part.
   * @param unwritten Where to find it until then.
   * @returns A copy of its value.
   * @throws {ReadDamage} It fails its check.
   */
  appendedValue(part: PartRef, unwritten: UnwrittenParts | undefined): unknown {
    const found = isWritten(part) ? part : unwritten?.get(part) ?? part;
    return typeof found === "string" ? JSON.parse(found) : this.value(found);
  }

  /**
   * Gives a part as it is on the disk.
   *
   * @param part The part.
   * @returns Its bytes.
   * @throws {ReadDamage} It fails its check.
   */
  bytes(part: PartRef): Buffer {
    const { segment, offset, bytes, crc } = part;
    const read = this.#readNow(segment, offset, bytes);
    if (read.length === bytes && crc32(read) === crc) return read;
    throw new ReadDamage(segment, offset, bytes, "a part fails its check");
  }

  /**
   * Gives a long part as it is on the disk, without holding up the process.
   *
   * @param part The part.
   * @param disk The file system.
   * @returns Its bytes.
   * @throws {ReadDamage} It fails its check.
   */
  async bytesLater(part: PartRef, disk: Disk): Promise<Buffer> {
    const { segment, offset, bytes, crc } = part;
    const read = Buffer.allocUnsafe(bytes);
    // A handle of its own: nobody closes it meanwhile.
    const file = opened(segment, () => disk.openToRead(segment.path));
    try {
      const length = await file.read(read, offset);
      if (length === bytes && crc32(read) === crc) return read;
    } finally {
      file.close();
    }
    throw new ReadDamage(segment, offset, bytes, "a part fails its check");
  }

  /** Keeps what was just written. */
  keepFields(state: TaskState, fields: Fields): void {
    // Most of these are changed before long, and need no place in the cache.
    if (!state.ended) this.#recent[state.born % RECENT] = { state, fields };
    else this.#fields.set(placeOf(state), fields, lengthOfFields(fields));
  }

  /** Keeps a part that was just written. */
  keepText(part: PartRef, text: string): void {
    this.#parts.set(placeOf(part), text, text.length);
  }

  #readNow(segment: Segment, offset: number, bytes: number): Buffer {
    const file = opened(segment, () => this.#files.handle(segment));
    const buffer = Buffer.allocUnsafe(bytes);
    return buffer.subarray(0, file.readNow(buffer, offset));
  }

  #front(taskId: string, state: TaskState, isWhole: boolean): Fields {
    const slot = state.born % RECENT;
    const recent = this.#recent[slot];
    if (recent?.state === state) {
      const fields = decoded(recent.fields);
      if (fields !== recent.fields) this.#recent[slot] = { state, fields };
      return fields;
    }
    const place = placeOf(state);
    const hot = this.#fields.get(place, lengthOfFields);
    if (hot) {
      const fields = decoded(hot);
      if (fields !== hot) {
        this.#fields.set(place, fields, lengthOfFields(fields));
      }
      return fields;
    }
    const fields = this.#readFront(taskId, state);
    if (isWhole) this.#fields.set(place, fields, lengthOfFields(fields));
    return fields;
  }

  #readFront(taskId: string, state: TaskState): Fields {
    const { segment, offset, frontBytes } = state;
    const read = this.#readNow(segment, offset, frontBytes);
    const found = parseHead(read, 0, read.length);
    if (typeof found === "object") {
      const { head, bodyAt } = found;
      const small = read.subarray(bodyAt);
      if (
        head.taskId === taskId && head.born === state.born &&
        small.length === head.smallBytes && crc32(small) === head.smallCrc
      ) {
        let at = offset + frontBytes;
        const parts = head.rows.map(({ key, bytes, crc }) => {
          const part = { key, segment, offset: at, bytes, crc };
          at += bytes;
          return part;
        });
        return { small: small.toString(), parts };
      }
    }
    const reason = "an entry fails its check";
    throw new ReadDamage(segment, offset, frontBytes, reason);
  }
}

/** Opens a segment: one whose file somebody has removed is lost as a whole. */
function opened(segment: Segment, open: () => DiskFile): DiskFile {
  try {
    return open();
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new ReadDamage(segment, 0, segment.size, "the file is missing");
  }
}

/**
 * Tells whether a part can be read from where it is.
 *
 * @param part The part.
 * @returns Whether its write is committed.
 */
export function isWritten({ segment, offset, bytes }: PartRef): boolean {
  return offset + bytes <= segment.size;
}

/** Decodes the small fields, as they are looked at more than once. */
function decoded(fields: Fields): Fields {
  if (fields.head) return fields;
  const { small, parts } = fields;
  return { small, head: JSON.parse(small), parts };
}

function lengthOfFields({ small, head, parts }: Fields): number {
  return (head ? 2 : 1) * small.length + 100 * parts.length;
}

function lengthOfHot(hot: string | Decoded): number {
  return hot.length;
}

function placeOf(
  { segment, offset }: { segment: Segment; offset: number },
): number {
  return segment.number * OFFSETS + offset;
}
