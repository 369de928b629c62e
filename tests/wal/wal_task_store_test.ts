import assert from "node:assert/strict";
import {
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import process from "node:process";
import { TaskLifecycle } from "../../mod.ts";
import { show, TaskEntryTooLargeError } from "../../src/errors.ts";
import {
  DEFAULT_MAX_ENTRY_BYTES,
  WalTaskStore,
  type WalTaskStoreOptions,
} from "../../wal.ts";
import { aPatch, aRecord, CREATED_MS } from "../support/records.ts";
import { startChild } from "../support/child.ts";
import { describe, it, runtime, skip } from "../support/runner.ts";
import { rejects } from "../support/rejects.ts";
import { logBytes, withTempDir } from "../support/wal_dir.ts";

function withStore(
  options: Omit<WalTaskStoreOptions, "dir">,
  body: (store: WalTaskStore, dir: string) => Promise<void>,
): Promise<void> {
  return withTempDir(async (parent) => {
    const dir = join(parent, "tasks");
    const store = await WalTaskStore.open({ dir, ...options });
    try {
      await body(store, dir);
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
    ["onDamage", true],
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

  it("refuses an option that there is not, and says which was meant", () => {
    const wrong: readonly [object, RegExp][] = [
      [
        { dir: "tasks", fSync: true },
        /no option "fSync"; did you mean fsync\?$/,
      ],
      [{ directory: "tasks" }, /no option "directory"; did you mean dir\?$/],
    ];
    for (const [options, message] of wrong) {
      assert.throws(
        () => new WalTaskStore(options as WalTaskStoreOptions),
        { code: "ERR_INVALID_ARGUMENT", message },
      );
    }
  });

  it("refuses what is no options object, and says what is needed", () => {
    for (const options of [undefined, null, "tasks"]) {
      assert.throws(
        () => new WalTaskStore(options as unknown as WalTaskStoreOptions),
        {
          code: "ERR_INVALID_ARGUMENT",
          message: /an object such as \{ dir \} is needed/,
        },
      );
    }
  });

  it("takes a path from the working directory of the time", () =>
    withTempDir(async (parent) => {
      const dir = join(parent, "x");
      const store = new WalTaskStore({ dir: relative(process.cwd(), dir) });
      await store.create(aRecord("a"));
      await store.close();
      assert.ok(logBytes(dir) > 0);
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
    await withStore({}, async (store, dir) => {
      await store.create(aRecord("a"));
      await store.compact();
      assert.equal(statSync(dir).mode & 0o777, 0o700);
      const names = readdirSync(dir);
      assert.equal(names.length, 2);
      for (const name of names) {
        assert.equal(statSync(join(dir, name)).mode & 0o777, 0o600, name);
      }
    });
  });

  it("that is a file is a typed error that says why", () =>
    withTempDir(async (parent) => {
      const dir = join(parent, "file");
      writeFileSync(dir, "");
      const error = await WalTaskStore.open({ dir }).catch((error) => error);
      assert.equal(error.code, "ERR_STORE_FAILED");
      assert.match(error.message, /^Cannot open ".*file": .*\bEEXIST\b/);
      assert.ok(error.cause instanceof Error);
    }));

  it("is made with those above it, and by a link that leads to it", () =>
    withTempDir(async (parent) => {
      const dir = join(parent, "a", "b", "c");
      const store = await WalTaskStore.open({ dir, fsync: true });
      await store.create(aRecord("a"));
      if (process.platform !== "win32") {
        const link = join(parent, "link");
        symlinkSync(join(parent, "a", "b"), link);
        // It is one directory, by whatever name.
        const again = { dir: join(link, "c"), lockTimeoutMs: 0 };
        await rejects(WalTaskStore.open(again), "ERR_STORE_LOCKED");
      }
      await store.close();
    }));

  it("that cannot be made is a typed error that says why", () =>
    withTempDir(async (parent) => {
      writeFileSync(join(parent, "file"), "");
      const dirs: [dir: string, code: RegExp][] = [
        [join(parent, "file", "a", "b"), /ENOTDIR|ENOENT|EEXIST/],
        [join(parent, "a".repeat(300), "b"), /ENAMETOOLONG|ENOENT/],
      ];
      if (process.platform === "linux") {
        // It is no folder that one could make anything in.
        dirs.push(["/proc/none/a", /ENOENT/]);
        symlinkSync(join(parent, "none"), join(parent, "link"));
        dirs.push([join(parent, "link"), /EEXIST|ENOENT/]);
        dirs.push([join(parent, "link", "a"), /EEXIST|ENOENT/]);
      }
      for (const [dir, code] of dirs) {
        const error = await WalTaskStore.open({ dir }).catch((error) => error);
        assert.equal(error.code, "ERR_STORE_FAILED", dir);
        assert.match(error.message, code);
      }
    }));

  it("whose lock file is none is a typed error that names it", () =>
    withTempDir(async (dir) => {
      writeFileSync(join(dir, "lock.db"), "no database ".repeat(500));
      const error = await WalTaskStore.open({ dir }).catch((error) => error);
      assert.equal(error.code, "ERR_STORE_FAILED");
      assert.match(error.message, /cannot lock ".*lock\.db": .*not a database/);
    }));

  if (runtime === "node") {
    it("cannot be opened where there is no node:sqlite, and says what is needed", () =>
      withTempDir(async (parent) => {
        const child = startChild(
          new URL("../support/open_wal.ts", import.meta.url),
          {
            command: [process.execPath, "--no-experimental-sqlite"],
            args: [join(parent, "tasks")],
          },
        );
        const line = await child.line(() => true);
        await child.exited;
        assert.match(
          line,
          /^ERR_STORE_FAILED Cannot open ".*tasks": .*Node 22\.13.* is needed/,
        );
      }));
  } else {
    skip(
      "cannot be opened where there is no node:sqlite, and says what is needed",
      "only Node can be started without it",
    );
  }

  it("whose log is a directory is a typed error, and is not left locked", () =>
    withTempDir(async (dir) => {
      mkdirSync(join(dir, "tasks-000000000001.log"));
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
    withStore({ maxEntryBytes: 1_000 }, async (store, dir) => {
      await store.create(sized("a", 1_000));
      const size = logBytes(dir);
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
      assert.ok(logBytes(dir) > size);

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
      const more = { statusMessage: "m".repeat(1_025) };
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
    withStore({ compactEvery: null }, async (store, dir) => {
      await store.create(sized("a", 600_000));
      const size = logBytes(dir);
      for (let version = 1; version <= 20; version++) {
        await store.update("a", { statusMessage: `${version} files` }, version);
      }
      assert.ok(logBytes(dir) - size < 20 * 150);
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
    withStore({ compactEvery: null }, async (store, dir) => {
      await store.create(aRecord("a"));
      await store.create(aRecord("expired", { ttlMs: 10 }));
      for (let version = 1; version <= 300; version++) {
        await store.update("a", { statusMessage: `${version}` }, version);
      }
      const size = logBytes(dir);
      await Promise.all([store.compact(), store.compact()]);
      assert.ok(logBytes(dir) < size / 20);
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

  it("is compacted by itself, segment by segment, when most of it is dead", async () => {
    const segment = 4 * 1024 * 1024;
    // Alive are 20 KB, and 6 MB.
    for (const tasks of [1, 300]) {
      await withStore({}, async (store, dir) => {
        const text = "x".repeat(20_000);
        for (let task = 0; task < tasks; task++) {
          await store.create(aRecord(`${task}`, { text }));
        }
        let largest = 0;
        for (let version = 1; version <= 1_500; version++) {
          await store.update("0", aPatch({ text: text + version }), version);
          if (version % 50 === 0) await new Promise((done) => setTimeout(done));
          largest = Math.max(largest, logBytes(dir));
        }
        const alive = tasks * 20_000;
        assert.ok(largest > 2 * alive + segment, `${largest}`);
        assert.ok(largest < 2.5 * alive + 2 * segment, `${largest}`);
        await store.close();
        const next = await WalTaskStore.open({ dir });
        assert.equal((await next.get("0"))?.version, 1_501);
        assert.equal(await next.get(`${tasks}`), undefined);
        assert.ok(await next.get(`${tasks - 1}`));
        await next.close();
      });
    }
  });

  it("is compacted every so many entries, or never, if asked to", async () => {
    const lengths: number[] = [];
    for (const compactEvery of [10, null]) {
      await withStore({ compactEvery }, async (store, dir) => {
        await store.create(aRecord("a"));
        for (let version = 1; version <= 30; version++) {
          await store.update("a", { statusMessage: "x" }, version);
          await new Promise((done) => setTimeout(done));
        }
        await store.close();
        lengths.push(logBytes(dir));
      });
    }
    assert.ok(lengths[0] < 1_500, `${lengths}`);
    assert.ok(lengths[1] > 2_000, `${lengths}`);
  });

  it("does not grow with the number of changes, nor does memory with them", () =>
    withStore({}, async (store, dir) => {
      await store.create(aRecord("a", { result: { x: "y".repeat(2_000) } }));
      for (let version = 1; version <= 300; version++) {
        await store.commit("a", { statusMessage: `${version}` }, version);
      }
      await store.close();
      const next = await WalTaskStore.open({ dir });
      const record = await next.get("a");
      assert.equal(record?.version, 301);
      assert.equal(record?.statusMessage, "300");
      assert.deepEqual(record?.result, { x: "y".repeat(2_000) });
      await next.close();
    }));
});

describe("WalTaskStore.head() and commit()", () => {
  it("leave the payloads alone, before and after a restart", () =>
    withStore({}, async (store, dir) => {
      const inputRequests = { q: { method: "ping", pad: "x".repeat(3_000) } };
      const fields = { inputRequests, result: { small: 1 } };
      await store.create(aRecord("a", fields as never));
      assert.equal(await store.commit("a", { statusMessage: "1" }, 1), 2);
      const expected = aRecord("a", { statusMessage: "1", version: 2 });
      assert.deepEqual(await store.head("a"), expected);
      assert.deepEqual(await store.get("a"), { ...expected, ...fields });
      await store.close();
      const next = await WalTaskStore.open({ dir });
      assert.deepEqual(await next.head("a"), expected);
      assert.deepEqual(await next.get("a"), { ...expected, ...fields });
      await next.commit("a", { inputRequests: undefined }, 2);
      const without = { ...expected, result: { small: 1 }, version: 3 };
      assert.deepEqual(await next.get("a"), without);
      await next.close();
    }));
});

describe("WalTaskStore.head()", () => {
  it("has every field that is no payload, however large, before and after changes and a restart", () =>
    withStore({}, async (store, dir) => {
      const large = Object.fromEntries(
        Array.from({ length: 60 }, (_, i) => [`f${i}`, `${i}`.repeat(50)]),
      );
      let head = aRecord("a", {
        statusMessage: "m".repeat(5_000),
        owner: "o".repeat(600),
        steps: { one: "s".repeat(900) },
        ...large,
      });
      const payloads = { result: "r".repeat(3_000), error: "e".repeat(9) };
      await store.create({ ...head, ...payloads } as never);
      assert.deepEqual(await store.head("a"), head);
      const patch = aPatch({ steps: { two: "t".repeat(901) }, f3: undefined });
      await store.commit("a", patch, 1);
      head = { ...head, ...patch, version: 2 };
      delete (head as unknown as Record<string, unknown>).f3;
      assert.deepEqual(await store.head("a"), head);
      await store.close();
      const next = await WalTaskStore.open({ dir });
      assert.deepEqual(await next.head("a"), head);
      await next.compact();
      assert.deepEqual(await next.head("a"), head);
      assert.deepEqual(await next.get("a"), { ...head, ...payloads });
      await next.close();
    }));
});

describe("WalTaskStore, a TaskLifecycle over it", () => {
  it("keeps others away from a task whose owner has a long name, as I16 asks", () =>
    withTempDir(async (dir) => {
      const tasks = new TaskLifecycle({ store: new WalTaskStore({ dir }) });
      const owner = "o".repeat(600);
      const statusMessage = "m".repeat(600);
      const { taskId } = await tasks.createTask({ owner, statusMessage });
      const task = tasks.handle(taskId);
      // Keys whose list is long as well: I5 goes by it.
      const request = { method: "roots/list" } as const;
      const keys = ["a", "b", "c"].map((key) => key.repeat(250));
      const asked = task.requestInput(
        Object.fromEntries(keys.map((key) => [key, request])),
      );
      await task.resumeInput();
      for (const access of [undefined, { owner: "o".repeat(599) }]) {
        for (const verb of ["cancelTask", "getTask"] as const) {
          await rejects(tasks[verb](taskId, access), "ERR_TASK_NOT_FOUND");
        }
      }
      const answers = Object.fromEntries(
        keys.map((key) => [key, { roots: [] }]),
      );
      await tasks.updateTask(taskId, answers, { owner });
      assert.deepEqual(await asked, answers);
      await rejects(
        task.requestInput({ [keys[1]]: request }),
        "ERR_DUPLICATE_INPUT_KEY",
      );
      assert.equal(task.signal.aborted, false);
      await tasks.cancelTask(taskId, { owner });
      assert.equal(task.signal.aborted, true);
      await tasks.close();
    }));
});

describe("WalTaskStore.sweep()", () => {
  it("goes to its end where the store is closed meanwhile", () =>
    withTempDir(async (dir) => {
      const store = await WalTaskStore.open({ dir });
      const ids = Array.from({ length: 1_700 }, (_, i) => `${i}`);
      await Promise.all(
        ids.map((id) => store.create(aRecord(id, { ttlMs: 10 }))),
      );
      const swept = store.sweep(CREATED_MS + 10);
      const closed = store.close();
      assert.equal(await swept, ids.length);
      await closed;
      const next = await WalTaskStore.open({ dir });
      assert.equal((await next.health()).tasks, 0);
      await next.close();
    }));

  it("is exact for thousands, for any time, in any order", () =>
    withStore({ now: () => CREATED_MS }, async (store, dir) => {
      const creations = Array.from(
        { length: 3_000 },
        (_, i) =>
          store.create(aRecord(`${i}`, { ttlMs: i % 3 ? 1 + i : null })),
      );
      await Promise.all(creations);
      assert.equal(await store.sweep(CREATED_MS - 1e12), 0);
      assert.equal(await store.sweep(CREATED_MS + 0.5), 0);
      // 1,000 has its time raised, 1,001 lowered.
      await store.commit("1000", { ttlMs: 5_000 }, 1);
      await store.commit("1001", { ttlMs: 1 }, 1);
      assert.equal(await store.sweep(CREATED_MS + 1_000), 666 + 1);
      const counts = [store.sweep(CREATED_MS + 2_999), store.sweep(8e15)];
      const [one, two] = await Promise.all(counts);
      assert.equal(one + two, 1_333);
      assert.equal((await store.health()).tasks, 1_000);
      await store.close();
      const next = await WalTaskStore.open({ dir });
      assert.equal((await next.health()).tasks, 1_000);
      await next.close();
    }));
});

describe("WalTaskStore.health()", () => {
  it("says what is there", () =>
    withStore({}, async (store, dir) => {
      await store.create(aRecord("a", { text: "x".repeat(5_000) }));
      await store.commit("a", { ttlMs: 70 }, 1);
      const health = await store.health();
      assert.equal(health.writable, true);
      assert.equal(health.tasks, 1);
      assert.equal(health.segments, 1);
      assert.equal(health.diskBytes, logBytes(dir));
      assert.ok(health.aliveBytes > 5_000 && health.aliveBytes < 5_500);
      assert.deepEqual(health.damage, []);
      await store.close();
      await rejects(store.health(), "ERR_STORE_CLOSED");
    }));
});
