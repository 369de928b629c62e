/** Random numbers that a seed repeats. */

/** A source of random choices. */
export interface Random {
  /** A whole number from 0 to below `end`. */
  below(end: number): number;
  /** One of some values. */
  pick<T>(values: readonly T[]): T;
}

/**
 * Makes a source (mulberry32).
 *
 * @param seed Where it starts: the same seed, the same choices.
 * @returns The source.
 */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const below = (end: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor(((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32 * end);
  };
  return { below, pick: (values) => values[below(values.length)] };
}
