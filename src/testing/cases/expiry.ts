/** Cases about the end of a TTL. */

import { type ConformanceCase, defineCases } from "../case.ts";
import { expect, expectEqual, expectRefused } from "../expect.ts";
import { conformanceRecord, CREATED_MS, DAY_MS } from "../record.ts";

const SAME = "isExpired() of @mcp-durable/tasks decides it.";
const HOUR_MS = 3_600_000;

/** A record that is created at a time. */
function createdAt(ms: number, ttlMs: number, taskId = "a") {
  const at = new Date(ms).toISOString();
  return conformanceRecord({
    taskId,
    createdAt: at,
    lastUpdatedAt: at,
    ttlMs,
  });
}

export const EXPIRY_CASES: readonly ConformanceCase[] = defineCases([
  {
    id: "expiry-get",
    clause: "S6",
    does: "get() finds a record until the last millisecond of its TTL",
    hint: `At createdAt + ttlMs itself it is gone: >=, not >. ${SAME}`,
    async run({ store }) {
      const record = conformanceRecord({ ttlMs: 10 });
      await store.create(record);
      for (const ms of [0, 9, 10, 11, 1_000_000, 8]) {
        expectEqual(
          `get("a") ${ms} ms after the creation, with a TTL of 10 ms,`,
          await store.get("a", CREATED_MS + ms),
          ms < 10 ? record : undefined,
        );
      }
    },
  },
  {
    id: "expiry-update",
    clause: "S6",
    does: "update() refuses a record from the end of its TTL on",
    hint: `Expired, it is unknown: also for one who would extend it. ${SAME}`,
    async run({ store }) {
      await store.create(conformanceRecord({ ttlMs: 10 }));
      const updated = await store.update("a", {}, 1, CREATED_MS + 9);
      for (const version of [1, 2]) {
        await expectRefused(
          `update() at version ${version} 10 ms after the creation, with a TTL of 10 ms,`,
          store.update("a", { ttlMs: null }, version, CREATED_MS + 10),
          "ERR_TASK_NOT_FOUND",
        );
      }
      expectEqual(
        'get("a") 9 ms after the creation',
        await store.get("a", CREATED_MS + 9),
        updated,
      );
    },
  },
  {
    id: "expiry-changed",
    clause: "S6",
    does: "a TTL that is raised, lowered or lifted counts from then on",
    hint:
      `An expiry time that is stored beside the record has to change with it. ${SAME}`,
    async run({ store }) {
      await store.create(conformanceRecord({ ttlMs: 1_000 }));
      const lives = async (ms: number, expected: boolean, ttl: string) => {
        const found = await store.get("a", CREATED_MS + ms) !== undefined;
        expect(
          found === expected,
          `get("a") ${ms} ms after the creation gives ${
            expected ? "the record" : "undefined"
          }, with the TTL ${ttl}`,
          expected ? "undefined" : "the record",
        );
      };
      await store.update("a", { ttlMs: 2_000 }, 1, CREATED_MS + 500);
      await lives(1_900, true, "raised to 2,000 ms");
      await lives(2_100, false, "raised to 2,000 ms");
      await store.update("a", { ttlMs: 600 }, 2, CREATED_MS + 500);
      await lives(550, true, "lowered to 600 ms");
      await lives(650, false, "lowered to 600 ms");
      await store.update("a", { ttlMs: null }, 3, CREATED_MS + 550);
      await lives(650, true, "lifted");
      await lives(1e12, true, "lifted");
      const swept = await store.sweep(CREATED_MS + 1e12);
      expect(
        swept === 0,
        "sweep() returns 0 with the TTL lifted",
        `${swept}`,
      );
      await store.update("a", { ttlMs: 700 }, 4, CREATED_MS + 1e11);
      await lives(690, true, "set to 700 ms again");
      await lives(710, false, "set to 700 ms again");
    },
  },
  {
    id: "expiry-never",
    clause: "S6",
    does: "a record whose ttlMs is null never expires",
    async run({ store }) {
      const record = conformanceRecord({ ttlMs: null });
      await store.create(record);
      for (const now of [0, CREATED_MS + 1e12, 8.64e15]) {
        expectEqual(`get("a", ${now})`, await store.get("a", now), record);
        const swept = await store.sweep(now);
        expect(swept === 0, `sweep(${now}) returns 0`, `${swept}`);
      }
    },
  },
  {
    id: "expiry-long",
    clause: "S6",
    does: "a TTL of 30 days, and one of 10,000, ends neither early nor late",
    hint: `2 ** 31 ms are less than 25 days. ${SAME}`,
    async run({ store }) {
      for (const days of [24, 25, 30, 50, 10_000]) {
        const taskId = `${days} days`;
        const record = conformanceRecord({ taskId, ttlMs: days * DAY_MS });
        await store.create(record);
        const end = CREATED_MS + days * DAY_MS;
        expectEqual(
          `get("${taskId}") a second before the end of its TTL`,
          await store.get(taskId, end - 1_000),
          record,
        );
        expectEqual(
          `get("${taskId}") a second after the end of its TTL`,
          await store.get(taskId, end + 1_000),
          undefined,
        );
      }
    },
  },
  {
    id: "clock-of-caller",
    clause: "S5",
    does: "the caller's time decides, whatever the store's own clock says",
    hint:
      "Also no expiry by the database itself (a Redis EXPIRE, a KV expirationTtl): it goes by another clock.",
    async run({ store }) {
      const past = createdAt(Date.UTC(1990, 0), HOUR_MS, "past");
      await store.create(past);
      const future = createdAt(Date.UTC(2190, 0), HOUR_MS, "future");
      await store.create(future);
      expectEqual(
        'get("past"), in its hour of 1990,',
        await store.get("past", Date.UTC(1990, 0) + 1),
        past,
      );
      const updated = await store.update(
        "past",
        { statusMessage: "in 1990" },
        1,
        Date.UTC(1990, 0) + 2,
      );
      expect(
        updated.version === 2,
        'update("past"), in its hour of 1990, gives version 2',
        `version ${updated.version}`,
      );
      const early = await store.sweep(Date.UTC(1990, 0) + 3);
      expect(early === 0, "sweep() in that hour returns 0", `${early}`);
      expectEqual(
        'get("future") after its hour in 2190',
        await store.get("future", Date.UTC(2190, 0) + 2 * HOUR_MS),
        undefined,
      );
      const late = await store.sweep(Date.UTC(2190, 1));
      expect(late === 2, "sweep() in February 2190 returns 2", `${late}`);
    },
  },
  {
    id: "clock-of-store",
    clause: "S5",
    does: "without the caller's time the store's own clock decides",
    hint:
      "Its own clock is real time, unless the store is told otherwise; `now` may be missing in get(), update() and sweep().",
    async run({ store }) {
      const now = Date.now();
      const living = createdAt(now, 48 * HOUR_MS, "living");
      await store.create(living);
      await store.create(createdAt(now - 3 * HOUR_MS, HOUR_MS, "expired"));
      expectEqual('get("living")', await store.get("living"), living);
      expectEqual(
        'get("expired"), two hours after its end,',
        await store.get("expired"),
        undefined,
      );
      await expectRefused(
        'update("expired")',
        store.update("expired", { ttlMs: null }, 1),
        "ERR_TASK_NOT_FOUND",
      );
      const swept = await store.sweep();
      expect(swept === 1, "sweep() returns 1", `${swept}`);
      expectEqual(
        'get("living") after it',
        await store.get("living"),
        living,
      );
    },
  },
  {
    id: "clock-goes-on",
    clause: "S5",
    does: "a record expires by the store's own clock when its time has come",
    seams: ["advanceTime"],
    async run({ store, advanceTime }) {
      const record = createdAt(Date.now(), HOUR_MS);
      await store.create(record);
      expectEqual('get("a")', await store.get("a"), record);
      await advanceTime(3 * HOUR_MS);
      expectEqual(
        'get("a") three hours later, with a TTL of one,',
        await store.get("a"),
        undefined,
      );
      await expectRefused(
        'update("a") then',
        store.update("a", { ttlMs: null }, 1),
        "ERR_TASK_NOT_FOUND",
      );
      const swept = await store.sweep();
      expect(swept === 1, "sweep() then returns 1", `${swept}`);
    },
  },
]);
