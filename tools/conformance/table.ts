/** The table that people read: a line for each scenario, a column for each runtime. */
import { add, type Counts, NONE } from "../test/report.ts";
import { SCENARIOS } from "./scenarios.ts";
import type { Outcome } from "./suite.ts";

/** One cell: `9`, `8, 1 FAILED` or `skipped`. */
function cell({ passed, failed, skipped }: Counts): string {
  if (failed) return `${passed}, ${failed} FAILED`;
  return passed ? `${passed}` : skipped ? "skipped" : "nothing";
}

/**
 * Lays out how every scenario went.
 *
 * @param columns The names of the columns.
 * @param results The outcomes of each column, in the order of the scenarios.
 */
export function table<Column extends string>(
  columns: readonly Column[],
  results: ReadonlyMap<Column, readonly Outcome[]>,
): string {
  const rows = [
    ["checks passed", ...columns],
    ...SCENARIOS.map(({ name }, row) => [
      name,
      ...columns.map((column) => cell(results.get(column)![row].counts)),
    ]),
    [
      "all",
      ...columns.map((column) =>
        cell(
          results.get(column)!
            .reduce((sum, { counts }) => add(sum, counts), NONE),
        )
      ),
    ],
  ];
  const widths = rows[0].map((_, column) =>
    Math.max(...rows.map((row) => row[column].length))
  );
  return rows
    .map((row) =>
      row.map((text, column) =>
        column ? text.padStart(widths[column]) : text.padEnd(widths[column])
      ).join("  ")
    )
    .join("\n");
}
