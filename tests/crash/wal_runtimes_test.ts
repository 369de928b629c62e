import assert from "node:assert/strict";
import { programOf } from "../../tools/test/runtimes.ts";
import { type Child, startChild } from "../support/child.ts";
import { describe, it } from "../support/runner.ts";
import { withTempDir } from "../support/wal_dir.ts";

const CHILD = new URL("../support/wal_child.ts", import.meta.url);

type Name = "deno" | "node24" | "bun";

/** Starts `wal_child.ts` on a runtime. */
function start(runtime: Name, ...args: string[]): Child {
  const program = programOf(runtime);
  return startChild(CHILD, {
    args,
    command: runtime === "deno" ? [program, "run", "-A"] : [program],
  });
}

const PAIRS: readonly (readonly [Name, Name])[] = [
  ["deno", "node24"],
  ["node24", "bun"],
  ["bun", "deno"],
];

describe("WalTaskStore, one writer across runtimes", () => {
  for (const [holder, other] of PAIRS) {
    it(`${other} gets the typed error while ${holder} holds the directory, and takes over from it`, () =>
      withTempDir(async (dir) => {
        const first = start(holder, "hold", dir, "held 1");
        await first.line((line) => line === "created");

        const started = performance.now();
        const refused = start(other, "try", dir, "300");
        await refused.exited;
        assert.deepEqual(
          refused.lines,
          [`ERR_STORE_LOCKED ${dir}`],
          refused.stderr(),
        );
        assert.ok(performance.now() - started >= 300);

        // It waits, and has what the first has kept up to its end.
        const second = start(other, "hold", dir, "held 2");
        first.send("close");
        await second.line((line) => line === "created");
        await first.exited;
        assert.equal(first.lines.at(-1), "closed");
        assert.equal(second.lines[0], "held 1");

        // A kill frees it at once.
        await second.kill();
        const third = start(holder, "hold", dir, "held 3");
        await third.line((line) => line === "created");
        assert.equal(third.lines[0], "held 1,2");
        third.send("close");
        await third.exited;
        const last = start(other, "try", dir, "0");
        await last.exited;
        assert.deepEqual(last.lines, ["opened"], last.stderr());
      }));
  }
});
