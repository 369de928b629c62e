/** What every store has to do, as one table of cases that each store's own test registers. */

import assert from "node:assert/strict";
import fc from "fast-check";
import type { JsonObject, TaskRecord, TaskStore } from "../../mod.ts";
import { hasErrorCode, type TaskErrorCode } from "../../src/errors.ts";
import { isExpired } from "../../src/model/expiry.ts";
import { applyTaskPatch } from "../../src/model/record.ts";
import { aPatch, aRecord, CREATED_MS } from "./records.ts";
import { describe, it } from "./runner.ts";

/** A store under test. */
export interface StoreFixture {
  /** Opens it with this clock, for the first time or again after its `close()`. */
  open(now: () => number): TaskStore | Promise<TaskStore>;
  /** Removes what it left. */
  remove(): void | Promise<void>;
  /** Whether what was acknowledged is there again after `close()` and `open()`. */
  readonly durable: boolean;
}

/**
 * Asserts that a promise is rejected with a code.
 *
 * @param promise The promise.
 * @param code The code.
 */
export async function rejects(
  promise: Promise<unknown>,
  code: TaskErrorCode,
): Promise<void> {
  await assert.rejects(
    promise,
    (error) => hasErrorCode(error, code) || assert.fail(String(error)),
  );
}

/** JSON that is easy to get wrong. */
const AWKWARD = JSON.parse(`{
  "__proto__": { "polluted": true },
  "constructor": "text",
  "toString": { "": [null, true, 1e300, -0.5] },
  "": "empty key",
  "\\ud800": "lone \\udc00 surrogates \\ud800",
  "2": "digits", "1": "more digits",
  "line\\u2028\\n\\r\\t\\u0000": "é 漢 😀 \\u001f"
}`) as Record<string, unknown>;

/**
 * Registers the table for a store.
 *
 * @param name The name of the store.
 * @param fixture Makes a store that holds nothing.
 */
export function describeStoreContract(
  name: string,
  fixture: () => StoreFixture,
): void {
  const check = (
    what: string,
    body: (
      store: TaskStore,
      reopen: () => Promise<TaskStore>,
    ) => Promise<void>,
  ) =>
    it(what, async () => {
      const made = fixture();
      let store = await made.open(() => CREATED_MS);
      try {
        await body(store, async () => {
          if (!made.durable) return store;
          await store.close();
          return store = await made.open(() => CREATED_MS);
        });
      } finally {
        await store.close();
        await made.remove();
      }
    });

  describe(`${name}, the contract`, () => {
    check("create() keeps a record that get() finds", async (store, reopen) => {
      const record = aRecord("a", { version: 7, statusMessage: "é 漢 😀" });
      assert.equal(await store.create(record), undefined);
      assert.deepEqual(await store.get("a"), record);
      store = await reopen();
      assert.deepEqual(await store.get("a"), record);
      assert.equal(await store.get("b"), undefined);
    });

    check("create() refuses an id that exists", async (store, reopen) => {
      await store.create(aRecord("a", { statusMessage: "first" }));
      const second = aRecord("a", { statusMessage: "second" });
      await rejects(store.create(second), "ERR_DUPLICATE_TASK_ID");
      const [one, other] = await Promise.allSettled([
        store.create(aRecord("b", { statusMessage: "one" })),
        store.create(aRecord("b", { statusMessage: "other" })),
      ]);
      assert.deepEqual([one.status, other.status], ["fulfilled", "rejected"]);
      store = await reopen();
      assert.equal((await store.get("a"))?.statusMessage, "first");
      assert.equal((await store.get("b"))?.statusMessage, "one");
    });

    check("update() sets, deletes and counts", async (store, reopen) => {
      await store.create(aRecord("a", { statusMessage: "x", old: [1, 2] }));
      const patch = aPatch({ status: "failed", old: undefined, extra: {} });
      const updated = await store.update("a", patch, 1);
      const expected = aRecord("a", {
        status: "failed",
        statusMessage: "x",
        extra: {},
        version: 2,
      });
      assert.deepEqual(updated, expected);
      assert.equal("old" in updated, false);
      store = await reopen();
      assert.deepEqual(await store.get("a"), expected);
      assert.equal((await store.update("a", {}, 2)).version, 3);
    });

    check(
      "update() leaves id, creation and version alone",
      async (store, reopen) => {
        await store.create(aRecord("a", { version: 4 }));
        const patch = aPatch({
          taskId: "b",
          createdAt: undefined,
          version: 99,
        });
        await store.update("a", patch, 4);
        store = await reopen();
        assert.deepEqual(await store.get("a"), aRecord("a", { version: 5 }));
        assert.equal(await store.get("b"), undefined);
      },
    );

    check(
      "update() takes a patch's enumerable own string keys alone",
      async (store, reopen) => {
        await store.create(aRecord("a"));
        const patch = Object.create({ inherited: 1 }, {
          hidden: { value: 1, enumerable: false },
          shown: { value: 1, enumerable: true },
          [Symbol("symbol")]: { value: 1, enumerable: true },
        });
        await store.update("a", patch, 1);
        store = await reopen();
        const expected = aRecord("a", { shown: 1, version: 2 });
        assert.deepEqual(await store.get("a"), expected);
      },
    );

    check(
      "update() refuses another version and an unknown id",
      async (store) => {
        await store.create(aRecord("a", { version: 5 }));
        const patch = { statusMessage: "x" };
        await rejects(store.update("a", patch, 4), "ERR_CONCURRENT_UPDATE");
        await rejects(store.update("a", patch, 6), "ERR_CONCURRENT_UPDATE");
        await rejects(store.update("b", patch, 1), "ERR_TASK_NOT_FOUND");
        assert.deepEqual(await store.get("a"), aRecord("a", { version: 5 }));
      },
    );

    check(
      "update() lets one of many writers of a version win",
      async (store, reopen) => {
        await store.create(aRecord("a", { version: 5 }));
        const writers = Array.from({ length: 20 }, (_, i) => `writer ${i}`);
        const outcomes = await Promise.allSettled(
          writers.map((statusMessage) =>
            store.update("a", { statusMessage }, 5)
          ),
        );
        const winners = writers.filter((_, i) =>
          outcomes[i].status === "fulfilled"
        );
        assert.equal(winners.length, 1);
        store = await reopen();
        const record = await store.get("a");
        assert.equal(record?.statusMessage, winners[0]);
        assert.equal(record?.version, 6);
      },
    );

    check(
      "what comes in and goes out shares nothing with what is kept",
      async (store) => {
        const given = { deep: { list: [1] } };
        const creating = store.create(aRecord("a", { given }));
        given.deep.list.push(2);
        await creating;
        const patched = { deep: { list: [3] } };
        const updating = store.update("a", aPatch({ patched }), 1);
        patched.deep.list.push(4);
        const updated = await updating as unknown as Record<
          string,
          typeof given
        >;
        updated.patched.deep.list.push(5);
        const read = await store.get("a") as unknown as typeof updated;
        read.given.deep.list.push(6);
        const again = await store.get("a");
        const expected = aRecord("a", {
          given: { deep: { list: [1] } },
          patched: { deep: { list: [3] } },
          version: 2,
        });
        assert.deepEqual(again, expected);
      },
    );

    check("every key that JSON can have is data", async (store, reopen) => {
      const all = (record: TaskRecord | undefined) => JSON.stringify(record);
      const created = aRecord("\ud800 é", { result: AWKWARD as JsonObject });
      for (const key of Object.keys(AWKWARD)) {
        Object.defineProperty(created, key, {
          value: AWKWARD[key],
          enumerable: true,
          configurable: true,
          writable: true,
        });
      }
      await store.create(created);
      store = await reopen();
      assert.equal(all(await store.get("\ud800 é")), all(created));

      await store.create(aRecord(""));
      await store.update("", aPatch(AWKWARD), 1);
      store = await reopen();
      const kept = await store.get("") as unknown as typeof AWKWARD;
      for (const key of Object.keys(AWKWARD)) {
        assert.ok(Object.hasOwn(kept, key), JSON.stringify(key));
        assert.deepEqual(kept[key], AWKWARD[key]);
      }
      assert.equal(Object.getPrototypeOf(kept), Object.prototype);

      const gone = JSON.parse('{ "__proto__": null }');
      Object.defineProperty(gone, "__proto__", { value: undefined });
      await store.update("", gone, 2);
      store = await reopen();
      assert.equal(Object.hasOwn((await store.get(""))!, "__proto__"), false);
      assert.equal(({} as Record<string, unknown>).polluted, undefined);
    });

    check("nesting of 1,000 levels is kept", async (store, reopen) => {
      const nested = JSON.parse("[".repeat(1_000) + "]".repeat(1_000));
      await store.create(aRecord("a", { nested }));
      await store.update("a", aPatch({ more: nested }), 1);
      store = await reopen();
      const record = await store.get("a") as unknown as Record<string, unknown>;
      assert.deepEqual(record.nested, nested);
      assert.deepEqual(record.more, nested);
    });

    check(
      "a TTL ends a task to the millisecond, by the caller's clock",
      async (store, reopen) => {
        await store.create(aRecord("a", { ttlMs: 10 }));
        await store.create(aRecord("b"));
        store = await reopen();
        assert.ok(await store.get("a", CREATED_MS + 9));
        assert.equal(await store.get("a", CREATED_MS + 10), undefined);
        assert.ok(await store.get("a"), "by its own clock it lives");
        await rejects(
          store.update("a", { ttlMs: null }, 1, CREATED_MS + 10),
          "ERR_TASK_NOT_FOUND",
        );
        await store.update("a", { ttlMs: 2_000 }, 1, CREATED_MS + 5);
        store = await reopen();
        assert.ok(await store.get("a", CREATED_MS + 1_999));
        assert.equal(await store.get("a", CREATED_MS + 2_000), undefined);
        await store.update("a", { ttlMs: null }, 2, CREATED_MS + 1_999);
        assert.ok(await store.get("a", CREATED_MS + 1e12));
        assert.ok(await store.get("b", CREATED_MS + 1e12));
      },
    );

    check(
      "sweep() deletes all that are expired, and counts them",
      async (store, reopen) => {
        const creations: Promise<void>[] = [];
        for (let i = 0; i < 5_100; i++) {
          const ttlMs = i < 5_000 ? 10 : i < 5_050 ? 11 : null;
          creations.push(store.create(aRecord(`task ${i}`, { ttlMs })));
        }
        await Promise.all(creations);
        assert.equal(await store.sweep(CREATED_MS + 9), 0);
        const at = CREATED_MS + 10;
        const counts = await Promise.all([store.sweep(at), store.sweep(at)]);
        assert.deepEqual(counts, [5_000, 0]);
        store = await reopen();
        assert.equal(await store.get("task 0", 0), undefined);
        assert.ok(await store.get("task 5049"));
        assert.equal(
          await store.sweep(),
          0,
          "by its own clock none is expired",
        );
        assert.equal(await store.sweep(CREATED_MS + 11), 50);
        await store.create(aRecord("task 0", { statusMessage: "anew" }));
        store = await reopen();
        assert.equal((await store.get("task 0"))?.statusMessage, "anew");
        assert.ok(await store.get("task 5099"));
      },
    );

    check(
      "close() ends it for good, however often it is called",
      async (store) => {
        await store.create(aRecord("a"));
        const [unfinished] = await Promise.all([
          store.update("a", { statusMessage: "last" }, 1),
          store.close(),
          store.close(),
        ]);
        assert.equal(unfinished.version, 2);
        await store.close();
        await rejects(store.create(aRecord("b")), "ERR_STORE_CLOSED");
        await rejects(store.get("a"), "ERR_STORE_CLOSED");
        await rejects(store.update("a", {}, 2), "ERR_STORE_CLOSED");
        await rejects(store.sweep(), "ERR_STORE_CLOSED");
      },
    );

    it("any run of operations leaves what a plain map holds", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(operation, { maxLength: 60 }),
          async (run) => {
            const made = fixture();
            let store = await made.open(() => CREATED_MS);
            try {
              const model = new Map<string, TaskRecord>();
              for (const step of run) {
                if (step.kind !== "reopen") await runStep(store, model, step);
                else if (made.durable) {
                  await store.close();
                  store = await made.open(() => CREATED_MS);
                }
              }
              for (const taskId of IDS) {
                assert.deepEqual(await store.get(taskId, 0), model.get(taskId));
              }
            } finally {
              await store.close();
              await made.remove();
            }
          },
        ),
        { numRuns: 60 },
      );
    });
  });
}

const IDS = ["", "a", "__proto__"];
const fields = fc.dictionary(
  fc.constantFrom("statusMessage", "result", "x", "__proto__", "toString"),
  fc.oneof(fc.constant(undefined), fc.jsonValue({ maxDepth: 2 })),
  { noNullPrototype: true },
);
const ttlMs = fc.constantFrom(null, 10, 50, 1_000);
const taskId = fc.constantFrom(...IDS);
const now = fc.integer({ min: 0, max: 60 }).map((ms) => CREATED_MS + ms);
const operation = fc.oneof(
  fc.record({
    kind: fc.constant("create" as const),
    taskId,
    fields,
    ttlMs,
  }),
  fc.record({
    kind: fc.constant("update" as const),
    taskId,
    fields,
    ttlMs: fc.oneof(fc.constant(undefined), ttlMs),
    stale: fc.boolean(),
    now,
  }),
  fc.record({ kind: fc.constant("get" as const), taskId, now }),
  fc.record({ kind: fc.constant("sweep" as const), now }),
  fc.record({ kind: fc.constant("reopen" as const) }),
);
type Step = typeof operation extends fc.Arbitrary<infer T> ? T : never;

async function runStep(
  store: TaskStore,
  model: Map<string, TaskRecord>,
  step: Exclude<Step, { kind: "reopen" }>,
): Promise<void> {
  if (step.kind === "sweep") {
    const expired = [...model.values()].filter((record) =>
      isExpired(record, step.now)
    );
    for (const record of expired) model.delete(record.taskId);
    assert.equal(await store.sweep(step.now), expired.length);
    return;
  }
  const before = model.get(step.taskId);
  const live = before && "now" in step && !isExpired(before, step.now)
    ? before
    : undefined;
  if (step.kind === "get") {
    assert.deepEqual(await store.get(step.taskId, step.now), live);
  } else if (step.kind === "create") {
    // By way of JSON, as a record never holds `undefined`.
    const plain = JSON.parse(JSON.stringify(step.fields));
    const record = aRecord(step.taskId, { ...plain, ttlMs: step.ttlMs });
    if (before) await rejects(store.create(record), "ERR_DUPLICATE_TASK_ID");
    else {
      await store.create(record);
      model.set(step.taskId, record);
    }
  } else {
    const patch = step.ttlMs === undefined
      ? step.fields
      : Object.assign(Object.create(null), step.fields, { ttlMs: step.ttlMs });
    const version = (before?.version ?? 1) - (step.stale ? 1 : 0);
    const update = store.update(step.taskId, patch, version, step.now);
    if (!live) await rejects(update, "ERR_TASK_NOT_FOUND");
    else if (step.stale) await rejects(update, "ERR_CONCURRENT_UPDATE");
    else {
      const next = applyTaskPatch(live, patch);
      model.set(step.taskId, next);
      assert.deepEqual(await update, next);
    }
  }
}
