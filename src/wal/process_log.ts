/** What the store needs of a log that somebody else has opened. */

import type { TaskRecord } from "../model/record.ts";

/** What the store writes into such a log: whole records, so that the last put of an id wins. */
export type ProcessLogValue =
  | {
    /** A record as it is from now on. */
    readonly t: "put";
    /** The whole record. */
    readonly record: TaskRecord;
  }
  | {
    /** The end of a record. */
    readonly t: "del";
    /** Its id. */
    readonly taskId: string;
  };

/** An entry of such a log. */
export interface ProcessLogEntry {
  /** Its sequence number, higher than that of the entry before. */
  readonly seq: number;
  /** What was appended. */
  readonly value: unknown;
}

/** How far such a log is. */
export interface ProcessLogStats {
  /** The sequence number of the last entry; that of the checkpoint if it is higher. */
  readonly lastSeq: number;
  /** How many entries `replay()` would give. */
  readonly pendingEntries: number;
  /** Bytes of the log. */
  readonly bytes?: number;
}

/**
 * A log with the methods of [process-wal](https://www.npmjs.com/package/process-wal):
 * what `createWal()` gives fits, and so does anything that does the same. All
 * methods do their work before they return.
 */
export interface ProcessLog {
  /**
   * Appends a value. It is as safe as the log makes it when this returns.
   *
   * @param value The value.
   * @returns Its sequence number.
   */
  append(value: ProcessLogValue): number;
  /**
   * Appends values, in order. If it throws, any number of them may be there.
   *
   * @param values The values.
   * @returns Their sequence numbers.
   */
  appendMany(values: ProcessLogValue[]): number[];
  /**
   * Gives every entry after the checkpoint, in order.
   *
   * @returns The entries.
   */
  replay(): readonly ProcessLogEntry[];
  /**
   * Says that the entries up to a sequence number count no longer.
   *
   * @param seq The sequence number.
   */
  checkpoint(seq: number): void;
  /** Removes the entries up to the checkpoint. */
  compact(): void;
  /**
   * Says how far the log is.
   *
   * @returns Its numbers.
   */
  stats(): ProcessLogStats;
  /** Closes the log. */
  close(): void;
}

const METHODS = [
  "append",
  "appendMany",
  "replay",
  "checkpoint",
  "compact",
  "stats",
  "close",
] as const;

/**
 * Looks for the first method that a value lacks to be a {@linkcode ProcessLog}.
 *
 * @param value The value.
 * @returns The name of the method; `undefined` if none is missing.
 */
export function missingLogMethod(value: unknown): string | undefined {
  const log = value as Partial<Record<string, unknown>> | null | undefined;
  return METHODS.find((name) => typeof log?.[name] !== "function");
}

/**
 * Tells what an entry holds.
 *
 * @param value What was appended.
 * @returns The same; `undefined` if it is nothing that the store writes.
 */
export function toProcessLogValue(value: unknown): ProcessLogValue | undefined {
  const { t, record, taskId } = (value ?? {}) as Partial<
    Record<string, unknown>
  >;
  if (t === "del") {
    return typeof taskId === "string" ? { t, taskId } : undefined;
  }
  return t === "put" && isRecord(record) ? { t, record } : undefined;
}

const STATUSES: ReadonlySet<unknown> = new Set(
  [
    "working",
    "input_required",
    "completed",
    "failed",
    "cancelled",
  ] satisfies TaskRecord["status"][],
);

/** Checks the fields that every record has; all others are kept as they are. */
function isRecord(value: unknown): value is TaskRecord {
  const { taskId, status, createdAt, lastUpdatedAt, ttlMs, version } =
    (value ?? {}) as Partial<Record<string, unknown>>;
  return typeof taskId === "string" && STATUSES.has(status) &&
    isTime(createdAt) && isTime(lastUpdatedAt) &&
    (ttlMs === null || typeof ttlMs === "number") &&
    Number.isSafeInteger(version) && version as number >= 0;
}

function isTime(value: unknown): boolean {
  return typeof value === "string" && !Number.isNaN(Date.parse(value));
}
