/**
 * Makes `docs/api.md` from the sources: `deno run -A tools/api_docs.ts [--check]`.
 *
 * With `--check` it writes nothing, and fails where the page is not what it would write.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { TASK_ERRORS } from "../src/errors.ts";
import { apiPage } from "./docs/page.ts";
import { readLibrary } from "./docs/read.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const PAGE = join(ROOT, "docs/api.md");

const { name } = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8"));
const { status, stdout, stderr } = spawnSync(
  process.execPath,
  ["fmt", "--ext", "md", "-"],
  {
    cwd: ROOT,
    encoding: "utf8",
    input: apiPage(readLibrary(ROOT), { name, errors: TASK_ERRORS }),
    maxBuffer: 1 << 26,
  },
);
if (status !== 0) throw new Error(`Cannot format the page: ${stderr}`);
if (!process.argv.includes("--check")) writeFileSync(PAGE, stdout);
else if (!existsSync(PAGE) || readFileSync(PAGE, "utf8") !== stdout) {
  console.error(
    "docs/api.md is not what the sources say: run `deno task docs`",
  );
  process.exitCode = 1;
}
