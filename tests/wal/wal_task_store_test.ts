import assert from "node:assert/strict";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import process from "node:process";
import { show, TaskEntryTooLargeError } from "../../src/errors.ts";
import {
  DEFAULT_MAX_ENTRY_BYTES,
  WalTaskStore,
  type WalTaskStoreOptions,
} from "../../wal.ts";
import { aPatch, aRecord, CREATED_MS } from "../support/records.ts";
import { describe, it } from "../support/runner.ts";
import { rejects } from "../support/rejects.ts";
import { withTempDir } from "../support/wal_dir.ts";

function withStore(
  options: Omit<WalTaskStoreOptions, "dir">,
  body: (store: WalTaskStore, dir: string, log: string) => Promise<void>,
): Promise<void> {
  return withTempDir(async (parent) => {
    const dir = join(parent, "tasks");
    const store = await WalTaskStore.open({ dir, ...options });
    try {
      await body(store, dir, join(dir, "tasks.log"));
    } finally {
      await store.close();
    }
  });
}

/** A record whose JSON has so many bytes. */
function sized(taskId: string, bytes: number, version = 1) {
  const empty = JSON.stringify(aRecord(taskId, { text: "", version })).length;
  const wide = Math.min(100, bytes - empty >> 1);
  const text = "é".repeat(wide) + "x".repeat(bytes - empty - 2 * wide);
  return aRecord(taskId, { text, version });
}

describe("new WalTaskStore(), options", () => {
  const bad: readonly [string, unknown][] = [
    ...["", 5, undefined, null, "a\0b", new URL("file:///x")].map((dir) =>
      ["dir", dir] as [string, unknown]
    ),
    ["fsync", "yes"],
    ...[0, -1, 1.5, NaN, "8", null, 2 ** 40].map((bytes) =>
      ["maxEntryBytes", bytes] as [string, unknown]
    ),
    ...[0, -5, 0.5, NaN, Infinity, "9"].map((every) =>
      ["compactEvery", every] as [string, unknown]
    ),
    ...[-1, 1.5, NaN, Infinity, 2 ** 31, "9"].map((ms) =>
      ["lockTimeoutMs", ms] as [string, unknown]
    ),
    ["now", 17],
    ["onCompactionError", "log"],
  ];
  for (const [name, value] of bad) {
    it(`refuses ${name}: ${show(value)}`, async () => {
      const dir = "never-made";
      const options = { dir, [name]: value } as WalTaskStoreOptions;
      const refused = (error: Error & { code?: string }) =>
        error instanceof TypeError && error.code === "ERR_INVALID_ARGUMENT" &&
        error.message.includes(name);
      assert.throws(() => new WalTaskStore(options), refused);
      await assert.rejects(WalTaskStore.open(options), refused);
    });
  }

  it("refuses no options at all", () => {
    assert.throws(
      () => new WalTaskStore(undefined as unknown as WalTaskStoreOptions),
      { code: "ERR_INVALID_ARGUMENT" },
    );
  });

  it("takes a path from the working directory of the time", () =>
    withTempDir(async (parent) => {
      const dir = join(parent, "x");
      const store = new WalTaskStore({ dir: relative(process.cwd(), dir) });
      await store.create(aRecord("a"));
      await store.close();
      assert.ok(statSync(join(dir, "tasks.log")).size > 0);
    }));

  it("says what the largest record is", () =>
    withTempDir(async (dir) => {
      assert.equal(DEFAULT_MAX_ENTRY_BYTES, 8_388_608);
      const one = new WalTaskStore({ dir: join(dir, "1") });
      assert.equal(one.traits.maxRecordBytes, 8_388_608);
      const two = new WalTaskStore({ dir: join(dir, "2"), maxEntryBytes: 777 });
      assert.equal(two.traits.maxRecordBytes, 777);
      await Promise.all([one.close(), two.close()]);
    }));

  it("uses its clock where a call brings no time", () => {
    let now = CREATED_MS;
    return withStore({ now: () => now }, async (store) => {
      await store.create(aRecord("a", { ttlMs: 50 }));
      now += 49;
      assert.ok(await store.get("a"));
      assert.equal(await store.sweep(), 0);
      now += 1;
      assert.equal(await store.get("a"), undefined);
      await rejects(store.update("a", {}, 1), "ERR_TASK_NOT_FOUND");
      assert.equal(await store.sweep(), 1);
    });
  });
});

describe("WalTaskStore, a directory", () => {
  it("is for its owner alone, with all that is in it", async () => {
    if (process.platform === "win32") return;
    await withStore({}, async (store, dir, log) => {
      await store.create(aRecord("a"));
      await store.compact();
      assert.equal(statSync(dir).mode & 0o777, 0o700);
      assert.equal(statSync(log).mode & 0o777, 0o600);
      assert.equal(statSync(join(dir, "lock.db")).mode & 0o777, 0o600);
    });
  });

  it("that is a file is a typed error with its cause", () =>
    withTempDir(async (parent) => {
      const dir = join(parent, "file");
      writeFileSync(dir, "");
      const error = await WalTaskStore.open({ dir }).catch((error) => error);
      assert.equal(error.code, "ERR_STORE_FAILED");
      assert.ok(error.message.includes("file"));
      assert.ok(error.cause instanceof Error);
    }));

  it("whose lock file is none is a typed error with its cause", () =>
    withTempDir(async (dir) => {
      writeFileSync(join(dir, "lock.db"), "no database ".repeat(500));
      const error = await WalTaskStore.open({ dir }).catch((error) => error);
      assert.equal(error.code, "ERR_STORE_FAILED");
      assert.ok(error.cause instanceof Error);
    }));

  it("whose log is a directory is a typed error, and is not left locked", () =>
    withTempDir(async (dir) => {
      mkdirSync(join(dir, "tasks.log"));
      for (let i = 0; i < 2; i++) {
        const error = await WalTaskStore.open({ dir, lockTimeoutMs: 0 })
          .catch((error) => error);
        assert.equal(error.code, "ERR_STORE_FAILED");
      }
    }));
});

describe("WalTaskStore, one writer", () => {
  it("refuses a second store of the same process", () =>
    withStore({}, async (store, dir) => {
      await store.create(aRecord("a"));
      for (let i = 0; i < 3; i++) {
        const second = new WalTaskStore({ dir, lockTimeoutMs: i * 10 });
        const error = await second.get("a").catch((error) => error);
        assert.equal(error.code, "ERR_STORE_LOCKED");
        assert.equal(error.dir, dir);
        assert.ok(error.message.includes(dir));
        await second.close();
      }
      await store.update("a", { statusMessage: "still mine" }, 1);
      await store.close();
      const next = await WalTaskStore.open({ dir, lockTimeoutMs: 0 });
      assert.equal((await next.get("a"))?.statusMessage, "still mine");
      await next.close();
    }));

  it("waits for the first to close", () =>
    withStore({}, async (store, dir) => {
      await store.create(aRecord("a"));
      const second = new WalTaskStore({ dir, lockTimeoutMs: 20_000 });
      const read = second.get("a");
      await store.update("a", { statusMessage: "last words" }, 1);
      await store.close();
      assert.equal((await read)?.statusMessage, "last words");
      await second.close();
    }));

  it("close() ends the waiting", () =>
    withStore({}, async (_store, dir) => {
      const second = new WalTaskStore({ dir, lockTimeoutMs: 1_000_000 });
      const read = second.get("a");
      const refused = rejects(read, "ERR_STORE_CLOSED");
      await second.close();
      await refused;
      await rejects(second.get("a"), "ERR_STORE_CLOSED");
    }));
});

describe("WalTaskStore, opening and closing", () => {
  it("close() while it opens waits for what was asked before", () =>
    withTempDir(async (dir) => {
      const store = new WalTaskStore({ dir });
      const created = store.create(aRecord("a"));
      const swept = store.sweep();
      const closed = store.close();
      await rejects(store.get("a"), "ERR_STORE_CLOSED");
      await rejects(store.compact(), "ERR_STORE_CLOSED");
      await Promise.all([created, swept, closed]);
      const next = await WalTaskStore.open({ dir, lockTimeoutMs: 0 });
      assert.ok(await next.get("a"));
      await next.close();
    }));

  it("close() at once leaves a directory that opens", () =>
    withTempDir(async (dir) => {
      await new WalTaskStore({ dir }).close();
      await (await WalTaskStore.open({ dir, lockTimeoutMs: 0 })).close();
    }));
});

describe("WalTaskStore, the size of a record", () => {
  it("takes exactly maxEntryBytes, and not one byte more", () =>
    withStore({ maxEntryBytes: 1_000 }, async (store, dir, log) => {
      await store.create(sized("a", 1_000));
      const size = statSync(log).size;
      const error = await store.create(sized("b", 1_001)).catch((error) =>
        error
      );
      assert.ok(error instanceof TaskEntryTooLargeError);
      assert.equal(error.bytes, 1_001);
      assert.equal(error.maxBytes, 1_000);
      assert.equal(await store.get("b"), undefined);

      await store.create(sized("c", 500));
      const { text } = sized("c", 1_000) as unknown as { text: string };
      const grown = aPatch({ text: `${text}x` });
      await rejects(store.update("c", grown, 1), "ERR_ENTRY_TOO_LARGE");
      assert.deepEqual(await store.get("c"), sized("c", 500));
      await store.update("c", aPatch({ text }), 1);
      assert.ok(statSync(log).size > size);

      await store.compact();
      await store.close();
      const next = await WalTaskStore.open({ dir, maxEntryBytes: 1_000 });
      assert.deepEqual(await next.get("a"), sized("a", 1_000));
      assert.deepEqual(await next.get("c"), sized("c", 1_000, 2));
      await next.close();
    }));

  it("that was stored under a higher limit hinders nothing but growth", () =>
    withStore({ maxEntryBytes: 200_000 }, async (store, dir) => {
      await store.create(sized("a", 200_000));
      await store.update("a", { statusMessage: undefined }, 1);
      await store.close();
      const low = await WalTaskStore.open({ dir, maxEntryBytes: 300 });
      assert.deepEqual(await low.get("a"), sized("a", 200_000, 2));
      await low.compact();
      const more = { statusMessage: "more" };
      await rejects(low.update("a", more, 2), "ERR_ENTRY_TOO_LARGE");
      const smaller = aPatch({ text: "x".repeat(5_000) });
      assert.equal((await low.update("a", smaller, 2)).version, 3);
      const small = aPatch({ text: "small" });
      assert.equal((await low.update("a", small, 3)).version, 4);
      await low.close();
      const again = await WalTaskStore.open({ dir, maxEntryBytes: 300 });
      const expected = aRecord("a", { text: "small", version: 4 });
      assert.deepEqual(await again.get("a"), expected);
      await again.close();
    }));
});

describe("WalTaskStore, the log", () => {
  it("writes the change alone, whatever the record holds", () =>
    withStore({ compactEvery: null }, async (store, _dir, log) => {
      await store.create(sized("a", 600_000));
      const size = statSync(log).size;
      for (let version = 1; version <= 20; version++) {
        await store.update("a", { statusMessage: `${version} files` }, version);
      }
      assert.ok(statSync(log).size - size < 20 * 200);
    }));

  it("gives -0 as 0, before and after a restart", () =>
    withStore({}, async (store, dir) => {
      const zero = (record: unknown) => (record as { x: number }).x;
      await store.create(aRecord("a", { x: -0 }));
      assert.ok(Object.is(zero(await store.get("a")), 0));
      const updated = await store.update("a", aPatch({ x: -0 }), 1);
      assert.ok(Object.is(zero(updated), 0));
      await store.close();
      const next = await WalTaskStore.open({ dir });
      assert.ok(Object.is(zero(await next.get("a")), 0));
      await next.close();
    }));

  it("compact() leaves what is alive, and takes what comes after", () =>
    withStore({ compactEvery: null }, async (store, dir, log) => {
      await store.create(aRecord("a"));
      await store.create(aRecord("expired", { ttlMs: 10 }));
      for (let version = 1; version <= 300; version++) {
        await store.update("a", { statusMessage: `${version}` }, version);
      }
      const size = statSync(log).size;
      await Promise.all([store.compact(), store.compact()]);
      assert.ok(statSync(log).size < size / 20);
      assert.ok(await store.get("expired", CREATED_MS), "only sweep() deletes");
      await store.update("a", { status: "completed" }, 301);
      await store.close();
      const next = await WalTaskStore.open({ dir });
      const expected = aRecord("a", {
        statusMessage: "300",
        status: "completed",
        version: 302,
      });
      assert.deepEqual(await next.get("a"), expected);
      await next.close();
    }));

  it("is compacted by itself when most of it is dead", async () => {
    // Alive are 20 KB, where 1 MiB is the bound, and 1.2 MB, where twice that is.
    for (const [tasks, bound] of [[1, 1_048_576], [60, 2_420_000]]) {
      await withStore({}, async (store, dir, log) => {
        const text = "x".repeat(20_000);
        for (let task = 0; task < tasks; task++) {
          await store.create(aRecord(`${task}`, { text }));
        }
        let largest = 0;
        for (let version = 1; version <= 200; version++) {
          await store.update("0", aPatch({ text: text + version }), version);
          largest = Math.max(largest, statSync(log).size);
        }
        assert.ok(largest > bound && largest < bound + 50_000, `${largest}`);
        await store.close();
        const next = await WalTaskStore.open({ dir });
        assert.equal((await next.get("0"))?.version, 201);
        assert.equal(await next.get(`${tasks}`), undefined);
        assert.ok(await next.get(`${tasks - 1}`));
        await next.close();
      });
    }
  });

  it("is compacted every so many entries, or never, if asked to", async () => {
    const lengths: number[] = [];
    for (const compactEvery of [10, null]) {
      await withStore({ compactEvery }, async (store, dir, log) => {
        await store.create(aRecord("a"));
        for (let version = 1; version <= 5; version++) {
          await store.update("a", { statusMessage: "x" }, version);
        }
        await store.close();
        // What was appended before counts.
        const next = await WalTaskStore.open({ dir, compactEvery });
        for (let version = 6; version <= 9; version++) {
          await next.update("a", { statusMessage: "x" }, version);
        }
        await next.update("a", { statusMessage: "x" }, 10);
        await next.close();
        lengths.push(statSync(log).size);
      });
    }
    assert.ok(lengths[0] < 450, `${lengths}`);
    assert.ok(lengths[1] > 1_000, `${lengths}`);
  });
});
