/**
 * Builds the npm package into `npm/` and proves it: `deno run -A tools/npm.ts [--repository=URL] [--write]`.
 *
 * The tarball is linted, installed into empty projects by the package manager of each runtime,
 * loaded, type-checked and bundled, and the crash demo is played from it. `--write` puts the size
 * that was measured into the README. The last line is `N passed, N failed`.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { RUNTIME_FREE } from "./imports/rules.ts";
import { buildPackage } from "./npm/build.ts";
import { bundleEntry } from "./npm/bundling.ts";
import { inConsumer, NPM_RUNTIMES, type Said } from "./npm/consumer.ts";
import { playDemo } from "./npm/demo.ts";
import { NPM_FACTS } from "./npm/facts.ts";
import { attw, npmPublish, publint } from "./npm/linting.ts";
import { loadEntries, withoutPeer } from "./npm/loading.ts";
import { statesSize, withSize } from "./npm/readme_size.ts";
import { checkServerTypes, checkTypes, RESOLUTIONS } from "./npm/types.ts";
import { deadLinks } from "./publish/documents.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

let repository: string | undefined;
let write = false;
for (const arg of process.argv.slice(2)) {
  if (arg === "--write") write = true;
  else if (arg.startsWith("--repository=https://")) {
    repository = arg.slice("--repository=".length).replace(/\/$|\.git$/, "");
  } else {
    throw new Error(
      `Cannot take ${arg}: the options are --repository=https://… and --write`,
    );
  }
}

const counts = { passed: 0, failed: 0 };
async function prove(what: string, how: () => Said | Promise<Said>) {
  const started = performance.now();
  let said: Said;
  try {
    said = await how();
  } catch (error) {
    said = { ok: false, output: `${(error as Error).stack}` };
  }
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  if (!said.ok) console.log(said.output);
  console.log(`${said.ok ? "ok    " : "FAILED"} ${what} (${seconds} s)`);
  counts[said.ok ? "passed" : "failed"]++;
}
const all = (problems: readonly string[]): Said => ({
  ok: problems.length === 0,
  output: problems.join("\n"),
});

const config = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8"));
const { name, exports }: {
  name: string;
  exports: Readonly<Record<string, string>>;
} = config;
const entries = Object.keys(exports);
const names = Object.fromEntries(
  await Promise.all(entries.map(async (entry) => {
    const module = await import(
      new URL(posix.join("..", exports[entry]), import.meta.url).href
    );
    return [entry, Object.keys(module).sort()] as const;
  })),
);

const { tarball, folder } = buildPackage(ROOT, join(ROOT, "npm"), repository);
console.log(`built npm/${tarball.slice(join(ROOT, "npm/").length)}`);
const files = (path: string) => existsSync(join(folder, path));

await prove("publint finds nothing", () => publint(tarball));
await prove("attw finds nothing", () => attw(tarball));
await prove("npm would publish it as it is", () => npmPublish(tarball));
await prove(
  "links of the README and of what it links to",
  () =>
    all(deadLinks(
      "README.md",
      (file) => readFileSync(join(folder, file), "utf8"),
      files,
    )),
);
for (const runtime of NPM_RUNTIMES) {
  await inConsumer(runtime, tarball, async (project) => {
    await prove(
      `${runtime}: installed, import and require() of ${entries.length} entries`,
      () => loadEntries(runtime, project, { name, names }),
    );
    await prove(
      `${runtime}: what the adapter says without the SDK`,
      () => withoutPeer(runtime, project, name),
    );
  });
}
await inConsumer("node24", tarball, async (project) => {
  for (const resolution of RESOLUTIONS) {
    await prove(
      `types under moduleResolution ${resolution}`,
      () => checkTypes(project, resolution, name, entries),
    );
  }
  for (const resolution of RESOLUTIONS) {
    await prove(
      `types with the SDK's under moduleResolution ${resolution}`,
      () => checkServerTypes(project, resolution, name),
    );
  }
  for (const entry of entries) {
    if (!RUNTIME_FREE.includes(posix.normalize(exports[entry]))) continue;
    await prove(`${entry} in a browser bundle`, () => {
      const { bytes, problems } = bundleEntry(project, name, entry);
      const budget = NPM_FACTS.bundleBudgets[entry];
      console.log(`       ${bytes} bytes, minified and gzipped`);
      const found = [...problems];
      if (budget !== undefined && bytes > budget) {
        found.push(`it takes ${bytes} bytes, and its budget is ${budget}`);
      }
      if (entry === ".") found.push(...checkStatedSize(bytes));
      return all(found);
    });
  }
});
for (const runtime of ["node24", "bun"] as const) {
  await inConsumer(
    runtime,
    tarball,
    (project) =>
      prove(
        `${runtime}: the crash demo`,
        () => playDemo(runtime, project, name),
      ),
  );
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed ? 1 : 0;

/** Compares the size in the README with the one that was measured, or writes it there. */
function checkStatedSize(bytes: number): string[] {
  const path = join(ROOT, "README.md");
  const readme = readFileSync(path, "utf8");
  if (write) writeFileSync(path, withSize(readme, bytes));
  else if (!statesSize(readme, bytes)) {
    return ["the README states another size: run `deno task npm --write`"];
  }
  return [];
}
