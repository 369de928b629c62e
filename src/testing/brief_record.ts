/** Records and times, written by what they differ in from those of the kit. */

import { brief } from "./brief.ts";
import { conformanceRecord, CREATED_MS } from "./record.ts";

/**
 * Writes a time by its distance from the creation of the kit's records.
 *
 * @param now The time.
 * @returns For example `createdAt + 10`.
 */
export function briefTime(now: unknown): string {
  if (typeof now !== "number") return brief(now);
  const ms = now - CREATED_MS;
  if (Math.abs(ms) > 1e12) return brief(now);
  return ms === 0
    ? "createdAt"
    : `createdAt ${ms < 0 ? "-" : "+"} ${Math.abs(ms)}`;
}

/**
 * Writes a record as the call that makes it: what every record of the kit has
 * goes without saying. Any other value is written as it is.
 *
 * @param value The value.
 * @returns For example `conformanceRecord({ taskId: "a", ttlMs: 10 })`.
 */
export function briefRecord(value: unknown): string {
  if (
    typeof value !== "object" || value === null ||
    !Object.hasOwn(value, "taskId")
  ) {
    return brief(value);
  }
  const fields = value as Readonly<Record<string, unknown>>;
  const usual = conformanceRecord() as unknown as typeof fields;
  const own: [string, unknown][] = [["taskId", fields.taskId]];
  for (const name of new Set([...Object.keys(usual), ...Object.keys(fields)])) {
    const same = Object.hasOwn(fields, name) && fields[name] === usual[name];
    if (!same && name !== "taskId") own.push([name, fields[name]]);
  }
  return `conformanceRecord(${brief(Object.fromEntries(own))})`;
}
