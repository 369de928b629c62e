import assert from "node:assert/strict";
import { describe, it, runtime } from "../support/runner.ts";
import { withTempDir } from "../support/wal_dir.ts";
import {
  checkDamage,
  type Damage,
  type DamageReport,
  decays,
  flips,
  holes,
  newDamageReport,
  smears,
} from "../support/wal_proof/damage.ts";
import {
  largeLog,
  SMALL_LOG,
  writeLog,
  type WrittenLog,
} from "../support/wal_proof/damaged_log.ts";
import type { Operation } from "../support/wal_proof/script.ts";
import { randomOf } from "../support/wal_proof/script.ts";
import { checkTails } from "../support/wal_proof/tails.ts";

// The log is the same on every runtime: all of it on one is enough.
const isWhole = runtime === "deno";

/** Writes a log, and opens it with each damage. */
function damage(
  operations: readonly Operation[],
  damagesOf: (log: WrittenLog) => Iterable<Damage>,
  thorough: (index: number) => boolean,
): Promise<DamageReport> {
  return withTempDir(async (dir) => {
    const options = { dir, fsync: false, compactEvery: null };
    const log = await writeLog(operations, options);
    assert.ok(log.segments.length > 2, `${log.segments.length} segments`);
    const report = newDamageReport();
    let index = 0;
    for (const one of damagesOf(log)) {
      await checkDamage(log, one, options, report, thorough(index++));
      if (report.violations.length > 20) break;
    }
    return report;
  });
}

describe("WalTaskStore, damage", () => {
  it("a bit flipped in any byte is found, reported, and never served", async () => {
    const report = await damage(
      SMALL_LOG,
      // The soak flips each of the eight.
      (log) => flips(log, (at) => isWhole || at % 7 === 0 ? [at * 5 % 8] : []),
      (index) => index % 8 === 0,
    );
    assert.deepEqual(report.violations, []);
    assert.ok(report.logs > 400 && report.served > 3 * report.refused);
  });

  it("a bit flipped while the store is open is never served, nor made sound by a compaction", async () => {
    const report = await damage(
      SMALL_LOG,
      (log) => decays(log, isWhole ? 7 : 29),
      () => true,
    );
    assert.deepEqual(report.violations, []);
    assert.ok(report.logs > 80);
  });

  it("a segment that is cut at any byte, or gone, is found and reported", async () => {
    const report = await damage(
      SMALL_LOG,
      (log) => holes(log, isWhole ? 3 : 11),
      (index) => index % 4 === 0,
    );
    assert.deepEqual(report.violations, []);
    assert.ok(report.refused > 0);
  });

  it("random damage in a large log touches no other task", async () => {
    const random = randomOf(1);
    const report = await damage(
      largeLog(random, 200),
      (log) => smears(log, random, isWhole ? 60 : 20),
      () => true,
    );
    assert.deepEqual(report.violations, []);
    assert.ok(report.refused > 0 && report.served > report.refused);
  });

  it("a tail that is cut at any byte, with zeros behind or without, leaves every whole entry, and no damage", () =>
    withTempDir(async (dir) => {
      const options = { dir, fsync: false, compactEvery: null };
      const log = await writeLog(SMALL_LOG, options);
      const report = newDamageReport();
      await checkTails(log, isWhole ? 1 : 5, options, report);
      assert.deepEqual(report.violations.slice(0, 20), []);
      assert.ok(report.logs > 100);
    }));
});
