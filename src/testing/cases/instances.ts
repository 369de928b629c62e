/** Cases about several instances on the same data. */

import { describeError } from "../brief.ts";
import { type CaseInit, type ConformanceCase, defineCases } from "../case.ts";
import { hasErrorCode } from "../../errors.ts";
import {
  expect,
  expectEqual,
  expectOneWins,
  expectRefused,
} from "../expect.ts";
import { Unmet } from "../failure.ts";
import { conformanceRecord, CREATED_MS } from "../record.ts";
import { countTogether, race } from "./races.ts";
import { sweepTogether } from "./sweep.ts";

const NO_CACHE =
  "Nothing of a record may be kept in the instance: the other one does not know of it. The database decides, in one step.";

const SHARED: readonly Omit<CaseInit, "clause" | "seams">[] = [
  {
    id: "shared-sees",
    does: "one instance reads at once what another has acknowledged",
    claims: ["shared"],
    hint: NO_CACHE,
    async run({ store, secondInstance }) {
      await store.create(conformanceRecord({ taskId: "before" }));
      const other = await secondInstance();
      expectEqual(
        'get("before") of the second instance',
        await other.get("before"),
        conformanceRecord({ taskId: "before" }),
      );
      expectEqual('get("a") of it', await other.get("a"), undefined);
      await store.create(conformanceRecord());
      expectEqual(
        'get("a") of it after create() of the first',
        await other.get("a"),
        conformanceRecord(),
      );
      await other.update("a", { statusMessage: "2 of 2" }, 1);
      const expected = conformanceRecord({
        statusMessage: "2 of 2",
        version: 2,
      });
      expectEqual(
        'get("a") of the first after update() of the second',
        await store.get("a"),
        expected,
      );
      await expectRefused(
        "update() of the first at the version before",
        store.update("a", {}, 1),
        "ERR_CONCURRENT_UPDATE",
      );
      await expectRefused(
        "create() of the second of an id that the first has created",
        other.create(conformanceRecord()),
        "ERR_DUPLICATE_TASK_ID",
      );
      expectEqual('get("a") after it', await other.get("a"), expected);
    },
  },
  {
    id: "shared-expiry",
    does: "one instance goes by the TTL that another has changed",
    claims: ["shared"],
    hint: NO_CACHE,
    async run({ store, secondInstance }) {
      const other = await secondInstance();
      await store.create(conformanceRecord({ ttlMs: 1_000 }));
      await other.get("a", CREATED_MS);
      await store.update("a", { ttlMs: 900_000 }, 1, CREATED_MS);
      const expected = conformanceRecord({ ttlMs: 900_000, version: 2 });
      const swept = await other.sweep(CREATED_MS + 800_000);
      expect(
        swept === 0,
        "sweep() of the second, within the TTL that the first has raised, returns 0",
        `${swept}`,
      );
      expectEqual(
        'get("a") of the second then',
        await other.get("a", CREATED_MS + 800_000),
        expected,
      );
    },
  },
  {
    id: "shared-race-two",
    does: "of two instances that update a version one wins",
    claims: ["shared", "compareAndSwap"],
    hint: NO_CACHE,
    async run({ store, secondInstance }) {
      await race([store, await secondInstance()]);
    },
  },
  {
    id: "shared-race-fifty",
    does: "of 50 writers of a version in two instances one wins",
    claims: ["shared", "compareAndSwap"],
    hint: NO_CACHE,
    async run({ store, secondInstance }) {
      const other = await secondInstance();
      await race(Array.from({ length: 50 }, (_, i) => i % 2 ? other : store));
    },
  },
  {
    id: "shared-race-count",
    does: "nothing is lost of 6 writers in two instances",
    claims: ["shared", "compareAndSwap"],
    hint: NO_CACHE,
    async run({ store, secondInstance }) {
      const other = await secondInstance();
      await countTogether([store, other, store, other, store, other], 4);
    },
  },
  {
    id: "shared-race-create",
    does: "of 20 that create an id in two instances one wins",
    claims: ["shared", "compareAndSwap"],
    hint: NO_CACHE,
    async run({ store, secondInstance }) {
      const other = await secondInstance();
      const records = Array.from(
        { length: 20 },
        (_, i) => conformanceRecord({ statusMessage: `creator ${i + 1}` }),
      );
      const winner = await expectOneWins(
        "20 create() of one id in two instances at once",
        records.map((record, i) => (i % 2 ? other : store).create(record)),
        "ERR_DUPLICATE_TASK_ID",
      );
      for (
        const [name, one] of [["first", store], ["second", other]] as const
      ) {
        expectEqual(
          `get("a") of the ${name} instance`,
          await one.get("a"),
          records[winner],
        );
      }
    },
  },
  {
    id: "shared-sweep",
    does: "sweeps of two instances count each record once",
    claims: ["shared", "compareAndSwap"],
    async run({ store, secondInstance }) {
      const other = await secondInstance();
      await sweepTogether([store, other, other]);
    },
  },
  {
    id: "shared-close",
    does: "an instance that closes takes nothing from the others",
    claims: ["shared"],
    async run({ store, secondInstance }) {
      const other = await secondInstance();
      await other.create(conformanceRecord());
      await other.close();
      await expectRefused("get() of it", other.get("a"), "ERR_STORE_CLOSED");
      expectEqual(
        'get("a") of the first after the second has closed',
        await store.get("a"),
        conformanceRecord(),
      );
      await store.update("a", {}, 1);
      const third = await secondInstance();
      expectEqual(
        'get("a") of a third',
        await third.get("a"),
        conformanceRecord({ version: 2 }),
      );
    },
  },
];

export const INSTANCE_CASES: readonly ConformanceCase[] = defineCases([
  ...SHARED.map((one) => ({
    ...one,
    clause: "S24" as const,
    claims: [...one.claims ?? [], "latestReads" as const],
    seams: ["secondInstance" as const],
  })),
  {
    id: "exclusive-refused",
    clause: "S25",
    does: "a second instance is refused while the first is open",
    claims: ["durable", "exclusive"],
    seams: ["secondInstance", "reopen"],
    hint:
      "Take a lock that the system gives back when the process dies: a lock of the file system or of the database, not a file that stays.",
    async run({ store, secondInstance, reopen }) {
      const record = conformanceRecord();
      await store.create(record);
      const attempt = (async () => {
        const other = await secondInstance();
        await other.get("a");
        return await other.update("a", { statusMessage: "intruder" }, 1);
      })();
      await attempt.then(
        () => {
          throw new Unmet(
            "a second instance is refused with ERR_STORE_LOCKED, when it opens or by its methods",
            "it read and updated a record",
          );
        },
        (error) => {
          if (hasErrorCode(error, "ERR_STORE_LOCKED")) return;
          throw new Unmet(
            "a second instance is refused with ERR_STORE_LOCKED",
            `it was refused with ${describeError(error)}`,
            { thrown: error },
          );
        },
      );
      expectEqual(
        'get("a") of the first after it',
        await store.get("a"),
        record,
      );
      await store.update("a", { statusMessage: "mine" }, 1);
      expectEqual(
        'get("a") of an instance that is opened when the first has closed',
        await (await reopen()).get("a"),
        conformanceRecord({ statusMessage: "mine", version: 2 }),
      );
    },
  },
]);
