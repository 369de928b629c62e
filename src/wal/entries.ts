/** Appends the entries of tasks, and tells what their states are then. */

import { crc32 } from "node:zlib";
import type { NewPart, RecordChange, WholeRecord } from "./fields.ts";
import { encodeHead, type EntryHead, utf8Length } from "./frame.ts";
import type { Log } from "./log.ts";
import { type Fields, type PartRef, TaskState } from "./task_state.ts";

/** Bytes of an entry beside its id and its body, more or less. */
const FRAME_BYTES = 110;
const NO_PARTS: readonly PartRef[] = [];
const NO_CHANGES: readonly [] = [];

/** A state that is on its way to the disk. */
export interface Appended {
  /** The state. */
  readonly state: TaskState;
  /** What it holds. */
  readonly fields: Fields;
}

/** A part as it is written. */
export type PartBytes = Pick<NewPart, "key" | "bytes" | "crc">;

/** A record that is written as a whole. */
export interface Put {
  /** The id. */
  readonly taskId: string;
  /** The task's birth; `undefined`: it is this entry. */
  readonly born: number | undefined;
  /** The version of the record. */
  readonly version: number;
  /** When it expires. */
  readonly expiresAt: number;
  /** Whether the task has ended. */
  readonly ended: boolean;
  /** The JSON of its small fields. */
  readonly small: string;
  /** Bytes of that; counted, if it is not known. */
  readonly smallBytes?: number;
  /** The small fields themselves, where they are at hand. They never change. */
  readonly head?: Fields["head"];
  /** Its parts. */
  readonly parts: readonly PartBytes[];
}

/**
 * Appends a whole record.
 *
 * @param log The log.
 * @param put The record.
 * @returns Its state.
 */
export function appendPut(log: Log, put: Put): Appended {
  const { taskId, version, expiresAt, ended, small, parts } = put;
  const sequence = log.nextSequence;
  const born = put.born ?? sequence;
  const { smallBytes = utf8Length(small) } = put;
  const front = encodeHead({
    kind: "p",
    sequence,
    born,
    version,
    expiresAt,
    ended,
    smallBytes,
    smallCrc: crc32(small),
    taskId,
    rows: rowsOf(parts),
  });
  const frontBytes = front.bytes + smallBytes;
  const bytes = frontBytes + bytesOf(parts) + 1;
  const { segment, offset } = log.add(
    piecesOf(front.text + small, parts),
    bytes,
  );
  const state = new TaskState({
    born,
    version,
    expiresAt,
    ended,
    aliveBytes: bytes,
    segment,
    offset,
    frontBytes,
  });
  const refs = refsOf(parts, segment, offset + frontBytes);
  return { state, fields: { small, head: put.head, parts: refs } };
}

/**
 * Appends a change.
 *
 * @param log The log.
 * @param taskId The id.
 * @param before The state that it changes.
 * @param change The change.
 * @returns The state after it.
 */
export function appendChange(
  log: Log,
  taskId: string,
  before: TaskState,
  change: RecordChange,
): Appended {
  const { delta, parts, dropped, small, head, kept } = change;
  const version = before.version + 1;
  const smallBytes = utf8Length(delta);
  const rows = rowsOf(parts);
  for (const key of dropped) rows.push({ key, bytes: -1, crc: 0 });
  const front = encodeHead({
    kind: "c",
    sequence: log.nextSequence,
    born: before.born,
    version,
    expiresAt: change.expiresAt,
    ended: change.ended,
    smallBytes,
    smallCrc: crc32(delta),
    taskId,
    rows,
  });
  const frontBytes = front.bytes + smallBytes;
  const bytes = frontBytes + bytesOf(parts) + 1;
  const place = log.add(piecesOf(front.text + delta, parts), bytes);
  const refs = refsOf(parts, place.segment, place.offset + frontBytes);
  const all = kept.length === 0 ? refs : [...kept, ...refs];
  const fields = { small, head, parts: all };
  const state = new TaskState({
    born: before.born,
    version,
    expiresAt: change.expiresAt,
    ended: change.ended,
    aliveBytes: FRAME_BYTES + taskId.length + change.recordBytes,
    segment: before.segment,
    offset: before.offset,
    frontBytes: before.frontBytes,
    overlay: { fields, changes: NO_CHANGES },
  });
  return { state, fields };
}

/**
 * Appends a deletion.
 *
 * @param log The log.
 * @param taskId The id.
 * @param before The state that it ends.
 */
export function appendDeletion(
  log: Log,
  taskId: string,
  before: TaskState,
): void {
  const { born, version } = before;
  appendBare(log, { kind: "d", born, version, taskId });
}

/**
 * Appends that the state of a task is lost.
 *
 * @param log The log.
 * @param taskId The id.
 * @param before The state that cannot be served.
 * @param note Where the damage was, as JSON.
 * @returns Its state.
 */
export function appendDamaged(
  log: Log,
  taskId: string,
  before: Pick<TaskState, "born" | "version" | "expiresAt" | "ended">,
  note: string,
): TaskState {
  const { born, version, expiresAt, ended } = before;
  const entry = { kind: "x", born, version, taskId, expiresAt, ended } as const;
  const { segment, offset, bytes } = appendBare(log, entry, note);
  return new TaskState({
    born,
    version,
    expiresAt,
    ended,
    aliveBytes: bytes,
    segment,
    offset,
    frontBytes: bytes - 1,
    isDamaged: true,
  });
}

/**
 * Appends which segment is the oldest.
 *
 * @param log The log.
 * @param number Its number.
 */
export function appendOldest(log: Log, number: number): void {
  appendBare(log, { kind: "o", born: 0, version: number, taskId: "" });
}

function appendBare(
  log: Log,
  entry:
    & Pick<EntryHead, "kind" | "born" | "version" | "taskId">
    & Partial<EntryHead>,
  body = "{}",
) {
  const smallBytes = utf8Length(body);
  const head = encodeHead({
    sequence: log.nextSequence,
    expiresAt: Infinity,
    ended: false,
    smallBytes,
    smallCrc: crc32(body),
    rows: [],
    ...entry,
  });
  const line = `${head.text}${body}\n`;
  const bytes = head.bytes + smallBytes + 1;
  return { ...log.add([line], bytes), bytes };
}

/** What was written of a whole record, for {@linkcode appendPut}. */
export function putOf(
  taskId: string,
  version: number,
  whole: WholeRecord,
): Put {
  const { small, smallBytes, parts, expiresAt, ended } = whole;
  const born = undefined;
  return {
    taskId,
    born,
    version,
    expiresAt,
    ended,
    small,
    smallBytes,
    parts,
  };
}

function rowsOf(
  parts: readonly PartBytes[],
): { key: string; bytes: number; crc: number }[] {
  return parts.map(({ key, bytes, crc }) => ({
    key,
    bytes: bytes.length,
    crc,
  }));
}

function bytesOf(parts: readonly PartBytes[]): number {
  let total = 0;
  for (const { bytes } of parts) total += bytes.length;
  return total;
}

function piecesOf(
  front: string,
  parts: readonly PartBytes[],
): (string | Uint8Array)[] {
  if (parts.length === 0) return [`${front}\n`];
  return [front, ...parts.map(({ bytes }) => bytes), "\n"];
}

function refsOf(
  parts: readonly PartBytes[],
  segment: PartRef["segment"],
  from: number,
): readonly PartRef[] {
  if (parts.length === 0) return NO_PARTS;
  let offset = from;
  return parts.map(({ key, bytes: { length: bytes }, crc }) => {
    const ref = { key, segment, offset, bytes, crc };
    offset += bytes;
    return ref;
  });
}
