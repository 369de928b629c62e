/** Records for the tests of stores. */

import type { TaskPatch, TaskRecord } from "../../mod.ts";

/** When the records of the tests are created, in milliseconds since the epoch. */
export const CREATED_MS: number = Date.parse("2026-07-28T10:00:00.000Z");

/**
 * Makes a record.
 *
 * @param taskId Its id.
 * @param fields What differs, and whatever else it should hold.
 * @returns A working task without a TTL, at version 1.
 */
export function aRecord(
  taskId: string,
  fields: Partial<TaskRecord> & Record<string, unknown> = {},
): TaskRecord {
  const createdAt = new Date(CREATED_MS).toISOString();
  return {
    taskId,
    status: "working",
    createdAt,
    lastUpdatedAt: createdAt,
    ttlMs: null,
    version: 1,
    ...fields,
  };
}

/**
 * Makes a patch that may hold fields which the engine does not know.
 *
 * @param fields The fields.
 * @returns The same.
 */
export function aPatch(fields: Record<string, unknown>): TaskPatch {
  return fields as TaskPatch;
}
