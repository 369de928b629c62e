import { mkdirSync } from "node:fs";
import {
  newOverlapReport,
  overlap,
} from "../../tests/support/wal_proof/overlap.ts";
import { randomOf } from "../../tests/support/wal_proof/script.ts";
import { foldersIn, MOST_VIOLATIONS, type Part } from "./part.ts";

/** Lets many callers, compactions, closings and openings overlap on a disk that fails. */
export const soakOverlap: Part = async ({ dir, seed, minutes, say }) => {
  const folder = foldersIn(dir);
  const report = newOverlapReport();
  const violations: string[] = [];
  const deadline = performance.now() + minutes * 60_000;
  let runs = 0;
  do {
    const own = seed + runs++;
    const random = randomOf(own);
    const at = folder();
    mkdirSync(at);
    await overlap({
      dir: at,
      fsync: random(3) > 0,
      random,
      operations: 20 + random(200),
      crashes: 8,
    }, report);
    // Most follow from the first.
    for (const violation of report.violations.splice(0).slice(0, 3)) {
      violations.push(`run ${own}: ${violation}`);
    }
  } while (
    performance.now() < deadline && violations.length < MOST_VIOLATIONS
  );
  const { operations, calls, faults, stores, images } = report;
  say(
    `${runs} runs: ${operations} operations on ${stores} stores, ${calls} calls of the disk, ${faults} with a fault, ${images} images`,
  );
  return violations;
};
