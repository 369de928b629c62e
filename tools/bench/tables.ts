/** The tables of the page about benchmarks, and that of the README. */
import type { About, Timed } from "../../bench/about.ts";
import type { DenoKvRun } from "../../bench/deno_kv_bench.ts";
import {
  type BenchRun,
  judgeRow,
  OURS,
  short,
  shortSpread,
} from "../../bench/report.ts";
import {
  FIGURE_TASKS,
  type FigureId,
  FIGURES,
  type RowId,
  TARGETS,
} from "../../bench/targets.ts";
import {
  partsOf,
  type Results,
  type RowOfRun,
  rowsOn,
  runtimesOf,
  tellingRows,
} from "./results.ts";

/** The rows of the README. */
const CHOSEN: readonly RowId[] = [
  "create-1",
  "create-64",
  "create-fsync-1",
  "create-fsync-64",
  "life-1",
  "progress-1m",
  "get-rows-10k",
  "complete-rows-1m",
];

function table(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  return [heads, heads.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const dayOf = ({ date }: About) => date.slice(0, 10);

const clockOf = ({ processorTime }: About) =>
  processorTime ? "time of the processor" : "time of the clock";

function durationOf(runs: readonly Timed[]): string {
  const seconds = runs.reduce((sum, run) => sum + run.seconds, 0);
  return seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} minutes`;
}

/** Whether the machine was busy before a run. */
const isShared = ({ load, processors }: About) => load > processors * 0.75;

/** Where and how some runs of one command were made. */
function circumstances(runs: readonly (Timed & { runtime: string })[]): string {
  const { about } = runs[0]!;
  const { processors, load } = about;
  const shared = isShared(about)
    ? ", so it was **shared with other work**"
    : "";
  return [
    `- Machine: ${processors} x ${about.processor}, ${about.memoryGb} GiB, ${about.system}; ` +
    `its load before the run was ${load}${shared}.`,
    `- Versions: ${runs.map(({ runtime }) => runtime).join(", ")}.`,
    `- When: ${dayOf(about)}, for ${durationOf(runs)}.`,
    `- Command: \`${about.command}\`; ${about.rounds} rounds are counted, by the **${
      clockOf(about)
    }**.`,
  ].join("\n");
}

function rowTable(run: BenchRun): string[] {
  const rows = tellingRows(run);
  if (rows.length === 0) return [];
  const withReference = rows.some((row) => partsOf(row).reference);
  return [table(
    [
      "operation",
      "limit",
      "`node:sqlite`",
      "`MemoryTaskStore`",
      "`WalTaskStore`",
      ...withReference ? ["the reference"] : [],
      "of the limit",
      "of its target",
    ],
    rows.map((row) => {
      const parts = partsOf(row);
      const median = (part: keyof typeof parts) =>
        parts[part] ? short(parts[part].median) : "";
      const judged = judgeRow(row, run.rows);
      const ours = row.reached.find(({ name }) => name === OURS);
      return [
        TARGETS[row.id as RowId].what,
        `${median("limit")}, ${row.reached[0]!.name}`,
        median("sqlite"),
        median("memory"),
        parts.log ? shortSpread(parts.log) : "",
        ...withReference ? [median("reference")] : [],
        ours ? short(ours.ofLimit.median) : "",
        judged.map(({ reached, standIn, text }) =>
          `${reached ? "" : "**missed:** "}${text}${standIn ? " ~" : ""}`
        ).join("; ") || "needs `REFERENCE`",
      ];
    }),
  )];
}

function figureTable({ figures, tasks }: BenchRun): string[] {
  const ids = (Object.keys(FIGURES) as FigureId[]).filter((id) =>
    figures.some((figure) => figure.id === id)
  );
  if (ids.length === 0) return [];
  return [table(
    [`with ${tasks} tasks`, "beside it", "`WalTaskStore`", "", "of its target"],
    ids.map((id) => {
      const { what, unit, most } = FIGURES[id];
      const own = figures.filter((figure) => figure.id === id);
      const ours = own.find(({ name }) => name === OURS)!;
      const reached = ours.value.median <= most;
      return [
        what,
        own.filter((figure) => figure !== ours).map(({ name, value }) =>
          `${short(value.median)}, ${name}`
        ).join("; "),
        shortSpread(ours.value),
        unit,
        tasks < FIGURE_TASKS
          ? `not judged: it is for ${FIGURE_TASKS} tasks`
          : `${reached ? "" : "**missed:** "}${
            short(ours.value.median)
          } of ${most} at most`,
      ];
    }),
  )];
}

function logSection(runs: readonly BenchRun[]): string[] {
  const { about } = runs[0]!;
  return [
    `## The log, by the ${clockOf(about)}`,
    circumstances(runs),
    ...about.processorTime
      ? [
        "Rows that wait for a flush are left out: of that, the processor's time says nothing.",
      ]
      : [],
    ...runs.flatMap((run) => [
      `### ${run.runtime}, by the ${clockOf(about)}`,
      ...rowTable(run),
      ...figureTable(run),
    ]),
  ];
}

function denoKvSection(run: DenoKvRun): string[] {
  return [
    "## Deno KV",
    circumstances([run]),
    `Each row is held against the first of its two names; ${run.target} of it is to be reached.`,
    table(
      ["operation", "held against", "", "of it"],
      run.denoKv.map(({ id, pair, ratio, reached }) => [
        id,
        ...pair.map(({ name, rate }) => `${short(rate.median)}, ${name}`),
        `${reached ? "" : "**missed:** "}${ratio.median.toFixed(2)} (${
          ratio.low.toFixed(2)
        } to ${ratio.high.toFixed(2)})`,
      ]),
    ),
  ];
}

/**
 * Makes the part of the page that has figures.
 *
 * @param results What was measured.
 * @returns Markdown, not formatted yet.
 */
export function resultsPart(results: Results): string {
  return `${
    [
      ...results.logs.flatMap(logSection),
      ...results.denoKv.flatMap(denoKvSection),
    ].join("\n\n")
  }\n`;
}

/**
 * What ours is of the reference: measured, or by what was recorded of it. That was by the clock, so
 * a row by the processor's time is not held against it.
 */
function ofReference({ run, row }: RowOfRun): string {
  const { referenceOfLimit } = TARGETS[row.id as RowId];
  const rates = (start: string) =>
    row.rates[row.reached.findIndex(({ name }) => name === start)];
  const [ours, theirs] = [rates(OURS), rates("reference")];
  if (ours && theirs) {
    const ratios = ours.map((rate, round) => rate / theirs[round]!)
      .sort((a, b) => a - b);
    return `${short(ratios[ratios.length >> 1]!)}x`;
  }
  const part = row.reached.find(({ name }) => name === OURS)?.ofLimit.median;
  return part && referenceOfLimit && !run.about.processorTime
    ? `${short(part / referenceOfLimit)}x ~`
    : "";
}

/**
 * Makes the comparison of the README: a few rows, on Node if it was measured.
 *
 * @param results What was measured.
 * @returns Markdown, not formatted yet.
 * @throws {Error} The log was not measured.
 */
export function comparisonPart(results: Results): string {
  const runtimes = runtimesOf(results);
  const runtime = runtimes.find((name) => name.startsWith("Node")) ??
    runtimes[0];
  if (runtime === undefined) {
    throw new Error(
      "Cannot compare: there is no file of `deno task bench` among those that were given",
    );
  }
  const measured = rowsOn(results, runtime);
  const rows = CHOSEN.flatMap((id) => measured.get(id) ?? []);
  const ways = [
    ...new Set(rows.map(({ run: { about } }) => about)),
  ].map((about) =>
    `${
      [
        ...new Set(
          rows.filter(({ run }) => run.about === about)
            .map(({ row }) =>
              row.id.includes("fsync") ? "flushes" : "the rest"
            ),
        ),
      ]
        .join(" and ")
    } by the ${clockOf(about)}`
  );
  const { about } = rows[0]!.run;
  const clock = ways.length > 1 ? ways.join(", ") : `by the ${clockOf(about)}`;
  return [
    `Operations a second on ${runtime}, ${about.processors} x ${about.processor}, ${
      dayOf(about)
    }${
      rows.some(({ run }) => isShared(run.about))
        ? ", on a machine **shared with other work**"
        : ""
    }; ${clock}:`,
    table(
      [
        "",
        "limit",
        "`node:sqlite`",
        "`MemoryTaskStore`",
        "`WalTaskStore`",
        "of mcp-durable-tasks",
      ],
      rows.map((one) => {
        const parts = partsOf(one.row);
        return [
          TARGETS[one.row.id as RowId].what,
          `${short(parts.limit!.median)}, ${one.row.reached[0]!.name}`,
          ...[parts.sqlite, parts.memory, parts.log].map((part) =>
            part ? short(part.median) : ""
          ),
          ofReference(one),
        ];
      }),
    ),
  ].join("\n\n") + "\n";
}
