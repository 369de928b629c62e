import assert from "node:assert/strict";
import { describe, it, runtime } from "../support/runner.ts";
import { withTempDir } from "../support/wal_dir.ts";
import { newOverlapReport, overlap } from "../support/wal_proof/overlap.ts";
import { randomOf } from "../support/wal_proof/script.ts";

// The log is the same on every runtime: most of it on one is enough.
const RUNS = runtime === "deno" ? 14 : 4;

describe("WalTaskStore, callers, compactions, sweeps, closings and openings", () => {
  for (const fsync of [true, false]) {
    it(`that overlap on a disk that fails lose nothing and invent nothing, fsync ${fsync}`, () =>
      withTempDir(async (dir) => {
        const report = newOverlapReport();
        for (let seed = 1; seed <= RUNS; seed++) {
          const random = randomOf(seed);
          const options = { dir, fsync, random, operations: 150, crashes: 4 };
          await overlap(options, report);
          const about = `seed ${seed}`;
          assert.deepEqual(report.violations.slice(0, 3), [], about);
        }
        const { operations, stores, calls, faults, images } = report;
        console.log(
          `${operations} operations on ${stores} stores, ${calls} calls of the disk, ${faults} with a fault, ${images} images`,
        );
        // Less would be callers that come to nothing.
        assert.ok(stores > 5 * RUNS && images > 5 * RUNS && faults > 0);
      }));
  }
});
