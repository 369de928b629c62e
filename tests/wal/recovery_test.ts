import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { crc32 } from "node:zlib";
import { Damages, type WalDamage } from "../../src/wal/damage.ts";
import { encodeHead, parseHead } from "../../src/wal/frame.ts";
import { readLog } from "../../src/wal/open_log.ts";
import { resolveWalOptions } from "../../src/wal/options.ts";
import { Reader } from "../../src/wal/reader.ts";
import { headerLine, SegmentFiles } from "../../src/wal/segment.ts";
import { LogTaskStore } from "../../src/wal/store.ts";
import { realDisk } from "../../src/wal/disk.ts";
import type { TaskRecord } from "../../mod.ts";
import { WalTaskStore, type WalTaskStoreOptions } from "../../wal.ts";
import { MemoryDisk } from "../support/memory_disk.ts";
import { aPatch, aRecord, CREATED_MS } from "../support/records.ts";
import { rejects } from "../support/rejects.ts";
import { describe, it } from "../support/runner.ts";
import { segmentsIn, withTempDir } from "../support/wal_dir.ts";

const NO_COMPACTION = { compactEvery: null, now: () => CREATED_MS };
const LONG = "漢".repeat(300);

/** Makes a log with a known history, in one segment. */
async function withLog(
  body: (dir: string, log: string, bytes: Buffer) => Promise<void>,
  write: (store: WalTaskStore) => Promise<unknown> = history,
): Promise<void> {
  await withTempDir(async (dir) => {
    const store = await open(dir);
    await write(store);
    await store.close();
    const [log] = segmentsIn(dir);
    await body(dir, log, readFileSync(log));
  });
}

/** Each step makes one entry. */
const STEPS: readonly ((store: WalTaskStore) => Promise<unknown>)[] = [
  (store) => store.create(aRecord("done", { x: LONG })),
  (store) =>
    store.update("done", { status: "completed", result: { text: LONG } }, 1),
  (store) => store.create(aRecord("a", { statusMessage: "é 漢 😀" })),
  (store) => store.create(aRecord("b", { ttlMs: 10 })),
  (store) => store.update("a", aPatch({ x: LONG, statusMessage: "😀" }), 1),
  (store) => store.sweep(CREATED_MS + 10),
  (store) => store.update("a", { statusMessage: "漢字 😀" }, 2),
  (store) => store.create(aRecord("late", { result: { text: LONG } })),
  (store) => store.update("late", { statusMessage: "half" }, 1),
];

async function history(store: WalTaskStore): Promise<void> {
  for (const step of STEPS) await step(store);
}

/** What the history leaves after each of its entries. */
const STATES: readonly (readonly TaskRecord[])[] = (() => {
  const working = aRecord("done", { x: LONG });
  const done = {
    ...working,
    status: "completed",
    result: { text: LONG },
    version: 2,
  } as const;
  const a1 = aRecord("a", { statusMessage: "é 漢 😀" });
  const b = aRecord("b", { ttlMs: 10 });
  const a2 = { ...a1, x: LONG, statusMessage: "😀", version: 2 };
  const a3 = { ...a2, statusMessage: "漢字 😀", version: 3 };
  const late1 = aRecord("late", { result: { text: LONG } });
  const late2 = { ...late1, statusMessage: "half", version: 2 };
  return [
    [],
    [working],
    [done],
    [done, a1],
    [done, a1, b],
    [done, a2, b],
    [done, a2],
    [done, a3],
    [done, a3, late1],
    [done, a3, late2],
  ];
})();
const IDS = ["done", "a", "b", "late"];
const FINAL = STATES.at(-1)!;

/** Where each line starts, and the end of the last. */
function lineStarts(bytes: Buffer): number[] {
  const starts = [0];
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
    starts.push(at + 1);
  }
  return starts;
}

/** Where the first entry after those that opening writes is. */
const FIRST_STEP = 2;

function open(
  dir: string,
  options: Omit<WalTaskStoreOptions, "dir"> = {},
): Promise<WalTaskStore> {
  return WalTaskStore.open({ dir, ...NO_COMPACTION, ...options });
}

/** Opens, checks the state, appends, opens again and checks what was appended. */
async function assertState(
  dir: string,
  expected: readonly TaskRecord[],
  about: string,
): Promise<void> {
  for (const appended of [undefined, "appended"]) {
    const store = await open(dir);
    for (const taskId of IDS) {
      const record = expected.find((record) => record.taskId === taskId);
      assert.deepEqual(await store.get(taskId, 0), record, about);
    }
    if (appended) assert.ok(await store.get(appended), about);
    else await store.create(aRecord("appended"));
    assert.deepEqual((await store.health()).damage, [], about);
    await store.close();
  }
}

describe("WalTaskStore, a torn tail", () => {
  it("is cut wherever the last entries end, and the next append is sound", () =>
    withLog(async (dir, log, bytes) => {
      const starts = lineStarts(bytes);
      assert.equal(starts.length - 1 - FIRST_STEP, STEPS.length);
      // An update, a create with a part and an update, in every place.
      for (let end = starts.at(-4)!; end <= bytes.length; end++) {
        if (end > starts.at(-3)! + 350 && end < starts.at(-2)! - 20) continue;
        for (const path of segmentsIn(dir)) rmSync(path);
        writeFileSync(log, bytes.subarray(0, end));
        const whole = starts.filter((start) => start <= end).length - 1;
        await assertState(dir, STATES[whole - FIRST_STEP], `cut at ${end}`);
      }
    }));

  it("may be all there is of a new log", () =>
    withLog(async (dir, log, bytes) => {
      for (let end = 0; end <= bytes.length; end++) {
        writeFileSync(log, bytes.subarray(0, end));
        await assertState(dir, [], `cut at ${end}`);
        rmSync(log);
      }
    }, () => Promise.resolve()));

  it("may end in zero bytes, as after a power loss", () =>
    withLog(async (dir, log, bytes) => {
      const last = lineStarts(bytes).at(-2)!;
      const all = STATES.length - 1;
      const cases = [[bytes.length, all], [bytes.length - 1, all - 1]]
        .concat([last + 40, last, last + 5].map((end) => [end, all - 1]));
      for (const [end, state] of cases) {
        for (const zeros of [1, 4_096, 3_000_000]) {
          const torn = [bytes.subarray(0, end), Buffer.alloc(zeros)];
          writeFileSync(log, Buffer.concat(torn));
          await assertState(dir, STATES[state], `${end} and ${zeros} zeros`);
        }
      }
    }));

  it("may be most of a record that is longer than any buffer", () =>
    withLog(async (dir, log, bytes) => {
      const start = lineStarts(bytes).at(-2)!;
      const ends = [1_000, 1_048_575, 1_048_576, 1_048_577, 3_000_000].map((
        length,
      ) => start + length);
      for (const end of [...ends, bytes.length - 1]) {
        writeFileSync(log, bytes.subarray(0, end));
        const store = await open(dir);
        assert.deepEqual(await store.get("a"), aRecord("a"));
        assert.equal(await store.get("long"), undefined);
        await store.close();
        assert.equal(readFileSync(log).length, start);
      }
      writeFileSync(log, bytes);
      const store = await open(dir);
      const long = await store.get("long") as unknown as { text: string };
      assert.equal(long.text, "漢".repeat(1_300_000));
      await store.close();
    }, async (store) => {
      await store.create(aRecord("a"));
      await store.create(aRecord("long", { text: "漢".repeat(1_300_000) }));
    }));
});

/** Reads a log in memory, and tells what becomes of each task. */
async function read(bytes: Buffer): Promise<{
  damages: Damages;
  outcomes: Map<string, TaskRecord | "damaged" | undefined>;
}> {
  const dir = "/log";
  const disk = new MemoryDisk([["tasks-000000000001.log", bytes]]);
  const reader = new Reader(new SegmentFiles(disk));
  const damages = new Damages(dir, disk);
  const { states } = await readLog(dir, disk, reader, damages);
  const outcomes = new Map(IDS.map((taskId) => {
    const state = states.get(taskId);
    if (!state) return [taskId, undefined];
    if (state.isDamaged) return [taskId, "damaged"];
    const { small, parts } = reader.fields(taskId, state);
    const record = JSON.parse(small);
    for (const part of parts) record[part.key] = reader.value(part);
    return [taskId, record];
  }));
  return { damages, outcomes };
}

describe("WalTaskStore, a bit that is flipped", () => {
  it("is found wherever it is, no older state is served, and all that it does not touch is", () =>
    withLog(async (_dir, _log, bytes) => {
      const starts = lineStarts(bytes);
      let taken = 0;
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const flipped = Buffer.from(bytes);
        flipped[bit >> 3] ^= 1 << (bit & 7);
        const { damages, outcomes } = await read(flipped);
        const line = starts.findLastIndex((start) => start <= bit >> 3);
        const about = `bit ${bit}, line ${line}`;
        assert.ok(damages.all.length > 0, about);
        const [{ offset, bytes: length }] = damages.all;
        assert.ok(offset <= bit >> 3 && bit >> 3 < offset + length, about);
        const mayTake = takenBy(bytes, starts, line, bit >> 3);
        for (const taskId of IDS) {
          const outcome = outcomes.get(taskId);
          if (outcome === "damaged" && mayTake.has(taskId)) {
            taken++;
            continue;
          }
          // A creation of which nothing is left leaves a task that nobody knows.
          if (
            outcome === undefined && mayTake.has(taskId) &&
            line === starts.length - 2
          ) continue;
          const expected = FINAL.find((record) => record.taskId === taskId);
          assert.deepEqual(outcome, expected, `${about}, ${taskId}`);
        }
      }
      assert.ok(taken > 1_000, `${taken}`);
    }));
});

/** Which tasks damage in a line may take. */
function takenBy(
  bytes: Buffer,
  starts: readonly number[],
  line: number,
  at: number,
): Set<string> {
  const found = parseHead(bytes, starts[line], bytes.length);
  assert.ok(typeof found === "object");
  const { head, bodyAt } = found;
  const isBody = at >= bodyAt && at < starts[line + 1] - 1;
  const isNewline = at === starts[line + 1] - 1;
  if (isNewline || line === 0) return new Set();
  const taken = new Set([head.taskId]);
  if (isBody || line < FIRST_STEP) return taken;
  for (const { taskId, status } of STATES[line - FIRST_STEP]) {
    if (status === "working") taken.add(taskId);
  }
  return taken;
}

/** Opens a damaged log, and says what was reported. */
async function openDamaged(
  dir: string,
  body: (store: WalTaskStore, damage: readonly WalDamage[]) => Promise<void>,
): Promise<void> {
  const told: WalDamage[] = [];
  const store = await open(dir, { onDamage: (damage) => told.push(damage) });
  try {
    assert.deepEqual((await store.health()).damage, told);
    await body(store, told);
  } finally {
    await store.close();
  }
}

/** Checks that a task answers with the damage error, whatever is asked of it. */
async function assertLost(store: WalTaskStore, taskId: string): Promise<void> {
  for (const version of [1, 2, 3]) {
    const patch = { statusMessage: "x" };
    await rejects(store.update(taskId, patch, version), "ERR_STORE_DAMAGED");
    await rejects(store.commit(taskId, patch, version), "ERR_STORE_DAMAGED");
  }
  await rejects(store.get(taskId), "ERR_STORE_DAMAGED");
  await rejects(store.head(taskId), "ERR_STORE_DAMAGED");
  await rejects(store.create(aRecord(taskId)), "ERR_DUPLICATE_TASK_ID");
}

describe("WalTaskStore, a damaged body", () => {
  it("takes its task, is copied aside, and stays known after a compaction", () =>
    withLog(async (dir, log, bytes) => {
      const starts = lineStarts(bytes);
      // The last change of "a": the file goes on after it.
      const line = FIRST_STEP + 6;
      const damaged = Buffer.from(bytes);
      damaged[starts[line + 1] - 5] ^= 1;
      writeFileSync(log, damaged);
      for (const round of [1, 2, 3]) {
        await openDamaged(dir, async (store, [damage, ...more]) => {
          assert.deepEqual(more, []);
          assert.deepEqual(damage.taskIds, ["a"]);
          assert.equal(basename(damage.file), basename(log));
          assert.equal(damage.offset, starts[line]);
          await assertLost(store, "a");
          for (const record of FINAL.filter(({ taskId }) => taskId !== "a")) {
            assert.deepEqual(await store.get(record.taskId), record);
          }
          if (round < 3) {
            const copy = readFileSync(damage.copy!);
            const { offset, bytes } = damage;
            assert.deepEqual(copy, damaged.subarray(offset, offset + bytes));
          }
          if (round === 2) await store.compact();
        });
      }
      assert.equal(readdirSync(join(dir, "damaged")).length, 1);
    }));

  it("of a task that was put as a whole later takes nothing", () =>
    withLog(async (dir, log, bytes) => {
      const starts = lineStarts(bytes);
      const damaged = Buffer.from(bytes);
      damaged[starts[FIRST_STEP + 1] - 5] ^= 1;
      writeFileSync(log, damaged);
      await openDamaged(dir, async (store, [damage]) => {
        assert.deepEqual(damage.taskIds, []);
        assert.deepEqual(await store.get("done"), FINAL[0]);
      });
    }));

  it("can expire with its task, and frees the id", () =>
    withLog(async (dir, log, bytes) => {
      const damaged = Buffer.from(bytes);
      damaged[bytes.length - 5] ^= 1;
      writeFileSync(log, damaged);
      await openDamaged(dir, async (store) => {
        await rejects(store.get("a", CREATED_MS + 49), "ERR_STORE_DAMAGED");
        assert.equal(await store.get("a", CREATED_MS + 50), undefined);
        assert.equal(await store.sweep(CREATED_MS + 50), 1);
        await store.create(aRecord("a"));
        assert.deepEqual((await store.health()).damage[0].taskIds, []);
      });
      const store = await open(dir);
      assert.deepEqual(await store.get("a"), aRecord("a"));
      await store.close();
    }, async (store) => {
      await store.create(aRecord("a", { ttlMs: 50 }));
      await store.update("a", { statusMessage: "lost" }, 1);
    }));

  // In the small fields of the task, and in a part.
  for (const beside of ['"taskId":"done","status":"completed"', '{"text":"']) {
    it(`that is found by a read is reported then, beside ${beside}`, () =>
      withLog(async (dir, log, bytes) => {
        const told: WalDamage[] = [];
        const store = await open(dir, {
          onDamage: (damage) => {
            told.push(damage);
            throw new Error("an observer's own");
          },
        });
        const damaged = Buffer.from(bytes);
        const at = bytes.indexOf("漢", bytes.indexOf(beside));
        damaged[at] ^= 1;
        writeFileSync(log, damaged);
        await rejects(store.get("done"), "ERR_STORE_DAMAGED");
        await assertLost(store, "done");
        assert.deepEqual(told.map(({ taskIds }) => taskIds), [["done"]]);
        assert.ok(told[0].offset <= at && at < told[0].offset + told[0].bytes);
        assert.deepEqual(await store.get("a"), FINAL[1]);
        await store.close();
        const copies = readdirSync(join(dir, "damaged"));
        assert.equal(copies.length, 1);
      }));
  }
});

describe("WalTaskStore, a damaged head", () => {
  it("takes every task that was unfinished then, and has no later put", () =>
    withLog(async (dir, log, bytes) => {
      const damaged = Buffer.from(bytes);
      // The deletion of "b".
      damaged[lineStarts(bytes)[FIRST_STEP + 5] + 30] ^= 1;
      writeFileSync(log, damaged);
      for (const round of [1, 2]) {
        await openDamaged(dir, async (store, [damage]) => {
          assert.deepEqual(new Set(damage.taskIds), new Set(["a", "b"]));
          await assertLost(store, "a");
          assert.deepEqual(await store.get("done"), FINAL[0]);
          assert.deepEqual(await store.get("late"), FINAL[2]);
          if (round === 1) await store.compact();
        });
      }
    }));

  it("of the start of a later life lays no change of that on the life before", () =>
    withLog(async (dir, log, bytes) => {
      const damaged = Buffer.from(bytes);
      // The deletion, and the put after it: nothing of the ended task is missing.
      for (const step of [1, 2]) {
        damaged[lineStarts(bytes)[FIRST_STEP + step] + 30] ^= 1;
      }
      writeFileSync(log, damaged);
      await openDamaged(dir, (store) => assertLost(store, "a"));
    }, async (store) => {
      await store.create(aRecord("a", { status: "completed", ttlMs: 10 }));
      assert.equal(await store.sweep(CREATED_MS + 10), 1);
      await store.create(aRecord("a"));
      await store.commit("a", { statusMessage: "of the later life" }, 1);
    }));

  it("at the very end leaves a log that goes on", () =>
    withLog(async (dir, log, bytes) => {
      const damaged = Buffer.from(bytes);
      damaged[lineStarts(bytes).at(-2)! + 30] ^= 1;
      writeFileSync(log, damaged);
      await openDamaged(dir, (store) => store.create(aRecord("next")));
      await openDamaged(dir, async (store, damage) => {
        assert.equal(damage.length, 1);
        assert.ok(await store.get("next"));
        await assertLost(store, "late");
      });
    }));
});

describe("WalTaskStore, bytes that do not belong there", () => {
  it("are found, and take nothing where no entry is lost", () =>
    withLog(async (dir, log, bytes) => {
      const at = lineStarts(bytes)[FIRST_STEP + 4];
      for (const junk of ["x", "\n", "{}\n", "\0\0", "0".repeat(3_000_000)]) {
        const middle = Buffer.from(junk);
        const parts = [bytes.subarray(0, at), middle, bytes.subarray(at)];
        writeFileSync(log, Buffer.concat(parts));
        await openDamaged(dir, async (store, [damage]) => {
          assert.equal(damage.offset, at);
          for (const record of FINAL) {
            // Without a newline in front of it, the next entry is not found.
            if (!junk.endsWith("\n") && record.taskId === "a") continue;
            assert.deepEqual(await store.get(record.taskId), record, junk);
          }
        });
      }
    }));

  it("may be entries that are there twice", () =>
    withLog(async (dir, log, bytes) => {
      const starts = lineStarts(bytes);
      const twice = bytes.subarray(starts[FIRST_STEP + 4], starts.at(-1));
      writeFileSync(log, Buffer.concat([bytes, twice]));
      await openDamaged(dir, async (store, damage) => {
        assert.equal(damage.length, 1);
        assert.deepEqual(await store.get("done"), FINAL[0]);
      });
    }));

  it("may be missing: an entry, or the first line", () =>
    withLog(async (dir, log, bytes) => {
      const starts = lineStarts(bytes);
      const cut = FIRST_STEP + 4;
      const parts = [starts[cut], starts[cut + 1]];
      writeFileSync(
        log,
        Buffer.concat([bytes.subarray(0, parts[0]), bytes.subarray(parts[1])]),
      );
      await openDamaged(dir, async (store, [damage]) => {
        assert.equal(damage.bytes, 0);
        await assertLost(store, "a");
        assert.deepEqual(await store.get("done"), FINAL[0]);
      });
    }));
});

/** A log of many segments: one task in each, and one that was changed in all. */
async function withSegments(
  body: (dir: string, segments: string[]) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    const options = resolveWalOptions({ dir, compactEvery: null });
    const store = new LogTaskStore({ ...options, segmentBytes: 900 }, realDisk);
    await store.create(aRecord("all"));
    for (let i = 0; i < 6; i++) {
      const status = i % 2 ? "working" : "completed";
      await store.create(aRecord(`task ${i}`, { status, text: LONG }));
      await store.commit("all", { statusMessage: `${i}` }, i + 1);
    }
    await store.close();
    await body(dir, segmentsIn(dir));
  });
}

describe("WalTaskStore, segments", () => {
  it("all come back, in order", () =>
    withSegments(async (dir, segments) => {
      assert.ok(segments.length > 5, `${segments.length}`);
      const store = await open(dir);
      assert.equal((await store.get("all"))?.version, 7);
      for (let i = 0; i < 6; i++) assert.ok(await store.get(`task ${i}`));
      assert.deepEqual((await store.health()).damage, []);
      await store.close();
    }));

  it("that are missing are found, and take what was unfinished", () =>
    withSegments(async (dir, segments) => {
      rmSync(segments[3]);
      await openDamaged(dir, async (store, [damage]) => {
        assert.equal(damage.file, segments[4]);
        assert.ok(damage.taskIds.includes("all"));
        await assertLost(store, "all");
        assert.ok(await store.get("task 0"));
        assert.ok(await store.get("task 5"));
      });
    }));

  it("that are missing at the front are found", () =>
    withSegments(async (dir, segments) => {
      rmSync(segments[0]);
      await openDamaged(dir, async (store, damage) => {
        assert.ok(damage.some(({ file }) => file === segments[0]));
        await assertLost(store, "all");
        assert.ok(await store.get("task 5"));
      });
    }));

  it("whose first line is damaged lose no task with it", () =>
    withSegments(async (dir, segments) => {
      const bytes = readFileSync(segments[2]);
      bytes[3] ^= 1;
      writeFileSync(segments[2], bytes);
      await openDamaged(dir, async (store, [damage, ...more]) => {
        assert.deepEqual(more, []);
        assert.equal(damage.offset, 0);
        assert.deepEqual(damage.taskIds, []);
        assert.equal((await store.get("all"))?.version, 7);
      });
    }));

  it("that end too early are no torn tail, but the last", () =>
    withSegments(async (dir, segments) => {
      const bytes = readFileSync(segments[2]);
      writeFileSync(segments[2], bytes.subarray(0, bytes.length - 3));
      await openDamaged(dir, async (store, [damage]) => {
        assert.equal(damage.file, segments[2]);
        assert.ok(damage.taskIds.length > 0);
        assert.ok(await store.get("task 0"));
      });
    }));

  it("of a format that is not known are refused, and left alone", () =>
    withSegments(async (dir, segments) => {
      const line = headerLine(1, 1);
      const body = '{"log":"@mcp-durable/tasks","format":3}';
      const head = encodeHead({
        kind: "h",
        sequence: 1,
        born: 0,
        version: 1,
        expiresAt: Infinity,
        ended: false,
        smallBytes: body.length,
        smallCrc: crc32(body),
        taskId: "",
        rows: [],
      });
      const bytes = readFileSync(segments[0]);
      assert.equal(bytes.toString("utf8", 0, line.length), line);
      bytes.write(`${head.text}${body}\n`);
      writeFileSync(segments[0], bytes);
      const error = await open(dir).then(() => undefined, (error) => error);
      assert.equal(error?.code, "ERR_STORE_FAILED");
      assert.match(error.message, /format 3.*format 2/);
      assert.deepEqual(readFileSync(segments[0]), bytes);
    }));
});

describe("the log of a WalTaskStore", () => {
  it("can be read with a pager", () =>
    withLog((_dir, _log, bytes) => {
      const lines = bytes.toString("utf8").trimEnd().split("\n");
      for (const line of lines) {
        assert.match(
          line,
          /^[0-9a-f]{8} \d+ [hpcdxo] \d+ \d+ \d+ (-|\d+) [01] \d+ [0-9a-f]{8} ".*" .*[}"]$/,
        );
      }
      assert.ok(lines.some((line) => line.includes('"漢字 😀"')));
      return Promise.resolve();
    }));
});
