/** Which test files there are, and which runtime each of them runs on. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

/** The runtimes, in the order in which they run. */
export const RUNTIMES = [
  "deno",
  "node22",
  "node24",
  "node26",
  "bun",
  "workerd",
] as const;

/** One of {@link RUNTIMES}. */
export type RuntimeName = typeof RUNTIMES[number];

/**
 * The folders, and files by how their names start, that do not run everywhere. What is not listed runs on
 * Deno, Node and Bun, so that a new one is never left out by being forgotten.
 */
const FOLDERS: Readonly<Record<string, (runtime: RuntimeName) => boolean>> = {
  // Free of any runtime: no process, no disk, no socket.
  "tests/errors_test.ts": () => true,
  "tests/model/": () => true,
  "tests/store/": () => true,
  "tests/engine/": () => true,
  "tests/testing/": () => true,
  // Deno bundles the Worker, and starts and kills workerd itself.
  "tests/cloudflare/worker_": (runtime) => runtime === "deno",
  "tests/cloudflare/": () => true,
  // About workerd itself.
  "tests/workerd/": (runtime) => runtime === "workerd",
  // Deno makes the package, and starts it on the other runtimes itself.
  "tests/packed/": (runtime) => runtime === "deno",
  // Deno bundles the Worker, and starts workerd itself.
  "tests/examples/worker_": (runtime) => runtime === "deno",
  // Deno Deploy is Deno.
  "tests/examples/deno_kv_": (runtime) => runtime === "deno",
  // Deno starts the other runtimes itself.
  "tests/crash/deno_kv_runtimes_": (runtime) => runtime === "deno",
  "tests/crash/wal_runtimes_": (runtime) => runtime === "deno",
  // The tools run on Deno alone.
  "tests/tools/": (runtime) => runtime === "deno",
};

/** Files, by how their names start, that need the pinned runtimes or what is installed beside them. */
const NEED_PINNED: readonly string[] = [
  "tests/cloudflare/worker_",
  "tests/crash/deno_kv_runtimes_",
  "tests/crash/wal_runtimes_",
  "tests/examples/own_store_",
  "tests/examples/worker_",
  "tests/mcp/sdk_versions_",
  "tests/packed/",
  "tests/tools/",
];

/** Whether a test file runs without `deno task setup:runtimes`. */
export function runsWithoutPinned(file: string): boolean {
  return !NEED_PINNED.some((start) => file.startsWith(start));
}

/** Whether a test file, named from the root with `/`, runs on a runtime. */
export function runsOn(file: string, runtime: RuntimeName): boolean {
  for (const [folder, rule] of Object.entries(FOLDERS)) {
    if (file.startsWith(folder)) return rule(runtime);
  }
  return runtime !== "workerd";
}

/** Every `*_test.ts` under `tests/`, named from the root with `/`, sorted. */
export function testFiles(root: string): string[] {
  const found: string[] = [];
  const walk = (folder: string) => {
    for (
      const entry of readdirSync(join(root, folder), { withFileTypes: true })
    ) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory() && entry.name !== "node_modules") walk(path);
      else if (entry.isFile() && entry.name.endsWith("_test.ts")) {
        found.push(path);
      }
    }
  };
  walk("tests");
  return found.sort();
}
