/**
 * Publishes to JSR without doing so, and checks what would go there: `deno run -A tools/check_publish.ts`.
 *
 * The sources that the entries reach, the documents and examples that the README leads to, and nothing
 * else; no link of these is dead. A source that no entry reaches is dead too, or for an entry that
 * `deno.json` does not have.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { deadLinks, linkedFiles } from "./publish/documents.ts";
import { comparePublished, reached } from "./publish/files.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

const { status, stdout, stderr } = spawnSync(process.execPath, [
  "publish",
  "--dry-run",
  "--allow-dirty",
], { cwd: ROOT, encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } });
const output = `${stdout}${stderr}`;
if (status !== 0) {
  console.error(output);
  process.exitCode = 1;
} else {
  const prefix = new URL("../", import.meta.url).href;
  const published = [...output.matchAll(/^\s+(file:\/\/\S+) \(/gm)]
    .map(([, url]) => decodeURI(url!.slice(prefix.length)));
  const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
  const { exports } = JSON.parse(read("deno.json"));
  const isThere = (path: string) =>
    published.some((file) => file === path || file.startsWith(`${path}/`));
  const problems = [
    ...comparePublished(
      published,
      reached(Object.values(exports), read),
      linkedFiles(ROOT, "README.md"),
    ),
    ...deadLinks("README.md", read, isThere),
  ];
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length ? 1 : 0;
}
