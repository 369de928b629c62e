import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild } from "../support/child.ts";
import { describe, it } from "../support/runner.ts";

const demo = new URL("../../examples/crash_recovery/demo.ts", import.meta.url);

/** Plays the demo to its end, with a temporary folder of its own to leave traces in. */
async function play(args: readonly string[]) {
  const temporary = await mkdtemp(join(tmpdir(), "demo-test-"));
  const child = startChild(demo, {
    args,
    env: { TMPDIR: temporary, TEMP: temporary, TMP: temporary },
  });
  const { code } = await child.exited;
  const left = readdirSync(temporary).filter((name) =>
    name.startsWith("crash-recovery-")
  );
  await rm(temporary, { recursive: true, force: true });
  return { code, left, lines: child.lines, stderr: child.stderr() };
}

for (const [name, args] of [["HTTP", []], ["stdio", ["--stdio"]]] as const) {
  describe(`examples/crash_recovery over ${name}`, () => {
    it("shows its three acts, exits 0 and leaves nothing behind", async () => {
      const { code, left, lines, stderr } = await play(args);
      const shown = lines.join("\n");
      assert.equal(code, 0, `${shown}\n${stderr}`);
      assert.match(shown, /Act 1: the task that was finished\n {2}ok /);
      assert.match(shown, /still says: working, "\d+ of \d+ files: /);
      assert.match(shown, /Act 2 ends: it went on after file \d+/);
      assert.match(shown, /Act 3 ends: resumeInput\(\) gave the worker/);
      assert.match(lines.at(-1)!, /nothing lost/);
      assert.ok(!shown.includes("\x1b"), "no colour where nobody looks");
      assert.deepEqual(left, []);
    });
  });
}
