import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StoreDamagedError } from "../../src/errors.ts";
import type { DiskFile } from "../../src/wal/disk.ts";
import { encodeFrames } from "../../src/wal/frame.ts";
import { Replay } from "../../src/wal/replay.ts";
import { scanLog } from "../../src/wal/scan.ts";
import type { TaskRecord } from "../../mod.ts";
import { WalTaskStore, type WalTaskStoreOptions } from "../../wal.ts";
import { aPatch, aRecord, CREATED_MS } from "../support/records.ts";
import { describe, it } from "../support/runner.ts";
import { withTempDir } from "../support/wal_dir.ts";

const NO_COMPACTION = { compactEvery: null };

/** Makes a log with a known history. */
async function withLog(
  body: (dir: string, log: string, bytes: Buffer) => Promise<void>,
  write: (store: WalTaskStore) => Promise<unknown> = history,
): Promise<void> {
  await withTempDir(async (dir) => {
    const store = await WalTaskStore.open({ dir, ...NO_COMPACTION });
    await write(store);
    await store.close();
    const log = join(dir, "tasks.log");
    await body(dir, log, readFileSync(log));
  });
}

async function history(store: WalTaskStore): Promise<void> {
  await store.create(aRecord("a", { statusMessage: "é 漢 😀" }));
  await store.create(aRecord("b", { ttlMs: 10 }));
  await store.update(
    "a",
    aPatch({ x: "漢".repeat(9), statusMessage: "😀" }),
    1,
  );
  await store.sweep(CREATED_MS + 10);
  await store.update("a", { statusMessage: "漢字 😀" }, 2);
}

/** What the history leaves after each of its entries. */
const STATES: readonly (readonly TaskRecord[])[] = (() => {
  const first = aRecord("a", { statusMessage: "é 漢 😀" });
  const b = aRecord("b", { ttlMs: 10 });
  const second = {
    ...first,
    x: "漢".repeat(9),
    statusMessage: "😀",
    version: 2,
  };
  const third = { ...second, statusMessage: "漢字 😀", version: 3 };
  return [[], [first], [first, b], [second, b], [second], [third]];
})();

/** Where each line starts, and the end of the last. */
function lineStarts(bytes: Buffer): number[] {
  const starts = [0];
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
    starts.push(at + 1);
  }
  return starts;
}

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
    for (const taskId of ["a", "b"]) {
      const record = expected.find((record) => record.taskId === taskId);
      assert.deepEqual(await store.get(taskId, 0), record, about);
    }
    if (appended) assert.ok(await store.get(appended), about);
    else await store.create(aRecord("appended"));
    await store.close();
  }
}

async function assertDamaged(
  dir: string,
  offset: number,
  about = "",
): Promise<void> {
  const log = join(dir, "tasks.log");
  const before = readFileSync(log);
  const error = await open(dir).then(() => undefined, (error) => error);
  assert.ok(error instanceof StoreDamagedError, `${about} ${error}`);
  assert.equal(error.file, log, about);
  assert.equal(error.offset, offset, about);
  assert.ok(error.message.includes(log));
  assert.deepEqual(readFileSync(log), before, about);
}

describe("WalTaskStore, a torn tail", () => {
  it("is cut wherever the last entries end, and the next append is sound", () =>
    withLog(async (dir, log, bytes) => {
      const starts = lineStarts(bytes);
      assert.equal(starts.length - 1, STATES.length);
      // The last three entries: an update, a deletion, an update.
      for (let end = starts[3]; end <= bytes.length; end++) {
        writeFileSync(log, bytes.subarray(0, end));
        const whole = starts.filter((start) => start <= end).length - 2;
        await assertState(dir, STATES[whole], `cut at ${end}`);
      }
    }));

  it("may be the first line of a new log", () =>
    withLog(async (dir, log, bytes) => {
      for (let end = 0; end < bytes.length; end++) {
        writeFileSync(log, bytes.subarray(0, end));
        const store = await open(dir);
        await store.close();
        assert.deepEqual(readFileSync(log), bytes);
      }
    }, () => Promise.resolve()));

  it("may end in zero bytes, as after a power loss", () =>
    withLog(async (dir, log, bytes) => {
      const last = lineStarts(bytes).at(-2)!;
      const inCharacter = bytes.indexOf("字", last) + 1;
      const cases = [bytes.length, bytes.length - 1, last + 40, inCharacter]
        .map((end) => [end, end === bytes.length ? 5 : 4])
        .concat([[last, 4], [last + 5, 4]]);
      for (const [end, state] of cases) {
        for (const zeros of [1, 4_096, 300_000]) {
          const torn = [bytes.subarray(0, end), Buffer.alloc(zeros)];
          writeFileSync(log, Buffer.concat(torn));
          await assertState(dir, STATES[state], `${end} and ${zeros} zeros`);
        }
      }
    }));

  it("may be most of a record that is longer than any buffer", () =>
    withLog(async (dir, log, bytes) => {
      const starts = lineStarts(bytes);
      const ends = [1_000, 262_143, 262_144, 262_145, 800_000].map((length) =>
        starts.at(-2)! + length
      );
      for (const end of [...ends, bytes.length - 1]) {
        writeFileSync(log, bytes.subarray(0, end));
        const store = await open(dir);
        assert.deepEqual(await store.get("a"), aRecord("a"));
        assert.equal(await store.get("long"), undefined);
        await store.close();
        assert.equal(readFileSync(log).length, starts.at(-2));
      }
      writeFileSync(log, bytes);
      const store = await open(dir);
      const long = await store.get("long") as unknown as { text: string };
      assert.equal(long.text, "漢".repeat(300_000));
      await store.close();
    }, async (store) => {
      await store.create(aRecord("a"));
      await store.create(aRecord("long", { text: "漢".repeat(300_000) }));
    }));
});

describe("WalTaskStore, damage", () => {
  it("is found wherever a bit is flipped, the last line included", () =>
    withLog(async (dir, log, bytes) => {
      const starts = lineStarts(bytes);
      const name = "tasks.log";
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const flipped = Buffer.from(bytes);
        flipped[bit >> 3] ^= 1 << (bit & 7);
        const replay = new Replay(name);
        const scan = scanLog(inMemory(flipped), name, (body, offset) => {
          if (offset > 0) replay.apply(body, offset);
        });
        const error = await scan.then(() => undefined, (error) => error);
        assert.ok(error instanceof StoreDamagedError, `bit ${bit}: ${error}`);
        const line = starts.findLast((start) => start <= bit >> 3);
        assert.equal(error.offset, line, `bit ${bit}`);
        // The whole store, for every bit of a byte in each line.
        if (!starts.includes((bit >> 3) - 50)) continue;
        writeFileSync(log, flipped);
        await assertDamaged(dir, line!, `bit ${bit}`);
      }
      writeFileSync(log, bytes);
      await assertState(dir, STATES[5], "as it was");
    }));

  it("is zero bytes, or anything else, in front of sound entries", () =>
    withLog(async (dir, log, bytes) => {
      const starts = lineStarts(bytes);
      const zeroed = Buffer.from(bytes).fill(0, starts[2], starts[3]);
      writeFileSync(log, zeroed);
      await assertDamaged(dir, starts[2]);
      const head = bytes.subarray(0, starts[2]);
      const tail = bytes.subarray(starts[2]);
      for (const junk of ["x", "\n", "{}\n", "\0", "0".repeat(300_000)]) {
        writeFileSync(log, Buffer.concat([head, Buffer.from(junk), tail]));
        await assertDamaged(dir, starts[2]);
      }
    }));

  it("is an end that no append leaves", () =>
    withLog(async (dir, log, bytes) => {
      for (
        const junk of ["x", "hello", "\n", "\0\n", "\0x", "x".repeat(300_000)]
      ) {
        writeFileSync(log, Buffer.concat([bytes, Buffer.from(junk)]));
        await assertDamaged(dir, bytes.length, JSON.stringify(junk));
      }
    }));

  it("is a line that is missing, or there twice", () =>
    withLog(async (dir, log, bytes) => {
      const starts = lineStarts(bytes);
      const line = (i: number) => bytes.subarray(starts[i], starts[i + 1]);
      const head = bytes.subarray(0, starts[3]);
      writeFileSync(log, Buffer.concat([head, line(4), line(5)]));
      await assertDamaged(dir, starts[3]);
      writeFileSync(log, Buffer.concat([head, line(2)]));
      await assertDamaged(dir, starts[3]);
      writeFileSync(log, bytes.subarray(starts[1]));
      await assertDamaged(dir, 0);
    }));

  it("is a first line that is gone", () =>
    withLog(async (dir, log, bytes) => {
      for (
        const junk of [
          Buffer.alloc(4_096),
          Buffer.from("hello"),
          bytes.subarray(0, 20).fill(0),
        ]
      ) {
        writeFileSync(log, Buffer.concat([junk, bytes]));
        await assertDamaged(dir, 0);
      }
      writeFileSync(log, Buffer.alloc(4_096));
      await assertDamaged(dir, 0);
    }));

  it("is an entry that does not fit what came before", () =>
    withLog(async (dir, log, bytes) => {
      const sequence = lineStarts(bytes).length;
      for (
        const body of [
          '{"change":"a","version":5,"set":{},"unset":[]}',
          '{"change":"a","version":3,"set":{},"unset":[]}',
          '{"change":"b","version":2,"set":{},"unset":[]}',
          '{"other":1}',
          "null",
          "no JSON",
          '{"put":{}}',
        ]
      ) {
        const line = encodeFrames(sequence, [body]);
        writeFileSync(log, Buffer.concat([bytes, line]));
        await assertDamaged(dir, bytes.length, body);
      }
    }));

  it("is given by every method, and frees the directory", () =>
    withLog(async (dir, log, bytes) => {
      writeFileSync(log, bytes.subarray(1));
      const store = new WalTaskStore({ dir });
      const calls = [
        store.create(aRecord("c")),
        store.get("a"),
        store.update("a", {}, 3),
        store.sweep(),
        store.compact(),
      ];
      for (const outcome of await Promise.allSettled(calls)) {
        assert.equal(outcome.status, "rejected");
        assert.ok(outcome.reason instanceof StoreDamagedError);
      }
      await store.close();
      writeFileSync(log, bytes);
      await (await open(dir, { lockTimeoutMs: 0 })).close();
    }));
});

describe("WalTaskStore, what it finds", () => {
  it("removes what a compaction that was cut short has left", () =>
    withLog(async (dir, log) => {
      writeFileSync(`${log}.tmp`, "half a l");
      await assertState(dir, STATES[5], "with a leftover");
      assert.equal(existsSync(`${log}.tmp`), false);
      assert.deepEqual(readdirSync(dir).sort(), ["lock.db", "tasks.log"]);
    }));

  it("leaves the leftover alone where it finds damage", () =>
    withLog(async (dir, log, bytes) => {
      writeFileSync(`${log}.tmp`, "half a l");
      writeFileSync(log, bytes.subarray(1));
      await assertDamaged(dir, 0);
      assert.equal(readFileSync(`${log}.tmp`, "utf8"), "half a l");
    }));

  it("refuses a format that it does not know, and says so", () =>
    withLog(async (dir, log) => {
      const header = '{"log":"@mcp-durable/tasks","format":2,"compacted":0}';
      const written = encodeFrames(1, [header, '{"new":"things"}']);
      writeFileSync(log, written);
      const error = await open(dir).then(() => undefined, (error) => error);
      assert.equal(error?.code, "ERR_STORE_FAILED");
      assert.match(error.message, /format 2.*format 1/);
      assert.deepEqual(readFileSync(log), Buffer.from(written));
    }));

  it("can be read with a pager", () =>
    withLog((_dir, _log, bytes) => {
      const lines = bytes.toString("utf8").trimEnd().split("\n");
      for (const line of lines) {
        assert.match(line, /^[0-9a-f]{8} [0-9a-f]{8} [0-9a-f]{12} \{.*\}$/);
      }
      assert.ok(lines.at(-1)!.includes('"statusMessage":"漢字 😀"'));
      return Promise.resolve();
    }));
});

/** A file for reading, in memory. */
function inMemory(bytes: Buffer): DiskFile {
  const no = () => assert.fail("the scan only reads");
  return {
    size: () => bytes.length,
    read: (into, position) => {
      const found = bytes.subarray(position, position + into.length);
      into.set(found);
      return Promise.resolve(found.length);
    },
    readNow: no,
    write: no,
    truncate: no,
    sync: no,
    syncNow: no,
    hasName: no,
    close: no,
  };
}
