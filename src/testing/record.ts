/** The records that the kit works with. */

import { setOwn } from "../model/json.ts";
import type { TaskPatch, TaskRecord } from "../model/record.ts";

/** When the records of the kit are created, in milliseconds since the epoch. */
export const CREATED_MS: number = Date.UTC(2026, 6, 28, 10);

/** A day in milliseconds. */
export const DAY_MS: number = 86_400_000;

/** Fields for a record: those that the engine knows, with any value, and any others. */
export type ConformanceRecordFields =
  & { readonly [Name in keyof TaskRecord]?: unknown }
  & {
    /** Any other field: a store keeps what it does not know. */
    readonly [name: string]: unknown;
  };

/**
 * Makes a record for tests of a store: a task that works, at version 1, created
 * at 2026-07-28T10:00:00.000Z, without a TTL.
 *
 * @param overrides The fields that differ, and any others; `undefined` leaves one out.
 * @returns A new record.
 *
 * @example
 * ```ts
 * import { conformanceRecord } from "@mcp-durable/tasks/testing";
 *
 * const record = conformanceRecord({ taskId: "a", ttlMs: 60_000 });
 * console.log(record.status, record.version); // working 1
 * ```
 */
export function conformanceRecord(
  overrides: ConformanceRecordFields = {},
): TaskRecord {
  const createdAt = new Date(CREATED_MS).toISOString();
  const record: Record<string, unknown> = {
    taskId: "a",
    status: "working",
    statusMessage: "1 of 2",
    createdAt,
    lastUpdatedAt: createdAt,
    ttlMs: null,
    pollIntervalMs: 1_500,
    version: 1,
  };
  for (const [key, value] of Object.entries(overrides)) {
    if (value === undefined) delete record[key];
    else setOwn(record, key, value);
  }
  return record as unknown as TaskRecord;
}

/**
 * A patch with fields of any name.
 *
 * @param fields The fields.
 * @returns The same.
 */
export function patchOf(fields: Readonly<Record<string, unknown>>): TaskPatch {
  return fields as TaskPatch;
}

/**
 * A member of a record that the engine does not know.
 *
 * @param record The record.
 * @param name The name of the member.
 * @returns Its value.
 */
export function memberOf(
  record: TaskRecord | undefined,
  name: string,
): unknown {
  return (record as unknown as Record<string, unknown> | undefined)?.[name];
}
