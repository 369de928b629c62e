/** Reads a segment from its beginning, and tells a torn tail from damage. */

import { Buffer } from "node:buffer";
import type { DiskFile } from "./disk.ts";
import {
  type EntryHead,
  type FoundHead,
  isBodySound,
  isHeadBeginning,
  NEWLINE,
  parseHead,
} from "./frame.ts";

const CHUNK_BYTES = 1024 * 1024;
/** What a head needs at least before it says how long it is. */
const FIRST_BYTES = 64;

/** What a scan comes across. */
export type ScanItem =
  | {
    /** An entry that passes all checks. */
    readonly type: "entry";
    readonly head: EntryHead;
    /** Where it starts in the file. */
    readonly offset: number;
    /** Where its body starts in the file. */
    readonly bodyOffset: number;
    /** Where its body starts in {@linkcode SegmentScan.buffer}, until the next step. */
    readonly bodyAt: number;
  }
  | {
    /** Bytes that fail a check, or entries that are not there. */
    readonly type: "damage";
    readonly offset: number;
    readonly bytes: number;
    readonly reason: string;
    /** The head of the entry, where only its body fails. */
    readonly head: EntryHead | undefined;
    /**
     * Entries that are lost, and nobody knows whose they were. `undefined`: it is the
     * end of the log, and nobody knows how many.
     */
    readonly lost: number | undefined;
  }
  | {
    readonly type: "end";
    /** Where the entries end. After it comes nothing, or a torn tail. */
    readonly offset: number;
  };

/** An entry that is sound. */
export type EntryItem = Extract<ScanItem, { type: "entry" }>;
/** What is not. */
export type DamageItem = Extract<ScanItem, { type: "damage" }>;

/** Damage whose end is not found yet. */
interface Search {
  readonly offset: number;
  readonly reason: string;
  readonly head: EntryHead | undefined;
  /** Where the entry ends by its own head. */
  readonly ownEnd: number | undefined;
  /** The same, until that was looked at. */
  end: number | undefined;
  /** Where the search goes on. */
  from: number;
}

/**
 * One pass over a segment. It holds no more than a chunk, or one entry if that
 * is longer.
 *
 * Where no sound entry follows, the rest of the **last** segment is a **torn
 * tail**, which an append that was cut short has left, if it is the beginning of
 * one entry, without the newline. (Zero bytes at its very end are not counted to
 * its size: see {@linkcode writtenSize}.)
 * Everything else is damage: an append writes its newline last, so that an entry
 * which has one was whole when it was written, and may have been acknowledged.
 * Damage ends where the damaged entry ends by its own head, or else a newline, if a
 * sound head with a sequence number that is not yet used follows.
 */
export class SegmentScan {
  readonly #file: DiskFile;
  readonly #size: number;
  readonly #last: boolean;
  /** The sequence number of the entry that comes next; 0: any. */
  expected: number;
  /** What was read last. */
  buffer: Buffer = Buffer.alloc(0);
  /** Where in the file the buffer starts. */
  #base = 0;
  #filled = 0;
  #at = 0;
  #needed = FIRST_BYTES;
  #search: Search | undefined;
  #brokenNewline: number | undefined;

  /**
   * @param file The segment.
   * @param size Bytes of it that count.
   * @param expected The sequence number of its first entry; 0: not known.
   * @param last Whether it may end in a torn tail.
   */
  constructor(file: DiskFile, size: number, expected: number, last: boolean) {
    this.#file = file;
    this.#size = size;
    this.expected = expected;
    this.#last = last;
  }

  /**
   * Goes one item on, as far as what was read reaches.
   *
   * @returns The item; `undefined`: {@linkcode fill} first.
   */
  step(): ScanItem | undefined {
    if (this.#brokenNewline !== undefined) {
      const offset = this.#brokenNewline;
      this.#brokenNewline = undefined;
      const reason = "an entry does not end in a newline";
      return damage(offset, 1, reason, undefined, 0);
    }
    if (this.#search) return this.#goOnSearching(this.#search);
    const at = this.#at;
    if (at === this.#size) return { type: "end", offset: at };
    const from = at - this.#base;
    const found = parseHead(this.buffer, from, this.#filled);
    if (found === undefined) {
      return this.#startSearch("a head fails its check", undefined, at);
    }
    if (typeof found === "number") return this.#needOrEnd(at, found);
    const { head, bodyAt, bodyBytes } = found;
    const { kind, sequence } = head;
    if (this.expected === 0) this.expected = sequence;
    if (sequence < this.expected) {
      const reason = `an entry has the sequence number ${sequence} again`;
      return this.#startSearch(reason, undefined, at);
    }
    const end = bodyAt + bodyBytes + 1;
    if (end > this.#filled) {
      return this.#needOrEnd(at, end - from, found);
    }
    if (sequence > this.expected) {
      const lost = sequence - this.expected;
      this.expected = sequence;
      return damage(at, 0, "entries are missing", undefined, lost);
    }
    if (kind !== "h") this.expected++;
    if (!isBodySound(found, this.buffer)) {
      const reason = "a body fails its check";
      const from = this.#base + bodyAt;
      return this.#startSearch(reason, head, from, this.#base + end);
    }
    if (this.buffer[end - 1] !== NEWLINE) {
      this.#brokenNewline = this.#base + end - 1;
    }
    this.#at = this.#base + end;
    const bodyOffset = this.#base + bodyAt;
    return { type: "entry", head, offset: at, bodyOffset, bodyAt };
  }

  /** Reads on, so that the next step gets somewhere. */
  async fill(): Promise<void> {
    const at = this.#search?.from ?? this.#at;
    const kept = Math.max(0, this.#base + this.#filled - at);
    const left = this.#size - at;
    const wanted = Math.min(Math.max(CHUNK_BYTES, this.#needed), left);
    let next = this.buffer;
    if (next.length < wanted) next = Buffer.allocUnsafe(wanted);
    this.buffer.copy(next, 0, this.#filled - kept, this.#filled);
    this.buffer = next;
    this.#base = at;
    this.#filled = kept;
    const room = Math.min(next.length, left) - kept;
    const into = next.subarray(kept, kept + room);
    const read = await this.#file.read(into, at + kept);
    if (read < room) {
      throw new Error(
        `the file ends at ${at + kept + read}, before ${this.#size}`,
      );
    }
    this.#filled += read;
  }

  get #isAllRead(): boolean {
    return this.#base + this.#filled === this.#size;
  }

  /** Where an entry goes on behind what was read, or behind the end of the file. */
  #needOrEnd(
    at: number,
    needed: number,
    found?: FoundHead,
  ): ScanItem | undefined {
    if (!this.#isAllRead) {
      this.#needed = Math.min(needed, this.#size - at);
      return undefined;
    }
    if (this.#last && this.#isTorn(at - this.#base, found)) {
      return { type: "end", offset: at };
    }
    if (found && found.head.sequence === this.expected) {
      if (found.head.kind !== "h") this.expected++;
      const body = this.#base + found.bodyAt;
      const reason = "an entry is cut short";
      return this.#startSearch(reason, found.head, body, at + needed);
    }
    return this.#startSearch("a head is cut short", undefined, at);
  }

  #isTorn(from: number, found: FoundHead | undefined): boolean {
    const rest = this.buffer.subarray(from, this.#filled);
    if (rest.includes(NEWLINE)) return false;
    return found !== undefined || isHeadBeginning(rest.toString("latin1"));
  }

  #startSearch(
    reason: string,
    head: EntryHead | undefined,
    from: number,
    end?: number,
  ): ScanItem | undefined {
    this.#search = { offset: this.#at, reason, head, ownEnd: end, end, from };
    return this.#goOnSearching(this.#search);
  }

  #goOnSearching(search: Search): ScanItem | undefined {
    if (search.end !== undefined) {
      // Even if its newline is damaged too, the next entry may follow it.
      const { end, from } = search;
      const next = parseHead(this.buffer, end - this.#base, this.#filled);
      if (typeof next === "number" && !this.#isAllRead) {
        const needed = end - from + next;
        if (needed <= this.#size - from) {
          this.#needed = needed;
          return undefined;
        }
      }
      search.end = undefined;
      if (typeof next === "object" && next.head.sequence >= this.expected) {
        return this.#endAt(search, end, next.head.sequence);
      }
    }
    for (;;) {
      const from = search.from - this.#base;
      const found = this.buffer.subarray(0, this.#filled).indexOf(
        NEWLINE,
        from,
      );
      if (found < 0) {
        // Keep nothing of what has no newline.
        search.from = this.#base + this.#filled;
        if (!this.#isAllRead) {
          this.#needed = 0;
          return undefined;
        }
        return this.#endAtFileEnd(search);
      }
      const next = parseHead(this.buffer, found + 1, this.#filled);
      if (typeof next === "number" && !this.#isAllRead) {
        search.from = this.#base + found;
        if (next < this.#size - search.from) {
          this.#needed = next + 1;
          return undefined;
        }
      } else if (
        typeof next === "object" && next.head.sequence >= this.expected
      ) {
        return this.#endAt(
          search,
          this.#base + found + 1,
          next.head.sequence,
        );
      }
      search.from = this.#base + found + 1;
    }
  }

  #endAt(search: Search, end: number, sequence: number): ScanItem {
    const { offset, reason, head } = search;
    // In front of the first entry nobody knows of a task.
    const lost = this.expected === 0 ? 0 : sequence - this.expected;
    this.#search = undefined;
    this.#at = end;
    this.expected = sequence;
    return damage(offset, end - offset, reason, head, lost);
  }

  #endAtFileEnd(search: Search): ScanItem {
    const { offset, reason, head, ownEnd } = search;
    this.#search = undefined;
    this.#at = this.#size;
    const bytes = this.#size - offset;
    if (!this.#last) {
      // The first line of the next segment tells how many are lost.
      return damage(offset, bytes, reason, head, 0);
    }
    const isAlone = ownEnd !== undefined && ownEnd >= this.#size;
    return damage(offset, bytes, reason, head, isAlone ? 0 : undefined);
  }
}

function damage(
  offset: number,
  bytes: number,
  reason: string,
  head: EntryHead | undefined,
  lost: number | undefined,
): ScanItem {
  return { type: "damage", offset, bytes, reason, head, lost };
}

/**
 * Finds out how much of a file is more than zero bytes at its end, which a power
 * loss leaves where a file had grown and was not yet written.
 *
 * @param file The file.
 * @returns Bytes up to the last that is not zero.
 */
export async function writtenSize(file: DiskFile): Promise<number> {
  const size = file.size();
  const buffer = Buffer.allocUnsafe(Math.min(64 * 1024, size));
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - buffer.length);
    const read = await file.read(buffer.subarray(0, end - start), start);
    const last = buffer.subarray(0, read).findLastIndex((byte) => byte !== 0);
    if (last >= 0) return start + last + 1;
    end = start;
  }
  return 0;
}
