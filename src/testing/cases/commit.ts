/** Cases about `commit()`, of stores that have it. */

import { jsonBytes } from "../../model/json.ts";
import { type CaseInit, type ConformanceCase, defineCases } from "../case.ts";
import {
  expect,
  expectEqual,
  expectOneWins,
  expectPromise,
  expectRefused,
} from "../expect.ts";
import { conformanceRecord, CREATED_MS, patchOf } from "../record.ts";

const AS_UPDATE = "It does what update() does: let both go the same way.";

const COMMIT: readonly Omit<CaseInit, "clause">[] = [
  {
    id: "commit-applies",
    does:
      "commit() sets, deletes and keeps fields, and returns the new version",
    hint: AS_UPDATE,
    async run({ store }) {
      const result = { rows: Array.from({ length: 500 }, (_, i) => `${i}`) };
      await store.create(
        conformanceRecord({ result, extra: [1], gone: 1, version: 7 }),
      );
      const version = await store.commit!(
        "a",
        patchOf({
          status: "failed",
          statusMessage: undefined,
          gone: undefined,
          extra: { other: null },
          more: [],
        }),
        7,
      );
      expectEqual("commit() at version 7", version, 8);
      expectEqual(
        'get("a") after it',
        await store.get("a"),
        conformanceRecord({
          result,
          status: "failed",
          statusMessage: undefined,
          extra: { other: null },
          more: [],
          version: 8,
        }),
      );
      expectEqual("commit({})", await store.commit!("a", {}, 8), 9);
      const kept = (await store.get("a"))?.version;
      expect(
        kept === 9,
        'get("a") after it gives version 9',
        `version ${kept}`,
      );
    },
  },
  {
    id: "commit-names",
    does:
      "commit() takes enumerable own string keys, and never the id, the creation or the version",
    hint: AS_UPDATE,
    async run({ store }) {
      await store.create(conformanceRecord());
      const patch = Object.create({ inherited: 1 });
      Object.defineProperty(patch, "hidden", { value: 1 });
      patch[Symbol("symbol")] = 1;
      Object.assign(patch, { taskId: "b", createdAt: "1999", version: 99 });
      for (const name of ["__proto__", "constructor", ""]) {
        Object.defineProperty(patch, name, { value: name, enumerable: true });
      }
      await store.commit!("a", patchOf(patch), 1);
      const expected = conformanceRecord({ version: 2 });
      for (const name of ["__proto__", "constructor", ""]) {
        Object.defineProperty(expected, name, {
          value: name,
          enumerable: true,
        });
      }
      expectEqual('get("a")', await store.get("a"), expected);
    },
  },
  {
    id: "commit-refuses",
    does: "commit() refuses a stale version, and an unknown or expired id",
    hint: AS_UPDATE,
    async run({ store }) {
      const record = conformanceRecord({ ttlMs: 10, version: 5 });
      await store.create(record);
      const patch = patchOf({ statusMessage: "x", ttlMs: null });
      for (const version of [4, 6, 0]) {
        await expectRefused(
          `commit() at version ${version} of a record at version 5`,
          store.commit!("a", patch, version, CREATED_MS),
          "ERR_CONCURRENT_UPDATE",
        );
      }
      for (const [taskId, ms] of [["b", 0], ["__proto__", 0], ["a", 10]]) {
        await expectRefused(
          `commit("${taskId}") ${ms} ms after the creation, with a TTL of 10 ms,`,
          store.commit!(
            `${taskId}`,
            patch,
            5,
            CREATED_MS + Number(ms),
          ),
          "ERR_TASK_NOT_FOUND",
        );
      }
      expectEqual(
        'get("a") after it',
        await store.get("a", CREATED_MS),
        record,
      );
      expectEqual('get("b")', await store.get("b", CREATED_MS), undefined);
      expectEqual(
        "commit() 9 ms after the creation",
        await store.commit!("a", patch, 5, CREATED_MS + 9),
        6,
      );
      expectEqual(
        'get("a") after it, whose TTL is lifted,',
        await store.get("a", CREATED_MS + 1_000),
        { ...record, statusMessage: "x", ttlMs: null, version: 6 },
      );
    },
  },
  {
    id: "commit-race",
    does: "of 50 writers of a version one wins, whichever method they use",
    claims: ["compareAndSwap"],
    hint: AS_UPDATE,
    async run({ store }) {
      for (const taskId of ["commit()", "commit() and update()"]) {
        await store.create(conformanceRecord({ taskId, version: 5 }));
        const winner = await expectOneWins(
          `50 ${taskId} of version 5 at once`,
          Array.from({ length: 50 }, (_, i): Promise<unknown> => {
            const patch = patchOf({ [`writer${i}`]: true });
            return taskId.includes("update") && i % 3 === 0
              ? store.update(taskId, patch, 5)
              : store.commit!(taskId, patch, 5);
          }),
          "ERR_CONCURRENT_UPDATE",
        );
        expectEqual(
          "get(), with what the winner wrote and nothing of the others,",
          await store.get(taskId),
          conformanceRecord({ taskId, [`writer${winner}`]: true, version: 6 }),
        );
      }
    },
  },
  {
    id: "commit-copies",
    does: "commit() keeps a copy, made before it returns, and leaves the patch",
    hint:
      "Copy or encode the patch before the first await: the caller may change it as soon as the method has returned its promise.",
    async run({ store }) {
      await store.create(conformanceRecord());
      const list = [1];
      const patch: Record<string, unknown> = { result: { list } };
      const committing = store.commit!("a", patchOf(patch), 1);
      expectEqual("the caller's own patch", patch, { result: { list: [1] } });
      list.push(2);
      patch.late = true;
      await committing;
      list.push(3);
      expectEqual(
        'get("a") after the caller has changed its patch',
        await store.get("a"),
        conformanceRecord({ result: { list: [1] }, version: 2 }),
      );
    },
  },
  {
    id: "commit-size",
    does: "commit() refuses what makes a record one byte too large",
    claims: ["maxRecordBytes"],
    hint:
      "The size is that of the whole record, of which the patch is only a part.",
    async run({ store, traits }) {
      const bytes = traits.maxRecordBytes!;
      const half = "é".repeat(bytes >> 2);
      const before = conformanceRecord({ statusMessage: half, result: {} });
      await store.create(before);
      const room = bytes - jsonBytes({ ...before, result: { text: "" } });
      const patch = (length: number) =>
        patchOf({ result: { text: "x".repeat(length) } });
      await expectRefused(
        `commit() to ${bytes + 1} bytes`,
        store.commit!("a", patch(room + 1), 1),
        "ERR_ENTRY_TOO_LARGE",
      );
      expectEqual('get("a") after it', await store.get("a"), before);
      await store.commit!("a", patch(room), 1);
      expectEqual(`get("a") of ${bytes} bytes`, await store.get("a"), {
        ...before,
        ...patch(room),
        version: 2,
      });
    },
  },
  {
    id: "commit-refuses-closed",
    does: "commit() is refused after close(), by a promise",
    async run({ bare }) {
      await bare.create(conformanceRecord());
      await bare.close();
      const refused = expectPromise(
        "commit() after close()",
        () => bare.commit!("a", {}, 1),
      );
      await expectRefused(
        "commit() after close()",
        refused,
        "ERR_STORE_CLOSED",
      );
    },
  },
  {
    id: "commit-reopen",
    does: "what commit() wrote is there when the store is opened again",
    claims: ["durable"],
    seams: ["reopen"],
    hint:
      "What is acknowledged has to be written before the promise resolves, all of it.",
    async run({ store, reopen }) {
      await store.create(conformanceRecord({ result: { n: 1 } }));
      for (let version = 1; version <= 5; version++) {
        await store.commit!("a", patchOf({ [`n${version}`]: [] }), version);
      }
      await store.commit!("a", patchOf({ n2: undefined }), 6);
      const again = await reopen();
      expectEqual(
        'get("a") after the store is opened again',
        await again.get("a"),
        conformanceRecord({
          result: { n: 1 },
          n1: [],
          n3: [],
          n4: [],
          n5: [],
          version: 7,
        }),
      );
      expectEqual("commit() then", await again.commit!("a", {}, 7), 8);
    },
  },
  {
    id: "commit-shared",
    does: "commit() and another instance go by each other's versions",
    claims: ["shared", "latestReads"],
    seams: ["secondInstance"],
    async run({ store, secondInstance }) {
      const other = await secondInstance();
      await store.create(conformanceRecord());
      await store.commit!("a", { statusMessage: "first" }, 1);
      expectEqual(
        'get("a") of the second after commit() of the first',
        await other.get("a"),
        conformanceRecord({ statusMessage: "first", version: 2 }),
      );
      await expectRefused(
        "commit() of the second at the version before",
        other.commit!("a", { statusMessage: "second" }, 1),
        "ERR_CONCURRENT_UPDATE",
      );
      await other.update("a", { statusMessage: "second" }, 2);
      await expectRefused(
        "commit() of the first at the version before update() of the second",
        store.commit!("a", { statusMessage: "third" }, 2),
        "ERR_CONCURRENT_UPDATE",
      );
      expectEqual(
        'get("a") of the first after it',
        await store.get("a"),
        conformanceRecord({ statusMessage: "second", version: 3 }),
      );
    },
  },
];

export const COMMIT_CASES: readonly ConformanceCase[] = defineCases(
  COMMIT.map((one) => ({
    ...one,
    clause: "S28",
    claims: ["commit", ...one.claims ?? []],
  })),
);
