import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TaskStoreFactory } from "../../testing.ts";
import {
  isTaskEntryTooLargeError,
  type TaskEntryTooLargeError,
} from "../../src/errors.ts";
import type { ProcessLog, ProcessLogValue } from "../../src/wal/process_log.ts";
import {
  type ProcessLogTaskStoreOptions,
  resolveProcessLogOptions,
} from "../../src/wal/process_log_options.ts";
import { ProcessLogTaskStore } from "../../src/wal/process_log_store.ts";
import { WalTaskStore } from "../../wal.ts";
import { ProcessWal } from "../support/process_wal.ts";
import { aPatch, aRecord, CREATED_MS } from "../support/records.ts";
import { rejects } from "../support/rejects.ts";
import { describe, it } from "../support/runner.ts";
import { describeShippedStore } from "../support/shipped_store.ts";
import { makeTempDir, removeDir, withTempDir } from "../support/wal_dir.ts";

const CREATED = "2026-07-28T10:00:00.000Z";

function open(
  log: ProcessLog,
  options: Omit<ProcessLogTaskStoreOptions, "log"> = {},
): ProcessLogTaskStore {
  return new ProcessLogTaskStore(resolveProcessLogOptions({ log, ...options }));
}

/** Resolves when a log has been compacted so many times in all. */
function compactions(log: ProcessLog, count: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const compact = log.compact.bind(log);
  log.compact = () => {
    compact();
    if (--count === 0) resolve();
  };
  return promise;
}

type Options = Omit<ProcessLogTaskStoreOptions, "log">;

function factoryOf(
  options: Options,
): TaskStoreFactory {
  return () => {
    const dir = makeTempDir();
    let skewMs = 0;
    const now = () => Date.now() + skewMs;
    const open = (lower: Options = {}) =>
      new WalTaskStore({
        log: new ProcessWal<unknown>(dir, 16 * 1024 * 1024),
        now,
        ...options,
        ...lower,
      });
    return {
      store: open(),
      reopen: () => open(),
      reopenLower: (maxEntryBytes) => open({ maxEntryBytes }),
      advanceTime(ms) {
        skewMs += ms;
      },
      dispose: () => removeDir(dir),
    };
  };
}

for (
  const options of [{}, { maxEntryBytes: 70_001, compactEvery: 3 }]
) {
  describeShippedStore(
    `WalTaskStore over a log ${JSON.stringify(options)}`,
    factoryOf(options),
    {
      claims: [
        "compareAndSwap",
        "durable",
        "latestReads",
        "maxRecordBytes",
        "head",
        "commit",
      ],
      checks: 86,
    },
  );
}

describe("ProcessLogTaskStore()", () => {
  it("writes lines that mcp-durable-tasks reads", () =>
    withTempDir(async (dir) => {
      const store = open(new ProcessWal(dir), { now: () => CREATED_MS + 10 });
      await store.create(aRecord("a", { ttlMs: 20, version: 0 }));
      await store.update("a", aPatch({ "§": [1], ttlMs: 10 }), 0, CREATED_MS);
      await store.sweep();
      await store.close();
      assert.equal(
        readFileSync(join(dir, "wal.jsonl"), "utf8"),
        `{"seq":1,"value":{"t":"put","record":{"taskId":"a","status":"working","createdAt":"${CREATED}","lastUpdatedAt":"${CREATED}","ttlMs":20,"version":0}}}\n` +
          `{"seq":2,"value":{"t":"put","record":{"taskId":"a","status":"working","createdAt":"${CREATED}","lastUpdatedAt":"${CREATED}","ttlMs":10,"version":1,"§":[1]}}}\n` +
          '{"seq":3,"value":{"t":"del","taskId":"a"}}\n',
      );
    }));

  it("reads what mcp-durable-tasks wrote", () =>
    withTempDir(async (dir) => {
      const log = new ProcessWal<ProcessLogValue>(dir);
      log.appendMany([
        { t: "put", record: aRecord("old", { version: 0 }) },
        { t: "put", record: aRecord("gone", { version: 0 }) },
        { t: "put", record: aRecord("a", { version: 0 }) },
        { t: "del", taskId: "gone" },
        { t: "put", record: aRecord("a", { version: 1, extra: { x: null } }) },
      ]);
      log.checkpoint(1);
      const store = open(log);
      assert.equal(await store.get("old"), undefined);
      assert.equal(await store.get("gone"), undefined);
      assert.deepEqual(
        await store.get("a"),
        aRecord("a", { version: 1, extra: { x: null } }),
      );
      await store.close();
    }));

  it("refuses a log that holds something else, by every method", () =>
    withTempDir(async (dir) => {
      for (
        const value of [
          null,
          7,
          { t: "put" },
          { t: "put", record: { ...aRecord("a"), version: -1 } },
          { t: "put", record: { ...aRecord("a"), status: "done" } },
          { t: "put", record: { ...aRecord("a"), createdAt: "yesterday" } },
          { t: "put", record: { ...aRecord("a"), ttlMs: "1" } },
          { t: "del", taskId: 7 },
          { t: "move", taskId: "a" },
        ]
      ) {
        const log = new ProcessWal<unknown>(join(dir, JSON.stringify(value)));
        log.append(value);
        const store = open(log);
        await rejects(store.ready(), "ERR_STORE_FAILED");
        await rejects(store.get("a"), "ERR_STORE_FAILED");
        await rejects(store.create(aRecord("b")), "ERR_STORE_FAILED");
        await rejects(store.update("a", {}, 1), "ERR_STORE_FAILED");
        await rejects(store.sweep(), "ERR_STORE_FAILED");
        await rejects(store.compact(), "ERR_STORE_FAILED");
        await store.close();
      }
    }));

  it("names its own limit, and says no more than it knows of the log's", () =>
    withTempDir(async (dir) => {
      const store = open(new ProcessWal(dir, 2_000), { maxEntryBytes: 4_000 });
      const tooLarge = (bytes: number, maxBytes: number) => (error: unknown) =>
        isTaskEntryTooLargeError(error) &&
        (error as TaskEntryTooLargeError).bytes === bytes &&
        (error as TaskEntryTooLargeError).maxBytes === maxBytes;
      const rest = JSON.stringify(aRecord("a", { text: "" })).length;
      const record = (bytes: number) =>
        aRecord("a", { text: "x".repeat(bytes - rest) });
      await assert.rejects(store.create(record(4_001)), tooLarge(4_001, 4_000));
      await assert.rejects(store.create(record(2_500)), tooLarge(2_500, 2_499));
      await store.create(record(1_800));
      await assert.rejects(
        store.update("a", aPatch({ text: "y".repeat(4_000) }), 1),
        isTaskEntryTooLargeError,
      );
      assert.deepEqual(await store.get("a"), record(1_800));
      await store.close();
    }));

  it("lets a record from the time of a higher limit shrink, or grow by 1 KiB", () =>
    withTempDir(async (dir) => {
      const log = new ProcessWal<ProcessLogValue>(dir);
      log.append({ t: "put", record: aRecord("a", { x: "x".repeat(900) }) });
      const store = open(log, { maxEntryBytes: 500 });
      await store.update("a", aPatch({ x: "x".repeat(700) }), 1);
      await rejects(
        store.update("a", aPatch({ x: "x".repeat(700 + 1_025) }), 2),
        "ERR_ENTRY_TOO_LARGE",
      );
      await store.update("a", aPatch({ x: "x".repeat(700 + 1_024) }), 2);
      await store.close();
    }));

  it("keeps what was there when the log does not take a change", () =>
    withTempDir(async (dir) => {
      const log = new ProcessWal<ProcessLogValue>(dir);
      const store = open(log, { now: () => CREATED_MS });
      await store.create(aRecord("a", { ttlMs: 5 }));
      log.append = log.appendMany = () => {
        throw new Error("no room");
      };
      await rejects(store.create(aRecord("b")), "ERR_STORE_FAILED");
      await rejects(
        store.update("a", { statusMessage: "lost" }, 1),
        "ERR_STORE_FAILED",
      );
      await rejects(store.sweep(CREATED_MS + 5), "ERR_STORE_FAILED");
      assert.equal(await store.get("b"), undefined);
      assert.deepEqual(await store.get("a"), aRecord("a", { ttlMs: 5 }));
      await store.close();
    }));

  it("tells what closing the log has met", () =>
    withTempDir(async (dir) => {
      const log = new ProcessWal<ProcessLogValue>(dir);
      const store = open(log);
      const close = log.close.bind(log);
      log.close = () => {
        close();
        throw new Error("no flush");
      };
      await rejects(store.close(), "ERR_STORE_FAILED");
      await rejects(store.get("a"), "ERR_STORE_CLOSED");
    }));
});

describe("ProcessLogTaskStore.compact()", () => {
  it("leaves one line for each task, and the log readable", () =>
    withTempDir(async (dir) => {
      const store = open(new ProcessWal(dir), { compactEvery: null });
      for (const id of ["a", "b"]) {
        await store.create(aRecord(id));
        for (let version = 1; version < 40; version++) {
          await store.update(id, { statusMessage: `${version}` }, version);
        }
      }
      await store.compact();
      assert.equal(
        readFileSync(join(dir, "wal.jsonl"), "utf8").split("\n").length,
        2 + 1,
      );
      assert.equal(readFileSync(join(dir, "wal.checkpoint"), "utf8"), "80");
      await store.close();
      const again = open(new ProcessWal(dir));
      assert.equal((await again.get("b"))?.version, 40);
      await again.close();
    }));

  it("empties the log when nothing is alive", () =>
    withTempDir(async (dir) => {
      const store = open(new ProcessWal(dir));
      await store.create(aRecord("a", { ttlMs: 1 }));
      await store.sweep();
      await store.compact();
      assert.equal(readFileSync(join(dir, "wal.jsonl"), "utf8"), "");
      await store.create(aRecord("a"));
      await store.close();
      const again = open(new ProcessWal(dir));
      assert.equal((await again.get("a"))?.version, 1);
      await again.close();
    }));

  it("keeps what is created, changed and swept between its slices", () =>
    withTempDir(async (dir) => {
      const log = new ProcessWal<ProcessLogValue>(dir);
      const store = open(log, { compactEvery: null, now: () => CREATED_MS });
      const large = "x".repeat(700_000);
      for (const id of ["a", "b", "c", "d", "e", "f"]) {
        const ttlMs = id < "c" || id > "d" ? 3 : null;
        await store.create(aRecord(id, { large, ttlMs }));
      }
      const compacted = store.compact();
      // The first slice is written: a and b.
      await store.update("b", { statusMessage: "behind", ttlMs: null }, 1);
      await store.update("f", { statusMessage: "ahead", ttlMs: null }, 1);
      await store.create(aRecord("g"));
      assert.equal(await store.sweep(CREATED_MS + 3), 2);
      await compacted;
      await store.close();
      const again = open(new ProcessWal(dir));
      const found = await Promise.all(
        ["a", "b", "c", "d", "e", "f", "g"].map((id) => again.get(id)),
      );
      assert.deepEqual(
        found.map((record) => record?.version),
        [undefined, 2, 1, 1, undefined, 2, 1],
      );
      assert.equal(found[1]?.statusMessage, "behind");
      assert.equal(found[5]?.statusMessage, "ahead");
      await again.close();
    }));

  it("comes by itself after compactEvery entries that count no longer", () =>
    withTempDir(async (dir) => {
      const log = new ProcessWal<ProcessLogValue>(dir);
      const twice = compactions(log, 2);
      const store = open(log, { compactEvery: 7 });
      await store.create(aRecord("a"));
      for (let version = 1; version < 20; version++) {
        await store.update("a", { statusMessage: `${version}` }, version);
      }
      await twice;
      assert.ok(log.stats().pendingEntries <= 1 + 7);
      assert.equal((await store.get("a"))?.version, 20);
      await store.close();
    }));

  it("reports its failure when it came by itself, and is not tried with each change", () =>
    withTempDir(async (dir) => {
      const log = new ProcessWal<ProcessLogValue>(dir);
      let tries = 0;
      log.compact = () => {
        tries++;
        throw new Error("no room");
      };
      const errors: unknown[] = [];
      const store = open(log, {
        compactEvery: 5,
        onCompactionError(error) {
          errors.push(error);
          throw new Error("of the observer");
        },
      });
      await store.create(aRecord("a"));
      log.checkpoint = () => {
        throw new Error("no room");
      };
      for (let version = 1; version <= 15; version++) {
        await store.update("a", { statusMessage: `${version}` }, version);
        await Promise.resolve();
      }
      await rejects(store.compact(), "ERR_STORE_FAILED");
      // Each failed try has appended a copy: at 5, 11 and 17 entries too many.
      assert.equal(errors.length, 3);
      assert.equal(tries, 0);
      assert.equal((await store.get("a"))?.version, 16);
      await store.close();
    }));
});

describe("ProcessLogTaskStore.health()", () => {
  it("tells how the store and the log are", () =>
    withTempDir(async (dir) => {
      const log = new ProcessWal<unknown>(dir);
      const store = await WalTaskStore.open({ log });
      const record = aRecord("a");
      await store.create(record);
      const bytes = JSON.stringify(record).length;
      const line = `{"seq":1,"value":{"t":"put","record":}}\n`.length + bytes;
      const state = { tasks: 1, segments: 1, aliveBytes: bytes, damage: [] };
      assert.deepEqual(await store.health(), {
        writable: true,
        diskBytes: line,
        ...state,
      });
      const reason = new Error("the log is unusable");
      log.stats = () => {
        throw reason;
      };
      assert.deepEqual(await store.health(), {
        writable: false,
        reason,
        diskBytes: bytes,
        ...state,
      });
      await store.close();
      await rejects(store.health(), "ERR_STORE_CLOSED");
    }));
});

describe("WalTaskStore()", () => {
  it("takes a directory or a log, and not both", () =>
    withTempDir(async (dir) => {
      const log = new ProcessWal<unknown>(join(dir, "log"));
      const both = { dir, log } as unknown as { log: ProcessLog };
      assert.throws(() => new WalTaskStore(both), {
        code: "ERR_INVALID_ARGUMENT",
        message: /dir and log together/,
      });
      await rejects(WalTaskStore.open(both), "ERR_INVALID_ARGUMENT");
      log.append("no task");
      await rejects(WalTaskStore.open({ log }), "ERR_STORE_FAILED");
      log.close();
    }));
});

describe("resolveProcessLogOptions()", () => {
  it("takes whatever has the methods", () =>
    withTempDir((dir) => {
      const log: ProcessLog = new ProcessWal<{ t: string }>(dir);
      const options = resolveProcessLogOptions({ log, maxEntryBytes: 5 });
      assert.equal(options.log, log);
      assert.equal(options.maxEntryBytes, 5);
      assert.equal(resolveProcessLogOptions({ log }).maxEntryBytes, 1_047_552);
      log.close();
      return Promise.resolve();
    }));

  it("refuses the options of a directory, and what is no log", () =>
    withTempDir((dir) => {
      const log = new ProcessWal<unknown>(dir);
      const { append: _, ...rest } = Object.fromEntries(
        ["append", "appendMany", "replay", "checkpoint", "compact", "stats"]
          .map((name) => [name, () => {}]),
      );
      for (
        const [options, message] of [
          [{ log, dir }, /dir and log together: dir is ".*leave out one/],
          [{ log, fsync: false }, /fsync and log together: fsync is false/],
          [{ log, lockTimeoutMs: 1 }, /lockTimeoutMs and log together/],
          [{ log: null }, /log: the value is null without a method append\(\)/],
          [{ log: rest }, /an object without a method append\(\)/],
          [{ log, maxEntryBytes: 0 }, /maxEntryBytes/],
          [{ log, compactEvery: 1.5 }, /compactEvery/],
          [{ log, now: 5 }, /now/],
          [
            { log, onDamage() {} },
            /no option "onDamage"; there are log, dir, /,
          ],
          [{ log, onCompactionError: {} }, /onCompactionError/],
        ] as const
      ) {
        assert.throws(
          () =>
            resolveProcessLogOptions(
              options as unknown as ProcessLogTaskStoreOptions,
            ),
          { code: "ERR_INVALID_ARGUMENT", message },
        );
      }
      log.close();
      return Promise.resolve();
    }));
});
