/**
 * Measures on every runtime, or on those that `--runtime` names: `deno task bench [--runtime=NAME…] [--short]
 * [--rounds=N] [--tasks=N] [--only=TEXT,…] [--cpu] [--json=FILE]`. With `--short` it takes about a minute for each.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { programOf } from "../tools/test/runtimes.ts";
import { withFolder } from "./limits.ts";
import { parseOptions } from "./options.ts";

const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));

const args = process.argv.slice(2);
const { runtimes, json } = parseOptions(args);
const passed = args.filter((arg) =>
  !arg.startsWith("--runtime") && !arg.startsWith("--json")
);
const all = await withFolder((folder) =>
  runtimes.map((runtime): unknown => {
    const file = join(folder, `${runtime}.json`);
    const { status } = spawnSync(
      programOf(runtime),
      [
        ...(runtime === "deno" ? ["run", "-A"] : []),
        MAIN,
        ...passed,
        `--json=${file}`,
      ],
      { stdio: "inherit" },
    );
    if (status !== 0) process.exit(status ?? 1);
    return JSON.parse(readFileSync(file, "utf8"));
  })
);
if (json) writeFileSync(json, JSON.stringify(all, undefined, 2));
