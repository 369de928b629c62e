import assert from "node:assert/strict";
import {
  MemoryTaskStore,
  type MemoryTaskStoreOptions,
  type TaskPatch,
  type TaskRecord,
} from "../../mod.ts";
import { describe, it } from "../support/runner.ts";
import { refuses, throws } from "../support/engine_world.ts";

const AT = Date.parse("2026-05-06T07:08:09.010Z");

function record(more: object = {}): TaskRecord {
  return {
    taskId: "one",
    status: "working",
    createdAt: "2026-05-06T07:08:09.010Z",
    lastUpdatedAt: "2026-05-06T07:08:09.010Z",
    ttlMs: 5_000,
    version: 3,
    ...more,
  };
}

const unknown = (fields: object) => fields as TaskPatch;

describe("MemoryTaskStore", () => {
  it("create() keeps every field as it is, known or not, and the version", async () => {
    const store = new MemoryTaskStore();
    const kept = record({
      owner: "ada",
      steps: { first: [1, null, { deep: true }] },
      ["__proto__"]: { polluted: true },
      constructor: 1,
      "": "empty",
    });
    const own = JSON.parse(
      JSON.stringify(kept).replace("{", '{"__proto__":{"own":1},'),
    );
    await store.create(own);
    assert.equal(
      JSON.stringify(await store.get("one", AT)),
      JSON.stringify(own),
    );
    assert.equal(({} as { own?: unknown }).own, undefined);
  });

  it("create() refuses an id that exists, expired too, and keeps the first", async () => {
    const store = new MemoryTaskStore();
    await store.create(record({ statusMessage: "first" }));
    await refuses(
      () => store.create(record({ statusMessage: "second" })),
      "ERR_DUPLICATE_TASK_ID",
      /"one"/,
    );
    assert.equal((await store.get("one", AT))?.statusMessage, "first");
  });

  it("get() of an unknown id is undefined, whatever its name", async () => {
    const store = new MemoryTaskStore();
    for (const id of ["two", "", "__proto__", "constructor"]) {
      assert.equal(await store.get(id), undefined);
    }
  });

  it("update() sets, deletes what is undefined, and counts the version up by one", async () => {
    const store = new MemoryTaskStore();
    await store.create(record({ statusMessage: "old", extra: 1 }));
    const patch = Object.create({ inherited: "no" });
    Object.assign(patch, {
      status: "completed",
      statusMessage: undefined,
      result: { pages: [1] },
      added: { later: 2 },
      [Symbol("s")]: "no",
    });
    Object.defineProperty(patch, "hidden", { value: "no", enumerable: false });
    const expected = record({
      status: "completed",
      extra: 1,
      result: { pages: [1] },
      added: { later: 2 },
      version: 4,
    });
    assert.deepEqual(await store.update("one", patch, 3, AT), expected);
    const got = await store.get("one", AT);
    assert.deepEqual(got, expected);
    assert.equal("statusMessage" in got!, false);
  });

  it("update() never changes the id, the creation or the version at will", async () => {
    const store = new MemoryTaskStore();
    await store.create(record());
    const patch = unknown({ taskId: "two", createdAt: "1999", version: 99 });
    assert.deepEqual(
      await store.update("one", patch, 3, AT),
      record({ version: 4 }),
    );
  });

  it("update() of a stale or a future version is refused and changes nothing", async () => {
    const store = new MemoryTaskStore();
    await store.create(record());
    for (const version of [2, 4, NaN]) {
      await refuses(
        () => store.update("one", { status: "failed" }, version, AT),
        "ERR_CONCURRENT_UPDATE",
        new RegExp(`version ${version} was expected, 3 is stored`),
      );
    }
    assert.deepEqual(await store.get("one", AT), record());
  });

  it("update() twice at once with one version: one wins", async () => {
    const store = new MemoryTaskStore();
    await store.create(record());
    const outcomes = await Promise.allSettled([
      store.update("one", { statusMessage: "a" }, 3, AT),
      store.update("one", { statusMessage: "b" }, 3, AT),
    ]);
    assert.deepEqual(outcomes.map(({ status }) => status), [
      "fulfilled",
      "rejected",
    ]);
    assert.equal((await store.get("one", AT))?.statusMessage, "a");
  });

  it("update() of an unknown or expired task is refused", async () => {
    const store = new MemoryTaskStore();
    await store.create(record());
    await refuses(() => store.update("two", {}, 3, AT), "ERR_TASK_NOT_FOUND");
    await refuses(
      () => store.update("one", { ttlMs: null }, 3, AT + 5_000),
      "ERR_TASK_NOT_FOUND",
      /"one"/,
    );
  });

  it("what goes in and what comes out is detached (I10)", async () => {
    const store = new MemoryTaskStore();
    // deno-lint-ignore no-explicit-any -- written to, as a caller might
    const given = record({ result: { list: [1] } }) as any;
    await store.create(given);
    given.result.list.push(2);
    // deno-lint-ignore no-explicit-any -- the same
    const patch = { error: { code: -1, message: "m", data: [1] } } as any;
    // deno-lint-ignore no-explicit-any -- the same
    const updated = await store.update("one", patch, 3, AT) as any;
    patch.error.data.push(2);
    updated.error.data.push(3);
    updated.result.list.push(3);
    // deno-lint-ignore no-explicit-any -- the same
    const got = await store.get("one", AT) as any;
    assert.deepEqual([got.result.list, got.error.data], [[1], [1]]);
    got.result.list.push(4);
    // deno-lint-ignore no-explicit-any -- the same
    assert.deepEqual((await store.get("one", AT) as any).result.list, [1]);
  });

  it("sweep() deletes what has expired by the given time, and nothing else", async () => {
    const store = new MemoryTaskStore();
    await store.create(record({ taskId: "short", ttlMs: 100 }));
    await store.create(record({ taskId: "ends", ttlMs: 200 }));
    await store.create(record({ taskId: "long", ttlMs: 201 }));
    await store.create(record({ taskId: "ever", ttlMs: null }));
    assert.equal(await store.sweep(AT + 99), 0);
    assert.equal(await store.sweep(AT + 200), 2);
    assert.equal(await store.sweep(AT + 200), 0);
    assert.equal(await store.get("ends", AT), undefined);
    assert.ok(await store.get("long", AT + 200));
    assert.ok(await store.get("ever", AT + 1e15));
    await store.create(record({ taskId: "ends" }));
  });

  it("asks its own clock where a call brings no time", async () => {
    let now = AT;
    const store = new MemoryTaskStore({ now: () => now });
    await store.create(record());
    now += 4_999;
    assert.ok(await store.get("one"));
    await store.update("one", { statusMessage: "there" }, 3);
    now += 1;
    assert.equal(await store.get("one"), undefined);
    assert.ok(await store.get("one", AT));
    await refuses(() => store.update("one", {}, 4), "ERR_TASK_NOT_FOUND");
    assert.equal(await store.sweep(), 1);
  });

  it("after close() refuses every call, and close() may be called again", async () => {
    const store = new MemoryTaskStore();
    await store.create(record());
    await store.close();
    await store.close();
    for (
      const call of [
        () => store.create(record({ taskId: "two" })),
        () => store.get("one"),
        () => store.update("one", {}, 3),
        () => store.sweep(),
      ]
    ) await refuses(call, "ERR_STORE_CLOSED", /: the store is closed$/);
  });

  it("refuses an option that there is not, and says which was meant", () => {
    throws(
      () => new MemoryTaskStore({ Now: Date.now } as MemoryTaskStoreOptions),
      "ERR_INVALID_ARGUMENT",
      /^Cannot make a MemoryTaskStore: there is no option "Now"; did you mean now\?$/,
    );
  });

  it("refuses a clock that is no function", () => {
    for (const now of [42, "x"]) {
      throws(
        () => new MemoryTaskStore({ now: now as unknown as () => number }),
        "ERR_INVALID_ARGUMENT",
        /^Cannot use now: the value is .+, a function is needed$/,
      );
    }
  });
});
