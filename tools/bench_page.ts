/**
 * Writes the figures of `docs/benchmarks.md` and of the README, and draws `docs/benchmarks.svg`, from
 * what the benches wrote: `deno task bench:page FILE.json…`. The page has them in the order of the files;
 * of a row that several have, the picture and the README take the first.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { benchPlot } from "./bench/plot.ts";
import { readResults } from "./bench/results.ts";
import { comparisonPart, resultsPart } from "./bench/tables.ts";
import { withPart } from "./docs/parts.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** Puts a part into a document, and formats it. */
function documentWith(path: string, name: string, part: string): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["fmt", "--ext", "md", "-"],
    {
      cwd: ROOT,
      encoding: "utf8",
      input: withPart(readFileSync(join(ROOT, path), "utf8"), name, part),
    },
  );
  if (status !== 0) throw new Error(`Cannot format ${path}: ${stderr}`);
  return stdout;
}

const files = process.argv.slice(2);
if (files.length === 0) {
  throw new Error(
    "Cannot make the page of nothing: name the files that `deno task bench --json=FILE` wrote",
  );
}
const results = readResults(
  files.map((file) => [file, readFileSync(file, "utf8")]),
);
const page = "docs/benchmarks.md";
// All of it first, so that a mistake leaves no half of the figures behind.
const made = [
  [page, documentWith(page, "results", resultsPart(results))],
  [
    "README.md",
    documentWith("README.md", "comparison", comparisonPart(results)),
  ],
  ["docs/benchmarks.svg", benchPlot(results)],
] as const;
for (const [path, text] of made) writeFileSync(join(ROOT, path), text);
