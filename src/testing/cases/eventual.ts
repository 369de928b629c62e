/** Cases about what a store of eventual reads promises all the same. */

import type { TaskRecord } from "../../model/record.ts";
import type { TaskStore } from "../../store/contract.ts";
import { type ConformanceCase, defineCases } from "../case.ts";
import { expect, expectEqual, expectRefused } from "../expect.ts";
import { conformanceRecord, CREATED_MS, DAY_MS } from "../record.ts";

/** In what time what was written is read everywhere. */
const ARRIVAL_MS = 3_600_000;

/** A step on the way there. */
const STEP_MS = 4_000;

const SEEN =
  "Keep what the instance has written and read for as long as the database may give something older, and go by the newer of the two.";

/** Writes a version of record `a`, and gives the record as it is then. */
async function write(
  store: TaskStore,
  version: number,
): Promise<TaskRecord> {
  return await store.update(
    "a",
    { statusMessage: `${version + 1}`, pollIntervalMs: version * 100 },
    version,
  );
}

export const EVENTUAL_CASES: readonly ConformanceCase[] = defineCases([
  {
    id: "eventual-own-writes",
    clause: "S26",
    does: "an instance reads at once what it wrote and deleted itself",
    claims: ["eventualReads"],
    seams: ["secondInstance"],
    hint: SEEN,
    async run({ store, secondInstance }) {
      const other = await secondInstance();
      // Whatever there is between the database and its readers knows it now.
      for (const one of [store, other]) {
        expectEqual('get("a")', await one.get("a"), undefined);
      }
      await store.create(conformanceRecord());
      expectEqual(
        'get("a") of the instance that created it, and had missed it before,',
        await store.get("a"),
        conformanceRecord(),
      );
      for (let version = 1; version <= 5; version++) {
        await other.get("a");
        const updated = await write(store, version);
        expectEqual(
          `get("a") of the instance that wrote version ${version + 1}`,
          await store.get("a"),
          updated,
        );
      }
      await store.create(
        conformanceRecord({ taskId: "short", version: 3, ttlMs: DAY_MS }),
      );
      await other.get("short", CREATED_MS);
      await store.sweep(CREATED_MS + 2 * DAY_MS);
      expectEqual(
        'get("short") of the instance that deleted it, by an earlier clock,',
        await store.get("short", CREATED_MS),
        undefined,
      );
      const anew = conformanceRecord({ taskId: "short" });
      await store.create(anew);
      expectEqual(
        'get("short") of the instance that created it anew',
        await store.get("short"),
        anew,
      );
    },
  },
  {
    id: "eventual-never-back",
    clause: "S26",
    does: "an instance that has read a version never reads an older one",
    claims: ["eventualReads"],
    seams: ["secondInstance", "advanceTime"],
    hint: SEEN,
    async run({ store, secondInstance, advanceTime }) {
      const other = await secondInstance();
      await other.get("a");
      const history = [undefined, conformanceRecord()];
      await store.create(history[1]!);
      let last = 0;
      for (let version = 1; version <= 40; version++) {
        history.push(await write(store, version));
        for (let i = 0; i < 3; i++) {
          const record = await other.get("a");
          const read = record?.version ?? 0;
          expect(
            read >= last,
            `get("a") of an instance that has read version ${last} gives that, or a later one`,
            record ? `version ${read}` : "undefined",
          );
          last = read;
          expectEqual(`get("a") at version ${read}`, record, history[read]);
        }
        await advanceTime(version % 8 === 0 ? ARRIVAL_MS : STEP_MS);
      }
    },
  },
  {
    id: "eventual-arrives",
    clause: "S26",
    does: "an instance reads what another wrote and deleted within an hour",
    claims: ["eventualReads"],
    seams: ["secondInstance", "advanceTime"],
    hint: "What is kept of a record may hide what is older, not what is newer.",
    async run({ store, secondInstance, advanceTime }) {
      const other = await secondInstance();
      await other.get("a");
      await store.create(conformanceRecord());
      await store.create(conformanceRecord({ taskId: "b", ttlMs: DAY_MS }));
      await advanceTime(ARRIVAL_MS);
      expectEqual(
        'get("a") an hour after another instance created it',
        await other.get("a"),
        conformanceRecord(),
      );
      await other.get("b", CREATED_MS);
      const updated = await write(store, 1);
      await store.sweep(CREATED_MS + 2 * DAY_MS);
      await advanceTime(ARRIVAL_MS);
      expectEqual(
        'get("a") an hour after another instance updated it',
        await other.get("a"),
        updated,
      );
      expectEqual(
        'get("b") an hour after another instance deleted it, by an earlier clock,',
        await other.get("b", CREATED_MS),
        undefined,
      );
    },
  },
  {
    id: "eventual-refuses",
    clause: "S26",
    does: "an instance refuses by what it has seen",
    claims: ["eventualReads"],
    seams: ["secondInstance", "advanceTime"],
    hint:
      "create() and update() judge by the newest that the instance knows, not by what one read of the database gives.",
    async run({ store, secondInstance, advanceTime }) {
      const other = await secondInstance();
      await other.get("a");
      await store.create(conformanceRecord());
      await write(store, 1);
      // As soon as it can be: an older one may be about, too.
      let seen = await other.get("a");
      for (let ms = 0; seen?.version !== 2 && ms < ARRIVAL_MS; ms += STEP_MS) {
        await advanceTime(STEP_MS);
        seen = await other.get("a");
      }
      expect(
        seen?.version === 2,
        'get("a") gives version 2 within an hour after another instance wrote it',
        seen ? `version ${seen.version}` : "undefined",
      );
      await expectRefused(
        "update() at version 1 of an instance that has read version 2",
        other.update("a", { statusMessage: "stale" }, 1),
        "ERR_CONCURRENT_UPDATE",
      );
      await expectRefused(
        "create() of an id that the instance has read",
        other.create(conformanceRecord()),
        "ERR_DUPLICATE_TASK_ID",
      );
      const updated = await write(other, 2);
      expectEqual(
        "update() at the version that the instance has read",
        updated,
        { ...seen, statusMessage: "3", pollIntervalMs: 200, version: 3 },
      );
      expectEqual('get("a") after it', await other.get("a"), updated);
    },
  },
]);
