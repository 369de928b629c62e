/** What a store keeps of a task, and how a change is applied to it. */

import type { JsonRpcError } from "../errors.ts";
import { copyJson, type JsonObject, setOwn } from "./json.ts";
import type { InputRequests } from "./input_request.ts";
import type { InputResponses } from "./input_response.ts";
import type { TaskStatus } from "./status.ts";

/**
 * What a {@linkcode TaskStore} keeps of a task. It is not what a client sees:
 * that is made from it by one allow-list. Each thing that changes alone is a
 * top-level field of its own, so that a change is a small patch.
 *
 * A store persists every field, known to it or not.
 */
export interface TaskRecord {
  /** Unguessable, and all that a client holds (rule I6). */
  readonly taskId: string;
  /** The state. */
  readonly status: TaskStatus;
  /** The last progress, or why the task ended so. */
  readonly statusMessage?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601; never goes back (rule I4). */
  readonly lastUpdatedAt: string;
  /** Milliseconds from `createdAt` after which the task no longer exists; `null` for ever. */
  readonly ttlMs: number | null;
  /** How often a client should poll, in milliseconds. */
  readonly pollIntervalMs?: number;
  /** The request that became this task. */
  readonly method?: string;
  /** Whom the task is bound to (rule I16); absent: nobody. */
  readonly owner?: string;
  /** When the client asked to cancel, ISO 8601 (rule I14); absent: it did not. */
  readonly cancelRequestedAt?: string;
  /** The requests that are open: present exactly while the status is `input_required`. */
  readonly inputRequests?: InputRequests;
  /** The answers so far, kept until the task ends. */
  readonly inputResponses?: InputResponses;
  /** Those keys of `inputResponses` that `resumeInput()` has given out. */
  readonly takenInputKeys?: readonly string[];
  /** Every input key that was ever used, kept after the end too (rule I5) where there is room. */
  readonly usedInputKeys?: readonly string[];
  /** What `completed` carries. */
  readonly result?: JsonObject;
  /** What `failed` carries. */
  readonly error?: JsonRpcError;
  /** Counts the changes, from 1 at creation (rule I9). */
  readonly version: number;
}

/** The fields of a record that may be large. */
export const PAYLOAD_FIELDS = [
  "inputRequests",
  "inputResponses",
  "result",
  "error",
] as const;

/** A field of a record that may be large. */
export type PayloadField = typeof PAYLOAD_FIELDS[number];

/** A record without the fields that may be large: enough to decide most changes. */
export type TaskHead = Omit<TaskRecord, PayloadField>;

/**
 * A change to a record: each enumerable own string key is set, a key that is
 * `undefined` is deleted. `taskId`, `createdAt` and `version` never change so.
 */
export type TaskPatch = Partial<
  Omit<TaskRecord, "taskId" | "createdAt" | "version">
>;

/**
 * Applies a patch to a copy of a record, and counts the version up by one
 * (rule I9). For store authors: the record that is kept and the patch stay as
 * they are, and the result shares nothing with either.
 *
 * @param record The record as it is stored.
 * @param patch The change.
 * @returns The record as it has to be stored.
 *
 * @example
 * ```ts
 * import { applyTaskPatch } from "@mcp-durable/tasks";
 *
 * const record = {
 *   taskId: "a", status: "working", statusMessage: "half",
 *   createdAt: "2026-01-01T00:00:00.000Z",
 *   lastUpdatedAt: "2026-01-01T00:00:00.000Z", ttlMs: null, version: 3,
 * } as const;
 * const next = applyTaskPatch(record, { statusMessage: undefined });
 * console.log("statusMessage" in next, next.version); // false 4
 * ```
 */
export function applyTaskPatch(
  record: TaskRecord,
  patch: TaskPatch,
): TaskRecord {
  return patchRecord(copyJson(record), copyJson(patch));
}

/**
 * Applies a patch as {@linkcode applyTaskPatch} does, and copies no value: the
 * result shares them with the record and the patch, which stay as they are.
 *
 * @param record The record, or its head.
 * @param patch The change.
 * @returns The record after it.
 */
export function patchRecord(record: TaskRecord, patch: TaskPatch): TaskRecord {
  const { taskId, createdAt, version } = record;
  const fixed = { taskId, createdAt, version: version + 1 };
  const next = { ...record, ...patch, ...fixed };
  const isClean = Object.getOwnPropertySymbols(patch).length === 0 &&
    Object.keys(patch).every((key) =>
      (next as Record<string, unknown>)[key] !== undefined
    );
  return isClean ? next : stringKeyed(next);
}

/** Builds anew what has to lose members: an object that `delete` was used on is slow from then on. */
function stringKeyed(record: TaskRecord): TaskRecord {
  const kept: Record<string, unknown> = {};
  for (const key of Object.keys(record)) {
    const value = (record as unknown as Record<string, unknown>)[key];
    if (value !== undefined) setOwn(kept, key, value);
  }
  return kept as unknown as TaskRecord;
}

const PAYLOADS: ReadonlySet<string> = new Set(PAYLOAD_FIELDS);

/**
 * Takes the head of a record, and copies no value.
 *
 * @param record The record.
 * @returns A new object, without the fields that may be large.
 */
export function headOf(record: TaskRecord): TaskHead {
  const head: Record<string, unknown> = {};
  for (const key of Object.keys(record)) {
    if (PAYLOADS.has(key)) continue;
    setOwn(head, key, (record as unknown as Record<string, unknown>)[key]);
  }
  return head as unknown as TaskHead;
}
