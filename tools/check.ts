/**
 * Runs every check that is not a test: `deno run -A tools/check.ts`. Goes on after a failure;
 * the last line is `N passed, N failed`.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

const config = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8"));
const entries = Object.values(config.exports as Record<string, string>);

/** The documents whose examples run. */
const documents = spawnSync("git", ["grep", "-l", "^```ts$", "--", "*.md"], {
  cwd: ROOT,
  encoding: "utf8",
}).stdout.split("\n").filter(Boolean);

/** Each step: what it shows, and the arguments of `deno` that show it. */
const STEPS: readonly (readonly [name: string, args: readonly string[]])[] = [
  ["format", ["fmt", "--check"]],
  ["lint", ["lint"]],
  ["types", ["check", "."]],
  ["documentation", ["doc", "--lint", ...entries]],
  ["examples in the documentation", [
    "test",
    "-A",
    "--doc",
    ...entries,
    "src",
    ...documents,
  ]],
  ["documentation of every member", ["run", "-A", "tools/check_docs.ts"]],
  ["docs/api.md", ["run", "-A", "tools/api_docs.ts", "--check"]],
  ["imports", ["run", "-A", "tools/check_imports.ts"]],
  ["text", ["run", "-A", "tools/check_text.ts"]],
  ["documents", ["run", "-A", "tools/check_documents.ts"]],
  ["publishing", ["run", "-A", "tools/check_publish.ts"]],
];

let failed = 0;
for (const [name, args] of STEPS) {
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  if (status !== 0) {
    failed++;
    process.stdout.write(`${stdout}${stderr}`);
  }
  console.log(
    `${status === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s): deno ${
      args.join(" ")
    }`,
  );
}
console.log(`${STEPS.length - failed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
