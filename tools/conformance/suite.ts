/** Runs a scenario of the official suite, and reads how it went. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "../test/child.ts";
import { type Counts, NONE } from "../test/report.ts";
import { programOf } from "../test/runtimes.ts";
import type { Scenario } from "./scenarios.ts";

const SUITE = fileURLToPath(
  new URL(
    "../../tests/runtimes/node_modules/@modelcontextprotocol/conformance/dist/index.js",
    import.meta.url,
  ),
);

/** After how long a scenario is killed. */
const DEADLINE_MS = 60_000;

/** A check, as the suite writes it down. */
export interface Check {
  /** What it is called. */
  readonly id: string;
  /** How it went; `SUCCESS` alone is good. */
  readonly status: string;
  /** What was wrong. */
  readonly errorMessage?: string;
}

/** How a scenario went. */
export interface Outcome {
  /** The checks; one that is missing counts as failed. */
  readonly counts: Counts;
  /** What was wrong, one line each. */
  readonly problems: readonly string[];
}

/**
 * Judges the checks of a scenario: nothing but success is good, and the
 * number of them has to be right.
 *
 * @param scenario The scenario.
 * @param checks What the suite wrote down.
 */
export function judge(scenario: Scenario, checks: readonly Check[]): Outcome {
  const problems: string[] = [];
  let { passed, failed, skipped } = NONE;
  for (const { id, status, errorMessage } of checks) {
    if (scenario.skipped && status === "SKIPPED") skipped++;
    else if (!scenario.skipped && status === "SUCCESS") passed++;
    else {
      failed++;
      problems.push(`${id}: ${status} ${errorMessage ?? ""}`.trimEnd());
    }
  }
  if (checks.length !== scenario.checks) {
    failed += Math.max(1, scenario.checks - checks.length);
    problems.push(`${checks.length} checks instead of ${scenario.checks}`);
  }
  return { counts: { passed, failed, skipped }, problems };
}

/**
 * Runs a scenario against a server.
 *
 * @param scenario The scenario.
 * @param url The server's endpoint.
 * @param folder Where the suite may write; it makes a folder in it.
 */
export async function runScenario(
  scenario: Scenario,
  url: string,
  folder: string,
): Promise<Outcome> {
  const output = join(folder, scenario.name);
  mkdirSync(output);
  let told = "";
  const { late } = await run(
    {
      // The suite needs Node 22 or newer, whatever the server runs on.
      program: programOf("node24"),
      args: [
        SUITE,
        "server",
        "--url",
        url,
        "--scenario",
        scenario.name,
        "-o",
        output,
      ],
      cwd: output,
    },
    DEADLINE_MS,
    (text) => told += text,
  );
  const [report] = readdirSync(output);
  if (late || report === undefined) {
    const why = late
      ? `killed after ${DEADLINE_MS / 1_000} s`
      : `no report: ${told}`;
    return {
      counts: { ...NONE, failed: scenario.checks },
      problems: [why],
    };
  }
  const checks = readFileSync(join(output, report, "checks.json"), "utf8");
  return judge(scenario, JSON.parse(checks));
}
