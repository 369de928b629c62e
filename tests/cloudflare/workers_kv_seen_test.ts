/** What an instance has seen is never taken back, whatever KV gives. */

import assert from "node:assert/strict";
import fc from "../support/fast_check.ts";
import { hasErrorCode } from "../../mod.ts";
import { failureOf, openKvStore, PREFIX } from "../support/kv_store.ts";
import { aRecord } from "../support/records.ts";
import { describe, it } from "../support/runner.ts";
import { SimulatedKv, VirtualClock } from "../support/simulated_kv.ts";

const MINUTE_MS = 60_000;

/** One thing that happens. */
const event = fc.oneof(
  fc.record({
    kind: fc.constant("write" as const),
    id: fc.integer({ min: 0, max: 3 }),
  }),
  fc.record({
    kind: fc.constant("read" as const),
    id: fc.integer({ min: 0, max: 3 }),
    reader: fc.integer({ min: 0, max: 1 }),
  }),
  fc.record({
    kind: fc.constant("wait" as const),
    ms: fc.oneof(
      fc.integer({ min: 0, max: 5_000 }),
      fc.integer({ min: 0, max: 3 * MINUTE_MS }),
      fc.constant(11 * MINUTE_MS),
    ),
  }),
  fc.constant({ kind: "lose" as const }),
);

describe("WorkersKvTaskStore", () => {
  it("creates a task without asking KV, so that no miss is cached", async () => {
    const kv = new SimulatedKv();
    const store = openKvStore(kv);
    await store.create(aRecord("a"));
    assert.equal(kv.calls.get, 0);
    assert.deepEqual(await openKvStore(kv).get("a"), aRecord("a"));
  });

  it("finds a task that was asked for before it was created", async () => {
    const kv = new SimulatedKv();
    const store = openKvStore(kv);
    for (let i = 0; i < 9; i++) assert.equal(await store.get("a"), undefined);
    await store.create(aRecord("a"));
    for (let i = 0; i < 9; i++) {
      assert.deepEqual(await store.get("a"), aRecord("a"));
    }
  });

  it("never un-sees a terminal state", async () => {
    const kv = new SimulatedKv();
    const [writer, reader] = [openKvStore(kv), openKvStore(kv)];
    await writer.create(aRecord("a"));
    // Every cache of the reader has version 1.
    for (let i = 0; i < 20; i++) await reader.get("a");
    await writer.update("a", { status: "completed", result: { n: 1 } }, 1);
    let ended = false;
    for (let i = 0; i < 80; i++) {
      const status = (await reader.get("a"))?.status;
      if (ended) assert.equal(status, "completed");
      ended ||= status === "completed";
      await kv.clock.advance(1_000);
    }
    assert.ok(ended);
    await failureOf(
      reader.update("a", { status: "working" }, 1),
      "ERR_CONCURRENT_UPDATE",
    );
  });

  it("reads its own writes, and never goes back for anybody, whatever is lost and forgotten", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { minLength: 10, maxLength: 60 }),
        fc.integer(),
        fc.constantFrom(700, 10_000_000),
        async (events, seed, maxTextLength) => {
          const kv = new SimulatedKv(new VirtualClock(seed));
          const limits = { maxTextLength };
          const writer = openKvStore(kv, { limits });
          const readers = [writer, openKvStore(kv, { limits })];
          const written = [0, 0, 0, 0];
          const seen = readers.map(() => [0, 0, 0, 0]);
          for (const one of events) {
            if (one.kind === "wait") await kv.clock.advance(one.ms);
            else if (one.kind === "lose") {
              let losses = 1;
              kv.disturb = (call) => {
                if (call === "put" && losses-- > 0) return "lose the answer";
              };
            } else if (one.kind === "write") {
              const taskId = `${one.id}`;
              const version = written[one.id];
              try {
                if (version === 0) {
                  await writer.create(
                    aRecord(taskId, { text: "x".repeat(300) }),
                  );
                } else await writer.update(taskId, {}, version);
                written[one.id]++;
              } catch (error) {
                // It may have forgotten the record, never the version.
                assert.ok(hasErrorCode(error, "ERR_STORE_FAILED"), `${error}`);
              }
            } else {
              const last = seen[one.reader];
              try {
                const record = await readers[one.reader].get(`${one.id}`);
                const version = record?.version ?? 0;
                assert.ok(version >= last[one.id]);
                last[one.id] = version;
                if (one.reader === 0) assert.equal(version, written[one.id]);
              } catch (error) {
                assert.ok(maxTextLength === 700, `${error}`);
                assert.ok(hasErrorCode(error, "ERR_STORE_FAILED"), `${error}`);
              }
            }
          }
          assert.equal(kv.calls.refused, 0);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("says so where it has seen more than KV gives, and not kept it", async () => {
    const kv = new SimulatedKv();
    const store = openKvStore(kv, { limits: { maxTextLength: 2_000 } });
    assert.equal(await store.get("a"), undefined);
    for (let i = 0; i < 20; i++) await store.get("a");
    await store.create(aRecord("a"));
    await store.create(aRecord("b", { text: "x".repeat(1_900) }));
    const error = await failureOf(store.get("a"), "ERR_STORE_FAILED");
    assert.match(String(error.cause), /older version than .* has seen/);
    await failureOf(store.update("a", {}, 1), "ERR_STORE_FAILED");
    await kv.clock.advance(MINUTE_MS);
    assert.deepEqual(await store.get("a"), aRecord("a"));
    assert.equal((await store.update("a", {}, 1)).version, 2);
  });

  it("keeps the largest record that there is, if it is the newest", async () => {
    const kv = new SimulatedKv();
    const store = openKvStore(kv, { limits: { maxTextLength: 2_000 } });
    const large = aRecord("a", { text: "é".repeat(500_000) });
    for (let i = 0; i < 20; i++) await store.get("a");
    await store.create(large);
    assert.deepEqual(await store.get("a"), large);
  });

  it("counts a record once, however often it is written", async () => {
    const kv = new SimulatedKv();
    const store = openKvStore(kv, { limits: { maxTextLength: 2_000 } });
    for (let i = 0; i < 20; i++) await store.get("b");
    await store.create(aRecord("b"));
    await store.create(aRecord("a", { text: "x".repeat(900) }));
    for (let version = 1; version < 9; version++) {
      await store.update("a", {}, version);
      assert.deepEqual(await store.get("b"), aRecord("b"));
    }
  });

  it("forgets what was abandoned, what failed, and what is old though a newer one came before", async () => {
    const kv = new SimulatedKv();
    const binding = kv.bind();
    const store = openKvStore(kv, {
      limits: { maxTasks: 2 },
      binding: {
        ...binding,
        put: (key, ...args) =>
          key.endsWith("abandoned")
            ? new Promise(() => {})
            : binding.put(key, ...args),
      },
    });
    store.create(aRecord("abandoned"));
    await kv.clock.advance(11 * MINUTE_MS);
    await store.create(aRecord("a"));
    kv.disturb = () => {
      throw new Error("KV PUT failed: 403 Forbidden");
    };
    for (const taskId of ["x", "y", "z"]) {
      const failed = store.create(aRecord(taskId));
      await failureOf(failed, "ERR_STORE_FAILED");
    }
    kv.disturb = () => {};
    await store.create(aRecord("b"));
    await kv.clock.advance(9 * MINUTE_MS);
    await store.update("a", {}, 1);
    await kv.clock.advance(2 * MINUTE_MS);
    await store.create(aRecord("c"));
    assert.equal((await store.get("a"))?.version, 2);
  });

  it("refuses more tasks than it can remember, and takes them when it may forget", async () => {
    const kv = new SimulatedKv();
    const other = openKvStore(kv);
    await other.create(aRecord("theirs"));
    await kv.clock.advance(MINUTE_MS);
    const store = openKvStore(kv, { limits: { maxTasks: 3 } });
    for (const taskId of ["a", "b", "c"]) await store.create(aRecord(taskId));
    for (
      const call of [store.create(aRecord("d")), store.get("theirs")]
    ) {
      const error = await failureOf(call, "ERR_STORE_FAILED");
      assert.match(String(error.cause), /^Error: 3 tasks .* 10 minutes/);
    }
    assert.equal(kv.peek(`${PREFIX}=d`), undefined);
    // What is known goes on, and ids that nobody has take no room.
    assert.equal((await store.update("a", {}, 1)).version, 2);
    for (let i = 0; i < 50; i++) {
      assert.equal(await store.get(`unknown ${i}`), undefined);
    }
    await kv.clock.advance(11 * MINUTE_MS);
    await store.create(aRecord("d"));
    assert.deepEqual(await store.get("theirs"), aRecord("theirs"));
    assert.equal((await store.get("a"))?.version, 2);
  });

  it("holds 20,000 tasks to their versions without delay", async () => {
    const kv = new SimulatedKv();
    const store = openKvStore(kv);
    for (let from = 0; from < 20_000; from += 1_000) {
      await Promise.all(
        Array.from(
          { length: 1_000 },
          (_, i) => store.create(aRecord(`task-${from + i}`)),
        ),
      );
    }
    await failureOf(store.create(aRecord("task-0")), "ERR_DUPLICATE_TASK_ID");
    await failureOf(store.update("task-7", {}, 2), "ERR_CONCURRENT_UPDATE");
  });
});
