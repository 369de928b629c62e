import assert from "node:assert/strict";
import { DenoKvTaskStore, type StoreDamage } from "../../deno_kv.ts";
import type { TaskStore } from "../../mod.ts";
import { idPartOf } from "../../src/deno_kv/keys.ts";
import { keysOf, withKvFile } from "../support/deno_kv.ts";
import { ProbeKv } from "../support/deno_kv_probe.ts";
import { aRecord, CREATED_MS } from "../support/records.ts";
import { rejects } from "../support/rejects.ts";
import { describe, it, runtime, skip } from "../support/runner.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const LARGE = { text: "漢".repeat(100_000) };

/** A store with a seam to its database, and another without on the same data. */
function withStores(
  body: (
    store: DenoKvTaskStore,
    probe: ProbeKv,
    other: DenoKvTaskStore,
    keys: () => Promise<string[]>,
  ) => Promise<void>,
  options: { busyTimeoutMs?: number } = {},
): Promise<void> {
  return withKvFile(async (kv, file) => {
    const probe = new ProbeKv(kv);
    const store = new DenoKvTaskStore(probe, options);
    const other = new DenoKvTaskStore(await file.open());
    await body(store, probe, other, () => keysOf(kv));
    await store.close();
    await other.close();
  });
}

/** Writes a task as many times as it has to be written over. */
async function overwrite(store: TaskStore, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const { version } = (await store.get("a"))!;
    await store.update("a", { owner: `other ${i}` }, version);
  }
}

/** Makes the next write of a record fail, after or before it was made. */
function failOnce(
  kv: ProbeKv,
  { made, then = async () => {} }: {
    made: boolean;
    then?: () => Promise<void>;
  },
): void {
  kv.onCommit = async (commit, mutations) => {
    if (!mutations.some(({ key }) => key.includes("record"))) return commit();
    kv.onCommit = (commit) => commit();
    if (made) assert.equal((await commit()).ok, true);
    await then();
    throw new Error("connection reset");
  };
}

describe("DenoKvTaskStore, a write whose answer is lost", () => {
  it("is found to be made, by create() and by update()", () =>
    withStores(async (store, kv, other) => {
      failOnce(kv, { made: true });
      await store.create(aRecord("a", { owner: "first" }));
      failOnce(kv, { made: true });
      const updated = await store.update("a", { result: LARGE }, 1);
      assert.equal(updated.version, 2);
      assert.deepEqual(await other.get("a"), updated);
    }));

  it("is found to be made, though up to three others have written since", () =>
    withStores(async (store, kv, other) => {
      await store.create(aRecord("a"));
      for (const [i, times] of [1, 2, 3].entries()) {
        const { version } = (await other.get("a"))!;
        failOnce(kv, { made: true, then: () => overwrite(other, times) });
        const patch = { statusMessage: `${i}` };
        assert.equal(await store.commit("a", patch, version), version + 1);
        const found = await other.get("a");
        assert.equal(found?.version, version + 1 + times);
        assert.equal(found?.statusMessage, `${i}`);
      }
    }));

  it("is unknown where more have written since, and the error says so", () =>
    withStores(async (store, kv, other) => {
      await store.create(aRecord("a"));
      failOnce(kv, { made: true, then: () => overwrite(other, 4) });
      await assert.rejects(store.update("a", {}, 1), {
        code: "ERR_STORE_FAILED",
        message: /tell whether a change was stored/,
      });
    }));

  it("is a conflict where another's version stands in its place", () =>
    withStores(async (store, kv, other) => {
      await store.create(aRecord("a"));
      failOnce(kv, { made: false, then: () => overwrite(other, 2) });
      await rejects(store.update("a", {}, 1), "ERR_CONCURRENT_UPDATE");
      const create = () => store.create(aRecord("b", { owner: "late" }));
      failOnce(kv, { made: false, then: () => other.create(aRecord("b")) });
      await rejects(create(), "ERR_DUPLICATE_TASK_ID");
      assert.deepEqual(await other.get("b"), aRecord("b"));
    }));

  it("is a failure, with the cause, where it is not there", () =>
    withStores(async (store, kv, other) => {
      failOnce(kv, { made: false });
      await rejects(store.create(aRecord("a")), "ERR_STORE_FAILED");
      assert.equal(await other.get("a"), undefined);
      await store.create(aRecord("a"));
      failOnce(kv, { made: false });
      await assert.rejects(store.update("a", { result: LARGE }, 1), (error) => {
        const { code, message, cause } = error as Error & { code: string };
        assert.equal(code, "ERR_STORE_FAILED");
        assert.match(message, /Cannot store a change/);
        assert.match(String(cause), /connection reset/);
        return true;
      });
      assert.deepEqual(await other.get("a"), aRecord("a"));
      await store.update("a", { result: LARGE }, 1);
    }));

  it("is unknown where the database cannot be read either", () =>
    withStores(async (store, kv) => {
      await store.create(aRecord("a"));
      failOnce(kv, {
        made: true,
        then: () => {
          kv.onRead = () => Promise.reject(new Error("no route"));
          return Promise.resolve();
        },
      });
      await assert.rejects(store.update("a", {}, 1), {
        code: "ERR_STORE_FAILED",
        message: /tell whether a change was stored/,
      });
    }));

  it("leaves no parts where it was not made", () =>
    withStores(async (store, kv, _, keys) => {
      await store.create(aRecord("a"));
      failOnce(kv, { made: false });
      await rejects(
        store.update("a", { result: LARGE }, 1),
        "ERR_STORE_FAILED",
      );
      assert.equal((await keys()).length, 1);
      // Another was faster.
      kv.onCommit = async (commit, mutations) => {
        if (mutations.some(({ key }) => key.includes("record"))) {
          kv.onCommit = (commit) => commit();
          await overwrite(store2, 1);
        }
        return await commit();
      };
      const store2 = new DenoKvTaskStore(kv);
      await rejects(
        store.update("a", { result: LARGE }, 1),
        "ERR_CONCURRENT_UPDATE",
      );
      assert.equal((await keys()).length, 1);
    }));
});

describe("DenoKvTaskStore, a database that is locked", () => {
  it("is tried again until it is free, by reads and by writes", () =>
    withStores(async (store, kv) => {
      let locked = 0;
      const lock = <T>(call: () => Promise<T>): Promise<T> => {
        if (locked++ % 4 === 3) return call();
        return Promise.reject(new TypeError("database is locked"));
      };
      kv.onRead = lock;
      kv.onCommit = lock;
      await store.create(aRecord("a", { result: LARGE }));
      await store.update("a", { owner: "o" }, 1);
      assert.equal((await store.get("a"))?.owner, "o");
      assert.ok(locked >= 20);
    }));

  it("is swept to its end all the same, and counted once", () =>
    withStores(async (store, kv, _, keys) => {
      for (let i = 0; i < 130; i++) {
        await store.create(aRecord(`${i}`, { ttlMs: 1_000 }));
      }
      let entries = 0;
      kv.onEntry = () => {
        if (++entries % 60 === 0) throw new Error("database is locked");
      };
      assert.equal(await store.sweep(CREATED_MS + DAY_MS), 130);
      assert.ok(entries > 130);
      assert.deepEqual(await keys(), []);
    }));

  it("counts what was deleted before a lock that it waited for once more", () =>
    withStores(async (store, kv) => {
      for (let i = 0; i < 25; i++) {
        await store.create(aRecord(`${i}`, { ttlMs: 1_000 }));
      }
      let deletions = 0;
      let lockedSince: number | undefined;
      kv.onCommit = (commit) => {
        if (++deletions === 1) return commit();
        lockedSince ??= performance.now();
        return performance.now() - lockedSince < 100
          ? Promise.reject(new Error("database is locked"))
          : commit();
      };
      assert.equal(await store.sweep(CREATED_MS + DAY_MS), 25);
    }, { busyTimeoutMs: 70 }));

  it("ends in a typed error, with the cause, when that takes too long", () =>
    withStores(async (store, kv) => {
      await store.create(aRecord("a"));
      const locked = new Error("Error code 5: database is locked\n\nStack:");
      kv.onCommit = () => Promise.reject(locked);
      const started = performance.now();
      await assert.rejects(store.update("a", {}, 1), {
        code: "ERR_STORE_FAILED",
        cause: locked,
      });
      assert.ok(performance.now() - started >= 70);
      kv.onRead = () => Promise.reject(locked);
      await assert.rejects(store.get("a"), {
        code: "ERR_STORE_FAILED",
        cause: locked,
      });
    }, { busyTimeoutMs: 70 }));

  it("is tried once with a time-out of 0, and any other error is not tried again", () =>
    withStores(async (store, kv) => {
      let tries = 0;
      kv.onRead = () => {
        tries++;
        return Promise.reject(new Error("database is locked"));
      };
      await rejects(store.get("a"), "ERR_STORE_FAILED");
      assert.equal(tries, 1);
      kv.onRead = () => {
        tries++;
        return Promise.reject(new Error("Bad resource ID"));
      };
      await rejects(store.get("a"), "ERR_STORE_FAILED");
      assert.equal(tries, 2);
    }, { busyTimeoutMs: 0 }));
});

describe("DenoKvTaskStore, a sweep beside a writer", () => {
  /** Runs a step before the write that points to parts. */
  function beforeSwap(kv: ProbeKv, step: () => Promise<void>, times = 1): void {
    kv.onCommit = async (commit, mutations) => {
      if (times > 0 && mutations.some(({ key }) => key.includes("record"))) {
        times--;
        await step();
      }
      return await commit();
    };
  }

  it("takes no parts whose record lands: the writer begins anew", () =>
    withKvFile(async (kv) => {
      const probe = new ProbeKv(kv);
      const store = new DenoKvTaskStore(probe);
      const early = new DenoKvTaskStore(kv, {
        now: () => Date.now() + 11 * MINUTE_MS,
      });
      let kept = 0;
      const sweep = async () => {
        assert.ok((await keysOf(kv)).length > kept);
        assert.equal(await early.sweep(0), 0);
        assert.equal((await keysOf(kv)).length, kept);
      };
      beforeSwap(probe, sweep, 3);
      await store.create(aRecord("a", { result: LARGE }));
      kept = (await keysOf(kv)).length;
      beforeSwap(probe, sweep, 2);
      const error = { code: 3, message: LARGE.text };
      await store.update("a", { error }, 1);
      assert.deepEqual(
        await store.get("a"),
        aRecord("a", { result: LARGE, error, version: 2 }),
      );
    }));

  it("leaves the parts of a writer that has begun within 10 minutes", () =>
    withKvFile(async (kv) => {
      const probe = new ProbeKv(kv);
      const store = new DenoKvTaskStore(probe);
      const early = new DenoKvTaskStore(kv, {
        now: () => Date.now() + 9 * MINUTE_MS,
      });
      let writes = 0;
      beforeSwap(probe, async () => {
        writes = probe.writes.length;
        await early.sweep(0);
      });
      await store.create(aRecord("a", { result: LARGE }));
      assert.equal(probe.writes.length, writes + 1);
    }));

  it("that comes between two writes of parts makes the writer begin anew", () =>
    withKvFile(async (kv) => {
      const probe = new ProbeKv(kv);
      const store = new DenoKvTaskStore(probe);
      const early = new DenoKvTaskStore(kv, {
        now: () => Date.now() + 11 * MINUTE_MS,
      });
      let commits = 0;
      probe.onCommit = async (commit) => {
        // 12 parts a write: the third comes too late.
        if (++commits === 3) await early.sweep(0);
        return await commit();
      };
      const result = { text: "x".repeat(2_000_000) };
      await store.create(aRecord("a", { result }));
      assert.ok(commits > 6);
      assert.deepEqual((await store.get("a"))?.result, result);
      assert.equal((await keysOf(kv)).length, 1 + 31);
      // The parts of a change have another name at each try.
      commits = 0;
      await store.update("a", { result }, 1);
      assert.ok(commits > 6);
      assert.equal((await keysOf(kv)).length, 1 + 31);
    }));

  it("deletes parts that a writer has left, and counts them for nothing", () =>
    withKvFile(async (kv) => {
      const probe = new ProbeKv(kv);
      const store = new DenoKvTaskStore(probe);
      await store.create(aRecord("kept", { result: LARGE }));
      const before = await keysOf(kv);
      // It "dies": neither the record nor anything after it is written.
      probe.onCommit = (commit, mutations) =>
        mutations.every(({ type }) => type === "set") &&
          !mutations.some(({ key }) => key.includes("record"))
          ? commit()
          : Promise.reject(new Error("the process is gone"));
      await rejects(
        store.create(aRecord("a", { result: LARGE })),
        "ERR_STORE_FAILED",
      );
      assert.ok((await keysOf(kv)).length > before.length);
      const left = await keysOf(kv);
      // 11 minutes later; and by a clock that is set right again.
      for (const minutes of [11, -11]) {
        const sweeper = new DenoKvTaskStore(kv, {
          now: () => Date.now() + minutes * MINUTE_MS,
        });
        assert.equal(await sweeper.sweep(), 0);
        assert.deepEqual(await keysOf(kv), before);
        await rejects(
          store.create(aRecord("a", { result: LARGE })),
          "ERR_STORE_FAILED",
        );
        assert.equal((await keysOf(kv)).length, left.length);
      }
    }));

  it("deletes no record whose TTL is raised between its read and its write", () =>
    withKvFile(async (kv) => {
      const probe = new ProbeKv(kv);
      const store = new DenoKvTaskStore(kv);
      const sweeper = new DenoKvTaskStore(probe);
      for (const taskId of ["a", "b", "c"]) {
        await store.create(aRecord(taskId, { ttlMs: 1_000, result: LARGE }));
      }
      probe.onCommit = async (commit) => {
        probe.onCommit = (commit) => commit();
        await store.update("b", { ttlMs: 3 * DAY_MS }, 1, CREATED_MS);
        return await commit();
      };
      assert.equal(await sweeper.sweep(CREATED_MS + DAY_MS), 2);
      assert.deepEqual(
        (await store.get("b", CREATED_MS + DAY_MS))?.result,
        LARGE,
      );
      assert.equal(await store.get("a", CREATED_MS), undefined);
      assert.equal(await sweeper.sweep(CREATED_MS + 4 * DAY_MS), 1);
      assert.deepEqual(await keysOf(kv), []);
    }));

  it("deletes the rest though one record never holds still", () =>
    withKvFile(async (kv) => {
      const probe = new ProbeKv(kv);
      const store = new DenoKvTaskStore(kv);
      const sweeper = new DenoKvTaskStore(probe);
      for (let i = 0; i < 9; i++) {
        await store.create(aRecord(`${i}`, { ttlMs: 1_000 }));
      }
      let version = 1;
      probe.onCommit = async (commit) => {
        await store.update("4", { owner: "o" }, version++, CREATED_MS);
        return await commit();
      };
      assert.equal(await sweeper.sweep(CREATED_MS + DAY_MS), 8);
      assert.equal((await store.get("4", CREATED_MS))?.version, version);
    }));
});

describe("DenoKvTaskStore, expiry", () => {
  it("sweeps what expired 10 minutes ago, and nothing later", () =>
    withStores(async (store) => {
      const ttls = [1_000, 2_000, 3_000, null];
      for (const ttlMs of ttls) {
        await store.create(aRecord(`${ttlMs}`, { ttlMs }));
      }
      const at = (ms: number) => CREATED_MS + 10 * MINUTE_MS + ms;
      assert.equal(await store.sweep(at(999)), 0);
      assert.equal(await store.sweep(at(2_500)), 2);
      assert.equal((await store.get("3000", CREATED_MS))?.version, 1);
      assert.equal(await store.sweep(at(DAY_MS)), 1);
      assert.equal((await store.get("null"))?.version, 1);
    }));

  it("lets the database drop a record a day after its TTL at the earliest, and none that has parts", () =>
    withStores(async (store, kv) => {
      const options = () =>
        kv.writes.splice(0).flat().flatMap((mutation) =>
          mutation.type === "set" && mutation.key.includes("record")
            ? [mutation.expireIn]
            : []
        );
      const at = CREATED_MS;
      await store.create(aRecord("a", { ttlMs: 5_000.5 }));
      await store.update("a", { owner: "o" }, 1, at + 4_000);
      await store.update("a", { ttlMs: 9_000 }, 2, at + 4_000);
      assert.deepEqual(options(), [
        DAY_MS + 5_001,
        DAY_MS + 5_001,
        DAY_MS + 9_000,
      ]);
      await store.update("a", { ttlMs: null }, 3, at);
      await store.update("a", { ttlMs: 7_000 }, 4, at);
      await store.update("a", { result: LARGE }, 5, at);
      await store.update("a", { ttlMs: 900_000 }, 6, at);
      await store.update("a", { result: {} }, 7, at);
      await store.update("a", { ttlMs: 20 * 365 * DAY_MS }, 8, at);
      assert.deepEqual(options(), [
        undefined,
        DAY_MS + 7_000,
        undefined,
        undefined,
        DAY_MS + 900_000,
        undefined,
      ]);
    }));

  it("clears away what is left where the database has dropped a record itself", () =>
    withKvFile(async (kv) => {
      const store = new DenoKvTaskStore(kv, { prefix: ["t"] });
      for (const taskId of ["a", "b"]) {
        await store.create(aRecord(taskId, { ttlMs: 1_000 }));
      }
      await kv.atomic().delete(["t", "record", "a"]).commit();
      assert.equal(await store.sweep(CREATED_MS + DAY_MS), 1);
      assert.deepEqual(await keysOf(kv), []);
    }));
});

describe("DenoKvTaskStore.sweep()", () => {
  const title =
    "deletes 4 records of 16 MiB, whose parts are too many for one write";
  if (runtime !== "deno") {
    skip(title, "it takes long through @deno/kv, and is the same code");
  } else {
    it(title, () =>
      withKvFile(async (kv) => {
        const maxRecordBytes = 16 * 1_024 * 1_024;
        const store = new DenoKvTaskStore(kv, { maxRecordBytes });
        const result = { text: "x".repeat(maxRecordBytes - 400) };
        for (let i = 0; i < 4; i++) {
          await store.create(aRecord(`${i}`, { ttlMs: 1_000, result }));
        }
        assert.equal(await store.sweep(CREATED_MS + DAY_MS), 4);
        assert.deepEqual(await keysOf(kv), []);
      }));
  }

  it("passes by what it cannot read, tells of it once, and deletes the rest", () =>
    withKvFile(async (kv) => {
      const damage: StoreDamage[] = [];
      const store = new DenoKvTaskStore(kv, {
        prefix: ["t"],
        now: () => Date.now() + DAY_MS,
        onDamage(found) {
          damage.push(found);
          throw new Error("nobody listens");
        },
      });
      const frame = {
        format: 1,
        version: 1,
        expiresAt: CREATED_MS + 1_000,
        writes: [],
        pieces: [],
        fields: {},
      };
      const piece = (...values: unknown[]) => ({ ...frame, pieces: [values] });
      const wrong: readonly [unknown, RegExp][] = [
        [{ ...frame, format: 2 }, /format of the value is 2, .* reads 1/],
        [null, /format of the value is undefined/],
        [{ ...frame, version: "1" }, /damaged/],
        [{ ...frame, expiresAt: "1" }, /damaged/],
        [{ ...frame, writes: null }, /damaged/],
        [{ ...frame, fields: 5 }, /damaged/],
        [{ ...frame, pieces: {} }, /damaged/],
        [{ ...frame, pieces: [5] }, /damaged/],
        [piece("result", "g", 0, 1e9, 65_536e9), /damaged/],
        [piece("result", "g", 0, 2, 65_536), /damaged/],
        [piece("result", "g", -1, 1, 5), /damaged/],
        [piece("other", "g", 0, 1, 5), /damaged/],
        [piece("result", 7, 0, 1, 5), /damaged/],
      ];
      for (const [i, [value]] of wrong.entries()) {
        await store.create(aRecord(`bad${i}`, { ttlMs: 1_000 }));
        await kv.atomic().set(["t", "record", `bad${i}`], bytes(value))
          .commit();
      }
      await store.create(aRecord("\ud800", { ttlMs: 1_000 }));
      const id = await idPartOf("\ud800");
      await kv.atomic().set(["t", "record", id], bytes(5)).commit();
      for (const taskId of ["a", "b"]) {
        await store.create(aRecord(taskId, { ttlMs: 1_000 }));
      }
      const manifests = [123, null, { at: 0, count: 1e9 }, { at: 0 }, [1]];
      for (const [i, value] of manifests.entries()) {
        await kv.atomic().set(["t", "manifest", `${i}`], bytes(value))
          .commit();
      }
      const left = 2 * (wrong.length + 1) + manifests.length;
      for (const deleted of [2, 0]) {
        assert.equal(await store.sweep(), deleted);
        assert.equal((await keysOf(kv)).length, left);
      }
      assert.equal(damage.length, wrong.length + 1);
      const told = new Map(damage.map(({ key, reason }) => [key, reason]));
      for (const [i, [, message]] of wrong.entries()) {
        assert.match(told.get(`["t","record","bad${i}"]`)!, message);
        for (
          const call of [
            store.get(`bad${i}`, 0),
            store.head(`bad${i}`, 0),
            store.update(`bad${i}`, {}, 1, 0),
            store.commit(`bad${i}`, {}, 1, 0),
          ]
        ) {
          await assert.rejects(call, (error: Error & { code?: string }) => {
            assert.equal(error.code, "ERR_STORE_FAILED");
            assert.match(String(error.cause), message);
            return true;
          });
        }
      }
      const hash = /^\["t","record","[0-9a-f]{64}"\]$/;
      assert.ok([...told.keys()].some((key) => hash.test(key)));
    }));

  it("looks at nothing of a store whose prefix goes on", () =>
    withKvFile(async (kv) => {
      const probe = new ProbeKv(kv);
      const now = () => Date.now() + DAY_MS;
      const store = new DenoKvTaskStore(probe, { prefix: ["app"], now });
      const others = [["other"], ["manifest"], ["until"], ["record"], ["part"]]
        .map((more) => new DenoKvTaskStore(kv, { prefix: ["app", ...more] }));
      // What could be taken for a manifest.
      const result = { at: 0, count: 1e9, text: "x".repeat(64_800) };
      for (const other of others) {
        await other.create(aRecord("a", { ttlMs: 1_000, result }));
      }
      const before = await keysOf(kv);
      let entries = 0;
      probe.onEntry = () => void entries++;
      assert.equal(await store.sweep(), 0);
      assert.equal(probe.writes.length, 0);
      // Those under the very name of the manifests stand among them.
      assert.ok(entries <= 5, `${entries}`);
      assert.deepEqual(await keysOf(kv), before);
    }));

  it("clears away the expiry of a record that the database has dropped, where another of its id has come", () =>
    withKvFile(async (kv) => {
      const store = new DenoKvTaskStore(kv, { prefix: ["t"] });
      await store.create(aRecord("a", { ttlMs: 1_000 }));
      await kv.atomic().delete(["t", "record", "a"]).commit();
      const next = aRecord("a", { ttlMs: 2 * DAY_MS });
      await store.create(next);
      assert.equal((await keysOf(kv)).length, 3);
      assert.equal(await store.sweep(CREATED_MS + DAY_MS), 0);
      assert.equal((await keysOf(kv)).length, 2);
      assert.deepEqual(await store.get("a", CREATED_MS), next);
      assert.equal(await store.sweep(CREATED_MS + 3 * DAY_MS), 1);
      assert.deepEqual(await keysOf(kv), []);
    }));
});

function bytes(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

describe("DenoKvTaskStore.close()", () => {
  it("waits for what is under way, and leaves the handle open", () =>
    withKvFile(async (kv) => {
      const store = new DenoKvTaskStore(kv);
      await store.create(aRecord("a"));
      let done = false;
      void store.update("a", { result: LARGE }, 1).then(() => done = true);
      await store.close();
      assert.ok(done);
      assert.ok((await keysOf(kv)).length > 1);
    }));
});
