/** Where each runtime's program is, and how it runs test files. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { RuntimeName } from "./files.ts";

const HOME = fileURLToPath(new URL("../../tests/runtimes/", import.meta.url));

/** A package that is a dependency of `parent`, itself one of ours. */
function inner(parent: string, name: string, program: string): string {
  const ours = createRequire(join(HOME, "package.json"));
  const theirs = createRequire(ours.resolve(`${parent}/package.json`));
  return join(dirname(theirs.resolve(`${name}/package.json`)), program);
}

/** The pinned Node, or one of the same major version on the path where there is no pinned one. */
function node(name: string): string {
  if (process.platform === "linux" && process.arch === "x64") {
    return join(HOME, "node_modules", name, "bin/node");
  }
  const major = name.slice("node".length);
  const { stdout } = spawnSync("node", ["--version"], { encoding: "utf8" });
  if (stdout?.startsWith(`v${major}.`)) return "node";
  throw new Error(
    `Cannot run ${name}: the pinned one is for linux x64, and this machine (${process.platform} ${process.arch}) has no Node ${major} on its path`,
  );
}

/**
 * The program of a runtime.
 *
 * @throws {Error} It is not installed.
 */
export function programOf(runtime: RuntimeName): string {
  const { platform, arch } = process;
  const path = runtime === "deno"
    ? process.execPath
    : runtime === "bun"
    ? inner(
      "bun",
      `@oven/bun-${platform}-${arch === "arm64" ? "aarch64" : arch}`,
      "bin/bun",
    )
    : runtime === "workerd"
    ? inner(
      "workerd",
      `@cloudflare/workerd-${platform}-${arch === "x64" ? "64" : arch}`,
      "bin/workerd",
    )
    : node(runtime);
  if (path !== "node" && !existsSync(path)) {
    throw new Error(
      `Cannot run ${runtime}: ${path} is missing; run \`deno task setup:runtimes\``,
    );
  }
  return path;
}

/** What {@link testArguments} needs to know. */
export interface TestOptions {
  /** The test files, named from the root. */
  readonly files: readonly string[];
  /** Where the JUnit report goes. */
  readonly report: string;
  /** How many files may run at once. */
  readonly jobs: number;
  /** Where Deno writes its coverage. */
  readonly coverage?: string;
}

/** The arguments that make a runtime run test files and write a JUnit report. */
export function testArguments(
  runtime: Exclude<RuntimeName, "workerd">,
  { files, report, jobs, coverage }: TestOptions,
): string[] {
  switch (runtime) {
    case "deno":
      return [
        "test",
        "-A",
        "--no-check", // `check` does it once for everything
        "--sanitize-ops",
        "--sanitize-resources",
        `--junit-path=${report}`,
        ...(jobs > 1 ? ["--parallel"] : []),
        ...(coverage
          ? [`--coverage=${coverage}`, "--coverage-raw-data-only"]
          : []),
        ...files,
      ];
    case "bun":
      return [
        "test",
        "--isolate", // as the others do: what one file leaves behind does not reach the next
        "--timeout=600000", // its own is 5 s; the runner of the tests has a better one
        "--reporter=junit",
        `--reporter-outfile=${report}`,
        ...files.map((file) => `./${file}`),
      ];
    default:
      return [
        "--test",
        `--test-concurrency=${jobs}`,
        "--test-reporter=spec",
        "--test-reporter-destination=stdout",
        "--test-reporter=junit",
        `--test-reporter-destination=${report}`,
        ...files,
      ];
  }
}
