/**
 * Runs the scenarios of the official conformance suite that are about tasks against the fixture
 * server of `tests/conformance/`: `deno run -A tools/conformance.ts [RUNTIME…]`.
 *
 * Without a runtime, on all of them. Prints a table, scenario by runtime; the last line is
 * `N passed, N failed, N skipped`, and the exit code is 1 when anything failed.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { SCENARIOS } from "./conformance/scenarios.ts";
import { startServer } from "./conformance/servers.ts";
import { type Outcome, runScenario } from "./conformance/suite.ts";
import { table } from "./conformance/table.ts";
import { stopChildrenOnSignals } from "./test/child.ts";
import { type RuntimeName, RUNTIMES } from "./test/files.ts";
import { add, NONE, text } from "./test/report.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

function parse(args: readonly string[]): readonly RuntimeName[] {
  const chosen = args.map((arg) => {
    const runtime = RUNTIMES.find((name) => name === arg);
    if (runtime) return runtime;
    throw new Error(
      `Cannot run on ${arg}: the runtimes are ${RUNTIMES.join(", ")}`,
    );
  });
  return chosen.length ? RUNTIMES.filter((r) => chosen.includes(r)) : RUNTIMES;
}

/** Every scenario on a runtime, one after the other. */
async function runOn(
  runtime: RuntimeName,
  folder: string,
): Promise<readonly Outcome[]> {
  const place = join(folder, runtime);
  mkdirSync(place);
  try {
    const server = await startServer(runtime, ROOT, place);
    const outcomes: Outcome[] = [];
    let ended: string | undefined;
    try {
      for (const scenario of SCENARIOS) {
        outcomes.push(await runScenario(scenario, server.url, place));
      }
    } finally {
      ended = await server.stop();
    }
    if (ended) {
      throw new Error(`the server ended with ${ended}: ${server.stderr()}`);
    }
    if (outcomes.some(({ counts }) => counts.failed)) {
      console.log(`== ${runtime}: standard error\n${server.stderr()}`);
    }
    return outcomes;
  } catch (error) {
    const problems = [(error as Error).message];
    return SCENARIOS.map(({ checks }) => ({
      counts: { ...NONE, failed: checks },
      problems,
    }));
  }
}

async function main(): Promise<boolean> {
  const runtimes = parse(process.argv.slice(2));
  stopChildrenOnSignals();
  const folder = mkdtempSync(join(tmpdir(), "conformance-"));
  const results = new Map<RuntimeName, readonly Outcome[]>();
  try {
    const queue = runtimes.values();
    // Most of a scenario is waiting: more runtimes at once than cores.
    const atOnce = 2 * availableParallelism();
    await Promise.all(Array.from({ length: atOnce }, async () => {
      for (const runtime of queue) {
        const started = performance.now();
        results.set(runtime, await runOn(runtime, folder));
        const seconds = ((performance.now() - started) / 1_000).toFixed(1);
        console.log(`${runtime}: ${seconds} s`);
      }
    }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`\n${table(runtimes, results)}\n`);
  let total = NONE;
  for (const runtime of runtimes) {
    for (const [index, outcome] of results.get(runtime)!.entries()) {
      total = add(total, outcome.counts);
      for (const problem of outcome.problems) {
        console.log(`${runtime}: FAILED ${SCENARIOS[index].name}: ${problem}`);
      }
    }
  }
  console.log(text(total));
  return total.failed === 0;
}

try {
  process.exitCode = await main() ? 0 : 1;
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
