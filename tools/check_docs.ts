/**
 * Checks that everything exported, and every member of it, is documented: `deno run -A tools/check_docs.ts`.
 *
 * Each has a text; each parameter and what is given back too. Options have their `@default`, equal to the
 * one in the code where that can be told, and `@throws` names a class and its code of `TASK_ERRORS`.
 */
import process from "node:process";
import { fileURLToPath } from "node:url";
import { TASK_ERRORS } from "../src/errors.ts";
import { checkDocs } from "./docs/check.ts";
import { readLibrary } from "./docs/read.ts";

const problems = checkDocs(
  readLibrary(fileURLToPath(new URL("../", import.meta.url))),
  TASK_ERRORS,
);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length ? 1 : 0;
