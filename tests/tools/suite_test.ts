/** `tools/test/suite.ts`, on a folder of test files that go wrong in every way. */
import assert from "node:assert/strict";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { RUNTIMES } from "../../tools/test/files.ts";
import { runSuite, type SuiteResult } from "../../tools/test/suite.ts";
import { describe, it } from "../support/runner.ts";

const HEAD = `
import assert from "node:assert/strict";
import { describe, it, skip } from "../support/runner.ts";
`;
const GOOD = `${HEAD}
describe("a < b & \\"c\\"", () => {
  it("passes", () => {});
  skip("is skipped", "there is no disk");
  describe("inner", () => it("waits", async () => await Promise.resolve()));
});
`;

/** Runs a runtime on files of the given sources, in a folder of their own. */
async function suite(
  runtime: typeof RUNTIMES[number],
  sources: Readonly<Record<string, string>>,
  deadlineMs = 60_000,
): Promise<SuiteResult & { readonly output: string }> {
  const root = mkdtempSync(join(tmpdir(), "suite under test-"));
  try {
    mkdirSync(join(root, "tests/support"), { recursive: true });
    copyFileSync(
      fileURLToPath(new URL("../support/runner.ts", import.meta.url)),
      join(root, "tests/support/runner.ts"),
    );
    for (const [file, source] of Object.entries(sources)) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), source);
    }
    let output = "";
    const result = await runSuite(runtime, {
      root,
      files: Object.keys(sources),
      deadlineMs,
      jobs: 1,
      out: (text) => output += text,
    });
    return { ...result, output };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

for (const runtime of RUNTIMES) {
  describe(`runSuite() on ${runtime}`, () => {
    it("counts what passed and what was skipped", async () => {
      const { counts, problems, output } = await suite(runtime, {
        "tests/model/good_test.ts": GOOD,
        "tests/model/more_test.ts": `${HEAD} it("top", () => {});`,
      });
      assert.deepEqual(counts, { passed: 3, failed: 0, skipped: 1 }, output);
      assert.deepEqual(problems, []);
    });

    it("counts what failed, and shows why", async () => {
      const { counts, failures, problems, output } = await suite(runtime, {
        "tests/model/good_test.ts": GOOD,
        "tests/model/bad_test.ts": `${HEAD}
          describe("g", () => {
            it("throws", () => assert.equal(17, 18));
            it("rejects", async () => await Promise.reject(new Error('no <luck> & "more"')));
            it("passes", () => {});
          });`,
      });
      assert.deepEqual(counts, { passed: 3, failed: 2, skipped: 1 }, output);
      assert.deepEqual(problems, []);
      assert.deepEqual(failures.map(({ name }) => name.split(" > ").at(-1)), [
        "throws",
        "rejects",
      ]);
      assert.match(
        failures[0].error ?? "",
        /strictly equal:[^]*17[^]*18/,
      );
      assert.match(failures[1].error ?? "", /^[^\n]*no <luck> & "more"/);
      assert.match(failures[1].error ?? "", /bad_test\.ts|bundle\.js/);
      assert.match(output, /no <luck>/);
      assert.match(output, /17/);
    });

    it("fails a file that cannot be loaded", async () => {
      const { counts, output, failures, tail } = await suite(runtime, {
        "tests/model/good_test.ts": GOOD,
        "tests/model/broken_test.ts": `${HEAD} throw new Error("at load");`,
      });
      assert.equal(counts.passed, 2, output);
      assert.equal(counts.failed, 1, output);
      assert.match(`${failures[0]?.error}\n${tail}`, /at load/);
    });

    it("fails a file that registers nothing", async () => {
      const { counts, problems, output } = await suite(runtime, {
        "tests/model/good_test.ts": GOOD,
        "tests/model/empty_test.ts": HEAD,
      });
      assert.deepEqual(counts, { passed: 2, failed: 1, skipped: 1 }, output);
      assert.deepEqual(problems, [
        "tests/model/empty_test.ts reported no test",
      ]);
    });
  });
}

/** Waits until a process is gone; the system takes a moment to reap an orphan. */
async function gone(pid: number): Promise<void> {
  const end = performance.now() + 60_000;
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    assert.ok(performance.now() < end, `process ${pid} is still there`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("runSuite()", () => {
  for (const runtime of ["deno", "node24", "bun"] as const) {
    it(`kills what hangs on ${runtime}, with its children`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "hang-"));
      try {
        const pidFile = join(folder, "pid");
        const hang = (deadlineMs: number) =>
          suite(runtime, {
            "tests/wal/hang_test.ts": `${HEAD}
            import { writeFileSync } from "node:fs";
            import process from "node:process";
            it("hangs", () => {
              writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));
              return new Promise((resolve) => setTimeout(resolve, 3_600_000));
            });`,
          }, deadlineMs);
        let deadlineMs = 1_500;
        let result = await hang(deadlineMs);
        // It has to have begun, however slow this machine is.
        while (!existsSync(pidFile)) result = await hang(deadlineMs *= 2);
        const { counts, problems } = result;
        assert.deepEqual(counts, { passed: 0, failed: 1, skipped: 0 });
        assert.deepEqual(problems, [
          `killed after ${(deadlineMs / 1_000).toFixed(1)} s`,
        ]);
        await gone(Number(readFileSync(pidFile, "utf8")));
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  }

  it("fails a file that dies on Node after some of its cases", async () => {
    const { counts, failures, problems, output } = await suite("node24", {
      "tests/wal/dies_test.ts": `${HEAD}
        import process from "node:process";
        it("passes", () => {});
        it("dies", () => { process.kill(process.pid, "SIGKILL"); return new Promise(() => {}); });`,
      "tests/wal/bad_test.ts": `${HEAD} it("fails", () => assert.ok(false));`,
    });
    assert.deepEqual(
      failures.map(({ name }) => name),
      ["fails", "tests/wal/dies_test.ts"],
      output,
    );
    assert.deepEqual(problems, []);
    assert.equal(counts.failed, 2);
  });

  it("runs twice at once in workerd", async () => {
    const slow = `${HEAD}
      it("waits", () => new Promise((resolve) => setTimeout(resolve, 300)));`;
    const both = await Promise.all(
      [1, 2].map(() => suite("workerd", { "tests/model/slow_test.ts": slow })),
    );
    for (const { counts, output } of both) {
      assert.deepEqual(counts, { passed: 1, failed: 0, skipped: 0 }, output);
    }
  });

  it("fails a runner that dies", async () => {
    const { counts } = await suite("bun", {
      "tests/model/dies_test.ts": `${HEAD}
        it("dies", () => (globalThis as any).process.kill((globalThis as any).process.pid, "SIGKILL"));`,
    });
    assert.equal(counts.passed, 0);
    assert.ok(counts.failed >= 1);
  });

  it("fails a case that leaves a timer behind, on Deno", async () => {
    const { counts } = await suite("deno", {
      "tests/model/leak_test.ts":
        `${HEAD} it("leaks", () => { setTimeout(() => {}, 3_600_000); });`,
    });
    assert.deepEqual(counts, { passed: 0, failed: 1, skipped: 0 });
  });
});
