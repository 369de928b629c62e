/** Cases about what is there after the store is opened again. */

import type { TaskRecord } from "../../model/record.ts";
import { type CaseInit, type ConformanceCase, defineCases } from "../case.ts";
import { expectEqual, expectRefused } from "../expect.ts";
import { conformanceRecord, CREATED_MS, DAY_MS, patchOf } from "../record.ts";
import { expectSwept } from "./sweep.ts";

const AGAIN = "after the store is opened again";
const WRITTEN =
  "What is acknowledged has to be written before the promise resolves, all of it; close() waits for what is under way.";

/** An input round with one answer given and one question open. */
const ROUND = {
  status: "input_required",
  inputRequests: {
    colour: {
      method: "elicitation/create",
      params: {
        message: "Which colour? 😀",
        requestedSchema: {
          type: "object",
          properties: { colour: { type: "string" } },
        },
      },
    },
    "": { method: "roots/list", params: {} },
  },
  inputResponses: {
    name: { action: "accept", content: { name: "Ada", age: 36 } },
  },
  takenInputKeys: ["name"],
  usedInputKeys: ["name", "colour", ""],
} as const;

/** A record with every field that the engine writes. */
const FULL: TaskRecord = conformanceRecord({
  ...ROUND,
  taskId: "full",
  lastUpdatedAt: "2026-07-28T10:00:07.000Z",
  ttlMs: 3_600_000,
  pollIntervalMs: 250,
  method: "tools/call",
  owner: "ada@example.org",
  cancelRequestedAt: "2026-07-28T10:00:05.000Z",
  result: { content: [{ type: "text", text: "é" }], isError: false },
  error: { code: -32603, message: "no", data: { reason: null } },
  version: 41,
  futureField: [{ x: [] }],
});

const DURABLE: readonly Omit<CaseInit, "clause" | "seams">[] = [
  {
    id: "reopen-fields",
    does: "every field of a record is there again",
    async run({ store, reopen }) {
      await store.create(FULL);
      await store.create(conformanceRecord());
      const again = await reopen();
      expectEqual(
        `get("full") ${AGAIN}`,
        await again.get("full", CREATED_MS),
        FULL,
      );
      expectEqual(
        `get("a") ${AGAIN}`,
        await again.get("a"),
        conformanceRecord(),
      );
      expectEqual(`get("b") ${AGAIN}`, await again.get("b"), undefined);
    },
  },
  {
    id: "reopen-last-write",
    does: "the last update before the end is there again",
    hint: WRITTEN,
    async run({ store, reopen }) {
      await store.create(conformanceRecord());
      for (let version = 1; version <= 12; version++) {
        await store.update(
          "a",
          patchOf({ statusMessage: `${version}`, [`f${version}`]: version }),
          version,
        );
      }
      const before = await store.get("a");
      const again = await reopen();
      expectEqual(`get("a") ${AGAIN}`, await again.get("a"), before);
      await again.update("a", { statusMessage: "13" }, 13);
      const last = await (await reopen()).get("a");
      expectEqual(
        `get("a") ${AGAIN} twice`,
        last,
        { ...before, statusMessage: "13", version: 14 },
      );
    },
  },
  {
    id: "reopen-under-way",
    does: "what is granted while the store closes is there again",
    hint: WRITTEN,
    async run({ store, reopen }) {
      await store.create(conformanceRecord());
      const writes = [
        store.update("a", { statusMessage: "last" }, 1),
        ...Array.from(
          { length: 10 },
          (_, i) => store.create(conformanceRecord({ taskId: `late ${i}` })),
        ),
      ];
      const settled = Promise.allSettled(writes);
      const again = await reopen();
      const [update, ...creates] = await settled;
      expectEqual(
        `get("a") ${AGAIN}, closed while an update() was ${
          update.status === "fulfilled" ? "granted" : "refused"
        },`,
        await again.get("a"),
        update.status === "fulfilled"
          ? conformanceRecord({ statusMessage: "last", version: 2 })
          : conformanceRecord(),
      );
      for (const [i, create] of creates.entries()) {
        if (create.status !== "fulfilled") continue;
        expectEqual(
          `get("late ${i}") ${AGAIN}, closed while its create() was granted,`,
          await again.get(`late ${i}`),
          conformanceRecord({ taskId: `late ${i}` }),
        );
      }
    },
  },
  {
    id: "reopen-deleted",
    does: "what was deleted stays away",
    hint: "Sweeps, and fields that a patch deletes, are writes too.",
    async run({ store, reopen }) {
      await store.create(conformanceRecord({ old: 1 }));
      await store.update(
        "a",
        patchOf({ old: undefined, statusMessage: undefined }),
        1,
      );
      await store.create(
        conformanceRecord({ taskId: "swept", ttlMs: DAY_MS }),
      );
      await store.sweep(CREATED_MS + 2 * DAY_MS);
      const again = await reopen();
      expectEqual(
        `get("swept") ${AGAIN}`,
        await again.get("swept", CREATED_MS),
        undefined,
      );
      expectEqual(
        `get("a"), two of whose fields were deleted, ${AGAIN}`,
        await again.get("a"),
        conformanceRecord({ statusMessage: undefined, version: 2 }),
      );
    },
  },
  {
    id: "reopen-input-round",
    does: "an input round goes on where it was",
    async run({ store, reopen }) {
      await store.create(conformanceRecord());
      await store.update("a", ROUND as never, 1);
      const again = await reopen();
      expectEqual(
        `get("a"), in the middle of an input round, ${AGAIN}`,
        await again.get("a"),
        conformanceRecord({ ...ROUND, version: 2 }),
      );
      const answered = {
        status: "working",
        inputRequests: undefined,
        inputResponses: {
          ...ROUND.inputResponses,
          colour: { action: "cancel" },
        },
      };
      await again.update("a", patchOf(answered), 2);
      expectEqual(
        `get("a") ${AGAIN} twice, with its answer given in between,`,
        await (await reopen()).get("a"),
        conformanceRecord({ ...ROUND, ...answered, version: 3 }),
      );
    },
  },
  {
    id: "reopen-terminal",
    does: "what a task has ended with is there again",
    async run({ store, reopen }) {
      const ends = {
        completed: {
          result: { content: [], structuredContent: { rows: [[1], []] } },
        },
        failed: { error: { code: -32603, message: "no", data: [null] } },
        cancelled: { statusMessage: "by the client" },
      };
      for (const [status, end] of Object.entries(ends)) {
        await store.create(
          conformanceRecord({ taskId: status, ...ROUND }),
        );
        await store.update(
          status,
          patchOf({
            status,
            ...end,
            inputRequests: undefined,
            inputResponses: undefined,
          }),
          1,
        );
      }
      const again = await reopen();
      for (const [status, end] of Object.entries(ends)) {
        expectEqual(
          `get("${status}") ${AGAIN}`,
          await again.get(status),
          conformanceRecord({
            ...ROUND,
            taskId: status,
            ...end,
            status,
            inputRequests: undefined,
            inputResponses: undefined,
            version: 2,
          }),
        );
      }
    },
  },
  {
    id: "reopen-duplicate",
    does: "an id that exists is refused as before",
    claims: ["latestReads"],
    hint: "What create() goes by has to come back too.",
    async run({ store, reopen }) {
      const record = conformanceRecord({ version: 3 });
      await store.create(record);
      const again = await reopen();
      await expectRefused(
        `create() of an id that exists ${AGAIN}`,
        again.create(conformanceRecord()),
        "ERR_DUPLICATE_TASK_ID",
      );
      expectEqual('get("a") after it', await again.get("a"), record);
    },
  },
  {
    id: "reopen-rules",
    does: "versions and TTLs hold as before",
    hint:
      "What update() and sweep() go by has to come back too: versions, expiry times.",
    async run({ store, reopen }) {
      await store.create(conformanceRecord({ version: 5 }));
      await store.update("a", {}, 5);
      await store.create(conformanceRecord({ taskId: "short", ttlMs: 1_000 }));
      await store.update("short", { ttlMs: 2_000 }, 1, CREATED_MS);
      const again = await reopen();
      await expectRefused(
        `update() at the version before the last ${AGAIN}`,
        again.update("a", {}, 5),
        "ERR_CONCURRENT_UPDATE",
      );
      expectEqual(
        `update() at the last version ${AGAIN}`,
        await again.update("a", {}, 6),
        conformanceRecord({ version: 7 }),
      );
      const short = conformanceRecord({
        taskId: "short",
        ttlMs: 2_000,
        version: 2,
      });
      expectEqual(
        `get("short") ${AGAIN}, before its end,`,
        await again.get("short", CREATED_MS + 1_900),
        short,
      );
      expectEqual(
        `get("short") ${AGAIN}, after its end,`,
        await again.get("short", CREATED_MS + 2_100),
        undefined,
      );
      expectSwept(
        `sweep() ${AGAIN}, a day after its end,`,
        await again.sweep(CREATED_MS + DAY_MS + 2_000),
        1,
      );
    },
  },
];

export const DURABLE_CASES: readonly ConformanceCase[] = defineCases(
  DURABLE.map((one) => ({
    ...one,
    clause: "S23",
    claims: ["durable", ...one.claims ?? []],
    seams: ["reopen"],
  })),
);
