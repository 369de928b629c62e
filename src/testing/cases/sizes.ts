/** Cases about large records. */

import { jsonBytes } from "../../model/json.ts";
import { DEFAULT_MAX_ENTRY_BYTES } from "../../model/limits.ts";
import type { TaskRecord } from "../../model/record.ts";
import type { TaskStoreTraits } from "../../store/contract.ts";
import { type ConformanceCase, defineCases } from "../case.ts";
import { expectEqual, expectRefused } from "../expect.ts";
import { conformanceRecord } from "../record.ts";

const COUNT =
  "The size is that of the record's JSON in bytes of UTF-8, as JSON.stringify() writes it: not of its characters, not of the patch, and without what the store adds.";

/** What the store takes at most. */
function limitOf(traits: TaskStoreTraits): number {
  return traits.maxRecordBytes ?? DEFAULT_MAX_ENTRY_BYTES;
}

/** A record of an exact size. Most of its characters take two bytes. */
function recordOf(bytes: number, taskId: string): TaskRecord {
  const make = (text: string) =>
    conformanceRecord({ taskId, statusMessage: undefined, result: { text } });
  const room = Math.max(0, bytes - jsonBytes(make("")));
  return make("é".repeat(Math.floor(room / 2)) + "x".repeat(room % 2));
}

export const SIZE_CASES: readonly ConformanceCase[] = defineCases([
  {
    id: "size-at-limit",
    clause: "S7",
    does: "a record of the largest size is taken, by create() and by update()",
    hint: COUNT,
    async run({ store, traits }) {
      const bytes = limitOf(traits);
      const record = recordOf(bytes, "created");
      await store.create(record);
      expectEqual(
        `get("created"), a record of ${bytes} bytes,`,
        await store.get("created"),
        record,
      );
      const large = recordOf(bytes, "updated");
      await store.create({ ...large, result: {} });
      await store.update("updated", { result: large.result }, 1);
      expectEqual(
        `get("updated"), updated to ${bytes} bytes,`,
        await store.get("updated"),
        { ...large, version: 2 },
      );
    },
  },
  {
    id: "size-over-create",
    clause: "S7",
    does: "create() refuses a record that is one byte too large",
    claims: ["maxRecordBytes"],
    hint: COUNT,
    async run({ store, traits }) {
      const bytes = limitOf(traits) + 1;
      await expectRefused(
        `create() of ${bytes} bytes`,
        store.create(recordOf(bytes, "a")),
        "ERR_ENTRY_TOO_LARGE",
      );
      expectEqual('get("a") after it', await store.get("a"), undefined);
      const small = recordOf(400, "a");
      await store.create(small);
      expectEqual(
        'get("a") after a smaller create()',
        await store.get("a"),
        small,
      );
    },
  },
  {
    id: "size-over-update",
    clause: "S7",
    does: "update() refuses what makes a record one byte too large",
    claims: ["maxRecordBytes"],
    hint: COUNT,
    async run({ store, traits }) {
      const bytes = limitOf(traits) + 1;
      const large = recordOf(bytes, "a");
      const record: TaskRecord = { ...large, result: { rows: [1, 2] } };
      await store.create(record);
      await expectRefused(
        `update() to ${bytes} bytes`,
        store.update("a", { result: large.result }, 1),
        "ERR_ENTRY_TOO_LARGE",
      );
      expectEqual('get("a") after it', await store.get("a"), record);
      await store.update("a", { result: { rows: [3] } }, 1);
      expectEqual(
        'get("a") after a smaller update()',
        await store.get("a"),
        { ...record, result: { rows: [3] }, version: 2 },
      );
    },
  },
]);
