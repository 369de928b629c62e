/**
 * Measures in interleaved rounds: each round runs every contender once, one after the other, so that
 * a machine that drifts drifts for all, and a ratio is taken within its round.
 */

import { clock } from "./clock.ts";

/** Something that is measured. */
export interface Contender {
  /** What it is called in the table. */
  readonly name: string;
  /** Runs once, and answers how many operations a second. */
  round(): Promise<number>;
}

/** Contenders that do the same. The first of them is the limit of what can be reached. */
export interface Row {
  /** Names its target. */
  readonly id: string;
  readonly contenders: readonly Contender[];
}

/** What many rounds of one value come to. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** What a contender reached. */
export interface Reached {
  readonly name: string;
  /** Operations a second. */
  readonly rate: Spread;
  /** Its part of the limit's rate in the same round. */
  readonly ofLimit: Spread;
}

/** A row that was measured; in the order of its contenders. */
export interface MeasuredRow {
  readonly id: string;
  readonly rounds: number;
  readonly reached: readonly Reached[];
  /** The rates, by contender and round. */
  readonly rates: readonly (readonly number[])[];
}

/**
 * The middle value and the ends.
 *
 * @param values At least one.
 * @returns The mean of the two middle ones of an even number.
 */
export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2
    ? sorted[middle]
    : (sorted[middle - 1] + sorted[middle]) / 2;
  return { median, low: sorted[0], high: sorted[sorted.length - 1] };
}

/**
 * Runs the rounds.
 *
 * @param rows What to measure.
 * @param rounds How many are counted; one more warms up.
 * @param tell Hears how far it is.
 * @returns The same rows, in order.
 */
export async function measure(
  rows: readonly Row[],
  rounds: number,
  tell: (text: string) => void,
): Promise<readonly MeasuredRow[]> {
  const rates = rows.map(({ contenders }) =>
    contenders.map((): number[] => [])
  );
  for (let round = 0; round <= rounds; round++) {
    for (const [r, { id, contenders }] of rows.entries()) {
      tell(`round ${round} of ${rounds}: ${id}`);
      for (const [c, contender] of contenders.entries()) {
        const rate = await contender.round();
        if (round > 0) rates[r][c].push(rate);
      }
    }
  }
  return rows.map(({ id, contenders }, r) => ({
    id,
    rounds,
    rates: rates[r],
    reached: contenders.map(({ name }, c) => ({
      name,
      rate: spread(rates[r][c]),
      ofLimit: spread(rates[r][c].map((rate, i) => rate / rates[r][0][i])),
    })),
  }));
}

/**
 * Runs an operation from so many callers, each of them again when it is done.
 *
 * @param count How often in all.
 * @param callers How many at the same time.
 * @param operation Gets the number of the call.
 * @returns How many a second.
 */
export async function rate(
  count: number,
  callers: number,
  operation: (index: number) => Promise<unknown>,
): Promise<number> {
  let next = 0;
  const started = clock();
  await Promise.all(Array.from({ length: callers }, async () => {
    while (next < count) await operation(next++);
  }));
  return count / (clock() - started) * 1_000;
}
