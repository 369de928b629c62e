/**
 * The store on Deno KV beside a raw check-and-set of the same bytes: `deno task bench:deno-kv [ROUNDS] [--cpu]
 * [--json=FILE]`.
 * A change of a record of up to 64 KiB should reach 70 % of it. The last rows compare two stores: a
 * progress report should cost the same however large the record is.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { DenoKvTaskStore } from "../deno_kv.ts";
import type { TaskRecord } from "../mod.ts";
import { aboutRun, runtimeName, type Timed } from "./about.ts";
import { withFolder } from "./limits.ts";
import {
  type Contender,
  rate,
  type Row,
  type Spread,
  spread,
} from "./rounds.ts";

/** What a change of a small record has to reach of the raw one. */
const TARGET = 0.7;

const ARGS = process.argv.slice(2);
const ROUNDS = Number(ARGS.find((arg) => /^[1-9]\d*$/.test(arg)) ?? 7);
const JSON_FILE = ARGS.find((arg) => arg.startsWith("--json="))?.slice(7);
const KIB = 1_024;

/** A record of about so many bytes. */
function recordOf(taskId: string, bytes: number): TaskRecord {
  const createdAt = new Date().toISOString();
  return {
    taskId,
    status: "working",
    createdAt,
    lastUpdatedAt: createdAt,
    ttlMs: 3_600_000,
    version: 1,
    result: { text: "x".repeat(Math.max(0, bytes - 220)) },
  };
}

/** Opens a database on a new file for one round. */
function contender(
  name: string,
  run: (kv: Deno.Kv) => Promise<number>,
): Contender {
  return {
    name,
    round: () =>
      withFolder(async (folder) => {
        const kv = await Deno.openKv(join(folder, "kv.db"));
        try {
          return await run(kv);
        } finally {
          kv.close();
        }
      }),
  };
}

/** A row that was measured. */
export interface DenoKvRow {
  readonly id: string;
  /** What the other is held against, and the other. */
  readonly pair: readonly { readonly name: string; readonly rate: Spread }[];
  /** The other's part of the first, within a round. */
  readonly ratio: Spread;
  readonly reached: boolean;
}

/** What `--json` writes. */
export interface DenoKvRun extends Timed {
  readonly runtime: string;
  /** The part that each row has to reach. */
  readonly target: number;
  readonly denoKv: readonly DenoKvRow[];
}

/** What is done in a round. */
interface Load {
  readonly bytes: number;
  readonly callers: number;
  readonly count: number;
}

function raw(load: Load, what: "create" | "change"): Contender {
  const { bytes, callers, count } = load;
  return contender("raw check-and-set", async (kv) => {
    // The same bytes, encoded anew each time as the store has to.
    const encode = (index: number) =>
      new TextEncoder().encode(JSON.stringify(recordOf(`${index}`, bytes)));
    if (what === "create") {
      return await rate(count, callers, async (index) => {
        const key = ["raw", `${index}`];
        await kv.atomic().check({ key, versionstamp: null })
          .set(key, encode(index)).commit();
      });
    }
    for (let index = 0; index < callers; index++) {
      await kv.set(["raw", `${index}`], encode(index));
    }
    return await eachOnItsOwn(load, async (task) => {
      const key = ["raw", `${task}`];
      const { value, versionstamp } = await kv.get<Uint8Array>(key);
      const record = JSON.parse(new TextDecoder().decode(value!));
      record.version++;
      const changed = new TextEncoder().encode(JSON.stringify(record));
      const { ok } = await kv.atomic().check({ key, versionstamp })
        .set(key, changed).commit();
      if (!ok) throw new Error("a change was lost");
    });
  });
}

function store(
  load: Load,
  what: "create" | "change",
  name = "DenoKvTaskStore",
): Contender {
  const { bytes, callers, count } = load;
  return contender(name, async (kv) => {
    const tasks = new DenoKvTaskStore(kv);
    if (what === "create") {
      return await rate(
        count,
        callers,
        (index) => tasks.create(recordOf(`${index}`, bytes)),
      );
    }
    const versions = Array.from({ length: callers }, () => 1);
    for (let index = 0; index < callers; index++) {
      await tasks.create(recordOf(`${index}`, bytes));
    }
    return await eachOnItsOwn(load, async (task, index) => {
      const patch = { statusMessage: `${index} of ${count}` };
      versions[task] = await tasks.commit(`${task}`, patch, versions[task]);
    });
  });
}

/** Runs callers of which no two are at one task at the same time, as in an engine. */
function eachOnItsOwn(
  { callers, count }: Load,
  change: (task: number, index: number) => Promise<void>,
): Promise<number> {
  const free = Array.from({ length: callers }, (_, task) => task);
  return rate(count, callers, async (index) => {
    const task = free.pop()!;
    await change(task, index);
    free.push(task);
  });
}

const LOADS: readonly Load[] = [
  { bytes: 300, callers: 1, count: 400 },
  { bytes: 300, callers: 64, count: 1_000 },
  { bytes: 10 * KIB, callers: 1, count: 300 },
  { bytes: 10 * KIB, callers: 64, count: 600 },
  { bytes: 60_000, callers: 1, count: 200 },
  { bytes: 60_000, callers: 64, count: 300 },
];

const rows: Row[] = LOADS.flatMap((load) =>
  (["create", "change"] as const).map((what) => ({
    id: `${what} ${load.bytes} B, ${load.callers} callers`,
    contenders: [raw(load, what), store(load, what)],
  }))
);
for (const callers of [1, 8]) {
  const load = { bytes: 300, callers, count: 400 };
  rows.push({
    id: `progress on a record of 1 MiB, ${callers} callers`,
    contenders: [
      store(load, "change", "on 300 B"),
      store({ ...load, bytes: KIB * KIB }, "change", "on 1 MiB"),
    ],
  });
}

/** Which of the two goes first changes with each round: what one has written, the disk still does for the next. */
async function measurePair(
  [limit, own]: readonly Contender[],
): Promise<{ limits: number[]; owns: number[] }> {
  const limits: number[] = [];
  const owns: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const results = new Map<Contender, number>();
    for (const one of round % 2 ? [own, limit] : [limit, own]) {
      results.set(one, await one.round());
    }
    if (round === 0) continue; // it warms up
    limits.push(results.get(limit)!);
    owns.push(results.get(own)!);
  }
  return { limits, owns };
}

const timed = aboutRun("bench:deno-kv", ROUNDS);
const measured: DenoKvRow[] = [];
for (const { id, contenders } of rows) {
  const { limits, owns } = await measurePair(contenders);
  const ratio = spread(owns.map((own, i) => own / limits[i]));
  const pair = [limits, owns].map((rates, i) => ({
    name: contenders[i].name,
    rate: spread(rates),
  }));
  measured.push({ id, pair, ratio, reached: ratio.median >= TARGET });
  const [limit, own] = pair.map(({ name, rate }) =>
    `${rate.median.toFixed(0).padStart(6)}/s ${name}`
  );
  const { median, low, high } = ratio;
  console.log(
    `${median >= TARGET ? "ok  " : "MISS"} ${id.padEnd(40)} ${limit}, ${own}: ${
      median.toFixed(2)
    } (${low.toFixed(2)} to ${high.toFixed(2)})`,
  );
}
if (JSON_FILE) {
  const run: DenoKvRun = {
    ...timed(),
    runtime: runtimeName(),
    target: TARGET,
    denoKv: measured,
  };
  writeFileSync(JSON_FILE, JSON.stringify(run, undefined, 2));
}
