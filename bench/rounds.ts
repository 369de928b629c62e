/**
 * Measures contenders in interleaved rounds: each round runs all of them once, one after the other,
 * so that a disk that drifts drifts for all, and a ratio is taken within its round.
 */

/** Something that is measured. */
export interface Contender {
  /** What it is called in the table. */
  readonly name: string;
  /** Runs once, and answers the operations a second of each phase. */
  round(): Promise<readonly number[]>;
}

/** Contenders that are held against the first of them. */
export interface Group {
  readonly name: string;
  /** The limit first. */
  readonly contenders: readonly Contender[];
}

/** The middle value; the mean of the two middle ones of an even number. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2
    ? sorted[middle]
    : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** `1234567` as `1.23M`, `45678` as `45.7k`. */
function short(value: number): string {
  return value >= 1e6
    ? `${(value / 1e6).toFixed(2)}M`
    : value >= 1e3
    ? `${(value / 1e3).toFixed(1)}k`
    : value.toFixed(0);
}

/** The value of a phase; a limit has one for all of them. */
const phaseOf = (values: readonly number[], phase: number) =>
  values[phase] ?? values[0];

/** Runs the rounds, and answers one table for each group: the median rate, and its median ratio to the limit. */
export async function compare(
  groups: readonly Group[],
  phases: readonly string[],
  rounds: number,
): Promise<string> {
  const results = groups.map(({ contenders }) =>
    contenders.map((): (readonly number[])[] => [])
  );
  for (let round = -1; round < rounds; round++) { // the first warms up, and is not counted
    for (const [g, group] of groups.entries()) {
      for (const [c, contender] of group.contenders.entries()) {
        const values = await contender.round();
        if (round >= 0) results[g][c].push(values);
      }
    }
  }
  const width = Math.max(
    ...groups.flatMap((
      { name, contenders },
    ) => [name, ...contenders.map((one) => one.name)])
      .map(({ length }) => length),
  );
  const row = (name: string, cells: readonly string[]) =>
    `${name.padEnd(width)}${cells.map((cell) => cell.padStart(18)).join("")}`;
  return groups.map((group, g) => {
    const limit = results[g][0];
    const rows = group.contenders.map((contender, c) => {
      const own = results[g][c];
      return row(
        contender.name,
        phases.map((_, phase) => {
          const rate = median(own.map((values) => phaseOf(values, phase)));
          const ratio = median(
            own.map((values, round) =>
              phaseOf(values, phase) / phaseOf(limit[round], phase)
            ),
          );
          return `${short(rate)} (${ratio.toFixed(ratio < 0.1 ? 3 : 2)})`;
        }),
      );
    });
    return [row(group.name, phases.map((phase) => `${phase}/s`)), ...rows].join(
      "\n",
    );
  }).join("\n\n");
}

/** Runs `operation(0)` to `operation(count - 1)` from so many callers, each in turn, and answers how many a second. */
export async function rate(
  count: number,
  callers: number,
  operation: (index: number) => Promise<unknown>,
): Promise<number> {
  let next = 0;
  const started = performance.now();
  await Promise.all(Array.from({ length: callers }, async () => {
    while (next < count) await operation(next++);
  }));
  return count / (performance.now() - started) * 1_000;
}
