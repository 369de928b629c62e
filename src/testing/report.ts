/** What a run of the kit reports. */

import type { TaskStoreTraits } from "../store/contract.ts";
import type { ClauseId } from "./clauses.ts";
import type { ConformanceFailure } from "./failure.ts";
import { titleOf } from "./case.ts";

/**
 * How a check ended.
 *
 * - `passed`, `failed`: it ran.
 * - `skipped`: it did not run, as the factory does not give what it needs.
 * - `notClaimed`: it did not run, as the store does not claim what it is about.
 */
export type ConformanceStatus = "passed" | "failed" | "skipped" | "notClaimed";

/** How one check ended. */
export interface ConformanceResult {
  /** The check. */
  readonly id: string;
  /** The clause of the contract. */
  readonly clause: ClauseId;
  /** What the store has to do. */
  readonly does: string;
  /** How it ended. */
  readonly status: ConformanceStatus;
  /** Why it did not run, where it did not. */
  readonly reason?: string;
  /** What went wrong, where it failed. */
  readonly failure?: ConformanceFailure;
  /** How long it took, in milliseconds. */
  readonly ms: number;
  /** What the store said of itself, where there was one. */
  readonly traits?: TaskStoreTraits;
}

/** Why a check was left out by the caller. */
export const NOT_IN_ONLY = "it is not in `only`";

/** How many checks ended in which way. */
export type ConformanceCounts = Readonly<Record<ConformanceStatus, number>>;

/** How a store did. Plain JSON; {@linkcode formatConformanceReport} makes it readable. */
export interface ConformanceReport {
  /** The name of the store. */
  readonly name: string;
  /** Whether no check failed, and at least one passed. */
  readonly ok: boolean;
  /** Where random runs started. */
  readonly seed: number;
  /** What the store says of itself. */
  readonly traits: TaskStoreTraits;
  /** How many checks ended in which way; together all there are. */
  readonly counts: ConformanceCounts;
  /** Every check, in the order of `conformanceChecks`. */
  readonly results: readonly Omit<ConformanceResult, "traits">[];
}

/**
 * Sums results up.
 *
 * @param name The name of the store.
 * @param seed Where random runs started.
 * @param results How each check ended.
 * @returns The report.
 */
export function makeReport(
  name: string,
  seed: number,
  results: readonly ConformanceResult[],
): ConformanceReport {
  const counts = { passed: 0, failed: 0, skipped: 0, notClaimed: 0 };
  for (const { status } of results) counts[status]++;
  const traits = results.find((result) => result.traits)?.traits ?? {};
  return {
    name,
    ok: counts.failed === 0 && counts.passed > 0,
    seed,
    traits: { ...traits },
    counts,
    results: results.map(({ traits: _, ...result }) => result),
  };
}

/**
 * Writes a failure for a person.
 *
 * @param failure The failure.
 * @returns Some lines.
 */
export function formatFailure(failure: ConformanceFailure): string {
  const lines = [
    `clause    ${failure.clauseText}`,
    `expected  ${failure.expected}`,
    `came      ${failure.came}`,
    ...(failure.hint ? [`hint      ${failure.hint}`] : []),
    ...failure.steps.map((step, i) =>
      `${i ? "         " : "steps    "} ${step}`
    ),
    `again     ${failure.again}`,
  ];
  if (failure.stack) {
    lines.push(
      ...failure.stack.split("\n").map((line, i) =>
        `${i ? "         " : "thrown   "} ${line}`
      ),
    );
  }
  return lines.join("\n");
}

/**
 * Writes a report for a person: what failed and how to see it again, what did
 * not run and why, and what passed.
 *
 * @param report The report.
 * @returns The text.
 */
export function formatConformanceReport(report: ConformanceReport): string {
  const { name, counts, seed, traits, results } = report;
  const of = (status: ConformanceStatus) =>
    results.filter((result) => result.status === status);
  const blocks = [
    `${name}: ${report.ok ? "conforms" : "does not conform"} (${
      countsText(counts)
    }; seed ${seed})\n${traitsText(traits)}`,
    ...of("failed").map((result) =>
      `FAILED ${titleOf(result)}\n${
        indent(result.failure ? formatFailure(result.failure) : "")
      }`
    ),
  ];
  const unrun = [["skipped", "skipped"], [
    "notClaimed",
    "not claimed",
  ]] as const;
  for (const [status, title] of unrun) {
    const listed = of(status).filter(({ reason }) => reason !== NOT_IN_ONLY);
    const left = of(status).length - listed.length;
    const lines = listed.map((result) =>
      `  ${titleOf(result)}: ${result.reason}`
    );
    if (left > 0) lines.push(`  ${left} more, which are not in \`only\``);
    if (lines.length > 0) blocks.push([title, ...lines].join("\n"));
  }
  const passed = of("passed").map((result) => `  ${titleOf(result)}`);
  if (passed.length > 0) blocks.push(["passed", ...passed].join("\n"));
  return blocks.join("\n\n") + "\n";
}

function countsText(counts: ConformanceCounts): string {
  const { passed, failed, skipped, notClaimed } = counts;
  return `${passed} passed, ${failed} failed, ${skipped} skipped, ${notClaimed} not claimed`;
}

function traitsText(traits: TaskStoreTraits): string {
  const declared = Object.entries(traits).map(([name, value]) =>
    `${name}: ${JSON.stringify(value)}`
  );
  return declared.length > 0
    ? `its traits: ${declared.join(", ")}`
    : "it declares no traits, so it is held to what every store has to do";
}

function indent(text: string): string {
  return text.split("\n").map((line) => `  ${line}`).join("\n");
}
