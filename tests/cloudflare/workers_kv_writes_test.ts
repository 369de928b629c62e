/** What becomes of writes that come faster than KV takes them, and of those that it refuses. */

import assert from "node:assert/strict";
import { TaskLifecycle, type TaskRecord } from "../../mod.ts";
import type { KvMemoryLimits } from "../../src/cloudflare/workers_kv_memory.ts";
import { checkTaskStore, formatConformanceReport } from "../../testing.ts";
import {
  dateOf,
  failureOf,
  openKvStore,
  PREFIX,
  stored,
} from "../support/kv_store.ts";
import { aRecord } from "../support/records.ts";
import { describe, it } from "../support/runner.ts";
import { SimulatedKv } from "../support/simulated_kv.ts";

const key = (taskId: string) => `${PREFIX}=${taskId}`;

/**
 * Opens a store that reads what it is told to: at first the first version of a
 * task. Another instance has given up the second, which is in KV all the same.
 */
async function besideGivenUp(limits?: Partial<KvMemoryLimits>) {
  const kv = new SimulatedKv();
  const binding = kv.bind();
  let stale: ReturnType<SimulatedKv["peek"]>;
  const store = openKvStore(kv, {
    limits,
    binding: {
      ...binding,
      getWithMetadata: async (key, type) =>
        stale ?? await binding.getWithMetadata(key, type),
    },
  });
  const before = openKvStore(kv);
  await before.create(aRecord("a"));
  stale = kv.peek(key("a"));
  kv.disturb = (call) => call === "put" ? "lose the answer" : undefined;
  const lost = before.update("a", { statusMessage: "given up" }, 1);
  await failureOf(lost, "ERR_STORE_FAILED");
  kv.disturb = () => {};
  const givenUp = kv.peek(key("a"));
  await kv.clock.advance(1_000);
  return { store, givenUp, serve: (value: typeof stale) => stale = value };
}

describe("WorkersKvTaskStore", () => {
  it("merges the writes of a second, and acknowledges each when KV has it", async () => {
    const kv = new SimulatedKv();
    const store = openKvStore(kv);
    await store.create(aRecord("a"));
    const acknowledged: number[] = [];
    const started = kv.clock.now();
    await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const { version } = await store.update(
          "a",
          { statusMessage: `${i + 1} of 60` },
          i + 1,
        );
        assert.equal(version, i + 2);
        assert.ok(stored(kv, "a")!.version as number >= version);
        acknowledged.push(version);
      }),
    );
    assert.equal(acknowledged.length, 60);
    assert.equal(stored(kv, "a")!.version, 61);
    assert.equal(stored(kv, "a")!.statusMessage, "60 of 60");
    // One for the creation, and one for all of these.
    assert.deepEqual([kv.calls.put, kv.calls.refused], [2, 0]);
    assert.ok(kv.clock.now() - started <= 1_000);
  });

  it("merges what comes during a write into the next one, which has tries of its own", async () => {
    const kv = new SimulatedKv();
    const binding = kv.bind();
    let puts = 0;
    let third: Promise<TaskRecord> | undefined;
    const store = openKvStore(kv, {
      binding: {
        ...binding,
        async put(...args) {
          // Of the second version the fourth try lands, and so of the third.
          if (![1, 5, 9].includes(++puts)) {
            throw new Error("KV PUT failed: 500 Internal Server Error");
          }
          if (puts === 5) third = store.update("a", { statusMessage: "3" }, 2);
          await kv.clock.wait(100);
          await binding.put(...args);
        },
      },
    });
    await store.create(aRecord("a"));
    const second = store.update("a", { statusMessage: "2" }, 1);
    assert.equal((await second).version, 2);
    assert.equal(stored(kv, "a")!.version, 2);
    assert.equal((await third)?.version, 3);
    assert.equal(stored(kv, "a")!.version, 3);
    assert.equal(puts, 9);
  });

  it("shows nothing that KV does not have yet", async () => {
    const kv = new SimulatedKv();
    const store = openKvStore(kv);
    const other = openKvStore(kv);
    await store.create(aRecord("a"));
    const update = store.update("a", { status: "completed" }, 1);
    for (let i = 0; i < 20; i++) await Promise.resolve();
    assert.equal((await store.get("a"))?.version, 1);
    assert.equal((await update).version, 2);
    assert.equal((await store.get("a"))?.version, 2);
    assert.equal((await other.get("a"))?.version, 2);
  });

  it("lets a worker report and end as fast as it likes", async () => {
    const kv = new SimulatedKv();
    const tasks = new TaskLifecycle({
      store: openKvStore(kv),
      now: () => dateOf(kv),
      sweepIntervalMs: null,
    });
    const { taskId } = await tasks.createTask({ ttlMs: 900_000 });
    const worker = tasks.handle(taskId);
    const started = kv.clock.now();
    const reports = Array.from({ length: 500 }, async (_, i) => {
      await worker.progress(`${i + 1} of 500`);
      const { statusMessage = "" } = stored(kv, taskId)!;
      assert.ok(Number.parseInt(statusMessage as string) > i);
    });
    await Promise.all([...reports, worker.complete({ answer: 42 })]);
    assert.equal(stored(kv, taskId)!.status, "completed");
    // The creation, all reports, and the end.
    assert.deepEqual([kv.calls.put, kv.calls.refused], [3, 0]);
    assert.equal(kv.clock.now() - started, 2_000);
    await tasks.close();
  });

  it("ends a task as soon as the second is over", async () => {
    const kv = new SimulatedKv();
    const store = openKvStore(kv);
    await store.create(aRecord("a"));
    const started = kv.clock.now();
    await store.update("a", { status: "completed", result: {} }, 1);
    assert.equal(kv.clock.now() - started, 1_000);
    await kv.clock.advance(5_000);
    await store.update("a", { statusMessage: "late" }, 2);
    assert.equal(kv.clock.now() - started, 6_000);
  });

  it("compares and swaps within one instance", async () => {
    const only = [
      "create-duplicate-race",
      "race-two",
      "race-fifty",
      "race-count",
      "sweep-twice",
      "sweep-race",
    ];
    const report = await checkTaskStore("one instance", () => {
      const store = openKvStore(new SimulatedKv());
      const traits = { ...store.traits, compareAndSwap: true };
      return {
        traits,
        create: (record) => store.create(record),
        get: (...args) => store.get(...args),
        update: (...args) => store.update(...args),
        sweep: (now) => store.sweep(now),
        close: () => store.close(),
      };
    }, { only });
    assert.ok(report.ok, formatConformanceReport(report));
    assert.equal(report.counts.passed, only.length);
  });

  it("writes again where KV answers 429", async () => {
    const kv = new SimulatedKv();
    const store = openKvStore(kv);
    const stranger = kv.bind();
    await store.create(aRecord("a"));
    await kv.clock.advance(1_000);
    // Somebody else has just written there, in a way that the store cannot know of.
    const { value, metadata } = await stranger.getWithMetadata(
      key("a"),
      "text",
    );
    await stranger.put(key("a"), value!, { metadata });
    const started = kv.clock.now();
    const { version } = await store.update("a", { statusMessage: "mine" }, 1);
    assert.equal(version, 2);
    assert.equal(kv.calls.refused, 1);
    assert.equal(stored(kv, "a")!.statusMessage, "mine");
    const pause = kv.clock.now() - started;
    assert.ok(pause >= 1_000 && pause <= 1_500, `${pause}`);
  });

  it("gives up after five refusals, with an error of its own, and works again", async () => {
    const kv = new SimulatedKv();
    const store = openKvStore(kv);
    await store.create(aRecord("a"));
    await kv.clock.advance(1_000);
    const { put } = kv.calls;
    kv.disturb = (call) => {
      if (call === "put") {
        throw new Error("KV PUT failed: 429 Too Many Requests");
      }
    };
    const started = kv.clock.now();
    const calls = [
      store.update("a", { statusMessage: "2" }, 1),
      store.update("a", { statusMessage: "3" }, 2),
    ];
    for (const call of calls) {
      const error = await failureOf(call, "ERR_STORE_FAILED");
      assert.match(String(error.cause), /429/);
    }
    assert.equal(kv.calls.put - put, 5);
    const pause = kv.clock.now() - started;
    assert.ok(pause >= 15_000 && pause <= 23_000, `${pause}`);
    kv.disturb = () => {};
    assert.equal((await store.get("a"))?.version, 1);
    const updated = await store.update("a", { statusMessage: "again" }, 1);
    assert.deepEqual(stored(kv, "a"), updated);
  });

  it("reads what it wrote after a write that it gave up, though that has come to KV", async () => {
    for (const readerToo of [false, true]) {
      const kv = new SimulatedKv();
      const binding = kv.bind();
      let stale: { value: string; metadata: unknown } | undefined;
      const lagging = {
        ...binding,
        getWithMetadata: async (key: string, type: "text") =>
          stale ?? await binding.getWithMetadata(key, type),
      };
      const store = openKvStore(kv, { binding: lagging });
      const reader = openKvStore(kv, { binding: lagging });
      await store.create(aRecord("a"));
      stale = await binding.getWithMetadata(key("a"), "text") as typeof stale;
      kv.disturb = (call) => call === "put" ? "lose the answer" : undefined;
      const lost = store.update("a", { statusMessage: "given up" }, 1);
      await failureOf(lost, "ERR_STORE_FAILED");
      kv.disturb = () => {};
      const givenUp = kv.peek(key("a"))!;
      assert.match(givenUp.value, /given up/);
      // No cache has heard of it, so the same version is written anew.
      const second = await store.update("a", { statusMessage: "kept" }, 1);
      const kept = kv.peek(key("a"))!;
      stale = kept;
      if (readerToo) assert.deepEqual(await reader.get("a"), second);
      stale = givenUp;
      assert.deepEqual(await store.get("a"), second);
      if (readerToo) assert.deepEqual(await reader.get("a"), second);
      else assert.equal((await reader.get("a"))?.statusMessage, "given up");
      stale = kept;
      assert.deepEqual(await reader.get("a"), second);
      assert.equal((await store.update("a", {}, 2)).version, 3);
      assert.deepEqual(
        (kv.peek(key("a"))!.metadata as { c: number }).c,
        (kept.metadata as { c: number }).c,
      );
    }
  });

  it("reads what it wrote, though another instance gave up the same version", async () => {
    const { store, givenUp, serve } = await besideGivenUp();
    const second = await store.update("a", { statusMessage: "kept" }, 1);
    serve(givenUp);
    assert.deepEqual(await store.get("a"), second);
  });

  it("does not repeat what KV will never take", async () => {
    const kv = new SimulatedKv();
    const store = openKvStore(kv);
    const errors = [
      new Error("KV PUT failed: 403 Forbidden"),
      new TypeError("Key name too long"),
    ];
    for (const [i, cause] of errors.entries()) {
      kv.disturb = () => {
        throw cause;
      };
      const create = store.create(aRecord("a"));
      const error = await failureOf(create, "ERR_STORE_FAILED");
      assert.equal(error.cause, cause);
      assert.equal(kv.calls.put, i + 1);
    }
    kv.disturb = () => {};
    // Nothing came of it: the id is free.
    await store.create(aRecord("a"));
  });

  it("finds out what became of a write whose answer was lost", async () => {
    for (const readsBetween of [false, true]) {
      const kv = new SimulatedKv();
      kv.caching = false;
      const store = openKvStore(kv);
      await store.create(aRecord("a"));
      let losses = 1;
      kv.disturb = (call) => {
        if (call === "put" && losses-- > 0) return "lose the answer";
      };
      const update = store.update("a", { statusMessage: "2" }, 1);
      if (readsBetween) {
        await kv.clock.advance(1_001);
        assert.equal((await store.get("a"))?.version, 2);
      }
      assert.equal((await update).version, 2);
      assert.equal(stored(kv, "a")!.version, 2);
      assert.equal(
        (await store.update("a", { statusMessage: "3" }, 2)).version,
        3,
      );
    }
  });

  it("does not write over what it has seen of another instance", async () => {
    const kv = new SimulatedKv();
    kv.caching = false;
    const store = openKvStore(kv);
    const other = openKvStore(kv);
    await store.create(aRecord("a"));
    const update = store.update("a", { statusMessage: "mine" }, 1);
    for (let i = 0; i < 20; i++) await Promise.resolve();
    await kv.clock.advance(999);
    const stranger = kv.bind();
    const { metadata } = await stranger.getWithMetadata(key("a"), "text");
    // One that takes no care of the second is faster.
    const theirs = aRecord("a", { status: "completed", version: 2 });
    kv.force(key("a"), JSON.stringify(theirs), metadata);
    assert.equal((await store.get("a"))?.status, "completed");
    await failureOf(update, "ERR_CONCURRENT_UPDATE");
    assert.equal(stored(kv, "a")!.status, "completed");
    assert.equal((await other.get("a"))?.status, "completed");
  });

  it("tells its own write from that of another instance, also where it has kept no record", async () => {
    const { store, givenUp, serve } = await besideGivenUp({
      maxTextLength: 2_000,
    });
    await store.update("a", { statusMessage: "kept" }, 1);
    await store.create(aRecord("b", { text: "x".repeat(1_900) }));
    serve(givenUp);
    await failureOf(store.get("a"), "ERR_STORE_FAILED");
    await failureOf(store.update("a", {}, 2), "ERR_STORE_FAILED");
  });

  it("goes on where a request ended in the middle of a write", async () => {
    const kv = new SimulatedKv();
    const binding = kv.bind();
    let hangs = true;
    const store = openKvStore(kv, {
      binding: {
        ...binding,
        put: (...args) => {
          if (!hangs) return binding.put(...args);
          hangs = false;
          return new Promise(() => {});
        },
      },
    });
    store.create(aRecord("a"));
    for (let i = 0; i < 20; i++) await Promise.resolve();
    // Another request brings the same id, and learns what became of it.
    const started = kv.clock.now();
    await failureOf(store.create(aRecord("a")), "ERR_DUPLICATE_TASK_ID");
    assert.equal(kv.clock.now() - started, 30_000);
    assert.equal((await store.get("a"))?.version, 1);
    assert.deepEqual(stored(kv, "a"), aRecord("a"));
  });

  it("writes one at a time, also where one comes back that was given up", async () => {
    const kv = new SimulatedKv();
    const binding = kv.bind();
    const { promise: released, resolve: release } = Promise.withResolvers<
      void
    >();
    let puts = 0;
    let flying = 0;
    let most = 0;
    let late: Promise<TaskRecord> | undefined;
    const store = openKvStore(kv, {
      binding: {
        ...binding,
        async put(...args) {
          if (++puts === 2) return await released;
          if (puts === 3) {
            release();
            late = kv.clock.wait(2_000).then(() => store.update("a", {}, 4));
          }
          most = Math.max(most, ++flying);
          await kv.clock.wait(5_000);
          await binding.put(...args);
          flying--;
        },
      },
    });
    await store.create(aRecord("a"));
    const updates = [1, 2, 3].map((version) => store.update("a", {}, version));
    await Promise.all(updates);
    assert.equal((await late)?.version, 5);
    assert.equal(stored(kv, "a")!.version, 5);
    assert.equal(most, 1);
  });

  it("lets an end stand that was acknowledged, though a write comes to KV after it that KV took long for", async () => {
    for (const answer of ["good", "lost"]) {
      const kv = new SimulatedKv();
      const binding = kv.bind();
      let puts = 0;
      const store = openKvStore(kv, {
        binding: {
          ...binding,
          async put(...args) {
            const isLate = ++puts === 2;
            if (isLate) await kv.clock.wait(45_000);
            await binding.put(...args);
            if (isLate && answer === "lost") {
              throw new Error("KV PUT failed: 400 Bad Request");
            }
          },
        },
      });
      await store.create(aRecord("a"));
      const late = store.update("a", { statusMessage: "half" }, 1);
      await kv.clock.advance(5_000);
      const end = store.update("a", { status: "completed", result: {} }, 2);
      const [, { version }] = await Promise.all([late, end]);
      assert.equal(version, 3);
      assert.equal(stored(kv, "a")!.status, "completed", answer);
      assert.equal((await store.get("a"))?.version, 3);
      // Another change goes on from there, as does another instance.
      assert.equal((await store.update("a", {}, 3)).version, 4);
      await kv.clock.advance(61_000);
      assert.equal((await openKvStore(kv).get("a"))?.version, 4);
    }
  });

  it("fails nothing that came after a write that KV took long for, and then refused", async () => {
    const kv = new SimulatedKv();
    const binding = kv.bind();
    let puts = 0;
    const store = openKvStore(kv, {
      binding: {
        ...binding,
        async put(...args) {
          const number = ++puts;
          if (number === 2) {
            await kv.clock.wait(32_000);
            throw new Error("KV PUT failed: 400 Bad Request");
          }
          if (number === 3) await kv.clock.wait(4_000);
          await binding.put(...args);
        },
      },
    });
    await store.create(aRecord("a"));
    const versions = [1, 2, 3].map((version) => store.update("a", {}, version));
    assert.deepEqual(
      (await Promise.all(versions)).map(({ version }) => version),
      [2, 3, 4],
    );
    assert.equal(stored(kv, "a")!.version, 4);
  });

  it("keeps apart the writes of a version that it gave up, one after the other", async () => {
    const kv = new SimulatedKv();
    const binding = kv.bind();
    let stale: { value: string; metadata: unknown } | undefined;
    const lagging = {
      ...binding,
      getWithMetadata: async (key: string, type: "text") =>
        stale ?? await binding.getWithMetadata(key, type),
    };
    const limits = { maxTextLength: 2_000 };
    const store = openKvStore(kv, { binding: lagging, limits });
    const reader = openKvStore(kv, { binding: lagging });
    await store.create(aRecord("a"));
    stale = await binding.getWithMetadata(key("a"), "text") as typeof stale;
    const givenUp: typeof stale[] = [];
    kv.disturb = (call) => call === "put" ? "lose the answer" : undefined;
    for (const statusMessage of ["first", "second"]) {
      const lost = store.update("a", { statusMessage }, 1);
      await failureOf(lost, "ERR_STORE_FAILED");
      givenUp.push(kv.peek(key("a")));
    }
    kv.disturb = () => {};
    const kept = await store.update("a", { statusMessage: "kept" }, 1);
    // Its record is not kept any more, and a cache gives what was given up.
    await store.create(aRecord("b", { text: "x".repeat(1_900) }));
    for (stale of givenUp) {
      await failureOf(store.get("a"), "ERR_STORE_FAILED");
      await failureOf(store.update("a", {}, 2), "ERR_STORE_FAILED");
      await reader.get("a");
    }
    stale = undefined;
    await kv.clock.advance(61_000);
    assert.deepEqual(await reader.get("a"), kept);
    assert.equal((await store.update("a", {}, 2)).statusMessage, "kept");
  });

  it("settles what is under way before it is closed", async () => {
    const kv = new SimulatedKv();
    const store = openKvStore(kv);
    await store.create(aRecord("a"));
    const update = store.update("a", { statusMessage: "last" }, 1);
    await store.close();
    assert.equal(stored(kv, "a")!.statusMessage, "last");
    assert.equal((await update).version, 2);
  });

  it("closes also where a request ended in the middle of a call", async () => {
    const kv = new SimulatedKv();
    const binding = kv.bind();
    const never = new Promise<never>(() => {});
    const store = openKvStore(kv, {
      binding: {
        ...binding,
        put: (name, ...args) =>
          name === key("gone") ? never : binding.put(name, ...args),
      },
    });
    void store.create(aRecord("gone"));
    await store.create(aRecord("a"));
    const update = store.update("a", { statusMessage: "last" }, 1);
    const started = kv.clock.now();
    await store.close();
    assert.equal(kv.clock.now() - started, 4 * 60_000);
    assert.equal((await update).version, 2);
    await failureOf(store.get("a"), "ERR_STORE_CLOSED");
  });

  it("reads no record where there is something else", async () => {
    const kv = new SimulatedKv();
    const store = openKvStore(kv);
    const values = {
      a: "",
      b: "null",
      c: "{",
      d: "5",
      e: JSON.stringify(aRecord("a")),
      f: JSON.stringify({ ...aRecord("f"), version: "1" }),
    };
    for (const [taskId, value] of Object.entries(values)) {
      kv.force(key(taskId), value, null);
      const error = await failureOf(store.get(taskId), "ERR_STORE_FAILED");
      assert.match(String(error.cause), /no record of the task/);
      await failureOf(store.update(taskId, {}, 1), "ERR_STORE_FAILED");
    }
    kv.force(key("g"), JSON.stringify(aRecord("g")), null);
    assert.deepEqual(await store.get("g"), aRecord("g"));
    assert.equal((await store.update("g", {}, 1)).version, 2);
  });
});
