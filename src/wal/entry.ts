/**
 * The entries of the log: a whole record, a change of one, a deletion. The
 * running store and the replay both apply them with what is here, so that a
 * record after a restart is the one before it.
 */

import { Buffer } from "node:buffer";
import { expiresAt } from "../model/expiry.ts";
import { setOwn } from "../model/json.ts";
import type { TaskPatch, TaskRecord } from "../model/record.ts";

/** A record as the store keeps it. */
export interface StoredRecord {
  /** Its JSON. Every reader parses it anew, so that no two share anything (rule I10). */
  readonly text: string;
  /** Bytes of the JSON. */
  readonly bytes: number;
  /** Its version. */
  readonly version: number;
  /** When it expires, in milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** A change of one record: plain JSON that shares nothing with the caller's patch. */
export interface RecordChange {
  /** The fields to set. */
  readonly set: Readonly<Record<string, unknown>>;
  /** The fields to delete. */
  readonly unset: readonly string[];
}

/** An entry of the log. */
export type LogEntry =
  | { readonly put: TaskRecord }
  | {
    readonly change: string;
    readonly version: number;
    readonly set: RecordChange["set"];
    readonly unset: RecordChange["unset"];
  }
  | { readonly delete: string };

/** The fields that no change touches. */
const FIXED = new Set(["taskId", "createdAt", "version"]);

const PUT_START = '{"put":';
const PUT_END = "}";
/** Bytes of a put beside the record's JSON. */
export const PUT_BYTES: number = PUT_START.length + PUT_END.length;

/**
 * Encodes a whole record.
 *
 * @param text The record's JSON.
 * @returns The body of the entry.
 */
export function putBody(text: string): string {
  return PUT_START + text + PUT_END;
}

/**
 * Takes the record's JSON out of an entry.
 *
 * @param body The body of a put.
 * @returns What {@linkcode putBody} was given.
 */
export function putText(body: string): string {
  return body.slice(PUT_START.length, -PUT_END.length);
}

/**
 * Encodes a change.
 *
 * @param taskId The record.
 * @param version Its version after the change.
 * @param change The change.
 * @returns The body of the entry.
 */
export function changeBody(
  taskId: string,
  version: number,
  change: RecordChange,
): string {
  const { set, unset } = change;
  return JSON.stringify({ change: taskId, version, set, unset });
}

/**
 * Encodes a deletion.
 *
 * @param taskId The record.
 * @returns The body of the entry.
 */
export function deleteBody(taskId: string): string {
  return JSON.stringify({ delete: taskId });
}

/**
 * Makes a change of a patch, by way of JSON: what is applied now is to the
 * last digit what a replay reads.
 *
 * @param patch The patch.
 * @returns The change.
 */
export function toChange(patch: TaskPatch): RecordChange {
  const set: Record<string, unknown> = {};
  const unset: string[] = [];
  for (const [key, value] of Object.entries(patch)) {
    if (FIXED.has(key)) continue;
    if (value === undefined) unset.push(key);
    else setOwn<unknown>(set, key, value);
  }
  return { set: JSON.parse(JSON.stringify(set)), unset };
}

/**
 * Applies a change in place and counts the version up (rule I9).
 *
 * @param record A record that nobody else holds.
 * @param change A change that nobody else holds.
 */
export function applyChange(record: TaskRecord, change: RecordChange): void {
  const fields = record as unknown as Record<string, unknown>;
  for (const key of Object.keys(change.set)) {
    setOwn(fields, key, change.set[key]);
  }
  for (const key of change.unset) delete fields[key];
  fields.version = record.version + 1;
}

/**
 * Makes of a record what the store keeps.
 *
 * @param record The record.
 * @param text Its JSON.
 * @returns What is kept.
 */
export function toStored(record: TaskRecord, text: string): StoredRecord {
  return {
    text,
    bytes: Buffer.byteLength(text),
    version: record.version,
    expiresAt: expiresAt(record),
  };
}
