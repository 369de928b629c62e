import assert from "node:assert/strict";
import { describe, it } from "../support/runner.ts";
import { newSeed } from "../support/seed.ts";
import { withTempDir } from "../support/wal_dir.ts";
import { keepBusy } from "../support/wal_proof/bounds.ts";
import { randomOf } from "../support/wal_proof/script.ts";

describe("WalTaskStore, bounds", () => {
  it("20,000 operations with expiry leave the disk under 2.5 times what is alive and two segments, at every look", () =>
    withTempDir(async (dir) => {
      const seed = newSeed();
      const report = await keepBusy({
        dir,
        fsync: false,
        operations: 20_000,
        random: randomOf(seed),
        // The soak looks at the memory; here other tests share it.
        memorySlack: Infinity,
      });
      assert.deepEqual(report.violations, [], `seed ${seed}`);
      assert.ok(report.looks > 50, `${report.looks} looks`);
    }));
});
