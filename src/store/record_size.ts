/** How large a record may be: the one rule of all stores that have a limit (S7, S30). */

/**
 * How much a change may add to a record that is over the limit all the same,
 * in bytes: as much as a cancel, an end and the next version take.
 */
export const SMALL_GROWTH_BYTES = 1_024;

/**
 * Tells whether a record is too large to be stored.
 *
 * @param bytes Bytes of its JSON.
 * @param maxBytes The limit.
 * @param bytesBefore Counts the bytes of the record that it replaces, if there is one.
 * @returns Whether it is refused.
 */
export function isTooLarge(
  bytes: number,
  maxBytes: number,
  bytesBefore: () => number = () => 0,
): boolean {
  if (bytes <= maxBytes) return false;
  const before = bytesBefore();
  return before <= maxBytes || bytes > before + SMALL_GROWTH_BYTES;
}
