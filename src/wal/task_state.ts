/**
 * What memory keeps of a task: where its entry is in the log, and what decides
 * writes. What has changed since that entry lies over it.
 */

import type { PartRow } from "./frame.ts";
import type { Segment } from "./segment.ts";

/** A field of a record that lies on the disk by itself. */
export interface PartRef {
  /** The field. */
  readonly key: string;
  /** Where it is. */
  readonly segment: Segment;
  /** Where it starts in the segment. */
  readonly offset: number;
  /** Bytes of its JSON. */
  readonly bytes: number;
  /** The CRC-32 of its JSON. */
  readonly crc: number;
}

/** All that a record holds: the small fields as text, the others by where they are. */
export interface Fields {
  /** The JSON of the record without its parts, version included. */
  readonly small: string;
  /** The same, decoded, where it is at hand. It never changes. */
  readonly head?: Readonly<Record<string, unknown>>;
  /** The parts. */
  readonly parts: readonly PartRef[];
}

/** A change that was read from the log, and is not applied yet. */
export interface UnappliedChange {
  /** The small fields that it sets, as JSON. */
  readonly small: string;
  /** The parts that it sets or drops. */
  readonly rows: readonly PartRow[];
  /** Where the parts are. */
  readonly segment: Segment;
  /** Where the first part starts in the segment. */
  readonly offset: number;
}

/** What lies over the entry that a state stands on. */
export interface Overlay {
  /** What the record holds without the changes; `undefined`: what the entry says. */
  readonly fields: Fields | undefined;
  /** Changes that were read from the log, and are not applied yet. */
  readonly changes: readonly UnappliedChange[];
}

/**
 * The state of a task at one version. It never changes, but for `overlay`, which
 * may come to say the same in another way, and for `isDamaged`.
 */
export class TaskState {
  /** The sequence number of the entry that created the task. */
  readonly born: number;
  /** The version of the record. */
  readonly version: number;
  /** When it expires, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Whether the task has ended. */
  readonly ended: boolean;
  /** Bytes of an entry with the whole record, more or less. */
  readonly aliveBytes: number;
  /** Where the entry is that it stands on. */
  readonly segment: Segment;
  /** Where that entry starts. */
  readonly offset: number;
  /** Bytes of its head and its small fields. */
  readonly frontBytes: number;
  /** What has changed since. */
  overlay: Overlay | undefined;
  /** Whether no state of the task can be served. */
  isDamaged: boolean;

  /** @param init All of it. */
  constructor(init: {
    readonly born: number;
    readonly version: number;
    readonly expiresAt: number;
    readonly ended: boolean;
    readonly aliveBytes: number;
    readonly segment: Segment;
    readonly offset: number;
    readonly frontBytes: number;
    readonly overlay?: Overlay | undefined;
    readonly isDamaged?: boolean;
  }) {
    this.born = init.born;
    this.version = init.version;
    this.expiresAt = init.expiresAt;
    this.ended = init.ended;
    this.aliveBytes = init.aliveBytes;
    this.segment = init.segment;
    this.offset = init.offset;
    this.frontBytes = init.frontBytes;
    this.overlay = init.overlay;
    this.isDamaged = init.isDamaged ?? false;
  }
}
