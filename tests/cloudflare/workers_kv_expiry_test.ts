/** Expiry by the store and by KV, sweeps, and keys. */

import assert from "node:assert/strict";
import fc from "../support/fast_check.ts";
import { dateOf, failureOf, openKvStore, PREFIX } from "../support/kv_store.ts";
import type { StoreDamage } from "../../cloudflare.ts";
import { aRecord, CREATED_MS } from "../support/records.ts";
import { describe, it } from "../support/runner.ts";
import { SimulatedKv } from "../support/simulated_kv.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365 * DAY_MS;

/** When KV itself deletes a task, in milliseconds from now; `Infinity` for never. */
function endInKv(kv: SimulatedKv, taskId: string): number {
  return kv.peek(`${PREFIX}=${taskId}`)!.endsAt - kv.clock.now();
}

describe("WorkersKvTaskStore", () => {
  it("lets KV delete a task a day after its end, however its TTL changes", async () => {
    const kv = new SimulatedKv();
    const store = openKvStore(kv);
    await store.create(aRecord("a", { ttlMs: 2 * HOUR_MS }));
    assert.equal(endInKv(kv, "a"), 2 * HOUR_MS + DAY_MS);
    let version = 1;
    for (
      const [ttlMs, end] of [
        [5 * HOUR_MS, 5 * HOUR_MS + DAY_MS],
        [3, DAY_MS],
        [null, Infinity],
        [YEAR_MS, YEAR_MS + DAY_MS],
        [2 * YEAR_MS, Infinity],
        [1_500, DAY_MS],
      ] as const
    ) {
      await store.update("a", { ttlMs }, version++, CREATED_MS);
      // The caller's time was that of the creation.
      const left = endInKv(kv, "a");
      assert.ok(Math.abs(left - end) <= 2_000 || left === end, `${left}`);
    }
    await kv.clock.advance(DAY_MS + 5_000);
    assert.deepEqual(kv.keys(), []);
  });

  it("lets KV delete nothing that lives, though the clock was days ahead at the last write", async () => {
    const kv = new SimulatedKv();
    let aheadMs = 0;
    const store = openKvStore(kv, { now: () => dateOf(kv) + aheadMs });
    await store.create(aRecord("a", { ttlMs: 7 * DAY_MS }));
    aheadMs = 5 * DAY_MS;
    await store.update("a", { statusMessage: "ahead" }, 1);
    aheadMs = 0;
    await kv.clock.advance(6 * DAY_MS);
    assert.equal((await store.get("a"))?.statusMessage, "ahead");
    await kv.clock.advance(3 * DAY_MS);
    assert.deepEqual(kv.keys(), []);
  });

  it("goes by the TTL at each read, long before KV deletes", async () => {
    const kv = new SimulatedKv();
    const store = openKvStore(kv);
    await store.create(aRecord("a", { ttlMs: 7_000 }));
    const end = CREATED_MS + 7_000;
    assert.equal((await store.get("a", end - 1))?.taskId, "a");
    assert.equal(await store.get("a", end), undefined);
    await kv.clock.advance(7_000);
    assert.equal(await store.get("a"), undefined);
    await failureOf(store.update("a", {}, 1), "ERR_TASK_NOT_FOUND");
    assert.equal(kv.keys().length, 1);
  });

  it("sweeps page after page, and counts exactly", async () => {
    const kv = new SimulatedKv();
    const writer = openKvStore(kv);
    await Promise.all(
      Array.from({ length: 2_345 }, (_, i) =>
        writer.create(
          aRecord(`task-${i}`, { ttlMs: i % 5 ? HOUR_MS : null }),
        )),
    );
    await kv.clock.advance(HOUR_MS + 11 * 60_000);
    // One that has written nothing knows of what KV lists alone.
    const sweeper = openKvStore(kv);
    assert.equal(await sweeper.sweep(), 1_876);
    assert.equal(await sweeper.sweep(), 0);
    assert.equal(kv.keys().length, 469);
    assert.equal(kv.calls.refused, 0);
    assert.ok(kv.calls.list <= 6);
  });

  it("sweeps what it knows itself, where the listing is late", async () => {
    const kv = new SimulatedKv();
    const store = openKvStore(kv);
    await store.create(aRecord("a", { ttlMs: 1_000 }));
    await store.create(aRecord("b", { ttlMs: 1_000 }));
    await store.update("b", { ttlMs: null }, 1, CREATED_MS);
    assert.equal(await store.sweep(CREATED_MS + HOUR_MS), 1);
    assert.equal(await store.sweep(CREATED_MS + HOUR_MS), 0);
    assert.deepEqual(kv.keys(), [`${PREFIX}=b`]);
  });

  it("leaves what another instance extends, though the listing is late", async () => {
    const kv = new SimulatedKv();
    const [one, other] = [openKvStore(kv), openKvStore(kv)];
    await one.create(aRecord("a", { ttlMs: 2 * HOUR_MS }));
    await kv.clock.advance(2 * HOUR_MS - 2_000);
    assert.equal((await other.get("a"))?.version, 1);
    await one.update("a", { ttlMs: 9 * HOUR_MS }, 1);
    // Its clock is 9 minutes ahead, and its listing a minute behind.
    assert.equal(await other.sweep(dateOf(kv) + 9 * 60_000), 0);
    await kv.clock.advance(10 * 60_000);
    assert.equal(await other.sweep(), 0);
    assert.equal((await other.get("a"))?.version, 2);
  });

  it("touches no key that is not its own", async () => {
    const kv = new SimulatedKv();
    const ended = { v: 1, e: CREATED_MS, c: 1 };
    const foreign: [string, unknown][] = [
      ["other", ended],
      [`${PREFIX}other`, ended],
      [`${PREFIX}=a/=b`, ended],
      [`${PREFIX}#abc`, ended],
      [`${PREFIX}=no-metadata`, null],
      [`${PREFIX}=other-metadata`, { e: CREATED_MS }],
      [`${PREFIX}=text-metadata`, "e"],
      [`${PREFIX}=text-as-time`, { v: 1, e: "2001", c: 1 }],
    ];
    const later = { ...ended, f: 2 };
    foreign.push([`${PREFIX}=of-a-later-release`, later]);
    for (const [key, metadata] of foreign) kv.force(key, "{}", metadata);
    const longer = openKvStore(kv, { prefix: `${PREFIX}longer/` });
    await longer.create(aRecord("a", { ttlMs: 1_000 }));
    await kv.clock.advance(HOUR_MS);
    const damage: StoreDamage[] = [];
    const store = openKvStore(kv, {
      onDamage(found) {
        damage.push(found);
        throw new Error("nobody listens");
      },
    });
    await store.create(aRecord("own", { ttlMs: 1 }));
    assert.equal(await store.sweep(dateOf(kv)), 1);
    assert.equal(await store.sweep(), 0);
    assert.equal(kv.keys().length, foreign.length + 1);
    // Each of its own keys is told of once.
    const names = foreign.map(([name]) => name);
    assert.deepEqual(
      damage.map(({ key }) => key).sort(),
      names.filter((name) => /-/.test(name.slice(PREFIX.length))).sort(),
    );
    assert.match(
      damage[0].reason,
      /format 2, .* reads 1|what this store writes/,
    );
    await failureOf(store.get("of-a-later-release"), "ERR_STORE_FAILED");
    assert.equal(await longer.sweep(), 1);
  });

  it("goes on where a sweep before it failed in the middle", async () => {
    const kv = new SimulatedKv();
    const store = openKvStore(kv);
    for (let i = 0; i < 40; i++) {
      await store.create(aRecord(`task-${i}`, { ttlMs: 1_000 }));
    }
    await kv.clock.advance(HOUR_MS);
    const { disturb } = kv;
    kv.disturb = (call) => {
      if (call === "delete" && kv.calls.delete > 25) {
        throw new TypeError(
          "Too many API requests by single worker invocation",
        );
      }
    };
    await failureOf(store.sweep(), "ERR_STORE_FAILED");
    kv.disturb = disturb;
    const left = kv.keys().length;
    assert.ok(left > 0 && left < 40);
    assert.equal(await store.sweep(), left);
    assert.deepEqual(kv.keys(), []);
  });

  it("deletes again where KV answers 429", async () => {
    const kv = new SimulatedKv();
    const store = openKvStore(kv);
    await store.create(aRecord("a", { ttlMs: 1_000 }));
    await kv.clock.advance(HOUR_MS);
    let refusals = 2;
    kv.disturb = (call) => {
      if (call === "delete" && refusals-- > 0) {
        throw new Error("KV DELETE failed: 429 Too Many Requests");
      }
    };
    assert.equal(await store.sweep(), 1);
    assert.equal(kv.calls.delete, 3);
    // The id is free, and the second is kept for it too.
    await store.create(aRecord("a"));
    assert.equal(kv.calls.refused, 0);
  });

  it("sweeps a task or changes it, never both", async () => {
    const kv = new SimulatedKv();
    const binding = kv.bind();
    const store = openKvStore(kv, {
      binding: {
        ...binding,
        async delete(key) {
          await kv.clock.wait(2_000);
          await binding.delete(key);
        },
      },
    });
    await store.create(aRecord("a", { ttlMs: 1_000 }));
    await kv.clock.advance(HOUR_MS);
    const sweeping = store.sweep();
    await kv.clock.advance(500);
    // By a clock at which it has not ended.
    const lift = store.update("a", { ttlMs: null }, 1, CREATED_MS);
    await failureOf(lift, "ERR_TASK_NOT_FOUND");
    assert.equal(await sweeping, 1);
    assert.deepEqual(kv.keys(), []);
  });

  it("knows the new task of an id from the old one, though the clock was set back", async () => {
    const kv = new SimulatedKv();
    let now = CREATED_MS;
    const store = openKvStore(kv, { now: () => now });
    await store.create(aRecord("a", { ttlMs: 1_000, version: 5 }));
    for (let i = 0; i < 20; i++) await store.get("a");
    assert.equal(await store.sweep(CREATED_MS + HOUR_MS), 1);
    now -= HOUR_MS;
    await store.create(aRecord("a"));
    for (let i = 0; i < 20; i++) {
      assert.equal((await store.get("a"))?.version, 1);
    }
    await kv.clock.advance(60_000);
    assert.equal((await openKvStore(kv).get("a"))?.version, 1);
  });

  it("keeps any id under a key that KV takes, and no two under one", async () => {
    const kv = new SimulatedKv();
    const store = openKvStore(kv);
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(
          fc.oneof(
            fc.string({ unit: "binary" }),
            fc.uuid(),
            fc.string({
              minLength: 120,
              maxLength: 140,
              unit: fc.constant("a"),
            }),
            fc.constantFrom("\ud800", "\udfff", "", ".", "..", "=a", "#a"),
            fc.constantFrom("\u00e9", "\u01e9", "x".repeat(600)),
            fc.string({ maxLength: 2_000, unit: "grapheme" }),
          ),
          { maxLength: 6 },
        ),
        fc.uuid(),
        async (ids, run) => {
          const own = openKvStore(kv, { prefix: `${run}/` });
          for (const [i, taskId] of ids.entries()) {
            await own.create(aRecord(taskId, { version: i + 1 }));
          }
          for (const [i, taskId] of ids.entries()) {
            assert.equal((await own.get(taskId))?.version, i + 1);
          }
          const keys = kv.keys().filter((key) => key.startsWith(run));
          assert.equal(keys.length, ids.length);
        },
      ),
      { numRuns: 40 },
    );
    const uuid = "0f8fad5b-d9cb-469f-a165-70867728950e";
    await store.create(aRecord(uuid));
    assert.ok(kv.keys().includes(`${PREFIX}=${uuid}`));
  });
});
