import { mkdirSync } from "node:fs";
import { explore, type Report } from "../../tests/support/wal_proof/explore.ts";
import {
  LONG_SCRIPT,
  randomOf,
  randomScript,
  SHORT_SCRIPT,
} from "../../tests/support/wal_proof/script.ts";
import { foldersIn, MOST_VIOLATIONS, type Part } from "./part.ts";

/** Breaks two scripts and random ones at each call, with a crash at each of the calls that follow a fault. */
export const soakFaults: Part = async ({ dir, seed, minutes, say }) => {
  const folder = foldersIn(dir);
  const sum: Report = { calls: 0, faults: 0, images: 0, violations: [] };
  const add = (name: string, report: Report) => {
    sum.calls += report.calls;
    sum.faults += report.faults;
    sum.images += report.images;
    for (const violation of report.violations) {
      sum.violations.push(`${name}: ${violation}`);
    }
  };
  const run = async (
    name: string,
    script: Parameters<typeof explore>[0],
    fsync: boolean,
    crashesAfterFault: number,
  ) => {
    const own = folder();
    mkdirSync(own);
    add(
      `${name}, fsync ${fsync}`,
      await explore(script, {
        dir: own,
        fsync,
        prefixes: fsync ? Infinity : 8,
        crashesAfterFault,
        deepEvery: 2,
      }),
    );
  };
  const tell = (what: string) =>
    say(
      `${what}: ${sum.calls} calls, ${sum.faults} runs with a fault, ${sum.images} images, ${sum.violations.length} violations so far`,
    );
  for (const fsync of [true, false]) {
    await run("the short script", SHORT_SCRIPT, fsync, 12);
    tell(`the short script, fsync ${fsync}`);
    await run("the long script", LONG_SCRIPT, fsync, 2);
    tell(`the long script, fsync ${fsync}`);
  }
  const deadline = performance.now() + minutes * 60_000;
  let scripts = 0;
  while (
    performance.now() < deadline && sum.violations.length < MOST_VIOLATIONS
  ) {
    const own = seed + scripts++;
    const random = randomOf(own);
    const script = randomScript(random, 6 + random(20));
    await run(`script ${own}`, script, random(3) > 0, random(3) * 4);
  }
  tell(`and ${scripts} random scripts`);
  return sum.violations;
};
