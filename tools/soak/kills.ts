import { mkdirSync } from "node:fs";
import { programOf } from "../test/runtimes.ts";
import { killProcesses } from "../../tests/support/wal_proof/kills.ts";
import { randomOf } from "../../tests/support/wal_proof/script.ts";
import { foldersIn, type Part } from "./part.ts";

const KILLS = 1_000;
/** Kills of one directory, one after the other. */
const SERIES = 20;

/** Kills 1,000 processes on Deno, Node and Bun, with and without `fsync`. */
export const soakKills: Part = async ({ dir, seed, say }) => {
  const folder = foldersIn(dir);
  const violations: string[] = [];
  const commands = {
    deno: [programOf("deno"), "run", "-A"],
    node24: [programOf("node24")],
    bun: [programOf("bun")],
  } as const;
  const names = ["deno", "node24", "bun"] as const;
  let acknowledged = 0;
  let open = 0;
  const killed = new Map<string, number>();
  for (let series = 0; series * SERIES < KILLS; series++) {
    const own = folder();
    mkdirSync(own);
    const runtime = names[series % names.length];
    const fsync = Math.floor(series / names.length) % 2 === 0;
    const report = await killProcesses({
      dir: own,
      kills: SERIES,
      fsync,
      random: randomOf(seed + series),
      command: commands[runtime],
    });
    const name = `${runtime}, fsync ${fsync}`;
    killed.set(name, (killed.get(name) ?? 0) + report.kills);
    acknowledged += report.acknowledged;
    open += report.open;
    if (series % 10 === 9) say(`${(series + 1) * SERIES} processes killed`);
    for (const violation of report.violations) {
      violations.push(`${name}, series ${series}: ${violation}`);
    }
  }
  for (const [name, kills] of killed) say(`${name}: ${kills} processes killed`);
  say(
    `${acknowledged} acknowledged states were looked for, ${open} were open at the kill`,
  );
  return violations;
};
