/** The example of a store of one's own, and its kit, in the runners that the documentation shows. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  cp,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { memoryTmpdir } from "../../tools/test/temporary.ts";
import { describe, it, runtime } from "../support/runner.ts";

const ROOT = new URL("../../", import.meta.url);
const EXAMPLE = fileURLToPath(new URL("examples/own_store", ROOT));
const CONFIG = fileURLToPath(new URL("deno.json", ROOT));
const VITEST = fileURLToPath(
  new URL("tests/runtimes/node_modules/vitest", ROOT),
);

/** How many checks concern the example's store, and how many do not. */
const PASSED = 79;
const NOT_CLAIMED = 27;

/** Runs a body in a copy of the example, from which the packages are found by their names. */
async function inProject(body: (folder: string) => Promise<void>) {
  const folder = await mkdtemp(join(tmpdir(), "own-store-project-"));
  try {
    await cp(EXAMPLE, folder, { recursive: true });
    await writeFile(join(folder, "package.json"), `{ "type": "module" }`);
    const own = join(folder, "node_modules/@mcp-durable/tasks");
    await mkdir(own, { recursive: true });
    for (const entry of ["mod", "testing"]) {
      const target = JSON.stringify(new URL(`${entry}.ts`, ROOT).href);
      await writeFile(join(own, `${entry}.js`), `export * from ${target};\n`);
    }
    await writeFile(
      join(own, "package.json"),
      JSON.stringify({
        name: "@mcp-durable/tasks",
        type: "module",
        exports: { ".": "./mod.js", "./testing": "./testing.js" },
      }),
    );
    await symlink(VITEST, join(folder, "node_modules/vitest"), "dir");
    await body(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs this runtime's program in a folder; answers its exit code and what it has written. */
async function run(folder: string, ...args: string[]) {
  const env = { ...process.env };
  for (const name of ["NODE_TEST_CONTEXT", "TEST_FILES_SEEN", "FORCE_COLOR"]) {
    delete env[name];
  }
  const child = spawn(process.execPath, args, {
    cwd: folder,
    // The store flushes each write; the kit makes thousands.
    env: { ...env, NO_COLOR: "1", TMPDIR: memoryTmpdir() },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.once("close", resolve)),
  ]);
  return { code, output: stdout + stderr };
}

/** What runs a file of the example in this runtime's own runner, or without one. */
const commands: Readonly<
  Record<string, { test: string[]; program: string[] }>
> = {
  deno: {
    test: ["test", "-A", "--no-check", "--config", CONFIG, "deno.test.ts"],
    program: ["run", "-A", "--no-check", "--config", CONFIG],
  },
  node: {
    test: ["--test", "--test-reporter=spec", "node.test.ts"],
    program: [],
  },
  bun: {
    test: ["test", "--timeout", "60000", "./node.test.ts"],
    program: [],
  },
};
const { test, program } = commands[runtime];

/** How this runtime's runner counts. */
const counts: Readonly<Record<string, readonly RegExp[]>> = {
  // A case that skips is a case with a step that is ignored.
  deno: [
    new RegExp(`${PASSED + NOT_CLAIMED} passed \\| 0 failed`),
    /not claimed: .*"exclusive".* ignored/,
    new RegExp(`ignored \\(${NOT_CLAIMED} steps\\)`),
  ],
  node: [
    new RegExp(`pass ${PASSED}\n`),
    new RegExp(`skipped ${NOT_CLAIMED}\n`),
    /not claimed: .*"exclusive"/,
  ],
  bun: [new RegExp(`${PASSED} pass\n`), new RegExp(`${NOT_CLAIMED} skip\n`)],
};

describe("examples/own_store", () => {
  it("conforms in this runtime's own runner", () =>
    inProject(async (folder) => {
      const { code, output } = await run(folder, ...test);
      assert.equal(code, 0, output);
      for (const part of counts[runtime]) assert.match(output, part);
    }));

  it("conforms without a runner, and the report says so", () =>
    inProject(async (folder) => {
      const { code, output } = await run(folder, ...program, "report.ts");
      assert.equal(code, 0, output);
      assert.match(
        output,
        new RegExp(
          `TableTaskStore: conforms \\(${PASSED} passed, 0 failed, 0 skipped, ${NOT_CLAIMED} not claimed; seed 1\\)`,
        ),
      );
    }));

  it("fails where it is broken, and the runner's output says what to do", () =>
    inProject(async (folder) => {
      const file = join(folder, "table_task_store.ts");
      const right = await readFile(file, "utf8");
      const wrong = right
        .replace("return JSON.stringify(taskId);", "return taskId;")
        .replace("now - SWEEP_GRACE_MS", "now + 1");
      assert.notEqual(wrong, right);
      await writeFile(file, wrong);
      const { code, output } = await run(folder, ...test);
      assert.notEqual(code, 0);
      for (
        const part of [
          /S4 ids that look alike are different tasks \[ids\]/,
          /hint {6}Compare ids as they are: .*JSON\.stringify/,
          /S17 sweep\(\) goes by the millisecond.*\[sweep-boundary\]/,
          /expected {2}get\("living"\) after a sweep\(\) 1 ms before the end/,
          /again {5}checkTaskStore\("TableTaskStore", factory, \{ only/,
        ]
      ) assert.match(output, part);
    }));

  if (runtime === "node") {
    it("conforms in vitest", () =>
      inProject(async (folder) => {
        const { code, output } = await run(
          folder,
          join(VITEST, "vitest.mjs"),
          "run",
          "vitest.test.ts",
        );
        assert.equal(code, 0, output);
        assert.match(
          output,
          new RegExp(`${PASSED} passed \\| ${NOT_CLAIMED} skipped`),
        );
      }));
  }

  it("is in the documentation as it is", async () => {
    const page = await readFile(new URL("docs/own_store.md", ROOT), "utf8");
    for (
      const file of [
        "fixture.ts",
        "node.test.ts",
        "deno.test.ts",
        "vitest.test.ts",
        "report.ts",
      ]
    ) {
      const code = await readFile(join(EXAMPLE, file), "utf8");
      assert.ok(page.includes(`\`\`\`ts ignore\n${code}\`\`\``), file);
    }
  });
});
