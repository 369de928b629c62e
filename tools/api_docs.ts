/**
 * Makes `docs/api.md`, and the parts of other documents that come from the sources:
 * `deno run -A tools/api_docs.ts [--check]`.
 *
 * With `--check` it writes nothing, and fails where a document is not what it would write.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { TASK_ERRORS } from "../src/errors.ts";
import { CLAUSES } from "../src/testing/clauses.ts";
import { apiPage } from "./docs/page.ts";
import { readLibrary } from "./docs/read.ts";
import { clausesTable, withPart } from "./docs/parts.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const check = process.argv.includes("--check");

function read(path: string): string | undefined {
  const file = join(ROOT, path);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** Writes a document, or compares it with the one that is there. */
function make(path: string, text: string): void {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["fmt", "--ext", "md", "-"],
    { cwd: ROOT, encoding: "utf8", input: text, maxBuffer: 1 << 26 },
  );
  if (status !== 0) throw new Error(`Cannot format ${path}: ${stderr}`);
  if (!check) writeFileSync(join(ROOT, path), stdout);
  else if (read(path) !== stdout) {
    console.error(
      `${path} is not what the sources say: run \`deno task docs\``,
    );
    process.exitCode = 1;
  }
}

const { name } = JSON.parse(read("deno.json")!);
make("docs/api.md", apiPage(readLibrary(ROOT), { name, errors: TASK_ERRORS }));
const contract = "docs/contract.md";
make(contract, withPart(read(contract)!, "clauses", clausesTable(CLAUSES)));
