/** What each row has to reach, and against what. */

/** What a row is judged by. */
export interface Target {
  /** What is measured. */
  readonly what: string;
  /** At least so many times the reference, where `REFERENCE` gives it. */
  readonly ofReference?: number;
  /**
   * What the reference reached of the row's limit when the two were measured side by side on Node 24.
   * It stands in for the reference where that is not there; a verdict by it has a `~`.
   */
  readonly referenceOfLimit?: number;
  /** At least this part of the row's limit. */
  readonly ofLimit?: number;
  /** At least this part of what the row of this id reached. */
  readonly ofRow?: readonly [id: string, part: number];
}

const ROW_TARGETS = {
  "create-fsync-64": {
    what: "create, fsync, 64 callers",
    ofReference: 20,
    ofLimit: 0.4,
    referenceOfLimit: 2_600 / 213_000,
  },
  "create-fsync-8": {
    what: "create, fsync, 8 callers",
    ofReference: 5,
    referenceOfLimit: 2_600 / 33_000,
  },
  "create-fsync-1": {
    what: "create, fsync, 1 caller",
    ofReference: 0.95,
    referenceOfLimit: 2_500 / 4_200,
  },
  "create-1": {
    what: "create, page cache, 1 caller",
    ofReference: 1.3,
    referenceOfLimit: 69_000 / 327_000,
  },
  "create-64": {
    what: "create, page cache, 64 callers",
    ofReference: 2.5,
    referenceOfLimit: 69_000 / 5_500_000,
  },
  "life-1": {
    what: "whole life, page cache, 1 caller",
    ofReference: 4,
    referenceOfLimit: 4_600 / 327_000,
  },
  "life-fsync-64": {
    what: "whole life, fsync, 64 callers",
    ofReference: 25,
    referenceOfLimit: 693 / 213_000,
  },
  "progress-0": {
    what: "progress, empty record",
    ofReference: 3,
    referenceOfLimit: 47_000 / 327_000,
  },
  "progress-10k": {
    what: "progress, 10 KiB in the record",
    ofReference: 3,
    ofRow: ["progress-0", 0.8],
  },
  "progress-1m": {
    what: "progress, 1 MiB in the record",
    ofReference: 3,
    referenceOfLimit: 120 / 327_000,
    ofRow: ["progress-0", 0.8],
  },
  "get-rows-10k": {
    what: "get, 10 KiB of rows",
    ofReference: 7,
    referenceOfLimit: 2_100 / 17_900,
  },
  "get-rows-1m": {
    what: "get, 1 MiB of rows",
    ofReference: 7,
    referenceOfLimit: 20 / 174,
  },
  "get-text-10k": { what: "get, 10 KiB of text", ofReference: 1 },
  "get-text-1m": { what: "get, 1 MiB of text", ofReference: 1 },
  "complete-rows-10k": {
    what: "create and complete, 10 KiB of rows",
    ofReference: 12,
  },
  "complete-rows-1m": {
    what: "create and complete, 1 MiB of rows",
    ofReference: 12,
    referenceOfLimit: 9.5 / 325,
  },
} as const satisfies Readonly<Record<string, Target>>;

/** The id of a row that is measured in rounds. */
export type RowId = keyof typeof ROW_TARGETS;

/** The targets by row. */
export const TARGETS: Readonly<Record<RowId, Target>> = ROW_TARGETS;

/** What a figure of a large store may be at most, with 100,000 tasks. */
export interface FigureTarget {
  readonly what: string;
  readonly unit: "ms" | "MB" | "B" | "x";
  readonly most: number;
}

/** The targets of the figures that are measured in processes of their own. */
export const FIGURES = {
  stall: {
    what: "longest stall, 1,000 tasks at work, compaction under way",
    unit: "ms",
    most: 15,
  },
  written: { what: "bytes written for each changed", unit: "x", most: 3 },
  "open-1k": { what: "open, 1 KiB each", unit: "ms", most: 500 },
  "open-10k": { what: "open, 10 KiB each", unit: "ms", most: 1_000 },
  heap: { what: "heap of an idle task", unit: "B", most: 275 },
  "rss-10k": { what: "RSS, 10 KiB each", unit: "MB", most: 200 },
} as const satisfies Readonly<Record<string, FigureTarget>>;

/** The id of a figure. */
export type FigureId = keyof typeof FIGURES;

/** How many tasks the figures are for. */
export const FIGURE_TASKS = 100_000;
