/** Projects that install the tarball, as a user's would. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { removeFolder, temporaryFolder } from "../test/temporary.ts";
import { programOf } from "../test/runtimes.ts";

/** The runtimes that take packages from npm. */
export const NPM_RUNTIMES = ["node22", "node24", "node26", "bun"] as const;

/** One of {@link NPM_RUNTIMES}. */
export type NpmRuntime = typeof NPM_RUNTIMES[number];

/** The checkout. */
export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

/** What is installed in `tests/runtimes`. */
export const TOOLS: string = join(ROOT, "tests/runtimes/node_modules/");

/** What a program wrote, and whether it liked what it saw. */
export interface Said {
  readonly ok: boolean;
  readonly output: string;
}

/** Runs a program in a folder, to its end. */
export function say(
  program: string,
  args: readonly string[],
  cwd: string,
): Said {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    encoding: "utf8",
    timeout: 120_000,
    maxBuffer: 1 << 26,
    env: { ...process.env, NO_COLOR: "1" },
  });
  return {
    ok: status === 0,
    output: `${stdout ?? ""}${stderr ?? ""}${error ?? ""}`.trim(),
  };
}

/** How a runtime's own package manager installs a tarball, with nothing from a registry. */
function installCommand(
  runtime: NpmRuntime,
  tarball: string,
  cache: string,
): readonly [program: string, args: readonly string[]] {
  if (runtime === "bun") {
    return [programOf("bun"), [
      "add",
      "--silent",
      `--cache-dir=${cache}`,
      tarball,
    ]];
  }
  return [programOf(runtime), [
    join(TOOLS, "npm/bin/npm-cli.js"),
    "install",
    "--offline",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    `--cache=${cache}`,
    tarball,
  ]];
}

/**
 * Installs the tarball into an empty project with an empty cache and no network, which shows that
 * it needs no other package, and lets a body use it.
 *
 * @param runtime Whose package manager installs it.
 * @param tarball The tarball.
 * @param body Gets the project's folder, which is removed after it.
 * @returns What the body returns.
 */
export async function inConsumer<T>(
  runtime: NpmRuntime,
  tarball: string,
  body: (folder: string) => T | Promise<T>,
): Promise<T> {
  const outer = temporaryFolder("consumer-");
  try {
    const folder = join(outer, "project");
    mkdirSync(folder);
    writeFileSync(
      join(folder, "package.json"),
      JSON.stringify({ name: "consumer", private: true, type: "module" }),
    );
    const [program, args] = installCommand(
      runtime,
      tarball,
      join(outer, "cache"),
    );
    execFileSync(program, args, {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    return await body(folder);
  } finally {
    removeFolder(outer);
  }
}

/** Puts into a project what a user of the SDK has besides: the SDK and zod. */
export function bringPeers(folder: string): void {
  for (const peer of ["@modelcontextprotocol", "zod"]) {
    const link = join(folder, "node_modules", peer);
    if (existsSync(link)) continue;
    symlinkSync(join(ROOT, "node_modules", peer), link, "dir");
  }
}
