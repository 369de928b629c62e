/** Appends the current state of a task anew, so that the segment it stands on can go. */

import { Buffer } from "node:buffer";
import { appendDamaged, appendPut, type PartBytes } from "./entries.ts";
import type { StoreParts } from "./open_store.ts";
import { isWritten, ReadDamage } from "./reader.ts";
import type { UnwrittenParts } from "./records.ts";
import type { Fields, PartRef, TaskState } from "./task_state.ts";

/** Parts of so many bytes are read at once; longer ones must not hold up the process. */
const AT_ONCE_BYTES = 256 * 1024;

/** Takes the copy into the appended state. */
export type StageCopy = (
  taskId: string,
  state: TaskState,
  fields: Fields | undefined,
  texts: UnwrittenParts | undefined,
) => void;

/**
 * Copies a task. What decides is its appended state at the moment of the copy:
 * long parts are read before that, and read again if the task has changed.
 *
 * @param parts The store.
 * @param taskId The id.
 * @param stage Takes the copy.
 * @returns How many bytes; 0: the task is gone.
 */
export function copyTask(
  parts: StoreParts,
  taskId: string,
  stage: StageCopy,
): number | Promise<number> {
  const { records, reader } = parts;
  const state = records.appended(taskId);
  if (!state) return 0;
  const change = records.staged(taskId);
  try {
    if (state.isDamaged) return copyDamaged(parts, taskId, state, stage);
    const fields = change?.fields ?? reader.fields(taskId, state);
    let bytes = 0;
    for (const part of fields.parts) bytes += part.bytes;
    if (bytes > AT_ONCE_BYTES) {
      return copyLong(parts, taskId, state, fields, stage);
    }
    const read = fields.parts.map((part) => {
      const found = unwrittenOf(part, change?.texts);
      return toBytes(
        part,
        typeof found === "string" ? found : reader.bytes(found),
      );
    });
    return copyWhole(parts, taskId, state, fields, read, stage);
  } catch (error) {
    return copyLost(parts, taskId, error, stage);
  }
}

async function copyLong(
  parts: StoreParts,
  taskId: string,
  state: TaskState,
  fields: Fields,
  stage: StageCopy,
): Promise<number> {
  const { records, reader } = parts;
  const texts = records.staged(taskId)?.texts;
  const read: PartBytes[] = [];
  try {
    for (const part of fields.parts) {
      const found = unwrittenOf(part, texts);
      const bytes = typeof found === "string"
        ? found
        : await reader.bytesLater(found, parts.disk);
      read.push(toBytes(part, bytes));
    }
  } catch (error) {
    if (records.appended(taskId) === state) {
      return copyLost(parts, taskId, error, stage);
    }
    throw error;
  }
  if (records.appended(taskId) === state && !state.isDamaged) {
    return copyWhole(parts, taskId, state, fields, read, stage);
  }
  return copyTask(parts, taskId, stage);
}

function copyWhole(
  { log, records }: StoreParts,
  taskId: string,
  state: TaskState,
  { small, parts: from }: Fields,
  read: readonly PartBytes[],
  stage: StageCopy,
): number {
  const { born, version, expiresAt, ended } = state;
  const put = { taskId, born, version, expiresAt, ended, small, parts: read };
  const copy = appendPut(log, put);
  const unwritten = records.staged(taskId)?.texts;
  const texts = from.length === 0 ? undefined : new Map(
    from.map((part, i) => [copy.fields.parts[i], unwrittenOf(part, unwritten)]),
  );
  stage(taskId, copy.state, copy.fields, texts);
  return copy.state.aliveBytes;
}

function copyLost(
  parts: StoreParts,
  taskId: string,
  error: unknown,
  stage: StageCopy,
): number {
  if (!(error instanceof ReadDamage)) throw error;
  parts.lose(taskId, error);
  const state = parts.records.appended(taskId);
  if (!state) return 0;
  if (!state.isDamaged) throw error; // It stands on something else by now.
  return copyDamaged(parts, taskId, state, stage);
}

function copyDamaged(
  { log, damages }: StoreParts,
  taskId: string,
  state: TaskState,
  stage: StageCopy,
): number {
  const note = damages.of(taskId)?.note() ?? "{}";
  const lost = appendDamaged(log, taskId, state, note);
  stage(taskId, lost, undefined, undefined);
  return lost.aliveBytes;
}

function unwrittenOf(
  part: PartRef,
  unwritten: UnwrittenParts | undefined,
): string | PartRef {
  return isWritten(part) ? part : unwritten?.get(part) ?? part;
}

function toBytes({ key, crc }: PartRef, found: string | Uint8Array): PartBytes {
  const bytes = typeof found === "string" ? Buffer.from(found) : found;
  return { key, bytes, crc };
}
