import assert from "node:assert/strict";
import { describe, it, runtime } from "../support/runner.ts";
import { withTempDir } from "../support/wal_dir.ts";
import { explore } from "../support/wal_proof/explore.ts";
import { SHORT_SCRIPT } from "../support/wal_proof/script.ts";

// The log is the same on every runtime: all of it on one is enough.
const isWhole = runtime === "deno";

describe("WalTaskStore, every call of the disk", () => {
  for (const fsync of isWhole ? [true, false] : [true]) {
    it(`failed in every way, and a crash before and after it, loses nothing and invents nothing, fsync ${fsync}`, () =>
      withTempDir(async (dir) => {
        const report = await explore(SHORT_SCRIPT, {
          dir,
          fsync,
          prefixes: isWhole && fsync ? Infinity : 1,
          crashesAfterFault: isWhole && fsync ? 2 : 0,
          deepEvery: isWhole ? 4 : 8,
        });
        const { violations, calls, faults, images } = report;
        console.log(
          `${calls} calls, ${faults} runs with a fault, ${images} images of the disk`,
        );
        assert.deepEqual(violations.slice(0, 20), []);
        // Less would be a script that goes nowhere.
        assert.ok(calls > 60 && faults > 2 * calls && images > 500);
      }));
  }
});
