/** The table of a run: what was reached, and whether that is enough. */
import type { Timed } from "./about.ts";
import type { MeasuredFigure } from "./figures/measure.ts";
import type { MeasuredRow, Spread } from "./rounds.ts";
import {
  FIGURE_TASKS,
  type FigureId,
  FIGURES,
  type RowId,
  type Target,
  TARGETS,
} from "./targets.ts";

/** All that a run on one runtime has measured. */
export interface Measured {
  readonly runtime: string;
  readonly tasks: number;
  readonly rows: readonly MeasuredRow[];
  readonly figures: readonly MeasuredFigure[];
}

/** What `deno task bench --json=FILE` writes, for each runtime. */
export interface BenchRun extends Measured, Timed {}

/** What a value came to against one target. */
export interface Judged {
  readonly reached: boolean;
  /** A recorded figure stood in for the reference. */
  readonly standIn: boolean;
  readonly text: string;
}

/** The system whose figures are judged. */
export const OURS = "WalTaskStore";

/** `1234567` as `1.23M`, `45678` as `45.7k`. */
export function short(value: number): string {
  return value >= 1e6
    ? `${(value / 1e6).toFixed(2)}M`
    : value >= 1e3
    ? `${(value / 1e3).toFixed(1)}k`
    : value >= 10
    ? value.toFixed(0)
    : value.toPrecision(2);
}

/** The median, and the ends. */
export const shortSpread = ({ median, low, high }: Spread) =>
  `${short(median)} (${short(low)} to ${short(high)})`;

function medianRatio(row: MeasuredRow, one: number, other: number): number {
  const ratios = row.rates[one].map((rate, i) => rate / row.rates[other][i])
    .sort((a, b) => a - b);
  return ratios[ratios.length >> 1];
}

/**
 * Holds a row against its target.
 *
 * @param row The row.
 * @param all All rows of the run.
 * @returns One verdict for each thing that it has to reach and that is there to be judged.
 */
export function judgeRow(
  row: MeasuredRow,
  all: readonly MeasuredRow[],
): readonly Judged[] {
  const target: Target = TARGETS[row.id as RowId];
  const ours = row.reached.findIndex(({ name }) => name === OURS);
  const theirs = row.reached.findIndex(({ name }) => name === "reference");
  const { median } = row.reached[ours].ofLimit;
  const judged: Judged[] = [];
  const judge = (ratio: number, least: number, what: string, standIn = false) =>
    judged.push({
      reached: ratio >= least,
      standIn,
      text: `${short(ratio)} of ${least}x ${what}`,
    });
  const { ofReference, ofLimit, ofRow, referenceOfLimit } = target;
  if (ofReference && theirs >= 0) {
    judge(medianRatio(row, ours, theirs), ofReference, "the reference");
  } else if (ofReference && referenceOfLimit) {
    judge(median / referenceOfLimit, ofReference, "the reference", true);
  }
  if (ofLimit) judge(median, ofLimit, "the limit");
  const other = ofRow && all.find(({ id }) => id === ofRow[0]);
  if (ofRow && other) {
    const rate = (one: MeasuredRow) =>
      one.reached.find(({ name }) => name === OURS)!.rate.median;
    judge(rate(row) / rate(other), ofRow[1], `the empty record`);
  }
  return judged;
}

function verdict(judged: readonly Judged[]): string {
  if (judged.length === 0) return "needs REFERENCE";
  return judged.map(({ reached, standIn, text }) =>
    `${reached ? "reached" : "MISSED"}${standIn ? "~" : ""}: ${text}`
  ).join("; ");
}

function rowLines(row: MeasuredRow, all: readonly MeasuredRow[]): string[] {
  const { what } = TARGETS[row.id as RowId];
  return [
    `${what}: ${verdict(judgeRow(row, all))}`,
    ...row.reached.map(({ name, rate, ofLimit }) =>
      `    ${name.padEnd(35)}${shortSpread(rate).padEnd(26)}/s   ${
        short(ofLimit.median)
      } of the limit`
    ),
  ];
}

function figureLines(
  id: FigureId,
  figures: readonly MeasuredFigure[],
  tasks: number,
): string[] {
  const { what, unit, most } = FIGURES[id];
  const own = figures.filter((figure) => figure.id === id);
  const ours = own.find(({ name }) => name === OURS);
  if (!ours) return [];
  const { median } = ours.value;
  const judged = tasks < FIGURE_TASKS
    ? `not judged with ${tasks} tasks`
    : `${median <= most ? "reached" : "MISSED"}: ${
      short(median)
    } of ${most} ${unit} at most`;
  return [
    `${what}: ${judged}`,
    ...own.map(({ name, value }) =>
      `    ${name.padEnd(35)}${shortSpread(value).padEnd(26)}${unit}`
    ),
  ];
}

/**
 * Writes the table.
 *
 * @param measured What was measured.
 * @returns The table.
 */
export function formatMeasured(measured: Measured): string {
  const { runtime, rows, figures, tasks } = measured;
  return [
    `${runtime}; median (lowest to highest)`,
    ...rows.flatMap((row) => rowLines(row, rows)),
    ...(Object.keys(FIGURES) as FigureId[])
      .flatMap((id) => figureLines(id, figures, tasks)),
  ].join("\n");
}
