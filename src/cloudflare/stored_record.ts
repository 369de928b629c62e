/** What is checked of a record that was stored, whoever has written it. */

import type { TaskRecord } from "../model/record.ts";

/** The format that this release reads and writes. */
const FORMAT = 1;

/**
 * Tells whether a value can be a record: it has what a store goes by.
 *
 * @param value What was stored.
 * @returns Whether it is one.
 */
export function isStoredRecord(value: unknown): value is TaskRecord {
  const { createdAt, ttlMs, version } = (value ?? {}) as Partial<TaskRecord>;
  return typeof createdAt === "string" &&
    (ttlMs === null || typeof ttlMs === "number") &&
    Number.isSafeInteger(version);
}

/**
 * Makes the error for what another release has written.
 *
 * @param format Its format.
 * @returns The error.
 */
export function unknownFormat(format: unknown): Error {
  return new Error(
    `it has format ${format}, and this version of the library reads ${FORMAT}`,
  );
}
