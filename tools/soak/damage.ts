import { mkdirSync } from "node:fs";
import {
  checkDamage,
  type Damage,
  decays,
  flips,
  holes,
  newDamageReport,
  smears,
} from "../../tests/support/wal_proof/damage.ts";
import {
  largeLog,
  SMALL_LOG,
  writeLog,
  type WrittenLog,
} from "../../tests/support/wal_proof/damaged_log.ts";
import { randomOf } from "../../tests/support/wal_proof/script.ts";
import { checkTails } from "../../tests/support/wal_proof/tails.ts";
import { foldersIn, MOST_VIOLATIONS, type Part } from "./part.ts";

const BITS = [0, 1, 2, 3, 4, 5, 6, 7];

/** Flips every bit and cuts every byte of a small log, and damages large ones at random. */
export const soakDamage: Part = async ({ dir, seed, minutes, say }) => {
  const folder = foldersIn(dir);
  const report = newDamageReport();
  const options = () => {
    const own = folder();
    mkdirSync(own);
    return { dir: own, fsync: false, compactEvery: null };
  };
  const run = async (
    log: WrittenLog,
    damages: Iterable<Damage>,
    at: ReturnType<typeof options>,
  ) => {
    for (const damage of damages) {
      if (report.violations.length >= MOST_VIOLATIONS) return;
      await checkDamage(log, damage, at, report, true);
    }
  };
  const told = (name: string) =>
    say(
      `${name}: ${report.logs} logs; ${report.served} reads served, ${report.refused} refused, ${report.unknown} unknown`,
    );

  const at = options();
  const small = await writeLog(SMALL_LOG, at);
  await run(small, flips(small, () => BITS), at);
  told("every bit flipped");
  await run(small, decays(small, 1), at);
  told("a bit of every byte flipped while the store is open");
  await run(small, holes(small, 1), at);
  await checkTails(small, 1, at, report);
  told("every byte cut");

  const deadline = performance.now() + minutes * 60_000;
  let logs = 0;
  while (
    performance.now() < deadline && report.violations.length < MOST_VIOLATIONS
  ) {
    const random = randomOf(seed + logs++);
    const own = options();
    const log = await writeLog(largeLog(random, 50 + random(500)), own);
    await run(log, smears(log, random, 100), own);
  }
  told(`${logs} large logs damaged at random`);
  return report.violations;
};
