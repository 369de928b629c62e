/**
 * Proves the write-ahead log for long: `deno run -A tools/soak.ts [--minutes=N] [--seed=N] [--only=PART,…]`.
 *
 * The parts are `faults` (a disk that fails or loses power at each call), `overlap` (callers,
 * compactions, closings and openings that do not wait for each other on a disk that fails), `kills`
 * (1,000 processes killed), `damage` (every bit flipped, every byte cut) and `bounds` (10^6
 * operations). `--minutes` is how long each part goes on with random cases after those that it
 * always has; by default 2. The last line says whether all held; the exit code is 1 when anything
 * did not.
 */
import process from "node:process";
import { removeFolder, temporaryFolder } from "./test/temporary.ts";
import { soakBounds } from "./soak/bounds.ts";
import { soakDamage } from "./soak/damage.ts";
import { soakFaults } from "./soak/faults.ts";
import { soakKills } from "./soak/kills.ts";
import { soakOverlap } from "./soak/overlap.ts";
import type { Part } from "./soak/part.ts";

const PARTS: Readonly<Record<string, Part>> = {
  faults: soakFaults,
  overlap: soakOverlap,
  damage: soakDamage,
  kills: soakKills,
  bounds: soakBounds,
};
const MINUTES = 2;
/** Violations of a part that are printed; the rest is mostly the same again. */
const MOST_LINES = 40;

function parse(args: readonly string[]) {
  let minutes = MINUTES;
  let seed = Math.floor(Math.random() * 2 ** 32);
  let only = Object.keys(PARTS);
  for (const arg of args) {
    const [name, value = ""] = arg.split("=");
    if (name === "--minutes") minutes = Number(value);
    else if (name === "--seed") seed = Number(value);
    else if (name === "--only") only = value.split(",");
    else {
      throw new Error(
        `Cannot take ${arg}: the options are --minutes=N, --seed=N and --only=PART,…`,
      );
    }
  }
  if (!(minutes >= 0)) throw new Error("Cannot take --minutes: no number");
  if (!Number.isSafeInteger(seed) || seed < 0) {
    throw new Error("Cannot take --seed: no whole number from 0");
  }
  const unknown = only.find((name) => !(name in PARTS));
  if (unknown !== undefined) {
    throw new Error(
      `Cannot run ${unknown}: the parts are ${Object.keys(PARTS).join(", ")}`,
    );
  }
  return { minutes, seed, only };
}

const { minutes, seed, only } = parse(process.argv.slice(2));
console.log(`seed ${seed}, parts ${only.join(", ")}`);
let count = 0;
for (const name of only) {
  const dir = temporaryFolder(`soak-${name}-`);
  const started = performance.now();
  const violations = await PARTS[name]({
    dir,
    seed,
    minutes,
    say: (line) => console.log(`${name}: ${line}`),
  });
  removeFolder(dir);
  for (const violation of violations.slice(0, MOST_LINES)) {
    console.log(`${name}: VIOLATION ${violation}`);
  }
  if (violations.length > MOST_LINES) {
    console.log(`${name}: and ${violations.length - MOST_LINES} more`);
  }
  count += violations.length;
  const seconds = Math.round((performance.now() - started) / 1_000);
  console.log(`${name}: ${violations.length} violations, ${seconds} s`);
}
const outcome = count === 0 ? "all held" : "FAILED";
console.log(`soak: ${outcome}, ${count} violations, seed ${seed}`);
process.exitCode = count === 0 ? 0 : 1;
