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

/** The variable that makes {@link programOf} take what is on the path; children inherit it. */
export const INSTALLED = "TEST_INSTALLED_RUNTIMES";

/** Whether a Node is on the path, of the major version of a name. */
function isNodeInstalled(name: string): boolean {
  const { stdout } = spawnSync("node", ["--version"], { encoding: "utf8" });
  return stdout?.startsWith(`v${name.slice("node".length)}.`) ?? false;
}

/** Whether a runtime is on the path, or is this one. */
export function isInstalled(runtime: RuntimeName): boolean {
  switch (runtime) {
    case "deno":
      return true;
    case "workerd":
      return false;
    case "bun":
      return spawnSync("bun", ["--version"]).status === 0;
    default:
      return isNodeInstalled(runtime);
  }
}

/** The program of a pinned runtime. */
function pinned(runtime: Exclude<RuntimeName, "deno">): string {
  const { platform, arch } = process;
  const end = platform === "win32" ? ".exe" : "";
  if (runtime === "bun") {
    const machine = arch === "arm64" ? "aarch64" : arch;
    return inner("bun", `@oven/bun-${platform}-${machine}`, `bin/bun${end}`);
  }
  if (runtime === "workerd") {
    const machine = arch === "x64" ? "64" : arch;
    const system = platform === "win32" ? "windows" : platform;
    const name = `@cloudflare/workerd-${system}-${machine}`;
    return inner("workerd", name, `bin/workerd${end}`);
  }
  return join(HOME, "node_modules", runtime, "bin/node");
}

/**
 * The program of a runtime: the pinned one, or the one on the path where the pinned one is for another
 * machine, or {@link INSTALLED} asks for it.
 *
 * @throws {Error} It is not installed.
 */
export function programOf(runtime: RuntimeName): string {
  if (runtime === "deno") return process.execPath;
  const isNode = runtime.startsWith("node");
  const { platform, arch } = process;
  const isPinned = !process.env[INSTALLED] &&
    (!isNode || (platform === "linux" && arch === "x64"));
  if (isPinned) {
    const path = pinned(runtime);
    if (existsSync(path)) return path;
    throw new Error(
      `Cannot run ${runtime}: ${path} is missing; run \`deno task setup:runtimes\``,
    );
  }
  if (isInstalled(runtime)) return isNode ? "node" : runtime;
  throw new Error(
    `Cannot run ${runtime}: it is not on the path of this machine (${platform} ${arch})`,
  );
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
