import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { DenoKvTaskStore, type DenoKvTaskStoreOptions } from "../../deno_kv.ts";
import { TaskLifecycle, type TaskRecord } from "../../mod.ts";
import { jsonBytes } from "../../src/model/json.ts";
import { keysOf, openTestKv, withKvFile } from "../support/deno_kv.ts";
import { ProbeKv } from "../support/deno_kv_probe.ts";
import { aPatch, aRecord, CREATED_MS } from "../support/records.ts";
import { rejects } from "../support/rejects.ts";
import { describe, it } from "../support/runner.ts";

const KIB = 1_024;
const MIB = KIB * KIB;

/** Runs a body with a store in memory, and what stands between it and its database. */
async function withStore(
  body: (store: DenoKvTaskStore, kv: ProbeKv) => Promise<void>,
  options: DenoKvTaskStoreOptions = {},
): Promise<void> {
  const inner = await openTestKv(":memory:");
  const kv = new ProbeKv(inner);
  const store = new DenoKvTaskStore(kv, { durable: false, ...options });
  try {
    await body(store, kv);
    await store.close();
  } finally {
    inner.close();
  }
}

/** A record of an exact size, in bytes of its JSON. */
function recordOf(
  bytes: number,
  { taskId = "a", unit = "x" } = {},
): TaskRecord {
  const make = (text: string) => aRecord(taskId, { result: { text } });
  const room = bytes - jsonBytes(make(""));
  const width = jsonBytes(unit) - 2;
  const filler = "x".repeat(room % width);
  return make(unit.repeat(Math.floor(room / width)) + filler);
}

describe("new DenoKvTaskStore()", () => {
  it("refuses options that are none, with the value", async () => {
    const kv = await openTestKv(":memory:");
    const wrong: [DenoKvTaskStoreOptions, RegExp][] = [
      [{ prefix: [] }, /prefix: the value is an array of 0/],
      [{ prefix: "tasks" as never }, /prefix: the value is "tasks"/],
      [{ prefix: ["a", "\ud800"] }, /prefix: the value is "\\ud800"/],
      [{ prefix: ["a\0"] }, /prefix/],
      [
        { prefix: ["é".repeat(100)] },
        /prefix: it takes 202 bytes, at most 200/,
      ],
      [{ maxRecordBytes: 65_535 }, /maxRecordBytes: the value is 65535/],
      [
        { maxRecordBytes: 16 * MIB + 1 },
        /maxRecordBytes: the value is 16777217/,
      ],
      [{ maxRecordBytes: 1.5 * MIB + 0.5 }, /maxRecordBytes/],
      [{ durable: 1 as never }, /durable: the value is 1/],
      [{ watch: "on" as never }, /watch: the value is "on"/],
      [{ onDamage: {} as never }, /onDamage: .* a function is needed/],
      [{ busyTimeoutMs: -1 }, /busyTimeoutMs: the value is -1/],
      [{ busyTimeoutMs: 2 ** 31 }, /busyTimeoutMs: the value is 2147483648/],
      [{ now: 7 as never }, /now: the value is 7/],
      [
        { busyTimeout: 5 } as never,
        /DenoKvTaskStore: there is no option "busyTimeout"; did you mean busyTimeoutMs\?/,
      ],
      [null as never, /the options are null, an object/],
    ];
    for (const [options, message] of wrong) {
      assert.throws(() => new DenoKvTaskStore(kv, options), {
        code: "ERR_INVALID_ARGUMENT",
        message,
      });
    }
    kv.close();
  });

  it("refuses a handle that is none, such as one that was not awaited", async () => {
    const opening = openTestKv(":memory:");
    assert.throws(() => new DenoKvTaskStore(opening as never), {
      code: "ERR_INVALID_ARGUMENT",
      message: /kv: the value is an object, a Deno KV, such as `await Deno/,
    });
    assert.throws(() => new DenoKvTaskStore(undefined as never), TypeError);
    (await opening).close();
  });

  it("takes the longest prefix, and the largest record with it", () =>
    withStore(async (store) => {
      const taskId = "漢".repeat(200);
      const record = recordOf(16 * MIB, { taskId });
      await store.create(record);
      assert.deepEqual(await store.get(taskId), record);
      const next = recordOf(16 * MIB, { taskId, unit: "漢" });
      await store.update(taskId, { result: next.result }, 1);
      assert.deepEqual(await store.get(taskId), { ...next, version: 2 });
    }, { prefix: ["p".repeat(198)], maxRecordBytes: 16 * MIB }));

  it("says what it was told of itself", () =>
    withStore((store) => {
      assert.deepEqual(store.traits, {
        durable: false,
        writers: "shared",
        compareAndSwap: true,
        reads: "latest",
        maxRecordBytes: 77_777,
      });
      return Promise.resolve();
    }, { maxRecordBytes: 77_777 }));
});

describe("DenoKvTaskStore, sizes", () => {
  for (const unit of ["x", "é", "😀"]) {
    it(`keeps records around 64 KiB, of 1 MiB and of 8 MiB, of ${unit}`, () =>
      withStore(async (store, kv) => {
        const sizes = [-300, -130, -100, -64, -1, 0, 1, 2]
          .map((more) => 64 * KIB + more);
        for (const bytes of [...sizes, 128 * KIB + 1, MIB, 8 * MIB]) {
          const taskId = `${bytes}`;
          const record = recordOf(bytes, { taskId, unit });
          assert.equal(Buffer.byteLength(JSON.stringify(record)), bytes);
          await store.create(record);
          assert.deepEqual(await store.get(taskId), record);
          const updated = await store.update(taskId, { owner: "o" }, 1);
          assert.deepEqual(updated, { ...record, owner: "o", version: 2 });
          assert.deepEqual(await store.get(taskId), updated);
        }
        for (const mutation of kv.writes.flat()) {
          assert.ok(
            mutation.type === "delete" || mutation.value.length <= 65_536,
          );
        }
      }, { maxRecordBytes: 8 * MIB + 20 }));
  }

  it("counts what a change leaves where it is", () =>
    withStore(async (store) => {
      const max = 100_000;
      const record = recordOf(max - 16);
      await store.create(record);
      await rejects(
        store.update("a", { owner: "123456" }, 1),
        "ERR_ENTRY_TOO_LARGE",
      );
      await rejects(
        store.commit("a", { owner: "123456" }, 1),
        "ERR_ENTRY_TOO_LARGE",
      );
      assert.deepEqual(await store.get("a"), record);
      assert.equal(await store.commit("a", { owner: "12345" }, 1), 2);
    }, { maxRecordBytes: 100_000 }));

  it("lets a record from the time of a higher limit shrink", () =>
    withKvFile(async (kv) => {
      const before = new DenoKvTaskStore(kv);
      await before.create(recordOf(300_000));
      const store = new DenoKvTaskStore(kv, { maxRecordBytes: 100_000 });
      const error = { code: 7, message: "e".repeat(1_025) };
      await rejects(store.update("a", { error }, 1), "ERR_ENTRY_TOO_LARGE");
      const smaller = { text: "x".repeat(200_000) };
      await store.update("a", { result: smaller }, 1);
      await rejects(store.update("a", { error }, 2), "ERR_ENTRY_TOO_LARGE");
      await store.update("a", { result: undefined, error }, 2);
      assert.deepEqual((await store.get("a"))?.error, error);
    }));
});

describe("DenoKvTaskStore, parts", () => {
  it("makes a change of a small record with one read and one write", () =>
    withStore(async (store, kv) => {
      await store.create(recordOf(60_000));
      for (const change of ["update", "commit"] as const) {
        const version = (await store.head("a"))!.version;
        kv.reads = 0;
        kv.writes.length = 0;
        await store[change]("a", { statusMessage: change }, version);
        assert.equal(kv.reads, 1);
        assert.equal(kv.writes.length, 1);
        assert.equal(kv.writes[0].length, 1);
      }
    }));

  it("writes a change, and not what stays, of a record of 1 MiB", () =>
    withStore(async (store, kv) => {
      const record = aRecord("a", {
        result: { text: "r".repeat(MIB) },
        error: { code: 1, message: "e".repeat(100_000) },
      });
      await store.create(record);
      assert.ok(kv.takeWrittenBytes() > MIB + 100_000);
      kv.reads = 0;
      assert.equal(await store.commit("a", { statusMessage: "half" }, 1), 2);
      assert.equal(kv.reads, 1);
      assert.ok(kv.takeWrittenBytes() < 500);
      assert.deepEqual(
        (await store.head("a"))?.statusMessage,
        "half",
      );
      assert.equal(kv.reads, 2);
      await store.update("a", { owner: "o" }, 2);
      assert.ok(kv.takeWrittenBytes() < 500);
      await store.update("a", { error: { code: 2, message: "f" } }, 3);
      assert.ok(kv.takeWrittenBytes() < 500);
      assert.deepEqual(await store.get("a"), {
        ...record,
        statusMessage: "half",
        owner: "o",
        error: { code: 2, message: "f" },
        version: 4,
      });
    }));

  it("leaves no parts of what was replaced, dropped or swept", () =>
    withKvFile(async (kv) => {
      const store = new DenoKvTaskStore(kv);
      const large = (bytes: number) => ({ text: "x".repeat(bytes) });
      const count = async () => (await keysOf(kv)).length;
      await store.create(
        aRecord("a", { ttlMs: 1_000, result: large(200_000) }),
      );
      // The record, what says when it expires, and four parts.
      assert.equal(await count(), 6);
      await store.update("a", { result: large(400_000) }, 1, CREATED_MS);
      assert.equal(await count(), 9);
      await store.update(
        "a",
        aPatch({ inputRequests: large(70_000) }),
        2,
        CREATED_MS,
      );
      assert.equal(await count(), 11);
      await store.update("a", { result: { ok: true } }, 3, CREATED_MS);
      assert.equal(await count(), 4);
      await store.update("a", { inputRequests: undefined }, 4, CREATED_MS);
      assert.equal(await count(), 2);
      await store.update(
        "a",
        { ttlMs: null, result: large(70_000) },
        5,
        CREATED_MS,
      );
      assert.equal(await count(), 3);
      await store.update("a", { ttlMs: 1_000 }, 6, CREATED_MS);
      assert.equal(await count(), 4);
      assert.equal(await store.sweep(CREATED_MS + 86_400_000), 1);
      assert.deepEqual(await keysOf(kv), []);
      await store.close();
    }));

  it("reads a record whose parts are replaced meanwhile: one version, whole", () =>
    withStore(async (store, kv) => {
      const result = (version: number) => ({
        version,
        text: `${version}`.repeat(90_000),
      });
      await store.create(aRecord("a", { result: result(1) }));
      let version = 1;
      kv.onRead = async (read) => {
        const value = await read();
        kv.onRead = (read) => read();
        await store.update("a", { result: result(version + 1) }, version);
        version++;
        return value;
      };
      const found = await store.get("a");
      assert.equal(version, 2);
      assert.equal(found?.version, 2);
      assert.deepEqual(found?.result, result(2));
    }));

  it("says so where parts are missing for good", () =>
    withKvFile(async (kv) => {
      const store = new DenoKvTaskStore(kv);
      await store.create(recordOf(100_000));
      const { end, start } = { start: [new Uint8Array()], end: [Infinity] };
      for await (const { key } of kv.list({ start, end })) {
        if (key.includes("part")) {
          await kv.atomic().delete(key as never).commit();
        }
      }
      await rejects(store.get("a"), "ERR_STORE_FAILED");
      await rejects(store.update("a", {}, 1), "ERR_STORE_FAILED");
      assert.equal((await store.head("a"))?.version, 1);
      await store.close();
    }));

  it("refuses a value that somebody else has written there", () =>
    withKvFile(async (kv) => {
      const store = new DenoKvTaskStore(kv, { prefix: ["t"] });
      const bytes = new TextEncoder().encode('{"format":9}');
      await kv.atomic().set(["t", "record", "a"], bytes).commit();
      await assert.rejects(store.get("a"), (error: Error) => {
        assert.match(String(error.cause), /format of the value is 9/);
        return (error as Error & { code?: string }).code === "ERR_STORE_FAILED";
      });
      await store.close();
    }));
});

describe("DenoKvTaskStore, ids", () => {
  it("keeps ids of any length and any code units apart", () =>
    withStore(async (store) => {
      const ids = [
        "",
        "\0",
        "a\0",
        "\ud800",
        "\udc00",
        "\ufffd",
        "é",
        "e\u0301",
        "x".repeat(200),
        "x".repeat(201),
        "x".repeat(3_000),
        `${"x".repeat(2_999)}y`,
        "\0".repeat(100),
        "\0".repeat(101),
        "漢".repeat(1_000),
      ];
      for (const [i, taskId] of ids.entries()) {
        await store.create(aRecord(taskId, { owner: `${i}`, ttlMs: 1_000 }));
      }
      for (const [i, taskId] of ids.entries()) {
        const found = await store.get(taskId, CREATED_MS);
        assert.equal(found?.taskId, taskId);
        assert.equal(found?.owner, `${i}`);
      }
      assert.equal(await store.sweep(CREATED_MS + 86_400_000), ids.length);
    }));

  it("keeps stores with different prefixes apart, and sweeps its own", () =>
    withKvFile(async (kv) => {
      const one = new DenoKvTaskStore(kv, { prefix: ["app", "tasks"] });
      const other = new DenoKvTaskStore(kv, { prefix: ["app", "tasks2"] });
      const inner = new DenoKvTaskStore(kv, { prefix: ["app"] });
      for (const store of [one, other, inner]) {
        await store.create(
          aRecord("a", { ttlMs: 1_000, result: { text: "x".repeat(70_000) } }),
        );
      }
      assert.equal(await one.sweep(CREATED_MS + 86_400_000), 1);
      for (const store of [other, inner]) {
        assert.equal((await store.get("a", CREATED_MS))?.version, 1);
      }
    }));

  it("leaves those alone whose prefix goes on with a name of its own keys", () =>
    withKvFile(async (kv) => {
      const outer = new DenoKvTaskStore(kv, { prefix: ["a"] });
      for (const name of ["record", "part", "manifest", "until"]) {
        const inner = new DenoKvTaskStore(kv, { prefix: ["a", name] });
        const lasting = aRecord("lasting", { ttlMs: null });
        const large = { text: "x".repeat(70_000) };
        const ending = aRecord("ending", { ttlMs: 9_000, result: large });
        await inner.create(lasting);
        await inner.create(ending);
        assert.equal(await outer.sweep(CREATED_MS + 86_400_000), 0);
        assert.deepEqual(await inner.get("lasting", CREATED_MS), lasting);
        assert.deepEqual(await inner.get("ending", CREATED_MS), ending);
        assert.equal(await inner.sweep(CREATED_MS + 86_400_000), 1);
        await inner.close();
      }
      await outer.close();
    }));
});

describe("DenoKvTaskStore over TaskLifecycle", () => {
  it("keeps a task through a restart", () =>
    withKvFile(async (kv, file) => {
      const before = new TaskLifecycle({ store: new DenoKvTaskStore(kv) });
      const { taskId } = await before.createTask({ ttlMs: 90_000 });
      await before.handle(taskId).progress("half");
      await before.close();
      const store = new DenoKvTaskStore(await file.open());
      const after = new TaskLifecycle({ store });
      assert.equal((await after.getTask(taskId)).statusMessage, "half");
      await after.handle(taskId).complete({ text: "é".repeat(100_000) });
      assert.equal((await after.getTask(taskId)).status, "completed");
      await after.close();
    }));
});
