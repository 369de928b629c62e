/**
 * Divides records into small fields, which are read and written together, and
 * parts, which a change of something else neither reads nor writes.
 */

import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import { expiresAt } from "../model/expiry.ts";
import { copyJson, setOwn } from "../model/json.ts";
import {
  PAYLOAD_FIELDS,
  type TaskPatch,
  type TaskRecord,
} from "../model/record.ts";
import { isTerminalStatus, type TaskStatus } from "../model/status.ts";
import { utf8Length } from "./frame.ts";
import type { Fields, PartRef, UnappliedChange } from "./task_state.ts";

/** A record up to this length has no parts. */
const SMALL_RECORD_LENGTH = 1024;
/** A payload field up to this length is small. */
const SMALL_PAYLOAD_LENGTH = 256;
/** Any other field up to this length is small. */
const SMALL_FIELD_LENGTH = 512;
/** Where the small fields have this length, further ones are parts. */
const LONGEST_SMALL_LENGTH = 4096;
/** A shorter field is not worth a row of its own. */
const LEAST_PART_LENGTH = 64;

const PAYLOADS: ReadonlySet<string> = new Set(PAYLOAD_FIELDS);
/** What is always small. */
const FRONT = new Set(["taskId", "status", "createdAt", "ttlMs", "version"]);
/** The fields that no change touches. */
const FIXED = new Set(["taskId", "createdAt", "version"]);

/** A part that is not on the disk yet. */
export interface NewPart {
  /** The field. */
  readonly key: string;
  /** Its JSON. */
  readonly text: string;
  /** The bytes of its JSON. */
  readonly bytes: Uint8Array;
  /** Their CRC-32. */
  readonly crc: number;
}

/** A record that is to be written as a whole. */
export interface WholeRecord {
  /** The JSON of its small fields. */
  readonly small: string;
  /** Bytes of that. */
  readonly smallBytes: number;
  /** Its parts. */
  readonly parts: readonly NewPart[];
  /** Bytes of the JSON of the whole record. */
  readonly recordBytes: number;
  /** When it expires. */
  readonly expiresAt: number;
  /** Whether the task has ended. */
  readonly ended: boolean;
}

/** A change that is to be written. */
export interface RecordChange {
  /** The JSON of all small fields after it. */
  readonly small: string;
  /** Bytes of that. */
  readonly smallBytes: number;
  /** The small fields after it. They never change. */
  readonly head: Readonly<Record<string, unknown>>;
  /** The JSON of the small fields that it sets. */
  readonly delta: string;
  /** The parts that it sets. */
  readonly parts: readonly NewPart[];
  /** The fields that it drops. */
  readonly dropped: readonly string[];
  /** The parts that it leaves alone. */
  readonly kept: readonly PartRef[];
  /** Bytes of the JSON of the whole record after it. */
  readonly recordBytes: number;
  /** When the record expires after it. */
  readonly expiresAt: number;
  /** Whether the task has ended after it. */
  readonly ended: boolean;
}

/**
 * Divides a record.
 *
 * @param record The record. It may change afterwards.
 * @returns What is to be written.
 */
export function divideRecord(record: TaskRecord): WholeRecord {
  const parts: NewPart[] = [];
  let small: string | undefined;
  if (!hasPayload(record)) {
    const text = JSON.stringify(record);
    if (text.length <= SMALL_RECORD_LENGTH) small = text;
  }
  if (small === undefined) {
    let texts: [key: string, text: string][] = [];
    let length = 0;
    for (const key of Object.keys(record)) {
      const text = toText((record as unknown as Record<string, unknown>)[key]);
      if (text === undefined) continue;
      texts.push([key, text]);
      length += key.length + text.length + 4;
    }
    if (length > SMALL_RECORD_LENGTH) {
      texts = texts.filter(([key, text]) => {
        if (!isPart(key, text, 0)) return true;
        parts.push(toPart(key, text));
        length -= key.length + text.length + 4;
        return false;
      });
      texts = texts.filter(([key, text]) => {
        if (!isPart(key, text, length)) return true;
        parts.push(toPart(key, text));
        length -= key.length + text.length + 4;
        return false;
      });
    }
    small = toObjectText(texts);
  }
  const smallBytes = utf8Length(small);
  return {
    small,
    smallBytes,
    parts,
    recordBytes: smallBytes + bytesOfParts(parts),
    expiresAt: expiryOf(record),
    ended: isTerminalStatus(record.status),
  };
}

/** A field that a patch sets. */
interface EncodedField {
  readonly key: string;
  /** Its JSON. */
  readonly text: string;
  /** Itself, where it needs no copy; `undefined`: it is to be decoded. */
  readonly value: string | boolean | undefined;
}

/** A patch, encoded: what is written does not change with the caller's object. */
export interface EncodedPatch {
  /** The fields to set. */
  readonly set: readonly EncodedField[];
  /** The fields to drop. */
  readonly unset: readonly string[];
  /** Whether the record may expire at another time after it. */
  readonly movesExpiry: boolean;
}

/**
 * Encodes a patch.
 *
 * @param patch The patch. It may change afterwards.
 * @returns Its fields, but for those that no change touches.
 */
export function encodePatch(patch: TaskPatch): EncodedPatch {
  const set: EncodedField[] = [];
  const unset: string[] = [];
  let movesExpiry = false;
  for (const key of Object.keys(patch)) {
    if (FIXED.has(key)) continue;
    if (key === "ttlMs") movesExpiry = true;
    const value = (patch as Record<string, unknown>)[key];
    if (value === undefined) {
      unset.push(key);
      continue;
    }
    const text = toText(value);
    if (text === undefined) continue;
    const isKept = typeof value === "string" || typeof value === "boolean";
    set.push({ key, text, value: isKept ? value : undefined });
  }
  return { set, unset, movesExpiry };
}

/**
 * Applies a patch, without a look at the parts that it leaves alone.
 *
 * @param fields What the record holds.
 * @param expiresAt When it expires.
 * @param patch The patch.
 * @returns What is to be written.
 */
export function applyPatch(
  fields: Fields,
  expiresAt: number,
  patch: EncodedPatch,
): RecordChange {
  // What is deep in it is never changed, only replaced.
  const head: Record<string, unknown> = fields.head
    ? { ...fields.head }
    : JSON.parse(fields.small);
  let kept = fields.parts;
  const drop = (key: string): boolean => {
    if (!kept.some((part) => part.key === key)) return false;
    kept = kept.filter((part) => part.key !== key);
    return true;
  };
  const dropped: string[] = [];
  const parts: NewPart[] = [];
  let delta = "";
  for (const key of patch.unset) {
    if (Object.hasOwn(head, key)) delete head[key];
    else if (!drop(key)) continue;
    dropped.push(key);
  }
  for (const { key, text, value } of patch.set) {
    drop(key);
    if (isPart(key, text, fields.small.length + delta.length)) {
      delete head[key];
      parts.push(toPart(key, text));
      continue;
    }
    setOwn(head, key, value ?? JSON.parse(text));
    delta += `${delta ? "," : ""}${JSON.stringify(key)}:${text}`;
  }
  head.version = head.version as number + 1;
  const small = JSON.stringify(head);
  const smallBytes = utf8Length(small);
  return {
    small,
    smallBytes,
    head,
    delta: `{${delta}}`,
    parts,
    dropped,
    kept,
    recordBytes: smallBytes + bytesOfParts(parts) + bytesOfParts(kept),
    expiresAt: patch.movesExpiry
      ? expiryOf(head as unknown as TaskRecord)
      : expiresAt,
    ended: isTerminalStatus(head.status as TaskStatus),
  };
}

/**
 * Counts the bytes of a record.
 *
 * @param fields What it holds.
 * @returns Bytes of the JSON of the whole record.
 */
export function recordBytesOf(fields: Fields): number {
  return utf8Length(fields.small) + bytesOfParts(fields.parts);
}

/**
 * Decodes the small fields.
 *
 * @param fields What a record holds.
 * @returns A copy of its small fields.
 */
export function copyHead(fields: Fields): Record<string, unknown> {
  return fields.head
    ? copyJson<Record<string, unknown>>(fields.head)
    : JSON.parse(fields.small);
}

/**
 * Takes the fields away that a head of a record does not have.
 *
 * @param head The small fields of a record.
 */
export function dropPayloads(head: Record<string, unknown>): void {
  for (const key of PAYLOAD_FIELDS) {
    if (Object.hasOwn(head, key)) delete head[key];
  }
}

/**
 * Tells whether a head of a record leaves a field out.
 *
 * @param key The field.
 * @returns Whether it is one of the four.
 */
export function isPayload(key: string): boolean {
  return PAYLOADS.has(key);
}

/** Bytes that fields add to the JSON of an object that has others. */
function bytesOfParts(
  parts: readonly { key: string; bytes: number | Uint8Array }[],
): number {
  let total = 0;
  for (const { key, bytes } of parts) {
    total += utf8Length(JSON.stringify(key)) + 2 +
      (typeof bytes === "number" ? bytes : bytes.length);
  }
  return total;
}

function hasPayload(record: TaskRecord): boolean {
  return record.result !== undefined || record.inputRequests !== undefined ||
    record.inputResponses !== undefined || record.error !== undefined;
}

function isPart(key: string, text: string, smallLength: number): boolean {
  if (FRONT.has(key)) return false;
  if (smallLength > LONGEST_SMALL_LENGTH) {
    return text.length > LEAST_PART_LENGTH;
  }
  return text.length >
    (isPayload(key) ? SMALL_PAYLOAD_LENGTH : SMALL_FIELD_LENGTH);
}

function toPart(key: string, text: string): NewPart {
  const bytes = Buffer.from(text);
  return { key, text, bytes, crc: crc32(bytes) };
}

function toText(value: unknown): string | undefined {
  return JSON.stringify(value);
}

function toObjectText(texts: readonly [key: string, text: string][]): string {
  return `{${
    texts.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")
  }}`;
}

/** `Infinity` also for a record whose times are none: it is never expired. */
function expiryOf(record: TaskRecord): number {
  const time = expiresAt(record);
  return Number.isNaN(time) ? Infinity : time;
}

/**
 * Applies changes that were read from the log.
 *
 * @param fields What the record held before.
 * @param changes The changes, in order.
 * @param version The version after the last.
 * @returns What the record holds after them.
 */
export function applyChanges(
  fields: Fields,
  changes: readonly UnappliedChange[],
  version: number,
): Fields {
  const head = JSON.parse(fields.small) as Record<string, unknown>;
  const parts = new Map(fields.parts.map((part) => [part.key, part]));
  for (const { small, rows, segment, offset } of changes) {
    const set = JSON.parse(small) as Record<string, unknown>;
    for (const key of Object.keys(set)) {
      setOwn(head, key, set[key]);
      parts.delete(key);
    }
    let at = offset;
    for (const { key, bytes, crc } of rows) {
      delete head[key];
      parts.delete(key);
      if (bytes < 0) continue;
      parts.set(key, { key, segment, offset: at, bytes, crc });
      at += bytes;
    }
  }
  head.version = version;
  return { small: JSON.stringify(head), parts: [...parts.values()] };
}
