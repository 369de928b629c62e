/** Cases about large records. */

import { jsonBytes } from "../../model/json.ts";
import { DEFAULT_MAX_ENTRY_BYTES } from "../../model/limits.ts";
import {
  applyTaskPatch,
  type TaskPatch,
  type TaskRecord,
} from "../../model/record.ts";
import type { TaskStore, TaskStoreTraits } from "../../store/contract.ts";
import { SMALL_GROWTH_BYTES } from "../../store/record_size.ts";
import { type CaseWorld, type ConformanceCase, defineCases } from "../case.ts";
import { expectEqual, expectRefused } from "../expect.ts";
import { conformanceRecord } from "../record.ts";

const COUNT =
  "The size is that of the record's JSON in bytes of UTF-8, as JSON.stringify() writes it: not of its characters, not of the patch, and without what the store adds.";

const LOWER =
  "Count the record as it is, and refuse only what is over the limit and more than 1,024 bytes larger than that.";

/** Every store takes this much, so it is a limit that every store can be lowered to. */
const LOWEST_LIMIT = 65_536;

/** More than the lowest limit, and not so much that it takes long. */
const OVER_BYTES = 200_000;

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
  {
    id: "size-lowered-change",
    clause: "S30",
    does:
      "a record over a lowered limit is read, and takes what adds up to 1 KiB to it, an end among that",
    claims: ["maxRecordBytes"],
    seams: ["reopenLower"],
    hint: LOWER,
    async run(world) {
      const lowered = await lower(world);
      if (!lowered) return;
      const { store, record } = lowered;
      expectEqual(
        `get("a"), a record of ${jsonBytes(record)} bytes,`,
        await store.get("a"),
        record,
      );
      let expected: TaskRecord = record;
      const change = async (what: string, patch: TaskPatch) => {
        const { version } = expected;
        expected = applyTaskPatch(expected, patch);
        const write = store.commit && version % 2 === 0
          ? store.commit("a", patch, version)
          : store.update("a", patch, version);
        await write;
        expectEqual(`get("a") after ${what}`, await store.get("a"), expected);
      };
      await change("a change that leaves its size", {
        owner: record.owner!.toUpperCase(),
      });
      await change("one that makes it smaller", { owner: "short" });
      await change("one that adds 1,024 bytes", {
        owner: `short${"x".repeat(SMALL_GROWTH_BYTES)}`,
      });
      await change("a cancel", { cancelRequestedAt: record.createdAt });
      await change("its end", {
        status: "failed",
        statusMessage: "no",
        error: { code: -32_603, message: "no" },
      });
      await change("one that takes it under the limit", { result: undefined });
    },
  },
  {
    id: "size-lowered-growth",
    clause: "S30",
    does:
      "a lowered limit refuses what adds more than 1 KiB to a record that is over it, and what would get over it",
    claims: ["maxRecordBytes"],
    seams: ["reopenLower"],
    hint: LOWER,
    async run(world) {
      const lowered = await lower(world);
      if (!lowered) return;
      const { store, record } = lowered;
      const owner = record.owner + "x".repeat(SMALL_GROWTH_BYTES + 1);
      await expectRefused(
        "update() that adds 1,025 bytes",
        store.update("a", { owner }, 1),
        "ERR_ENTRY_TOO_LARGE",
      );
      expectEqual('get("a") after it', await store.get("a"), record);
      const { result } = recordOf(LOWEST_LIMIT + 1, "a");
      const fits = { result: {}, owner: undefined, statusMessage: undefined };
      await store.update("a", fits, 1);
      await expectRefused(
        "update() that takes it one byte over the limit again",
        store.update("a", { result }, 2),
        "ERR_ENTRY_TOO_LARGE",
      );
      await expectRefused(
        "create() of one byte too many",
        store.create(recordOf(LOWEST_LIMIT + 1, "b")),
        "ERR_ENTRY_TOO_LARGE",
      );
    },
  },
]);

/** Keeps a record, and opens the store again with a limit that it is over; `undefined` where there is none. */
async function lower(
  { store, traits, reopenLower }: CaseWorld,
): Promise<{ store: TaskStore; record: TaskRecord } | undefined> {
  const limit = limitOf(traits);
  if (limit <= LOWEST_LIMIT) return undefined;
  const whole = recordOf(Math.min(limit, OVER_BYTES) - 100, "a");
  const record: TaskRecord = { ...whole, owner: "ada@example.org" };
  await store.create(record);
  return { store: await reopenLower(LOWEST_LIMIT), record };
}
