/** What the store on Workers KV keeps under a key, and which of two is the newer. */

import { StoreFailedError } from "../errors.ts";
import { expiresAt } from "../model/expiry.ts";
import type { TaskRecord } from "../model/record.ts";
import type { WorkersKvPutOptions } from "./workers_kv_shape.ts";
import { isStoredRecord, unknownFormat } from "./stored_record.ts";

/**
 * KV itself deletes a task a day after its end, or later: it goes by another
 * clock, and a sweep before that can count it.
 */
const KV_GRACE_MS = 24 * 60 * 60 * 1_000;
/** What lives longer than this is left to sweeps: who knows how far KV can count. */
const LONGEST_KV_TTL_MS = 365 * 24 * 60 * 60 * 1_000;

/** A state of a task under its key. */
export interface KvVersion {
  /**
   * Tells apart what has the same id and version: tasks one after the other, and
   * a write that was given up from the one after it. The later has the larger.
   */
  readonly stamp: number;
  /**
   * The name of the write, which no other has: two instances, or a write that
   * was given up and the one after it, may share all the rest. Absent where
   * the value was copied there by other means.
   */
  readonly write?: string;
  /** The version of the record. */
  readonly version: number;
  /** When it expires, in milliseconds since the epoch; `Infinity` for never. */
  readonly expiresAt: number;
  /** Whether it was deleted then. */
  readonly deleted: boolean;
  /** The record's JSON; absent where it was deleted, or is not kept. */
  readonly text?: string;
}

/**
 * Makes the state of a record.
 *
 * @param record The record.
 * @param stamp What tells it from earlier tasks of its id.
 * @param write The name of the write.
 * @returns The state, with the record's JSON.
 */
export function versionOf(
  record: TaskRecord,
  stamp: number,
  write: string,
): KvVersion & { readonly text: string } {
  return {
    stamp,
    write,
    version: record.version,
    expiresAt: expiresAt(record),
    deleted: false,
    text: JSON.stringify(record),
  };
}

/**
 * Tells whether a state came after another.
 *
 * @param one The state.
 * @param other The other.
 */
export function isNewer(one: KvVersion, other: KvVersion): boolean {
  if (one.stamp !== other.stamp) return one.stamp > other.stamp;
  if (one.version !== other.version) return one.version > other.version;
  return one.deleted && !other.deleted;
}

/**
 * Tells whether two states, neither of which came after the other, are one.
 *
 * @param one The state.
 * @param other The other.
 */
export function isSame(one: KvVersion, other: KvVersion): boolean {
  return one.write === other.write &&
    (one.text === undefined || other.text === undefined ||
      one.text === other.text);
}

/**
 * Says to KV what it has to know of a state. It counts its TTL from this write,
 * so that it deletes nothing that lives, whatever a clock has said meanwhile.
 *
 * @param version The state.
 * @param ttlMs For how long the task lives, in milliseconds; `null`: for ever.
 * @returns The options of the write.
 */
export function putOptions(
  version: KvVersion,
  ttlMs: number | null,
): WorkersKvPutOptions {
  const metadata = {
    v: version.version,
    e: Number.isFinite(version.expiresAt) ? version.expiresAt : null,
    c: version.stamp,
    w: version.write,
  };
  if (ttlMs === null || ttlMs > LONGEST_KV_TTL_MS) return { metadata };
  const lastsMs = Math.max(0, ttlMs) + KV_GRACE_MS;
  return { metadata, expirationTtl: Math.ceil(lastsMs / 1_000) };
}

/**
 * Reads the state that a listing tells of.
 *
 * @param metadata What stands beside the key.
 * @returns The state.
 * @throws {Error} The store has not written it, or a later release has.
 */
export function readMetadata(metadata: unknown): KvVersion {
  refuseLater(metadata);
  const { v: version, e, c: stamp, w: write } = fieldsOf(metadata);
  if (
    typeof version !== "number" || typeof stamp !== "number" ||
    typeof e !== "number" && e !== null
  ) throw new Error("its metadata is not what this store writes");
  return {
    stamp,
    ...(typeof write === "string" && { write }),
    version,
    expiresAt: e ?? Infinity,
    deleted: false,
  };
}

/** This release writes no format, which is the first; another says its number as `f`. */
function refuseLater(metadata: unknown): void {
  const { f: format } = fieldsOf(metadata);
  if (format === undefined) return;
  throw unknownFormat(format);
}

function fieldsOf(metadata: unknown): Readonly<Record<string, unknown>> {
  return typeof metadata === "object" && metadata !== null
    ? metadata as Record<string, unknown>
    : {};
}

/**
 * Reads what stands under a key.
 *
 * @param taskId The task that is looked for.
 * @param key The key.
 * @param text The value.
 * @param metadata What was said of it.
 * @returns The state, and the record.
 * @throws {StoreFailedError} `ERR_STORE_FAILED`: it is no record of the task.
 */
export function readValue(
  taskId: string,
  key: string,
  text: string,
  metadata: unknown,
): { readonly version: KvVersion; readonly record: TaskRecord } {
  const unreadable = (problem: string) =>
    new StoreFailedError("read a task", {
      cause: new Error(`Cannot read ${JSON.stringify(key)}: ${problem}`),
    });
  try {
    refuseLater(metadata);
  } catch (error) {
    throw unreadable((error as Error).message);
  }
  const record = parse(text);
  if (record?.taskId !== taskId || !isStoredRecord(record)) {
    throw unreadable("it is no record of the task");
  }
  // A value that was copied there by other means comes without metadata.
  const { c, w: write } = fieldsOf(metadata);
  const stamp = typeof c === "number" ? c : 0;
  const { version } = record;
  return {
    version: {
      stamp,
      ...(typeof write === "string" && { write }),
      version,
      expiresAt: expiresAt(record),
      deleted: false,
      text,
    },
    record,
  };
}

function parse(text: string): TaskRecord | undefined {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}
