/** The suite as one Worker: bundled, then run by `workerd test`. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import type { Command } from "./child.ts";
import { WORKERD_MARK } from "./report.ts";

/** What the configuration of every Worker says. */
export const CONFIG = {
  name: "suite",
  main: "bundle.js",
  no_bundle: true,
  compatibility_date: "2026-10-01",
} as const;

/** The Worker of the suite: its bindings are those of {@link BINDINGS}. */
const SUITE = {
  ...CONFIG,
  durable_objects: {
    bindings: [
      { name: "OBJECTS", class_name: "TestObject" },
      { name: "WITHOUT_ALARM", class_name: "TestObjectWithoutAlarm" },
    ],
  },
  migrations: [{
    tag: "v1",
    new_sqlite_classes: ["TestObject", "TestObjectWithoutAlarm"],
  }],
  kv_namespaces: [{ binding: "KV", id: "suite" }],
};

/** Where the files that need the bindings are, and what hands them out. */
const BOUND = "tests/workerd/";
const BINDINGS = "tests/support/workerd_bindings.ts";

/** The command that makes one file of a Worker's source and all that it imports. */
export function bundleCommand(
  root: string,
  source: string,
  bundle: string,
): Command {
  const project = join(root, "deno.json");
  return {
    program: process.execPath,
    args: [
      "bundle",
      "--quiet",
      ...(existsSync(project) ? ["--config", project] : []),
      "--platform",
      "browser",
      "--external",
      "node:*",
      "--external",
      "cloudflare:*",
      "-o",
      bundle,
      source,
    ],
    cwd: root,
  };
}

function needsBindings(files: readonly string[]): boolean {
  return files.some((file) => file.startsWith(BOUND));
}

/** The Worker's source: it loads every file at module scope, and runs the cases inside a request. */
function entry(root: string, files: readonly string[]): string {
  const url = (file: string) =>
    JSON.stringify(pathToFileURL(join(root, file)).href);
  // One watches the entry modules load, so none may have loaded before it.
  const first = (file: string) => file === `${BOUND}module_scope_test.ts`;
  const order = [
    ...files.filter(first),
    ...files.filter((file) => !first(file)),
  ];
  const bound = needsBindings(files);
  const loads = order.map((file) =>
    `await load(${JSON.stringify(file)}, () => import(${url(file)}));`
  );
  return `
import { collected } from ${url("tests/support/runner.ts")};
${
    bound
      ? `import { useBindings } from ${url(BINDINGS)};
export { TestObject, TestObjectWithoutAlarm } from ${url(BINDINGS)};`
      : ""
  }
globalThis.FC_SEED = ${JSON.stringify(process.env.FC_SEED)};
const cases = [];
async function load(file, module) {
  try {
    await module();
  } catch (error) {
    cases.push({ file, name: file + " loads", body() { throw error; } });
  }
  for (const one of collected.splice(0)) cases.push({ file, ...one });
}
${loads.join("\n")}
export default {
  async test(_controller, env) {
    ${bound ? "useBindings(env);" : ""}
    let failed = 0;
    for (const { file, name, body } of cases) {
      let outcome = "skipped", error;
      if (body) {
        try {
          await body();
          outcome = "passed";
        } catch (thrown) {
          outcome = "failed";
          error = String(thrown?.stack ?? thrown);
          failed++;
        }
      }
      console.log(${
    JSON.stringify(WORKERD_MARK)
  } + JSON.stringify({ file, name, outcome, error }));
    }
    if (failed) throw new Error(failed + " failed");
  },
};
`;
}

/** Writes the Worker into `folder` and answers the two commands: bundle it, run it. */
export function workerdCommands(
  workerd: string,
  root: string,
  files: readonly string[],
  folder: string,
): [Command, Command] {
  const source = join(folder, "entry.js");
  writeFileSync(source, entry(root, files));
  const config = join(folder, "wrangler.jsonc");
  writeFileSync(
    config,
    JSON.stringify(needsBindings(files) ? SUITE : CONFIG),
  );
  return [
    bundleCommand(root, source, join(folder, "bundle.js")),
    {
      program: workerd,
      // Any free port: the fixed one would be taken where two runs meet.
      args: [
        "test",
        "--experimental",
        "--no-verbose",
        "--socket-addr=http=127.0.0.1:0",
        config,
      ],
      cwd: folder,
    },
  ];
}
