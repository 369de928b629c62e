/** Cases about `update()`. */

import { type ConformanceCase, defineCases } from "../case.ts";
import { expect, expectEqual, expectRefused } from "../expect.ts";
import { conformanceRecord, CREATED_MS, patchOf } from "../record.ts";

const APPLY = "applyTaskPatch() of @mcp-durable/tasks applies a patch right.";

export const UPDATE_CASES: readonly ConformanceCase[] = defineCases([
  {
    id: "update-sets",
    clause: "S12",
    does: "update() sets the fields of the patch and keeps all others",
    hint: APPLY,
    async run({ store }) {
      await store.create(conformanceRecord({ pollIntervalMs: 250 }));
      await store.update(
        "a",
        patchOf({ status: "failed", extra: { deep: [1, { x: null }] } }),
        1,
      );
      expectEqual(
        'get("a")',
        await store.get("a"),
        conformanceRecord({
          pollIntervalMs: 250,
          status: "failed",
          extra: { deep: [1, { x: null }] },
          version: 2,
        }),
      );
      await store.update("a", patchOf({ extra: { other: 2 } }), 2);
      expectEqual(
        'get("a") after another value of a field (it is put in its place, not merged)',
        await store.get("a"),
        conformanceRecord({
          pollIntervalMs: 250,
          status: "failed",
          extra: { other: 2 },
          version: 3,
        }),
      );
    },
  },
  {
    id: "update-deletes",
    clause: "S12",
    does: "update() deletes a field whose value in the patch is undefined",
    hint:
      `JSON.stringify() drops what is undefined: a patch that goes through it, or a merge in the database, deletes nothing. And a field that is there with the value undefined is not deleted. ${APPLY}`,
    async run({ store }) {
      await store.create(
        conformanceRecord({ inputRequests: {}, extra: 1, nothing: null }),
      );
      const expected = conformanceRecord({
        statusMessage: undefined,
        nothing: null,
        version: 2,
      });
      const updated = await store.update(
        "a",
        patchOf({
          statusMessage: undefined,
          inputRequests: undefined,
          extra: undefined,
          neverThere: undefined,
        }),
        1,
      );
      expectEqual("update()", updated, expected);
      expectEqual('get("a")', await store.get("a"), expected);
      await store.update("a", patchOf({ extra: 2, nothing: undefined }), 2);
      expectEqual(
        'get("a") after the field is set again',
        await store.get("a"),
        conformanceRecord({ statusMessage: undefined, extra: 2, version: 3 }),
      );
    },
  },
  {
    id: "update-null",
    clause: "S12",
    does: "update() takes null, false, 0 and the empty string for values",
    hint: `Only undefined deletes. ${APPLY}`,
    async run({ store }) {
      await store.create(conformanceRecord({ ttlMs: 5_000 }));
      const fields = {
        ttlMs: null,
        statusMessage: "",
        no: false,
        none: null,
        zero: 0,
      };
      await store.update("a", patchOf(fields), 1, CREATED_MS);
      expectEqual(
        'get("a")',
        await store.get("a"),
        conformanceRecord({ ...fields, version: 2 }),
      );
    },
  },
  {
    id: "update-fixed",
    clause: "S12",
    does: "update() leaves taskId, createdAt and version to nobody's patch",
    hint: APPLY,
    async run({ store }) {
      await store.create(conformanceRecord({ version: 4 }));
      const fixed = patchOf({
        taskId: "b",
        createdAt: "2001-01-01T00:00:00.000Z",
        version: 99,
      });
      const expected = conformanceRecord({ version: 5 });
      expectEqual("update()", await store.update("a", fixed, 4), expected);
      expectEqual('get("a")', await store.get("a"), expected);
      expectEqual('get("b")', await store.get("b"), undefined);
      const deleted = patchOf({
        taskId: undefined,
        createdAt: undefined,
        version: undefined,
      });
      await store.update("a", deleted, 5);
      expectEqual(
        'get("a") after a patch that has them as undefined',
        await store.get("a"),
        conformanceRecord({ version: 6 }),
      );
    },
  },
  {
    id: "update-own-keys",
    clause: "S12",
    does: "update() takes the enumerable own string keys of a patch alone",
    hint: `No for…in over a patch: it sees what is inherited. ${APPLY}`,
    async run({ store }) {
      await store.create(conformanceRecord());
      const patch = Object.create(
        { inherited: 1, statusMessage: "inherited" },
        {
          hidden: { value: 1, enumerable: false },
          shown: { value: 1, enumerable: true },
          [Symbol("symbol")]: { value: 1, enumerable: true },
        },
      );
      const updated = await store.update("a", patch, 1);
      const expected = conformanceRecord({ shown: 1, version: 2 });
      expectEqual("update()", updated, expected);
      expectEqual('get("a")', await store.get("a"), expected);
      const bare = Object.assign(Object.create(null), { shown: 2 });
      await store.update("a", bare, 2);
      expectEqual(
        'get("a") after a patch without a prototype',
        await store.get("a"),
        conformanceRecord({ shown: 2, version: 3 }),
      );
    },
  },
  {
    id: "update-version",
    clause: "S13",
    does: "update() adds exactly 1 to the version, also for an empty patch",
    async run({ store }) {
      await store.create(conformanceRecord({ version: 998 }));
      for (let version = 998; version < 1_010; version++) {
        const patch = version % 3 === 0 ? {} : { statusMessage: `${version}` };
        const updated = await store.update("a", patch, version);
        expect(
          updated.version === version + 1,
          `update() of version ${version} returns version ${version + 1}`,
          `version ${updated.version}`,
        );
        const kept = (await store.get("a"))?.version;
        expect(
          kept === version + 1,
          `get("a") after it gives version ${version + 1}`,
          `version ${kept}`,
        );
      }
    },
  },
  {
    id: "update-returns",
    clause: "S13",
    does: "update() returns the whole record as it is stored",
    hint: "Not the patch, not the record before, not what is written later.",
    async run({ store }) {
      await store.create(conformanceRecord({ owner: "ada", extra: [1] }));
      const updated = await store.update("a", { statusMessage: "2 of 2" }, 1);
      const expected = conformanceRecord({
        owner: "ada",
        extra: [1],
        statusMessage: "2 of 2",
        version: 2,
      });
      expectEqual("update()", updated, expected);
      expectEqual('get("a")', await store.get("a"), expected);
    },
  },
  {
    id: "update-stale",
    clause: "S14",
    does: "update() refuses any version but the stored one",
    hint: "Equal, not at least: a version that is too high is refused too.",
    async run({ store }) {
      const record = conformanceRecord({ version: 5 });
      await store.create(record);
      const patch = { statusMessage: "stale" };
      for (const version of [4, 6, 0, -5, 1, 5.5]) {
        await expectRefused(
          `update() at version ${version} of a record at version 5`,
          store.update("a", patch, version),
          "ERR_CONCURRENT_UPDATE",
        );
        expectEqual('get("a") after it', await store.get("a"), record);
      }
      await store.update("a", {}, 5);
      await expectRefused(
        "a second update() at version 5",
        store.update("a", patch, 5),
        "ERR_CONCURRENT_UPDATE",
      );
    },
  },
  {
    id: "update-unknown-id",
    clause: "S16",
    does: "update() refuses an id that is unknown, and makes no record",
    hint:
      "Where UPDATE … WHERE id = ? AND version = ? changes no row, find out which of the two it was.",
    async run({ store }) {
      await store.create(conformanceRecord());
      for (const taskId of ["b", "__proto__", "constructor", ""]) {
        const name = JSON.stringify(taskId);
        await expectRefused(
          `update(${name})`,
          store.update(taskId, { statusMessage: "x" }, 1),
          "ERR_TASK_NOT_FOUND",
        );
        expectEqual(
          `get(${name}) after it`,
          await store.get(taskId),
          undefined,
        );
      }
    },
  },
  {
    id: "update-others",
    clause: "S12",
    does: "update() leaves other tasks alone",
    async run({ store }) {
      const ids = ["a", "a1", "b"];
      for (const taskId of ids) {
        await store.create(conformanceRecord({ taskId }));
      }
      await store.update("a", { statusMessage: "changed" }, 1);
      for (const taskId of ["a1", "b"]) {
        expectEqual(
          `get("${taskId}") after update("a")`,
          await store.get(taskId),
          conformanceRecord({ taskId }),
        );
      }
    },
  },
  {
    id: "update-large",
    clause: "S12",
    does: "update() of one field keeps a large other one",
    async run({ store }) {
      const result = {
        rows: Array.from({ length: 2_000 }, (_, i) => `row ${i}`),
      };
      await store.create(conformanceRecord({ result }));
      for (let version = 1; version <= 5; version++) {
        await store.update("a", { statusMessage: `${version}` }, version);
      }
      expectEqual(
        'get("a") after five updates',
        await store.get("a"),
        conformanceRecord({ result, statusMessage: "5", version: 6 }),
      );
    },
  },
]);
