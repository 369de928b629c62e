/** Cases about `sweep()`. */

import { hasErrorCode } from "../../errors.ts";
import type { TaskStore } from "../../store/contract.ts";
import { type ConformanceCase, defineCases } from "../case.ts";
import { describeError } from "../brief.ts";
import { expect, expectEqual } from "../expect.ts";
import { Unmet } from "../failure.ts";
import { conformanceRecord, CREATED_MS, DAY_MS } from "../record.ts";

/**
 * Expects a count of a sweep.
 *
 * @param what Which sweep.
 * @param swept What it returned.
 * @param count What it should have returned.
 */
export function expectSwept(what: string, swept: unknown, count: number): void {
  expect(swept === count, `${what} returns ${count}`, `${String(swept)}`);
}

/**
 * Expects a record to be gone for good: not even an earlier clock finds it.
 *
 * @param store The store.
 * @param taskId The record.
 */
async function expectGone(
  store: TaskStore,
  taskId: string,
): Promise<void> {
  expectEqual(
    `get("${taskId}") after the sweep, by a clock at which it was alive,`,
    await store.get(taskId, CREATED_MS),
    undefined,
  );
}

/**
 * Creates many records, a few hundred at a time.
 *
 * @param store The store.
 * @param count How many.
 * @param ttlMs The TTL of each.
 * @param prefix What their ids start with.
 */
async function createMany(
  store: TaskStore,
  count: number,
  ttlMs: number | null,
  prefix: string,
): Promise<void> {
  for (let from = 0; from < count; from += 250) {
    const length = Math.min(250, count - from);
    await Promise.all(
      Array.from({ length }, (_, i) =>
        store.create(
          conformanceRecord({ taskId: `${prefix} ${from + i}`, ttlMs }),
        )),
    );
  }
}

export const SWEEP_CASES: readonly ConformanceCase[] = defineCases([
  {
    id: "sweep-counts",
    clause: "S17",
    does: "sweep() deletes what is expired, and says exactly how many",
    async run({ store }) {
      expectSwept(
        "sweep() of an empty store",
        await store.sweep(CREATED_MS),
        0,
      );
      await createMany(store, 7, DAY_MS, "short");
      await createMany(store, 5, 9 * DAY_MS, "long");
      await createMany(store, 3, null, "endless");
      expectSwept(
        "sweep() before any has expired",
        await store.sweep(CREATED_MS + DAY_MS - 1),
        0,
      );
      expectSwept(
        "sweep() after 7 of 15 have expired",
        await store.sweep(CREATED_MS + 2 * DAY_MS),
        7,
      );
      for (let i = 0; i < 7; i++) await expectGone(store, `short ${i}`);
      for (
        const [prefix, count, ttlMs] of [
          ["long", 5, 9 * DAY_MS],
          ["endless", 3, null],
        ] as const
      ) {
        for (let i = 0; i < count; i++) {
          const taskId = `${prefix} ${i}`;
          expectEqual(
            `get("${taskId}") after the sweep`,
            await store.get(taskId, CREATED_MS),
            conformanceRecord({ taskId, ttlMs }),
          );
        }
      }
      expectSwept(
        "the same sweep() again",
        await store.sweep(CREATED_MS + 2 * DAY_MS),
        0,
      );
      expectSwept(
        "sweep() after 5 more have expired",
        await store.sweep(CREATED_MS + 10 * DAY_MS),
        5,
      );
    },
  },
  {
    id: "sweep-boundary",
    clause: "S17",
    does: "sweep() goes by the millisecond, and takes none of the living",
    hint: "isExpired() of @mcp-durable/tasks decides it.",
    async run({ store, traits }) {
      const ttls = { expired: 999, now: 1_000, living: 1_001 };
      for (const [taskId, ttlMs] of Object.entries(ttls)) {
        await store.create(conformanceRecord({ taskId, ttlMs }));
      }
      const swept = await store.sweep(CREATED_MS + 1_000);
      expectEqual(
        'get("living") after a sweep() 1 ms before the end of its TTL',
        await store.get("living", CREATED_MS + 1_000),
        conformanceRecord({ taskId: "living", ttlMs: 1_001 }),
      );
      // These may be left to a later sweep where others may know of a longer TTL.
      if (traits.writers === "shared" || traits.reads === "eventual") return;
      expectSwept("sweep() with 2 of 3 expired", swept, 2);
      await expectGone(store, "expired");
      await expectGone(store, "now");
    },
  },
  {
    id: "sweep-many",
    clause: "S17",
    does: "sweep() deletes 5,000 at once",
    hint:
      "Where the database hands out or deletes a page at a time, go on to the last page.",
    async run({ store }) {
      await createMany(store, 5_000, DAY_MS, "short");
      await createMany(store, 20, 3 * DAY_MS, "long");
      const now = CREATED_MS + 2 * DAY_MS;
      expectSwept("sweep() of 5,000", await store.sweep(now), 5_000);
      for (const i of [0, 999, 1_000, 4_999]) {
        await expectGone(store, `short ${i}`);
      }
      for (let i = 0; i < 20; i++) {
        const found = await store.get(`long ${i}`, now);
        expect(
          found !== undefined,
          `get("long ${i}") gives the record after the sweep`,
          "undefined",
        );
      }
      expectSwept("the same sweep() again", await store.sweep(now), 0);
    },
  },
  {
    id: "sweep-frees",
    clause: "S17",
    does: "sweep() makes an id free again, and nothing of the old record stays",
    async run({ store }) {
      await store.create(conformanceRecord({ ttlMs: DAY_MS, old: [1] }));
      await store.update("a", { statusMessage: "old" }, 1, CREATED_MS);
      await store.sweep(CREATED_MS + 2 * DAY_MS);
      const record = conformanceRecord({ statusMessage: undefined });
      await store.create(record);
      expectEqual(
        'get("a"), created anew after the sweep,',
        await store.get("a"),
        record,
      );
    },
  },
  {
    id: "sweep-ended",
    clause: "S17",
    does: "sweep() asks for the TTL alone, not for the status",
    async run({ store }) {
      const statuses = [
        "working",
        "input_required",
        "completed",
        "failed",
        "cancelled",
      ] as const;
      for (const status of statuses) {
        await store.create(
          conformanceRecord({ taskId: status, status, ttlMs: DAY_MS }),
        );
        await store.create(
          conformanceRecord({ taskId: `endless ${status}`, status }),
        );
      }
      const now = CREATED_MS + 2 * DAY_MS;
      expectSwept("sweep() of 5 expired ones of 10", await store.sweep(now), 5);
      for (const status of statuses) {
        await expectGone(store, status);
        const found = await store.get(`endless ${status}`, now);
        expect(
          found !== undefined,
          `get("endless ${status}") gives the record after the sweep`,
          "undefined",
        );
      }
    },
  },
  {
    id: "sweep-twice",
    clause: "S18",
    does: "sweep() twice at once counts each record once",
    claims: ["compareAndSwap"],
    hint:
      "Count what this sweep has deleted itself (the rows that DELETE changed), not what it found.",
    run: ({ store }) => sweepTogether([store, store, store]),
  },
  {
    id: "sweep-race",
    clause: "S18",
    does: "an update() that lifts a TTL beside a sweep() is kept or refused",
    claims: ["compareAndSwap"],
    hint:
      "Decide and delete in one step: a record that is read, judged and then deleted may have been extended in between. Delete by version, or where it is expired still.",
    async run({ store }) {
      const ids = Array.from({ length: 20 }, (_, i) => `task ${i}`);
      for (const taskId of ids) {
        await store.create(conformanceRecord({ taskId, ttlMs: DAY_MS }));
      }
      const lift = (taskId: string) =>
        store.update(taskId, { ttlMs: null }, 1, CREATED_MS);
      const early = ids.slice(0, 10).map(lift);
      const sweeping = store.sweep(CREATED_MS + 2 * DAY_MS);
      const late = ids.slice(10).map(lift);
      const outcomes = await Promise.allSettled([...early, ...late]);
      const swept = await sweeping;
      let refused = 0;
      for (const [i, outcome] of outcomes.entries()) {
        const taskId = ids[i];
        const kept = await store.get(taskId, CREATED_MS);
        if (outcome.status === "fulfilled") {
          expectEqual(
            `get("${taskId}"), whose TTL was lifted beside a sweep,`,
            kept,
            conformanceRecord({ taskId, ttlMs: null, version: 2 }),
          );
          continue;
        }
        refused++;
        const { reason } = outcome;
        if (!hasErrorCode(reason, "ERR_TASK_NOT_FOUND")) {
          throw new Unmet(
            `update("${taskId}") beside a sweep resolves, or rejects with ERR_TASK_NOT_FOUND`,
            `it rejected with ${describeError(reason)}`,
            { thrown: reason },
          );
        }
        expectEqual(
          `get("${taskId}"), swept before its TTL could be lifted,`,
          kept,
          undefined,
        );
      }
      expectSwept(
        `sweep() beside ${
          ids.length - refused
        } updates that were granted, and ${refused} that were refused,`,
        swept,
        refused,
      );
    },
  },
]);

/**
 * Lets sweeps of the same records run at once.
 *
 * @param stores The store of each sweep.
 */
export async function sweepTogether(
  stores: readonly TaskStore[],
): Promise<void> {
  const [store] = stores;
  await createMany(store, 60, DAY_MS, "short");
  await createMany(store, 5, null, "endless");
  const counts = await Promise.all(
    stores.map((one) => one.sweep(CREATED_MS + 2 * DAY_MS)),
  );
  const sum = counts.reduce((a, b) => a + b, 0);
  expect(
    sum === 60,
    `${stores.length} sweeps of 60 expired records at once return 60 together`,
    `${counts.join(" + ")} = ${sum}`,
  );
  for (let i = 0; i < 60; i++) await expectGone(store, `short ${i}`);
  for (let i = 0; i < 5; i++) {
    const found = await store.get(`endless ${i}`);
    expect(
      found !== undefined,
      `get("endless ${i}") gives the record after the sweeps`,
      "undefined",
    );
  }
}
