/** Cases about `create()`, `get()` and ids. */

import type { TaskRecord } from "../../model/record.ts";
import { type ConformanceCase, defineCases } from "../case.ts";
import {
  expect,
  expectEqual,
  expectOneWins,
  expectRefused,
} from "../expect.ts";
import { conformanceRecord, CREATED_MS } from "../record.ts";

/** Ids that some database takes for one another, for a path, or for nothing. */
const IDS: readonly string[] = [
  "a",
  "A",
  "a ",
  " a",
  "a\u0000",
  "é",
  "e\u0301",
  "Straße",
  "STRASSE",
  "😀",
  "\ud83d",
  "\ude00",
  "\ufffd",
  "1",
  "01",
  "1.0",
  "null",
  "",
  "a/b",
  "../a",
  "a%2Fb",
  "a:b",
  "a*",
  "_",
  "%",
  "'; --",
  "__proto__",
  "constructor",
];

export const CREATE_CASES: readonly ConformanceCase[] = defineCases([
  {
    id: "create-keeps",
    clause: "S8",
    does: "create() keeps a record that get() finds at once",
    hint: "The version is the caller's: it need not be 1.",
    async run({ store }) {
      const record = conformanceRecord({ version: 7, owner: "ada" });
      expectEqual("create()", await store.create(record), undefined);
      expectEqual('get("a")', await store.get("a"), record);
    },
  },
  {
    id: "create-many",
    clause: "S8",
    does: "create() keeps each of 200 records that come at once",
    async run({ store }) {
      const records = Array.from(
        { length: 200 },
        (_, i) => conformanceRecord({ taskId: `task ${i}`, version: i + 1 }),
      );
      await Promise.all(records.map((record) => store.create(record)));
      for (const record of records) {
        const { taskId } = record;
        expectEqual(`get("${taskId}")`, await store.get(taskId), record);
      }
    },
  },
  {
    id: "create-duplicate",
    clause: "S9",
    does: "create() refuses an id that exists, and leaves its record alone",
    hint:
      "Insert only if there is none (INSERT without OR REPLACE, a put with a condition), and translate the database's refusal.",
    async run({ store }) {
      const first = conformanceRecord({ statusMessage: "first" });
      await store.create(first);
      await expectRefused(
        "a second create() of the id",
        store.create(conformanceRecord({ statusMessage: "second" })),
        "ERR_DUPLICATE_TASK_ID",
      );
      expectEqual('get("a") after it', await store.get("a"), first);
      const updated = await store.update("a", { status: "completed" }, 1);
      await expectRefused(
        "create() of an id whose task has ended",
        store.create(conformanceRecord()),
        "ERR_DUPLICATE_TASK_ID",
      );
      expectEqual('get("a") after it', await store.get("a"), updated);
    },
  },
  {
    id: "create-duplicate-race",
    clause: "S9",
    does: "create() lets one of 50 that create an id at once win",
    claims: ["compareAndSwap"],
    hint:
      "Look and insert in one step: something else runs between them otherwise.",
    async run({ store }) {
      const records = Array.from(
        { length: 50 },
        (_, i) => conformanceRecord({ statusMessage: `creator ${i + 1}` }),
      );
      const winner = await expectOneWins(
        "50 create() of one id at once",
        records.map((record) => store.create(record)),
        "ERR_DUPLICATE_TASK_ID",
      );
      expectEqual(
        'get("a"), the record of the one that won,',
        await store.get("a"),
        records[winner],
      );
    },
  },
  {
    id: "get-unknown",
    clause: "S10",
    does: "get() gives undefined for an id that is unknown",
    hint: "Not null, and not what an empty object inherits.",
    async run({ store }) {
      const unknown = [
        "b",
        "",
        "__proto__",
        "constructor",
        "toString",
        "hasOwnProperty",
      ];
      for (const taskId of unknown) {
        expectEqual(
          `get(${JSON.stringify(taskId)})`,
          await store.get(taskId),
          undefined,
        );
      }
      await store.create(conformanceRecord());
      expectEqual('get("b") beside "a"', await store.get("b"), undefined);
    },
  },
  {
    id: "get-pure",
    clause: "S11",
    does: "get() changes nothing, and deletes nothing that is expired",
    hint: "Leave deleting to sweep(): the clock of one reader may be wrong.",
    async run({ store }) {
      const record = conformanceRecord({ ttlMs: 10_000, version: 3 });
      await store.create(record);
      for (let i = 0; i < 3; i++) {
        expectEqual(
          `get("a"), the ${["first", "second", "third"][i]} time,`,
          await store.get("a", CREATED_MS + i),
          record,
        );
      }
      expectEqual(
        'get("a") by a clock at which it is expired',
        await store.get("a", CREATED_MS + 60_000),
        undefined,
      );
      expectEqual(
        'get("a") after that by a clock at which it is not',
        await store.get("a", CREATED_MS + 9_000),
        record,
      );
      const updated = await store.update("a", {}, 3, CREATED_MS);
      expect(
        updated.version === 4,
        "update() after reads alone makes version 4 of 3",
        `version ${updated.version}`,
      );
    },
  },
  {
    id: "ids",
    clause: "S4",
    does: "ids that look alike are different tasks",
    hint:
      "Compare ids as they are: no folding of case, spaces, accents or surrogates. Where a database takes well-formed text alone, encode the id, for example with JSON.stringify().",
    async run({ store }) {
      const records = new Map<string, TaskRecord>();
      for (const taskId of IDS) {
        expectEqual(
          `get(${JSON.stringify(taskId)}) before its create()`,
          await store.get(taskId),
          undefined,
        );
        const record = conformanceRecord({
          taskId,
          statusMessage: `number ${records.size}`,
        });
        await store.create(record);
        records.set(taskId, record);
      }
      for (const [taskId, record] of records) {
        expectEqual(
          `get(${JSON.stringify(taskId)})`,
          await store.get(taskId),
          record,
        );
      }
      for (const [taskId, record] of records) {
        const version = record.version + 1;
        expectEqual(
          `update(${JSON.stringify(taskId)})`,
          await store.update(taskId, {}, 1),
          { ...record, version },
        );
      }
    },
  },
]);
