/** A history in which a task's id and version say all that it holds. */

import type { TaskPatch, TaskRecord } from "../../mod.ts";
import { aRecord, CREATED_MS } from "./records.ts";

/** When a task of a history that has come to its last version is expired, if it expires at all. */
export const EXPIRED_MS: number = CREATED_MS + 10;
/** When every task of a history is expired, also those that stay. */
export const END_MS: number = CREATED_MS + 10 ** 12;

/** What becomes of one task. */
export interface History {
  /** The version that completes it. */
  readonly completed: number;
  /** The version after that, which lets it expire; `undefined`: it stays. */
  readonly expiring: number | undefined;
}

/**
 * Tells what becomes of a task.
 *
 * @param taskId Its id, with a number at the end.
 * @returns Its versions.
 */
export function historyOf(taskId: string): History {
  const number = Number(/\d+$/.exec(taskId)![0]);
  const completed = 3 + number % 4;
  return { completed, expiring: number % 3 ? completed + 1 : undefined };
}

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
  if (version < completed) return { statusMessage: `é漢😀 ${version}` };
  const text = `漢字 ${taskId} `.repeat(version * 30);
  return { status: "completed", result: { content: [{ text }] } };
}

/**
 * Tells what a task holds.
 *
 * @param taskId The task.
 * @param version Its version.
 * @returns The record.
 */
export function recordOf(taskId: string, version: number): TaskRecord {
  let record = aRecord(taskId, { version, ttlMs: END_MS - CREATED_MS });
  for (let made = 2; made <= version; made++) {
    record = { ...record, ...patchOf(taskId, made) };
  }
  return JSON.parse(JSON.stringify(record));
}
