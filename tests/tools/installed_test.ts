/** Which test files run without the pinned runtimes. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { reached } from "../../tools/publish/files.ts";
import { runsWithoutPinned, testFiles } from "../../tools/test/files.ts";
import { describe, it } from "../support/runner.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const texts = new Map<string, string>();

function read(file: string): string {
  const text = texts.get(file) ?? readFileSync(join(root, file), "utf8");
  texts.set(file, text);
  return text;
}

/** Whether a test starts a runtime by its name, or has something from beside the runtimes. */
function needsPinned(file: string): boolean {
  const files = reached([file], read);
  return files.includes("tools/test/runtimes.ts") ||
    files.some((one) =>
      /["'`/]runtimes\/(?:package\.json|node_modules)/.test(read(one))
    );
}

describe("runsWithoutPinned()", () => {
  it("leaves out each test that needs the pinned runtimes, and no other", () => {
    // Those about the tools and the package are left out as a whole.
    const files = testFiles(root).filter((file) =>
      !/^tests\/(?:tools|packed)\//.test(file)
    );
    const needing = files.filter(needsPinned);
    assert.ok(needing.includes("tests/crash/wal_runtimes_test.ts"));
    assert.deepEqual(
      files.filter((file) => !runsWithoutPinned(file)),
      needing,
    );
  });
});
