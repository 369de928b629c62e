/** Reads and writes of tasks in the storage of a Durable Object. */

import {
  type Column,
  type ColumnBytes,
  type Columns,
  joinParts,
  partCount,
  readEntryValue,
  splitParts,
  type TaskEntry,
} from "./durable_object_entry.ts";
import type { StoreKeys, TaskKeys } from "./durable_object_keys.ts";
import type { DurableObjectReadWrite } from "./shape.ts";

/** How many keys the platform takes in one call. */
const BATCH = 128;
/** What a sweep deletes at once: so many tasks, and then no more when it is so many keys. */
const SLICE_TASKS = 64;
const SLICE_KEYS = 500;

/**
 * Reads how a task is stored.
 *
 * @param from The storage, or a transaction.
 * @param keys The task's keys.
 * @returns Its entry; `undefined` if there is none.
 */
export async function readEntry(
  from: DurableObjectReadWrite,
  keys: TaskKeys,
): Promise<TaskEntry | undefined> {
  const found = await from.get([keys.entry]);
  try {
    return readEntryValue(found.get(keys.entry));
  } catch (error) {
    throw new Error(`Cannot read ${keys.entry}: ${(error as Error).message}`);
  }
}

/**
 * Reads columns of a task.
 *
 * @param from A transaction, so that the parts are those of the entry.
 * @param keys The task's keys.
 * @param columns What is stored of each column.
 * @param wanted Which of them to read.
 * @returns Their bytes.
 */
export async function readColumns(
  from: DurableObjectReadWrite,
  keys: TaskKeys,
  columns: Columns,
  wanted: (column: Column) => boolean,
): Promise<Map<Column, Uint8Array>> {
  const bytes = new Map<Column, Uint8Array>();
  for (const [column, stored] of entriesOf(columns)) {
    if (!wanted(column)) continue;
    if (typeof stored !== "number") {
      bytes.set(column, stored);
      continue;
    }
    const names = partKeys(keys, column, 0, partCount(stored));
    const found = await getAll(from, names);
    const joined = joinParts(names.map((name) => found.get(name)), stored);
    if (!joined) throw new Error(`parts of ${names[0]} are missing`);
    bytes.set(column, joined);
  }
  return bytes;
}

/**
 * Says whether reading columns takes more than the entry.
 *
 * @param columns What is stored of each column.
 * @param wanted Which of them to read.
 * @returns Whether one of them is in parts.
 */
export function isCut(
  columns: Columns,
  wanted: (column: Column) => boolean,
): boolean {
  return entriesOf(columns).some(([column, stored]) =>
    typeof stored === "number" && wanted(column)
  );
}

/**
 * Writes the parts of what has changed in a task.
 *
 * @param txn The transaction.
 * @param keys The task's keys.
 * @param before What was stored of each column.
 * @param after What has to be.
 * @param changes The new bytes.
 */
export async function writeParts(
  txn: DurableObjectReadWrite,
  keys: TaskKeys,
  before: Columns,
  after: Columns,
  changes: ColumnBytes,
): Promise<void> {
  const values: [string, unknown][] = [];
  const surplus: string[] = [];
  for (const [column, bytes] of changes) {
    const count = partCount(after[column]);
    if (bytes && count > 0) {
      values.push(
        ...splitParts(bytes).map((part, i): [string, unknown] => [
          keys.part(column, i),
          part,
        ]),
      );
    }
    surplus.push(...partKeys(keys, column, count, partCount(before[column])));
  }
  for (let at = 0; at < values.length; at += BATCH) {
    await txn.put(Object.fromEntries(values.slice(at, at + BATCH)));
  }
  await deleteAll(txn, surplus);
}

/**
 * Writes the entry of a task: the last step of a change. Who reads outside of
 * a transaction sees it at once, also where a later step fails.
 *
 * @param txn The transaction.
 * @param keys The task's keys.
 * @param columns What is stored of each column.
 */
export async function writeEntry(
  txn: DurableObjectReadWrite,
  keys: TaskKeys,
  columns: Columns,
): Promise<void> {
  const entry: TaskEntry = { format: 1, columns };
  await txn.put({ [keys.entry]: entry });
}

/** What a slice of a sweep did. */
export interface Slice {
  /** How many tasks it deleted. */
  readonly deleted: number;
  /** Where the next slice goes on; `undefined` after the last. */
  readonly after: string | undefined;
  /** The last place in the order of expiry whose task was left, since it cannot be read; `undefined`: none was. */
  readonly left: string | undefined;
  /** What could not be read, and why. */
  readonly unreadable: readonly (readonly [key: string, error: unknown])[];
}

/**
 * Deletes expired tasks, as many as a transaction should.
 *
 * @param txn The transaction.
 * @param keys The store's keys.
 * @param now The time.
 * @param after Where the slice before has ended.
 * @returns What was done.
 */
export async function deleteExpired(
  txn: DurableObjectReadWrite,
  keys: StoreKeys,
  now: number,
  after: string | undefined,
): Promise<Slice> {
  const found = await txn.list({
    prefix: keys.expiries,
    end: keys.expiriesUntil(now),
    limit: SLICE_TASKS,
    ...(after !== undefined && { startAfter: after }),
  });
  const tasks = [...found.keys()].map((key) => keys.taskOfExpiry(key));
  const entries = await getAll(txn, tasks.map(({ entry }) => entry));
  const doomed: string[] = [];
  let deleted = 0;
  let last: string | undefined;
  let left: string | undefined;
  const unreadable: [string, unknown][] = [];
  for (const [index, [key, expiry]] of [...found].entries()) {
    if (doomed.length > SLICE_KEYS) break;
    last = key;
    if (now < (expiry as number)) continue; // within the same millisecond
    const task = tasks[index];
    let entry: TaskEntry | undefined;
    try {
      entry = readEntryValue(entries.get(task.entry));
    } catch (error) {
      unreadable.push([task.entry, error]);
      left = key;
      continue;
    }
    doomed.push(key, task.entry);
    for (const [column, stored] of entriesOf(entry?.columns ?? {})) {
      doomed.push(...partKeys(task, column, 0, partCount(stored)));
    }
    if (entry) deleted++;
  }
  await deleteAll(txn, doomed);
  const done = found.size < SLICE_TASKS && last === [...found.keys()].at(-1);
  return { deleted, left, unreadable, after: done ? undefined : last };
}

/** Deletes any number of keys. */
async function deleteAll(
  txn: DurableObjectReadWrite,
  keys: readonly string[],
): Promise<void> {
  for (let at = 0; at < keys.length; at += BATCH) {
    await txn.delete(keys.slice(at, at + BATCH));
  }
}

/** Reads any number of keys. */
async function getAll(
  from: DurableObjectReadWrite,
  keys: readonly string[],
): Promise<Map<string, unknown>> {
  const all = new Map<string, unknown>();
  for (let at = 0; at < keys.length; at += BATCH) {
    const found = await from.get(keys.slice(at, at + BATCH));
    for (const [key, value] of found) all.set(key, value);
  }
  return all;
}

function partKeys(
  keys: TaskKeys,
  column: Column,
  from: number,
  to: number,
): string[] {
  const names: string[] = [];
  for (let i = from; i < to; i++) names.push(keys.part(column, i));
  return names;
}

function entriesOf(columns: Columns): [Column, Uint8Array | number][] {
  return Object.entries(columns) as [Column, Uint8Array | number][];
}
