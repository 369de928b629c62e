/** What the store on Workers KV keeps under a key, and which of two is the newer. */

import { StoreFailedError } from "../errors.ts";
import { expiresAt } from "../model/expiry.ts";
import type { TaskRecord } from "../model/record.ts";
import type { WorkersKvPutOptions } from "./workers_kv_shape.ts";

/**
 * KV itself deletes a task a day after its end: it goes by another clock, and a
 * sweep before that can count it.
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
 * @returns The state, with the record's JSON.
 */
export function versionOf(
  record: TaskRecord,
  stamp: number,
): KvVersion & { readonly text: string } {
  return {
    stamp,
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
 * Says to KV what it has to know of a state.
 *
 * @param version The state.
 * @param now The caller's time.
 * @returns The options of the write.
 */
export function putOptions(
  version: KvVersion,
  now: number,
): WorkersKvPutOptions {
  const metadata = {
    v: version.version,
    e: Number.isFinite(version.expiresAt) ? version.expiresAt : null,
    c: version.stamp,
  };
  const leftMs = Math.max(0, version.expiresAt - now);
  if (!(leftMs <= LONGEST_KV_TTL_MS)) return { metadata };
  const expirationTtl = Math.ceil((leftMs + KV_GRACE_MS) / 1_000);
  return { metadata, expirationTtl };
}

/**
 * Reads the state that a listing tells of.
 *
 * @param metadata What stands beside the key.
 * @returns The state; `undefined` if the store has not written it.
 */
export function readMetadata(metadata: unknown): KvVersion | undefined {
  if (typeof metadata !== "object" || metadata === null) return undefined;
  const { v: version, e, c: stamp } = metadata as Record<string, unknown>;
  if (
    typeof version !== "number" || typeof stamp !== "number" ||
    typeof e !== "number" && e !== null
  ) return undefined;
  return { stamp, version, expiresAt: e ?? Infinity, deleted: false };
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
  const record = parse(text);
  if (record?.taskId !== taskId || !Number.isSafeInteger(record.version)) {
    throw new StoreFailedError("read a task", {
      cause: new Error(
        `what stands under the key ${
          JSON.stringify(key)
        } is no record of the task`,
      ),
    });
  }
  // A value that was copied there by other means comes without metadata.
  const { c } = (metadata ?? {}) as { readonly c?: unknown };
  const stamp = typeof c === "number" ? c : 0;
  const { version } = record;
  return {
    version: {
      stamp,
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
