import assert from "node:assert/strict";
import { describe, it } from "../support/runner.ts";
import { newSeed } from "../support/seed.ts";
import { withTempDir } from "../support/wal_dir.ts";
import { killProcesses } from "../support/wal_proof/kills.ts";
import { randomOf } from "../support/wal_proof/script.ts";

/** Each of five runtimes runs this file twice that often: 50 in all. */
const KILLS = 5;

describe("WalTaskStore, kill -9", () => {
  for (const fsync of [false, true]) {
    it(`at ${KILLS} random moments loses nothing and invents nothing, fsync ${fsync}`, () =>
      withTempDir(async (dir) => {
        const seed = newSeed();
        const random = randomOf(seed);
        const report = await killProcesses({
          dir,
          kills: KILLS,
          fsync,
          random,
        });
        const { violations, kills, acknowledged, deleted } = report;
        assert.deepEqual(violations, [], `seed ${seed}`);
        assert.equal(kills, KILLS);
        assert.ok(acknowledged > 0, `seed ${seed}: nothing was acknowledged`);
        assert.ok(deleted > 0, `seed ${seed}: nothing was deleted`);
      }));
  }
});
