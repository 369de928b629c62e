/**
 * Runs the suite: `deno run -A tools/test.ts [RUNTIME…] [FILE…] [--coverage] [--installed] [--deadline=SECONDS]`.
 *
 * Without a runtime, on all of them; a FILE is a path or a part of one. With `--installed` the runtimes
 * are those on the path, without the files that need the pinned ones. The last line is
 * `N passed, N failed, N skipped` over all runtimes; the exit code is 1 when anything failed:
 * a case, a runner that crashed, a file that reported no case, a runtime on which nothing ran,
 * a run over its deadline, coverage of Deno's run below the thresholds of `deno.json`.
 */
import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { relative } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { stopChildrenOnSignals } from "./test/child.ts";
import {
  runsOn,
  runsWithoutPinned,
  type RuntimeName,
  RUNTIMES,
  testFiles,
} from "./test/files.ts";
import { add, NONE, shorten, text } from "./test/report.ts";
import { INSTALLED, isInstalled } from "./test/runtimes.ts";
import { runSuite, type SuiteResult } from "./test/suite.ts";
import { removeFolder, temporaryFolder } from "./test/temporary.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** After how long what still runs is killed, unless `--deadline` says otherwise. */
const DEADLINE_S = 830;

/**
 * How many runtimes run at once, and at most one more than there are cores,
 * since much of a test is waiting. Their output is shown one after the other.
 */
const AT_ONCE = 3;

interface Arguments {
  readonly runtimes: readonly RuntimeName[];
  readonly filters: readonly string[];
  readonly coverage: boolean;
  readonly installed: boolean;
  readonly deadlineMs: number;
}

function parse(args: readonly string[]): Arguments {
  const runtimes: RuntimeName[] = [];
  const filters: string[] = [];
  let coverage = false;
  let installed = false;
  let deadlineS = DEADLINE_S;
  for (const arg of args) {
    const runtime = RUNTIMES.find((name) => name === arg);
    if (runtime) runtimes.push(runtime);
    else if (arg === "--coverage") coverage = true;
    else if (arg === "--installed") installed = true;
    else if (arg.startsWith("--deadline=")) {
      deadlineS = Number(arg.slice("--deadline=".length));
    } else if (arg.startsWith("-")) {
      throw new Error(
        `Cannot take ${arg}: the options are --coverage, --installed and --deadline=SECONDS`,
      );
    } else {
      filters.push(
        arg.startsWith("/") ? relative(ROOT, arg) : arg.replace(/^\.\//, ""),
      );
    }
  }
  if (!(deadlineS > 0)) {
    throw new Error("Cannot take --deadline: it is not a number over 0");
  }
  return {
    runtimes: runtimes.length
      ? runtimes
      : installed
      ? RUNTIMES.filter(isInstalled)
      : RUNTIMES,
    filters,
    coverage,
    installed,
    deadlineMs: deadlineS * 1_000,
  };
}

/** Lets several writers speak at once and be read one after the other. */
class Turns {
  readonly #waiting: string[][];
  readonly #ended: boolean[];
  #turn = 0;

  constructor(writers: number) {
    this.#waiting = Array.from({ length: writers }, () => []);
    this.#ended = Array.from({ length: writers }, () => false);
  }

  write(writer: number, text: string): void {
    if (writer === this.#turn) process.stdout.write(text);
    else this.#waiting[writer].push(text);
  }

  end(writer: number): void {
    this.#ended[writer] = true;
    while (this.#ended[this.#turn]) {
      this.#turn++;
      for (const text of this.#waiting[this.#turn]?.splice(0) ?? []) {
        process.stdout.write(text);
      }
    }
  }
}

/** Reports the coverage of Deno's run; false when it is below the thresholds. */
function covered(folder: string): boolean {
  const include = `^${new URL("../src/", import.meta.url).href}`;
  const { status } = spawnSync(process.execPath, [
    "coverage",
    `--include=${include}`,
    folder,
  ], {
    cwd: ROOT,
    stdio: "inherit",
  });
  return status === 0;
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, "    ");
}

async function main(): Promise<boolean> {
  const { runtimes, filters, coverage, installed, deadlineMs } = parse(
    process.argv.slice(2),
  );
  if (installed) process.env[INSTALLED] = "1";
  const all = testFiles(ROOT).filter((file) =>
    !installed || runsWithoutPinned(file)
  );
  const chosen = filters.length
    ? all.filter((file) => filters.some((filter) => file.includes(filter)))
    : all;
  const plan = runtimes
    .map((runtime) => ({
      runtime,
      files: chosen.filter((file) => runsOn(file, runtime)),
    }))
    .filter(({ files }) => files.length > 0 || filters.length === 0);
  if (plan.length === 0) {
    throw new Error(
      `Cannot run ${filters.join(", ")}: no test file of ${
        runtimes.join(", ")
      } has it in its path`,
    );
  }
  const coverageFolder = coverage ? temporaryFolder("coverage-") : undefined;

  stopChildrenOnSignals();
  const cores = availableParallelism();
  const atOnce = Math.min(plan.length, AT_ONCE, cores + 1);
  const jobs = Math.floor(cores / Math.max(1, atOnce - 1));
  const turns = new Turns(plan.length);
  const results: SuiteResult[] = [];
  const queue = plan.entries();
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (const [index, { runtime, files }] of queue) {
      const out = (text: string) => turns.write(index, text);
      out(`\n== ${runtime}: ${files.length} files\n`);
      const started = performance.now();
      const result = await runSuite(runtime, {
        root: ROOT,
        files,
        deadlineMs: Math.max(1, deadlineMs - performance.now()),
        jobs,
        coverage: runtime === "deno" ? coverageFolder : undefined,
        out,
      });
      const seconds = ((performance.now() - started) / 1_000).toFixed(1);
      out(`== ${runtime}: ${seconds} s\n`);
      turns.end(index);
      results[index] = result;
    }
  }));

  let total = NONE;
  const lines: string[] = [];
  for (const { runtime, counts, failures, problems, tail } of results) {
    // Told again at the end, since of a long log often nothing else is shown.
    for (const { name, error } of failures) {
      lines.push(`${runtime}: FAILED ${name}`);
      if (error) lines.push(indent(shorten(error)));
    }
    for (const problem of problems) lines.push(`${runtime}: FAILED ${problem}`);
    if (problems.length > 0) lines.push(indent(tail));
    total = add(total, counts);
  }
  for (const { runtime, counts } of results) {
    lines.push(`${runtime}: ${text(counts)}`);
  }
  if (coverageFolder && filters.length === 0 && runtimes.includes("deno")) {
    console.log("\n== coverage of src/ on deno");
    if (!covered(coverageFolder)) {
      lines.push("coverage: below a threshold, counted as failed");
      total = add(total, { ...NONE, failed: 1 });
    }
  }
  if (coverageFolder) removeFolder(coverageFolder);
  console.log(`\n${lines.join("\n")}`);
  console.log(text(total));
  return total.failed === 0;
}

try {
  process.exitCode = await main() ? 0 : 1;
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
