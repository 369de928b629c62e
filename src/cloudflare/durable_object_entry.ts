/**
 * How a record is stored. It is cut into columns: the head, and each field that
 * may be large, as JSON in UTF-8. What is small stands in the task's entry, the
 * rest in parts under keys of their own, so that a change writes anew what has
 * changed, and a value stays under the limit of both back ends of the platform.
 */

import {
  PAYLOAD_FIELDS,
  type PayloadField,
  type TaskHead,
  type TaskPatch,
  type TaskRecord,
} from "../model/record.ts";
import { copyJson, setOwn } from "../model/json.ts";
import { isStoredRecord, unknownFormat } from "./stored_record.ts";

/** Without SQLite behind it, a value may have 128 KiB; with SQLite, 2 MiB. */
export const PART_BYTES = 96 * 1024;
/** What stands in the entry itself: together less than a value may have. */
const INLINE_BYTES = { head: 64 * 1024, payload: 4 * 1024 };

/** A column of a record: its head, or a field that may be large. */
export type Column = "head" | PayloadField;

/** What is stored of each column: its bytes, or how many there are in parts. */
export type Columns = Partial<Readonly<Record<Column, Uint8Array | number>>>;

/** What stands under the key of a task. */
export interface TaskEntry {
  /** How to read it. */
  readonly format: 1;
  /** The columns that the record has. */
  readonly columns: Columns;
}

/** More parts than the largest record has: keys have four digits for them. */
const MAX_PARTS = 9_999;

/**
 * Reads what stands under the key of a task.
 *
 * @param value The value; `undefined` if there is none.
 * @returns The same.
 * @throws {Error} It is damaged, or of a later release.
 */
export function readEntryValue(value: unknown): TaskEntry | undefined {
  if (value === undefined) return undefined;
  const { format, columns } = (value ?? {}) as Partial<TaskEntry>;
  if (Number.isSafeInteger(format) && format !== 1) {
    throw unknownFormat(format);
  }
  const isSound = format === 1 && typeof columns === "object" &&
    columns !== null && columns.head !== undefined &&
    Object.values(columns).every(isStored);
  if (!isSound) throw new Error("it is no entry of a task");
  return value as TaskEntry;
}

function isStored(stored: Uint8Array | number | undefined): boolean {
  return stored instanceof Uint8Array ||
    Number.isSafeInteger(stored) && stored! >= 0 &&
      partCount(stored) <= MAX_PARTS;
}

/** New bytes for columns; `undefined` takes a column away. */
export type ColumnBytes = ReadonlyMap<Column, Uint8Array | undefined>;

const PAYLOADS: ReadonlySet<string> = new Set(PAYLOAD_FIELDS);

/**
 * Cuts a record, or a patch, into what belongs to the head and the bytes of the
 * other fields.
 *
 * @param fields The record or the patch. Nothing of it is shared.
 * @returns The head's part, and the other columns.
 */
export function splitFields<T extends TaskRecord | TaskPatch>(
  fields: T,
): { readonly head: T; readonly payloads: ColumnBytes } {
  const head: Record<string, unknown> = {};
  const payloads = new Map<Column, Uint8Array | undefined>();
  for (const [key, value] of Object.entries(fields)) {
    if (!PAYLOADS.has(key)) setOwn(head, key, copyJson(value));
    else {
      payloads.set(
        key as PayloadField,
        value === undefined ? undefined : encode(value),
      );
    }
  }
  return { head: head as T, payloads };
}

/**
 * Puts a record together.
 *
 * @param head Its head.
 * @param bytes The bytes of each other column that it has.
 * @returns The record; its fields that may be large come last.
 */
export function joinRecord(head: TaskHead, bytes: ColumnBytes): TaskRecord {
  const record: Record<string, unknown> = { ...head };
  for (const [column, value] of bytes) {
    if (column !== "head" && value) record[column] = decode(value);
  }
  return record as unknown as TaskRecord;
}

/**
 * Writes a value as bytes.
 *
 * @param value Plain JSON.
 * @returns JSON in UTF-8.
 */
export function encode(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/**
 * Reads what {@linkcode encode} wrote.
 *
 * @param bytes The bytes.
 * @returns The value.
 */
export function decode<T>(bytes: Uint8Array): T {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return JSON.parse(decoder.decode(bytes));
}

/**
 * Reads the head of a record.
 *
 * @param bytes The bytes of the column.
 * @returns The head.
 * @throws {Error} It is damaged.
 */
export function decodeHead(bytes: Uint8Array): TaskRecord {
  const head = decode<unknown>(bytes);
  if (!isStoredRecord(head)) throw new Error("what is stored is no record");
  return head;
}

/**
 * Applies new bytes to columns.
 *
 * @param columns The columns as they are stored.
 * @param changes The new bytes.
 * @returns The columns as they have to be stored.
 */
export function changeColumns(columns: Columns, changes: ColumnBytes): Columns {
  const next: Record<string, Uint8Array | number> = { ...columns };
  for (const [column, bytes] of changes) {
    if (!bytes) delete next[column];
    else {
      const inline = INLINE_BYTES[column === "head" ? "head" : "payload"];
      // A copy: with a view, the whole buffer behind it would be stored.
      next[column] = bytes.length <= inline ? bytes.slice() : bytes.length;
    }
  }
  return next;
}

/**
 * Counts the bytes of a record's JSON.
 *
 * @param columns Its columns.
 * @returns The number that `JSON.stringify` of the whole would have in UTF-8.
 */
export function recordBytes(columns: Columns): number {
  let total = 0;
  for (const [column, stored] of Object.entries(columns)) {
    total += typeof stored === "number" ? stored : stored.length;
    if (column !== "head") total += `,"${column}":`.length;
  }
  return total;
}

/**
 * Counts the parts of a column.
 *
 * @param stored What is stored of it.
 * @returns How many there are under keys of their own.
 */
export function partCount(stored: Uint8Array | number | undefined): number {
  return typeof stored === "number" ? Math.ceil(stored / PART_BYTES) : 0;
}

/**
 * Cuts bytes into parts.
 *
 * @param bytes The bytes.
 * @returns The parts, in their order, none of them a view.
 */
export function splitParts(bytes: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += PART_BYTES) {
    parts.push(bytes.slice(at, at + PART_BYTES));
  }
  return parts;
}

/**
 * Puts bytes together.
 *
 * @param parts The parts, in their order.
 * @param length How many bytes there have to be.
 * @returns The bytes; `undefined` if a part is missing or has another length.
 */
export function joinParts(
  parts: readonly unknown[],
  length: number,
): Uint8Array | undefined {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    if (!(part instanceof Uint8Array) || at + part.length > length) {
      return undefined;
    }
    bytes.set(part, at);
    at += part.length;
  }
  return at === length ? bytes : undefined;
}
