/** What the benches wrote, as the page needs it. */
import type { DenoKvRun } from "../../bench/deno_kv_bench.ts";
import { type BenchRun, OURS } from "../../bench/report.ts";
import type { MeasuredRow, Spread } from "../../bench/rounds.ts";

/** The results of some files. */
export interface Results {
  /** What `deno task bench --json=FILE` wrote: for each file, the runs of all runtimes. */
  readonly logs: readonly (readonly BenchRun[])[];
  /** What `deno task bench:deno-kv --json=FILE` wrote. */
  readonly denoKv: readonly DenoKvRun[];
}

/** A row, and the run that measured it. */
export interface RowOfRun {
  readonly run: BenchRun;
  readonly row: MeasuredRow;
}

function has(value: unknown, ...keys: readonly string[]): boolean {
  return typeof value === "object" && value !== null &&
    keys.every((key) => key in value);
}

/**
 * Reads what the benches wrote.
 *
 * @param files The names and the texts of the files, in the order of the page.
 * @returns Their results.
 * @throws {Error} A file is nothing that a bench writes.
 */
export function readResults(
  files: readonly (readonly [name: string, text: string])[],
): Results {
  const logs: BenchRun[][] = [];
  const denoKv: DenoKvRun[] = [];
  for (const [name, text] of files) {
    const value: unknown = JSON.parse(text);
    const runs: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (has(value, "about", "seconds", "denoKv")) {
      denoKv.push(value as DenoKvRun);
    } else if (
      runs.length > 0 &&
      runs.every((run) => has(run, "about", "seconds", "rows", "figures"))
    ) {
      logs.push(runs as BenchRun[]);
    } else {
      throw new Error(
        `Cannot take ${name}: it has to be what \`deno task bench\` or \`deno task bench:deno-kv\` writes with --json=FILE`,
      );
    }
  }
  return { logs, denoKv };
}

/** The rows that say something: the processor's time tells nothing of what waits for the disk. */
export function tellingRows(run: BenchRun): readonly MeasuredRow[] {
  return run.rows.filter(({ id }) =>
    !(run.about.processorTime && id.includes("fsync"))
  );
}

/** The runtimes of all files, in their order. */
export function runtimesOf({ logs }: Results): readonly string[] {
  return [...new Set(logs.flat().map(({ runtime }) => runtime))];
}

/** What was measured on a runtime, each row once: the first file that has it. */
export function rowsOn(
  { logs }: Results,
  runtime: string,
): ReadonlyMap<string, RowOfRun> {
  const rows = new Map<string, RowOfRun>();
  for (const run of logs.flat().filter((run) => run.runtime === runtime)) {
    for (const row of tellingRows(run)) {
      if (!rows.has(row.id)) rows.set(row.id, { run, row });
    }
  }
  return rows;
}

/** What takes part in a row. */
export type Part = "limit" | "sqlite" | "memory" | "log" | "reference";

/** What each contender of a row reached; the first is the limit. */
export function partsOf(
  { reached }: MeasuredRow,
): Readonly<Partial<Record<Part, Spread>>> {
  const rate = (start: string) =>
    reached.find(({ name }) => name.startsWith(start))?.rate;
  return {
    limit: reached[0]?.rate,
    sqlite: rate("node:sqlite"),
    memory: rate("MemoryTaskStore"),
    log: rate(OURS),
    reference: rate("reference"),
  };
}
