/** A history in which a task's id and version say all that it holds, with fields that need parts. */

import type { TaskPatch, TaskRecord } from "../../mod.ts";
import { aPatch, aRecord, CREATED_MS } from "./records.ts";
import { historyOf } from "./wal_history.ts";

/** When a sweep takes every task of a history that has come to its last version. */
export const SWEPT_MS: number = CREATED_MS + 700_000;

/**
 * Tells which change makes a version.
 *
 * @param taskId The task.
 * @param version A version after the first.
 * @returns The patch.
 */
export function patchOf(taskId: string, version: number): TaskPatch {
  const { completed, expiring } = historyOf(taskId);
  if (version === expiring) return { ttlMs: 10, statusMessage: undefined };
  const text = `漢字 ${taskId} `.repeat(1_500 * version);
  if (version === completed) {
    return aPatch({
      status: "completed",
      result: { content: [{ text }] },
      inputRequests: undefined,
    });
  }
  const statusMessage = `é漢😀 ${version}`;
  return version % 2
    ? { statusMessage }
    : aPatch({ statusMessage, inputRequests: { [`q${version}`]: { text } } });
}

/**
 * Tells what a task holds.
 *
 * @param taskId The task.
 * @param version Its version.
 * @returns The record.
 */
export function recordOf(taskId: string, version: number): TaskRecord {
  let record = aRecord(taskId, { version });
  for (let made = 2; made <= version; made++) {
    record = { ...record, ...patchOf(taskId, made) };
  }
  return JSON.parse(JSON.stringify(record));
}
