/**
 * Runs every check that is not a test: `deno run -A tools/check.ts`. Goes on after a failure;
 * the last line is `N passed, N failed`.
 */
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
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
  ["schemas of the extension", ["run", "-A", "tools/wire_schemas.ts"]],
  ["documents", ["run", "-A", "tools/check_documents.ts"]],
  ["publishing", ["run", "-A", "tools/check_publish.ts"]],
];

/** How a step went. */
interface Outcome {
  readonly ok: boolean;
  readonly seconds: string;
  readonly output: string;
}

function run(args: readonly string[]): Promise<Outcome> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => output += text);
    }
    child.on("error", reject);
    child.on("close", (code) =>
      resolve({
        ok: code === 0,
        seconds: ((performance.now() - started) / 1_000).toFixed(1),
        output,
      }));
  });
}

// Two at a time; each is shown in its turn.
const waiting = STEPS.map(([, args]) => args).entries();
const outcomes = STEPS.map(() => Promise.withResolvers<Outcome>());
for (let lane = 0; lane < Math.min(2, availableParallelism()); lane++) {
  (async () => {
    for (const [index, args] of waiting) {
      await run(args).then(outcomes[index].resolve, outcomes[index].reject);
    }
  })();
}
let failed = 0;
for (const [index, [name, args]] of STEPS.entries()) {
  const { ok, seconds, output } = await outcomes[index].promise;
  if (!ok) {
    failed++;
    process.stdout.write(output);
  }
  console.log(
    `${ok ? "ok    " : "FAILED"} ${name} (${seconds} s): deno ${
      args.join(" ")
    }`,
  );
}
console.log(`${STEPS.length - failed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
