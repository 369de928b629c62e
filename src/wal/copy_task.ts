/** Appends the current state of a task anew, so that the segment it stands on can go. */

import { Buffer } from "node:buffer";
import { appendDamaged, appendPut, type PartBytes } from "./entries.ts";
import type { StoreParts } from "./open_store.ts";
import { isWritten, ReadDamage } from "./reader.ts";
import type { StagedChange, UnwrittenParts } from "./records.ts";
import type { Fields, PartRef, TaskState } from "./task_state.ts";

/** Parts of so many bytes are read at once; longer ones must not hold up the process. */
const AT_ONCE_BYTES = 256 * 1024;

/** After so many readings in vain, a task that changes all the time is read at once. */
const MOST_READINGS = 3;

/** Takes the copy into the appended state. */
export type StageCopy = (change: StagedChange) => void;

/** Parts that were read, by where they are on the disk: what is there never changes. */
type ReadParts = ReadonlyMap<string, Uint8Array>;

/**
 * Copies a task. What decides is its appended state at the moment of the copy:
 * long parts are read before that, and if the task has changed meanwhile, those
 * that are new are read too.
 *
 * @param parts The store.
 * @param taskId The id.
 * @param stage Takes the copy.
 * @returns How many bytes; 0: the task is gone, or stands on another segment by now.
 */
export function copyTask(
  parts: StoreParts,
  taskId: string,
  stage: StageCopy,
): number | Promise<number> {
  return copyNow(parts, taskId, stage, new Map(), 0);
}

function copyNow(
  parts: StoreParts,
  taskId: string,
  stage: StageCopy,
  read: ReadParts,
  readings: number,
): number | Promise<number> {
  const { records, reader } = parts;
  const state = records.appended(taskId);
  if (!state) return 0;
  const change = records.staged(taskId);
  try {
    if (state.isDamaged) return copyDamaged(parts, taskId, state, stage);
    const fields = change?.fields ?? reader.fields(taskId, state);
    const found = fields.parts.map((part) => {
      const place = unwrittenOf(part, change?.texts);
      return typeof place === "string"
        ? place
        : read.get(placeOf(place)) ?? place;
    });
    let bytes = 0;
    for (const one of found) if (isPlace(one)) bytes += one.bytes;
    if (bytes > AT_ONCE_BYTES && readings < MOST_READINGS) {
      const places = found.filter(isPlace);
      return copyLater(parts, taskId, stage, places, read, readings + 1);
    }
    const whole = fields.parts.map((part, index) => {
      const one = found[index];
      return toBytes(part, isPlace(one) ? reader.bytes(one) : one);
    });
    return copyWhole(parts, taskId, state, fields, whole, stage);
  } catch (error) {
    return copyLost(parts, taskId, error, stage);
  }
}

/** Reads parts, and copies then. */
async function copyLater(
  parts: StoreParts,
  taskId: string,
  stage: StageCopy,
  places: readonly PartRef[],
  before: ReadParts,
  readings: number,
): Promise<number> {
  const { records, reader, disk } = parts;
  const state = records.appended(taskId)!;
  const read = new Map(before);
  try {
    for (const place of places) {
      read.set(placeOf(place), await reader.bytesLater(place, disk));
    }
  } catch (error) {
    if (records.appended(taskId) === state) {
      return copyLost(parts, taskId, error, stage);
    }
    // It is looked at again: what could not be read may not be needed any more.
  }
  if (records.appended(taskId)?.segment !== state.segment) return 0;
  return await copyNow(parts, taskId, stage, read, readings);
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
  stage({ taskId, before: state, ...copy, texts });
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
  const none = { fields: undefined, texts: undefined };
  stage({ taskId, before: state, state: lost, ...none });
  return lost.aliveBytes;
}

function unwrittenOf(
  part: PartRef,
  unwritten: UnwrittenParts | undefined,
): string | PartRef {
  return isWritten(part) ? part : unwritten?.get(part) ?? part;
}

function isPlace(found: string | Uint8Array | PartRef): found is PartRef {
  return typeof found !== "string" && "segment" in found;
}

function placeOf({ segment, offset }: PartRef): string {
  return `${segment.number} ${offset}`;
}

function toBytes({ key, crc }: PartRef, found: string | Uint8Array): PartBytes {
  const bytes = typeof found === "string" ? Buffer.from(found) : found;
  return { key, bytes, crc };
}
