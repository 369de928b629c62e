/** When a task ends to exist: the one function that decides it (rule I12). */

import { parseTime } from "./iso_time.ts";

/** The two fields of a record that decide when it expires. */
export interface Expiring {
  /** ISO 8601. */
  readonly createdAt: string;
  /** Milliseconds from `createdAt`; `null` for ever. */
  readonly ttlMs: number | null;
}

/**
 * The first millisecond at which a task no longer exists.
 *
 * @param record The record.
 * @returns Milliseconds since the epoch; `Infinity` for a task without a TTL.
 */
export function expiresAt(record: Expiring): number {
  return record.ttlMs === null
    ? Infinity
    : parseTime(record.createdAt) + record.ttlMs;
}

/**
 * Tells whether a task no longer exists. Stores and the engine all ask here.
 *
 * @param record The record.
 * @param now Milliseconds since the epoch.
 * @returns Whether its TTL has passed.
 *
 * @example
 * ```ts
 * import { isExpired } from "@mcp-durable/tasks";
 *
 * const record = { createdAt: "2026-01-01T00:00:00.000Z", ttlMs: 10 };
 * const created = Date.parse(record.createdAt);
 * console.log(isExpired(record, created + 9)); // false
 * console.log(isExpired(record, created + 10)); // true
 * ```
 */
export function isExpired(record: Expiring, now: number): boolean {
  return now >= expiresAt(record);
}
