/**
 * Checks the committed documents and what runs the project's tasks: `deno run -A tools/check_documents.ts`.
 *
 * Links lead somewhere, anchors too; each task and each test that is named is one; each block of code runs
 * in a test, is a quotation of a file that does, or is data; each example says what it is.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import {
  checkBlocks,
  checkLinks,
  checkTasks,
  type Project,
} from "./markdown/check.ts";
import { checkNamedTests } from "./markdown/tests_named.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

const listed = spawnSync("git", ["ls-files", "-z"], {
  cwd: ROOT,
  encoding: "utf8",
});
if (listed.status !== 0) {
  throw new Error(`Cannot list the committed files: ${listed.stderr}`);
}
const files = listed.stdout.split("\0").filter((file) =>
  file && existsSync(join(ROOT, file))
);
const known = new Set(files);
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const project: Project = {
  read: (path) => known.has(path) ? read(path) : undefined,
  isFolder: (path) =>
    existsSync(join(ROOT, path)) && statSync(join(ROOT, path)).isDirectory(),
  tasks: new Set(Object.keys(JSON.parse(read("deno.json")).tasks)),
  quotable: files.filter((file) => /^examples\/.*\.ts$/.test(file)).map(read),
};

const problems = files.flatMap((file) => {
  const isDocument = file.endsWith(".md");
  const runsTasks = file === ".ci/run" || file.startsWith(".github/");
  if (!isDocument && !runsTasks) return [];
  const text = read(file);
  return [
    ...checkTasks(file, text, project),
    ...isDocument ? checkLinks(file, text, project) : [],
    ...isDocument ? checkBlocks(file, text, project) : [],
    ...isDocument ? checkNamedTests(file, text, project.read) : [],
  ];
});
const examples = new Set(
  files.map((file) => /^examples\/[^/]+\//.exec(file)?.[0]).filter(Boolean),
);
for (const example of examples) {
  if (!known.has(`${example}README.md`)) {
    problems.push(`${example}: there is no README.md that says what it is`);
  }
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length ? 1 : 0;
