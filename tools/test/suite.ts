/** Runs the suite on one runtime, and says honestly how it went. */
import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { type Ending, run } from "./child.ts";
import type { RuntimeName } from "./files.ts";
import {
  add,
  type Case,
  count,
  type Counts,
  NONE,
  parseJUnit,
  parseWorkerdLine,
} from "./report.ts";
import { programOf, testArguments } from "./runtimes.ts";
import { memoryTmpdir, removeFolder, temporaryFolder } from "./temporary.ts";
import { workerdCommands } from "./workerd.ts";

/** How to run the suite on a runtime. */
export interface SuiteOptions {
  /** The folder that holds `tests/`. */
  readonly root: string;
  /** The test files, named from the root. Each has to report at least one case. */
  readonly files: readonly string[];
  /** After how long the run is killed and counts as failed, in milliseconds. */
  readonly deadlineMs: number;
  /** How many files may run at once. */
  readonly jobs: number;
  /** Where Deno writes its coverage; none is measured when absent. */
  readonly coverage?: string;
  /** Takes what a person reads. */
  readonly out: (text: string) => void;
}

/** How a runtime did. */
export interface SuiteResult {
  readonly runtime: RuntimeName;
  /** Each problem counts as one failed case. */
  readonly counts: Counts;
  /** The cases that failed. */
  readonly failures: readonly Case[];
  /** What went wrong beside the cases: lost files, a crash, a missed deadline. */
  readonly problems: readonly string[];
  /** The end of what the runtime wrote: no report tells of a problem. */
  readonly tail: string;
}

/** How many lines of an output are told where a report says nothing. */
const TAIL_LINES = 16;

/** What a runtime's report says, before it is held against what was asked. */
interface Reported {
  readonly ending: Ending;
  readonly cases: readonly Case[];
  readonly seen: ReadonlySet<string>;
  readonly problems: readonly string[];
}

async function runWorkerd(
  options: SuiteOptions,
  folder: string,
): Promise<Reported> {
  const { root, files, deadlineMs, out } = options;
  const [bundle, test] = workerdCommands(
    programOf("workerd"),
    root,
    files,
    folder,
  );
  const cases: Case[] = [];
  const seen = new Set<string>();
  const bundled = await run(bundle, deadlineMs, out);
  if (bundled.code !== 0) {
    return {
      ending: bundled,
      cases,
      seen,
      problems: ["the suite cannot be bundled"],
    };
  }
  let rest = "";
  const take = (line: string) => {
    const one = parseWorkerdLine(line);
    if (!one) return out(line + "\n");
    if (!seen.has(one.file)) out(`${one.file}\n`);
    seen.add(one.file);
    cases.push(one);
    out(
      `  ${one.name} ... ${one.outcome}\n${one.error ? one.error + "\n" : ""}`,
    );
  };
  const ending = await run(test, deadlineMs, (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(take);
  });
  if (rest) take(rest);
  return { ending, cases, seen, problems: [] };
}

async function runWithReport(
  runtime: Exclude<RuntimeName, "workerd">,
  options: SuiteOptions,
  folder: string,
): Promise<Reported> {
  const { root, files, deadlineMs, jobs, coverage, out } = options;
  const report = join(folder, "report.xml");
  const seenList = join(folder, "seen.txt");
  const ending = await run(
    {
      program: programOf(runtime),
      args: testArguments(runtime, { files, report, jobs, coverage }),
      cwd: root,
      env: { TEST_FILES_SEEN: seenList, DENO_JOBS: String(jobs) },
    },
    deadlineMs,
    out,
  );
  const seen = new Set(
    existsSync(seenList)
      ? readFileSync(seenList, "utf8").trim().split("\n")
        .map((path) => relative(root, path).replaceAll("\\", "/"))
      : [],
  );
  try {
    // Node reports a file that registers nothing, or that dies, as a case with its name.
    const cases = parseJUnit(readFileSync(report, "utf8"))
      .filter(({ name, outcome }) =>
        outcome === "failed" || !files.includes(name)
      );
    return { ending, cases, seen, problems: [] };
  } catch (error) {
    return {
      ending,
      cases: [],
      seen,
      problems: [`no report: ${(error as Error).message}`],
    };
  }
}

/** The last lines of an output, or of what it says before a line: there Node tells why a file died. */
function endBefore(coloured: string, line?: string): string {
  const output = stripVTControlCharacters(coloured);
  const at = line === undefined ? -1 : output.indexOf(`\n${line}`);
  return output.slice(0, at === -1 ? undefined : at).trimEnd()
    .split("\n").slice(-TAIL_LINES).join("\n");
}

/** Runs the suite on a runtime. Whatever goes wrong is in the result; nothing is thrown. */
export async function runSuite(
  runtime: RuntimeName,
  options: SuiteOptions,
): Promise<SuiteResult> {
  // In workerd's are the databases of its objects.
  const folder = runtime === "workerd"
    ? temporaryFolder("suite-workerd-", memoryTmpdir())
    : temporaryFolder(`suite-${runtime}-`);
  const problems: string[] = [];
  let failures: Case[] = [];
  let counts = NONE;
  let output = "";
  const out = (text: string) => {
    output += text;
    options.out(text);
  };
  try {
    const { ending, cases, seen, problems: ownProblems } = runtime === "workerd"
      ? await runWorkerd({ ...options, out }, folder)
      : await runWithReport(runtime, { ...options, out }, folder);
    counts = count(cases);
    failures = cases
      .filter(({ outcome }) => outcome === "failed")
      .map((one) =>
        options.files.includes(one.name)
          ? { ...one, error: endBefore(output, `✖ ${one.name}`) }
          : one
      );
    if (ending.late) {
      problems.push(
        `killed after ${(options.deadlineMs / 1_000).toFixed(1)} s`,
      );
    } else {
      problems.push(...ownProblems);
      for (const file of options.files) {
        const told = cases.some(({ name, outcome }) =>
          outcome === "failed" && name.startsWith(file)
        );
        if (!seen.has(file) && !told) problems.push(`${file} reported no test`);
      }
    }
    if (ending.code !== 0 && counts.failed === 0 && problems.length === 0) {
      problems.push(
        `the runner ended with ${ending.signal ?? `exit code ${ending.code}`}`,
      );
    }
    if (counts.passed + counts.failed === 0 && problems.length === 0) {
      problems.push("no test ran");
    }
  } catch (error) {
    problems.push((error as Error).message);
  } finally {
    removeFolder(folder);
  }
  return {
    runtime,
    counts: add(counts, { ...NONE, failed: problems.length }),
    failures,
    problems,
    tail: endBefore(output),
  };
}
