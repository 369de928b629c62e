/** Cases about what JSON can hold: all of it comes back. */

import { setOwn } from "../../model/json.ts";
import type { TaskStore } from "../../store/contract.ts";
import { type CaseWorld, type ConformanceCase, defineCases } from "../case.ts";
import { expect, expectEqual } from "../expect.ts";
import { conformanceRecord, patchOf } from "../record.ts";
import { awkwardKeys, EMPTIES, nested, NUMBERS, STRINGS } from "./values.ts";

/** Levels that a field can have: 1,000 of the value itself, and those in which a record holds it. */
const LEVELS = 1_002;

/** Writes values as fields, by `create()` and by `update()`. */
async function write(
  store: TaskStore,
  value: unknown,
): Promise<void> {
  const fields = { result: { value }, field: value };
  await store.create(conformanceRecord({ taskId: "created", ...fields }));
  await store.create(conformanceRecord({ taskId: "updated" }));
  await store.update("updated", patchOf(fields), 1);
}

/** Reads them back. */
async function read(
  store: TaskStore,
  value: unknown,
  when = "",
): Promise<void> {
  const fields = { result: { value }, field: value };
  expectEqual(
    `get("created")${when}`,
    await store.get("created"),
    conformanceRecord({ taskId: "created", ...fields }),
  );
  expectEqual(
    `get("updated")${when}`,
    await store.get("updated"),
    conformanceRecord({ taskId: "updated", ...fields, version: 2 }),
  );
}

async function roundTrip(
  { store }: CaseWorld,
  value: unknown,
): Promise<void> {
  await write(store, value);
  await read(store, value);
}

export const JSON_CASES: readonly ConformanceCase[] = defineCases([
  {
    id: "json-strings",
    clause: "S3",
    does: "strings come back to the last code unit",
    hint:
      'A lone surrogate does not survive UTF-8 on its own; its JSON ("\\ud800") does. Keep the record as text that JSON.stringify() made.',
    run: (world) => roundTrip(world, STRINGS),
  },
  {
    id: "json-numbers",
    clause: "S3",
    does: "numbers come back to the last bit",
    hint:
      "No column type, and no encoder, that rounds or cuts. -0 may become 0; all others stay.",
    run: (world) => roundTrip(world, NUMBERS),
  },
  {
    id: "json-empties",
    clause: "S3",
    does: "null, empty objects and empty arrays come back as they are",
    run: (world) => roundTrip(world, EMPTIES),
  },
  {
    id: "json-keys",
    clause: "S3",
    does: "fields come back under any name, at the top and deep inside",
    hint:
      "An assignment to __proto__ sets a prototype instead of a member: copy with Object.defineProperty(), structuredClone() or by way of JSON text. Names with dots are no paths.",
    async run(world) {
      await roundTrip(world, awkwardKeys());
      const { store } = world;
      const record = conformanceRecord();
      for (const [key, value] of Object.entries(awkwardKeys())) {
        setOwn(record as unknown as Record<string, unknown>, key, value);
      }
      await store.create(record);
      expectEqual('get("a")', await store.get("a"), record);
      await store.create(conformanceRecord({ taskId: "b" }));
      const updated = await store.update("b", patchOf(awkwardKeys()), 1);
      const expected = { ...record, taskId: "b", version: 2 };
      expectEqual("update()", updated, expected);
      expectEqual('get("b")', await store.get("b"), expected);
      const gone = Object.defineProperty({}, "__proto__", {
        value: undefined,
        enumerable: true,
      });
      await store.update("b", patchOf(gone as Record<string, unknown>), 2);
      expect(
        !Object.hasOwn((await store.get("b"))!, "__proto__"),
        'get("b") gives no member __proto__ after an update() that deletes it',
        "it is there",
      );
      const { polluted } = {} as { polluted?: unknown };
      expect(
        polluted === undefined,
        "Object.prototype is as it was",
        "it has a member of the record",
      );
    },
  },
  {
    id: "json-unknown-fields",
    clause: "S3",
    does: "fields that the store has never heard of stay through updates",
    hint:
      "Keep the whole record as one document; columns are for what you search by.",
    async run({ store }) {
      const unknown = { futureField: { list: [1, "x"] }, x: "y" };
      await store.create(conformanceRecord(unknown));
      await store.update("a", { statusMessage: "2 of 2" }, 1);
      await store.update("a", patchOf({ another: [true] }), 2);
      await store.update("a", { status: "completed", result: {} }, 3);
      expectEqual(
        'get("a")',
        await store.get("a"),
        conformanceRecord({
          ...unknown,
          another: [true],
          status: "completed",
          statusMessage: "2 of 2",
          result: {},
          version: 4,
        }),
      );
    },
  },
  {
    id: "json-terminal",
    clause: "S3",
    does: "what a task keeps stays when it ends",
    hint: "A store knows nothing of states: only the patch says what goes.",
    async run({ store }) {
      for (const status of ["completed", "failed", "cancelled"] as const) {
        const kept = {
          taskId: status,
          usedInputKeys: ["name", "__proto__"],
          inputResponses: { name: { action: "decline" } },
          owner: "ada",
          cancelRequestedAt: "2026-07-28T10:00:01.000Z",
        };
        await store.create(conformanceRecord(kept));
        await store.update(status, { status, result: { ok: [] } }, 1);
        expectEqual(
          `get("${status}")`,
          await store.get(status),
          conformanceRecord({
            ...kept,
            status,
            result: { ok: [] },
            version: 2,
          }),
        );
      }
    },
  },
  {
    id: "json-deep",
    clause: "S7",
    does: "nesting of 1,000 levels comes back",
    hint:
      "Some encoders, and the JSON of some databases, take less: keep text then.",
    run: (world) => roundTrip(world, nested(LEVELS - 2)),
  },
  {
    id: "reopen-json",
    clause: "S23",
    does: "all that JSON can hold is there after the store is opened again",
    claims: ["durable"],
    seams: ["reopen"],
    hint: "What is in memory is right, and what is written is not.",
    async run({ store, reopen }) {
      const value = {
        strings: STRINGS,
        numbers: NUMBERS,
        empties: EMPTIES,
        keys: awkwardKeys(),
        deep: nested(LEVELS - 3),
      };
      await write(store, value);
      await read(await reopen(), value, " after it is opened again");
    },
  },
]);
