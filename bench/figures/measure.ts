/** Figures of a large store, each measured in processes of its own, by turns. */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { withFolder } from "../limits.ts";
import { type Spread, spread } from "../rounds.ts";
import type { FigureId } from "../targets.ts";
import { programIn } from "./plain_js.ts";

/** A figure that was measured, or what stands beside it. */
export interface MeasuredFigure {
  readonly id: FigureId;
  readonly name: string;
  readonly value: Spread;
}

/** Which systems have figures: by the word for the child, and their names. */
const SYSTEMS = [["wal", "WalTaskStore"], ["reference", "reference"]] as const;

/** How this runtime starts a program whose garbage can be collected at will. */
function command(): readonly string[] {
  const { versions } = process as {
    versions: { deno?: string; bun?: string };
  };
  return versions.deno
    ? ["run", "-A", "--v8-flags=--expose-gc"]
    : versions.bun
    ? ["run"]
    : ["--expose-gc"];
}

function runChild(
  program: string,
  args: readonly string[],
): Record<string, number> {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      ...command(),
      program,
      ...args,
      ...process.argv.filter((arg) => arg === "--cpu"),
    ],
    { encoding: "utf8", maxBuffer: 1 << 24 },
  );
  if (status === 0) return JSON.parse(stdout);
  throw new Error(`${args.join(" ")} ended with ${status}: ${stderr}`);
}

/**
 * Measures the figures.
 *
 * @param tasks How many tasks are in the store.
 * @param rounds How often each is measured.
 * @param tell Hears how far it is.
 * @returns The figures.
 */
export async function measureFigures(
  tasks: number,
  rounds: number,
  tell: (text: string) => void,
): Promise<readonly MeasuredFigure[]> {
  const values = new Map<string, number[]>();
  const add = (id: FigureId, name: string, value: number) => {
    const key = `${id}\n${name}`;
    values.set(key, [...values.get(key) ?? [], value]);
  };
  const systems = SYSTEMS.filter(([word]) =>
    word === "wal" || process.env.REFERENCE
  );
  await withFolder(async (parent) => {
    const program = programIn("bench/figures/child.ts", join(parent, "js"));
    const child = (...args: readonly string[]) => runChild(program, args);
    for (const [word] of systems) {
      for (const size of ["1k", "10k"]) {
        tell(`${tasks} tasks of ${size} in ${word}`);
        const dir = join(parent, word, size);
        mkdirSync(dir, { recursive: true });
        child(`prepare-${size}`, dir, `${tasks}`, word);
      }
    }
    for (let round = 1; round <= rounds; round++) {
      for (const [word, name] of systems) {
        tell(`round ${round} of ${rounds}: opening ${word}`);
        for (const size of ["1k", "10k"] as const) {
          const args = [join(parent, word, size), `${tasks}`, word];
          add(`open-${size}`, "read + crc32", child("read", ...args).ms);
          const { ms, rssMb, heapBytes } = child("open", ...args);
          add(`open-${size}`, name, ms);
          if (size === "10k") add("rss-10k", name, rssMb);
          else add("heap", name, heapBytes);
        }
      }
    }
    for (let round = 1; round <= rounds; round++) {
      for (const [word, name] of [["memory", "MemoryTaskStore"], ...systems]) {
        tell(`round ${round} of ${rounds}: changing tasks in ${word}`);
        const { stallMs, writtenPerChanged } = await withFolder((dir) =>
          child("change", dir, `${tasks}`, word)
        );
        add("stall", name, stallMs);
        if (word !== "memory" && Number.isFinite(writtenPerChanged)) {
          add("written", name, writtenPerChanged);
        }
      }
    }
  });
  return [...values].map(([key, all]) => {
    const [id, name] = key.split("\n");
    return { id: id as FigureId, name, value: spread(all) };
  });
}
