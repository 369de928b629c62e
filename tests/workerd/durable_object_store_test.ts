/** What the kit does not ask of the store in a Durable Object. */
import assert from "node:assert/strict";
import fc from "../support/fast_check.ts";
import {
  type DurableObjectStorageBinding,
  DurableObjectTaskStore,
  type DurableObjectTaskStoreOptions,
  type StoreDamage,
} from "../../cloudflare.ts";
import { PART_BYTES } from "../../src/cloudflare/durable_object_entry.ts";
import { hasErrorCode, type TaskErrorCode } from "../../src/errors.ts";
import type { TaskRecord } from "../../mod.ts";
import {
  type StorageCall,
  storedBytes,
  watchStorage,
} from "../support/durable_object_storage.ts";
import { aPatch, aRecord, CREATED_MS } from "../support/records.ts";
import { rejects } from "../support/rejects.ts";
import { describe, it } from "../support/runner.ts";
import { durableObject, inDurableObject } from "../support/workerd_bindings.ts";

const text = (length: number, unit = "x") => unit.repeat(length / unit.length);

/** Every key in the storage. */
async function keysIn(storage: DurableObjectStorageBinding) {
  return [...(await storage.list({})).keys()];
}

/** A store, and what it called since `calls` was emptied. */
function watched(storage: DurableObjectStorageBinding) {
  const calls: StorageCall[] = [];
  const store = new DurableObjectTaskStore(
    watchStorage(storage, (call) => void calls.push(call)),
  );
  return { store, calls };
}

function refuses(
  make: () => unknown,
  code: TaskErrorCode,
  message: RegExp,
): void {
  assert.throws(make, (error) => {
    assert.ok(hasErrorCode(error, code), String(error));
    assert.match((error as Error).message, message);
    return true;
  });
}

describe("DurableObjectTaskStore", () => {
  it("commit() of a progress leaves the megabytes of a record alone", () =>
    inDurableObject(async ({ storage }) => {
      const { store, calls } = watched(storage);
      const result = { log: text(3_000_000) };
      await store.create(aRecord("large", { result, ttlMs: 77_000 }));
      calls.length = 0;
      for (let version = 1; version <= 20; version++) {
        const statusMessage = `${version} of 20`;
        const at = CREATED_MS + version;
        await store.commit("large", aPatch({ statusMessage }), version, at);
      }
      assert.deepEqual(
        calls.slice(0, 3).map(({ method }) => method),
        ["transaction", "get", "put"],
      );
      const puts = calls.filter(({ method }) => method === "put");
      assert.equal(puts.length, 20);
      for (const { keys, values } of puts) {
        assert.equal(keys.length, 1);
        assert.ok(storedBytes(values[0]) < 1_000);
      }
      assert.equal(calls.length, 60);
      assert.deepEqual(
        await store.get("large", CREATED_MS),
        aRecord("large", {
          result,
          ttlMs: 77_000,
          statusMessage: "20 of 20",
          version: 21,
        }),
      );
    }));

  it("update() does not read what it replaces", () =>
    inDurableObject(async ({ storage }) => {
      const { store, calls } = watched(storage);
      await store.create(aRecord("a", { result: { r: text(300_000) } }));
      calls.length = 0;
      const result = { r: "short" };
      assert.deepEqual(
        await store.update("a", aPatch({ result }), 1),
        aRecord("a", { result, version: 2 }),
      );
      const gets = calls.filter(({ method }) => method === "get");
      assert.deepEqual(gets.map(({ keys }) => keys.length), [1]);
    }));

  it("head() reads nothing of the fields that may be large", () =>
    inDurableObject(async ({ storage }) => {
      const { store, calls } = watched(storage);
      const more = { owner: "ada", steps: { one: [1] } };
      await store.create(
        aRecord("a", { ...more, result: { r: text(500_000) } }),
      );
      calls.length = 0;
      assert.deepEqual(await store.head("a"), aRecord("a", more));
      assert.deepEqual(calls.map(({ method, keys }) => [method, keys.length]), [
        ["get", 1],
      ]);
      assert.equal(await store.head("b"), undefined);
    }));

  it("head() and get() give a head that is itself in parts", () =>
    inDurableObject(async ({ storage }) => {
      const { store } = watched(storage);
      const head = aRecord("a", { steps: { one: text(400_000, "ö€") } });
      const record = { ...head, error: { code: 3, message: text(5_000) } };
      await store.create(record);
      assert.deepEqual(await store.head("a"), head);
      assert.deepEqual(await store.get("a"), record);
    }));

  it("get() does not mix two versions of a record that is written meanwhile", () =>
    inDurableObject(async ({ storage }) => {
      const turn = () => new Promise((resolve) => setTimeout(resolve, 0));
      // As without SQLite, where a read may take its time.
      const store = new DurableObjectTaskStore(
        watchStorage(storage, async ({ method }) => {
          if (method === "get") await turn();
        }),
      );
      const fields = (letter: string) => ({
        statusMessage: letter,
        result: { log: text(300_000, letter) },
      });
      await store.create(aRecord("a", fields("a")));
      let done = false;
      let reads = 0;
      const read = async () => {
        while (!done) {
          const { statusMessage, result } = (await store.get("a"))!;
          assert.equal(result!.log, text(300_000, statusMessage!));
          reads++;
        }
      };
      const write = async () => {
        for (let version = 1; version <= 25; version++) {
          const letter = String.fromCharCode(97 + version);
          await store.commit("a", fields(letter), version);
          await turn(); // or nobody else would get to read
        }
        done = true;
      };
      await Promise.all([read(), read(), read(), write()]);
      assert.ok(reads > 20, `${reads} reads`);
    }));

  it("a field that grows and shrinks leaves no part behind, nor does a sweep", () =>
    inDurableObject(async ({ storage }) => {
      const { store } = watched(storage);
      await storage.put({ host: "mine", "mcp-durable-tasks": "mine too" });
      const before = await keysIn(storage);
      let record: TaskRecord = aRecord("a", { ttlMs: 10_000 });
      await store.create(record);
      for (
        const [bytes, parts] of [
          [3 * PART_BYTES, 4],
          [PART_BYTES - 8, 1],
          [PART_BYTES - 7, 2],
          [4_089, 1],
          [4_088, 0],
          [2 * PART_BYTES, 3],
          [undefined, 0],
        ] as const
      ) {
        // Eight bytes more with what is around the text.
        const result = bytes === undefined ? undefined : { r: text(bytes) };
        record = await store.update(
          "a",
          aPatch({ result }),
          record.version,
          CREATED_MS,
        );
        assert.deepEqual(record.result, result);
        assert.deepEqual(await store.get("a", CREATED_MS), record);
        // Beside the parts: the entry, the place in the order of expiry, the alarm.
        const keys = await keysIn(storage);
        assert.equal(keys.length - before.length, parts + 3, `${bytes}`);
      }
      await store.update(
        "a",
        aPatch({ result: { r: text(900_000) } }),
        record.version,
        CREATED_MS,
      );
      assert.equal(await store.sweep(CREATED_MS + 10_000), 1);
      await store.alarm();
      assert.deepEqual(await keysIn(storage), before);
    }));

  it("sweep() of many large records deletes no more than a transaction should at once", () =>
    inDurableObject(async ({ storage }) => {
      const { store, calls } = watched(storage);
      for (let i = 0; i < 13; i++) {
        const result = { r: text(50 * PART_BYTES) };
        await store.create(aRecord(`t${i}`, { ttlMs: 500 + i, result }));
      }
      calls.length = 0;
      assert.equal(await store.sweep(CREATED_MS + 511), 12);
      assert.deepEqual(
        calls.filter(({ method }) => method === "transaction").length,
        2,
      );
      assert.ok(calls.every(({ keys }) => keys.length <= 128));
      assert.equal((await store.get("t12", CREATED_MS + 511))?.taskId, "t12");
    }));

  it("sweep() comes to its end where many have less than a millisecond to go", () =>
    inDurableObject(async ({ storage }) => {
      const { store } = watched(storage);
      for (let i = 0; i < 150; i++) {
        await store.create(aRecord(`t${i}`, { ttlMs: 500.5 }));
      }
      await store.create(aRecord("gone", { ttlMs: 500.1 }));
      assert.equal(await store.sweep(CREATED_MS + 500.3), 1);
      assert.equal(await store.sweep(CREATED_MS + 500.5), 150);
    }));

  it("random changes keep what a record holds, and no key too many", () =>
    inDurableObject(async ({ storage }) => {
      const sizes = fc.constantFrom(
        0,
        90,
        4_090,
        5_000,
        98_304,
        98_400,
        300_000,
      );
      const change = fc.record({
        statusMessage: fc.option(fc.string({ unit: "binary" }), {
          nil: undefined,
        }),
        inputRequests: sizes,
        inputResponses: sizes,
        result: sizes,
        steps: sizes,
        ttlMs: fc.constantFrom(null, 1_000, 2_000),
      }, { requiredKeys: [] });
      let round = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(change, { minLength: 1, maxLength: 6 }),
          async (changes) => {
            const prefix = `round ${++round}/`;
            const options = { prefix, alarm: false };
            const store = new DurableObjectTaskStore(storage, options);
            const model: Record<string, unknown> = { ...aRecord("a") };
            await store.create(aRecord("a"));
            for (const change of changes) {
              const patch: Record<string, unknown> = {};
              for (const [key, value] of Object.entries(change)) {
                patch[key] = typeof value !== "number" || key === "ttlMs"
                  ? value
                  : value === 0
                  ? undefined
                  : { text: text(value) };
              }
              const version = model.version as number;
              await store.commit("a", aPatch(patch), version, CREATED_MS);
              Object.assign(model, patch, { version: version + 1 });
              for (const key of Object.keys(model)) {
                if (model[key] === undefined) delete model[key];
              }
              assert.deepEqual(await store.get("a", CREATED_MS), model);
            }
            await store.update(
              "a",
              { ttlMs: 7 },
              model.version as number,
              CREATED_MS,
            );
            assert.equal(await store.sweep(CREATED_MS + 7), 1);
            assert.deepEqual([...(await storage.list({ prefix })).keys()], []);
          },
        ),
        { numRuns: 15 },
      );
    }));

  it("a write that fails at any of its steps leaves the record as it was", () =>
    inDurableObject(async ({ storage }) => {
      const before = aRecord("a", {
        result: { r: text(300_000) },
        inputRequests: {},
        ttlMs: 60_000,
      });
      const sound = new DurableObjectTaskStore(storage);
      await sound.create(before);
      const patch = aPatch({
        result: { r: text(7_000_000) },
        statusMessage: "new",
        ttlMs: 90_000,
      });
      const keys = await keysIn(storage);
      let steps = 0;
      for (let failAt = 1;; failAt++) {
        steps = 0;
        const store = new DurableObjectTaskStore(
          watchStorage(storage, () => {
            if (++steps === failAt) throw new Error("no");
          }),
        );
        try {
          await store.update("a", patch, 1, CREATED_MS);
          break; // it takes fewer steps than that
        } catch (error) {
          assert.ok(hasErrorCode(error, "ERR_STORE_FAILED"), String(error));
          assert.equal(((error as Error).cause as Error).message, "no");
        }
        assert.deepEqual(await sound.get("a", CREATED_MS), before);
        assert.deepEqual(await keysIn(storage), keys);
      }
      assert.ok(steps >= 7, `${steps} steps`);
      assert.equal((await sound.get("a", CREATED_MS))?.statusMessage, "new");
    }));

  it("an object that is reset at any step of a write has the record whole, old or new", async () => {
    const object = durableObject();
    const before = aRecord("a", { result: { r: text(300_000) } });
    await object.run(({ storage }) =>
      new DurableObjectTaskStore(storage).create(before)
    );
    const fields = { result: { r: text(1_500_000) }, statusMessage: "new" };
    for (let resetAt = 1, done = false; !done; resetAt++) {
      let reset = false;
      const outcome = object.run(async (ctx) => {
        let steps = 0;
        const store = new DurableObjectTaskStore(
          watchStorage(ctx.storage, () => {
            if (++steps !== resetAt) return;
            reset = true;
            ctx.abort("reset in a write");
          }),
        );
        await store.update("a", aPatch(fields), 1);
      });
      await outcome.then(() => done = true, (error) => {
        assert.ok(reset, String(error));
      });
      const after = await object.run(({ storage }) =>
        new DurableObjectTaskStore(storage).get("a")
      );
      if (done) assert.deepEqual(after, { ...before, ...fields, version: 2 });
      else assert.deepEqual(after, before);
    }
  });

  it("refuses what is too large, whole records as well as growing ones", () =>
    inDurableObject(async ({ storage }) => {
      const open = (options: DurableObjectTaskStoreOptions) =>
        new DurableObjectTaskStore(storage, options);
      const small = open({ maxRecordBytes: 100_000 });
      assert.equal(small.traits.maxRecordBytes, 100_000);
      await rejects(
        small.create(aRecord("a", { result: { r: text(100_000) } })),
        "ERR_ENTRY_TOO_LARGE",
      );
      assert.deepEqual(await keysIn(storage), []);
      const large = open({ maxRecordBytes: 900_000 });
      await large.create(aRecord("a", { result: { r: text(800_000) } }));
      await rejects(
        small.commit("a", aPatch({ statusMessage: text(1_025) }), 1),
        "ERR_ENTRY_TOO_LARGE",
      );
      // A lower limit than before does not hinder what makes it smaller.
      await small.commit("a", aPatch({ result: { r: text(500_000) } }), 1);
      assert.equal((await small.head("a"))?.version, 2);
    }));

  it("a store of another prefix has other tasks, and the host's keys stay", () =>
    inDurableObject(async ({ storage }) => {
      await storage.put({ z: 1 });
      const a = new DurableObjectTaskStore(storage, { prefix: "a/" });
      const b = new DurableObjectTaskStore(storage, { prefix: "b/" });
      await a.create(aRecord("one", { ttlMs: 10 }));
      assert.equal(await b.get("one", CREATED_MS), undefined);
      await b.create(aRecord("one", { ttlMs: 20 }));
      assert.equal(await b.sweep(CREATED_MS + 10), 0);
      assert.equal(await a.sweep(CREATED_MS + 10), 1);
      assert.equal((await b.get("one", CREATED_MS))?.ttlMs, 20);
      assert.deepEqual(await storage.get(["z"]), new Map([["z", 1]]));
    }));

  it("says so when parts of what is stored are missing", () =>
    inDurableObject(async ({ storage }) => {
      const store = new DurableObjectTaskStore(storage);
      await store.create(aRecord("a", { result: { r: text(250_000) } }));
      await store.create(aRecord("b"));
      const keys = await keysIn(storage);
      await storage.delete([keys.find((key) => key.endsWith("/0001"))!]);
      await assert.rejects(store.get("a"), (error: Error) => {
        assert.ok(hasErrorCode(error, "ERR_STORE_FAILED"));
        assert.match(
          String(error.cause),
          /parts of .*result\/0000 are missing/,
        );
        return true;
      });
      assert.equal((await store.head("a"))?.version, 1);
      await store.create(aRecord("c", { ttlMs: 30 }));
      await store.create(aRecord("d", { ttlMs: 40 }));
      const [gone] = (await keysIn(storage))
        .filter((key) => key.endsWith("=c/entry"));
      await storage.delete([gone]);
      assert.equal(await store.sweep(CREATED_MS + 40), 1); // the other is not held up
    }));

  it("answers with a typed error for what it cannot read, leaves it, and sweeps the others", () =>
    inDurableObject(async ({ storage }) => {
      const head = (value: unknown) => ({
        format: 1,
        columns: { head: new TextEncoder().encode(JSON.stringify(value)) },
      });
      const bytes = new Uint8Array([123, 34, 255, 34]);
      const wrong: readonly [unknown, RegExp, sweepable?: boolean][] = [
        [{ format: 2 }, /format 2, and this version of the library reads 1/],
        [{ format: "1", columns: {} }, /no entry of a task/],
        [{ format: 1 }, /no entry of a task/],
        [{ format: 1, columns: {} }, /no entry of a task/],
        [{ format: 1, columns: { head: "{}" } }, /no entry of a task/],
        [{ format: 1, columns: { head: 1e15 } }, /no entry of a task/],
        [{ format: 1, columns: { head: -1 } }, /no entry of a task/],
        ["text", /no entry of a task/],
        [null, /no entry of a task/],
        [head(null), /no record/, true],
        [head({ ...aRecord("a"), version: "1" }), /no record/, true],
        [head({ ...aRecord("a"), createdAt: 5 }), /no record/, true],
        [{ format: 1, columns: { head: bytes } }, /./, true],
      ];
      const damage: StoreDamage[] = [];
      const store = new DurableObjectTaskStore(storage, {
        alarm: false,
        onDamage(found) {
          damage.push(found);
          throw new Error("nobody listens");
        },
      });
      let left = 0;
      for (const [value, message, sweepable] of wrong) {
        await store.create(aRecord("bad", { ttlMs: 10 }));
        await store.create(aRecord("good", { ttlMs: 20 }));
        const [entry] = (await keysIn(storage))
          .filter((key) => key.endsWith("=bad/entry"));
        await storage.put({ [entry]: value });
        for (
          const call of [
            () => store.get("bad", CREATED_MS),
            () => store.head("bad", CREATED_MS),
            () => store.update("bad", {}, 1, CREATED_MS),
            () => store.commit("bad", {}, 1, CREATED_MS),
          ]
        ) {
          await assert.rejects(call, (error: Error) => {
            assert.ok(hasErrorCode(error, "ERR_STORE_FAILED"), String(error));
            assert.match(String(error.cause), message);
            return true;
          });
        }
        const swept = sweepable ? 2 : 1;
        assert.equal(await store.sweep(CREATED_MS + 20), swept);
        if (!sweepable) left = 1;
        assert.equal(await store.sweep(CREATED_MS + 20), 0);
        assert.deepEqual(damage.map(({ key }) => key), left ? [entry] : []);
        assert.equal((await storage.get([entry])).size, sweepable ? 0 : 1);
        await storage.delete([entry]);
        await store.sweep(CREATED_MS + 20);
      }
    }));

  it("update() refuses before it writes where a field that stays is damaged, and commit() passes it by", () =>
    inDurableObject(async ({ storage }) => {
      const store = new DurableObjectTaskStore(storage);
      await store.create(aRecord("a", { result: {}, error: undefined }));
      const [entry] = (await keysIn(storage))
        .filter((key) => key.endsWith("=a/entry"));
      const value = (await storage.get([entry])).get(entry) as {
        columns: object;
      };
      const result = new Uint8Array([123]);
      await storage.put({
        [entry]: { ...value, columns: { ...value.columns, result } },
      });
      await rejects(store.get("a"), "ERR_STORE_FAILED");
      await rejects(
        store.update("a", { statusMessage: "x" }, 1),
        "ERR_STORE_FAILED",
      );
      assert.equal((await store.head("a"))?.version, 1);
      assert.equal(await store.commit("a", { statusMessage: "y" }, 1), 2);
      assert.equal(await store.commit("a", { result: undefined }, 2), 3);
      assert.equal((await store.get("a"))?.statusMessage, "y");
    }));

  it("get() in the middle of a write that then fails never shows it", () =>
    inDurableObject(async ({ storage }) => {
      const sound = new DurableObjectTaskStore(storage, { alarm: false });
      const before = aRecord("a", { ttlMs: 60_000, result: { r: "old" } });
      await sound.create(before);
      const patch = aPatch({
        result: { r: text(200_000) },
        statusMessage: "new",
        ttlMs: 90_000,
      });
      for (let failAt = 1, done = false; !done; failAt++) {
        let steps = 0;
        const seen: unknown[] = [];
        const store = new DurableObjectTaskStore(
          watchStorage(storage, async ({ method }) => {
            if (method === "transaction" || ++steps !== failAt) return;
            seen.push(await sound.head("a", CREATED_MS));
            throw new Error("no");
          }),
        );
        const { result: _, ...head } = before;
        const made = store.update("a", patch, 1, CREATED_MS);
        await made.then(() => done = true, () => {
          assert.deepEqual(seen, [head]);
        });
      }
    }));

  it("refuses what is no storage, and options that are none", () =>
    inDurableObject((ctx) => {
      for (const wrong of [undefined, null, ctx, {}, new Map()]) {
        refuses(
          () =>
            new DurableObjectTaskStore(
              wrong as unknown as DurableObjectStorageBinding,
            ),
          "ERR_INVALID_ARGUMENT",
          /^Cannot use storage: .* the ctx.storage of a Durable Object is needed$/,
        );
      }
      const wrong: readonly [object, RegExp][] = [
        [{ prefix: 7 }, /^Cannot use prefix: the value is 7, /],
        [{ prefix: "\ud800" }, /^Cannot use prefix: /],
        [{ prefix: text(256, "ö") + "x" }, /of at most 512 bytes is needed$/],
        [{ alarm: "yes" }, /^Cannot use alarm: the value is "yes", /],
        [{ maxRecordBytes: 0 }, /^Cannot use maxRecordBytes: the value is 0, /],
        [{ maxRecordBytes: 65_535 }, /, 65536 to 16777216 is needed$/],
        [{ maxRecordBytes: 2 ** 24 + 1 }, /, 65536 to 16777216 is needed$/],
        [{ onDamage: 5 }, /^Cannot use onDamage: the value is 5, a function/],
        [{ now: 5 }, /^Cannot use now: the value is 5, a function is needed$/],
        [{ alarms: true }, /no option "alarms"; did you mean alarm\?$/],
      ];
      for (const [options, message] of wrong) {
        refuses(
          () => new DurableObjectTaskStore(ctx.storage, options),
          "ERR_INVALID_ARGUMENT",
          message,
        );
      }
      new DurableObjectTaskStore(ctx.storage, {
        prefix: text(256, "ö"),
        maxRecordBytes: 2 ** 24,
      });
    }));

  it("after close() refuses every call", () =>
    inDurableObject(async ({ storage }) => {
      const store = new DurableObjectTaskStore(storage);
      await store.close();
      for (
        const call of [
          store.head("a"),
          store.commit("a", {}, 1),
          store.alarm(),
          store.getAlarm(),
          store.setAlarm(Date.now() + 1_000),
          store.deleteAlarm(),
        ]
      ) await rejects(call, "ERR_STORE_CLOSED");
    }));
});
