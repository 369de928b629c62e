/** Cases about `head()`, of stores that have it. */

import { headOf, type TaskHead } from "../../model/record.ts";
import { type CaseInit, type ConformanceCase, defineCases } from "../case.ts";
import {
  expect,
  expectEqual,
  expectPromise,
  expectRefused,
} from "../expect.ts";
import {
  conformanceRecord,
  CREATED_MS,
  DAY_MS,
  memberOf,
  patchOf,
} from "../record.ts";

const AS_GET = "It finds what get() finds, at every time and after every call.";

/** Every field that a head leaves out, and some that only look so. */
const FULL = conformanceRecord({
  status: "input_required",
  ttlMs: 3_600_000,
  owner: "ada",
  inputRequests: { name: { method: "roots/list", params: {} } },
  inputResponses: { age: { action: "decline" } },
  takenInputKeys: ["age"],
  usedInputKeys: ["age", "name"],
  result: { content: [] },
  error: { code: -32603, message: "no" },
  version: 41,
  future: { result: [{ error: 1 }] },
  results: null,
});

/** Fields that a store may keep apart from the others, since they are long. */
const LONG = conformanceRecord({
  taskId: "c",
  statusMessage: "m".repeat(5_000),
  owner: "o".repeat(600),
  result: { text: "r".repeat(3_000) },
  future: { list: ["f".repeat(900)] },
});

const HEAD: readonly Omit<CaseInit, "clause">[] = [
  {
    id: "head-fields",
    does: "head() leaves out the four fields that may be large, and no other",
    hint:
      "inputRequests, inputResponses, result and error are left out. What the store does not know stays, under any name, however long it is.",
    async run({ store }) {
      await store.create(FULL);
      expectEqual(
        'head("a")',
        await store.head!("a", CREATED_MS),
        headOf(FULL),
      );
      const odd = JSON.parse('{"__proto__":{"own":1},"":[]}');
      const record = { ...conformanceRecord({ taskId: "b" }), ...odd };
      await store.create(record);
      expectEqual('head("b")', await store.head!("b"), record);
      await store.create(LONG);
      expectEqual('head("c")', await store.head!("c"), headOf(LONG));
      const future = { list: ["g".repeat(901)] };
      await store.update("c", patchOf({ future }), 1);
      expectEqual(
        'head("c") after update()',
        await store.head!("c"),
        headOf({ ...LONG, ...patchOf({ future }), version: 2 }),
      );
    },
  },
  {
    id: "head-latest",
    does: "head() gives what the last call wrote",
    hint: AS_GET,
    async run({ store }) {
      await store.create(FULL);
      const updated = await store.update(
        "a",
        patchOf({ status: "failed", result: undefined, owner: undefined }),
        41,
        CREATED_MS,
      );
      expectEqual(
        'head("a") after update()',
        await store.head!("a", CREATED_MS),
        headOf(updated),
      );
      await store.create(conformanceRecord({ taskId: "b" }));
      for (let version = 1; version <= 20; version++) {
        await store.update("b", { statusMessage: `${version}` }, version);
        const head = await store.head!("b");
        expect(
          head?.version === version + 1 && head.statusMessage === `${version}`,
          `head("b") after update() of version ${version} gives version ${
            version + 1
          } with its message`,
          `version ${head?.version} with ${head?.statusMessage}`,
        );
      }
      await store.sweep(CREATED_MS + DAY_MS);
      expectEqual(
        'head("a") after sweep() has deleted it',
        await store.head!("a", CREATED_MS),
        undefined,
      );
    },
  },
  {
    id: "head-unknown",
    does: "head() gives undefined for an id that is unknown or expired",
    hint: AS_GET,
    async run({ store }) {
      const record = conformanceRecord({ ttlMs: 10 });
      await store.create(record);
      for (const taskId of ["b", "A", "", "__proto__", "constructor"]) {
        expectEqual(
          `head(${JSON.stringify(taskId)})`,
          await store.head!(taskId, CREATED_MS),
          undefined,
        );
      }
      // It deletes nothing either, so a clock that goes back finds it again.
      for (const ms of [0, 9, 10, 1_000_000, 8]) {
        expectEqual(
          `head("a") ${ms} ms after the creation, with a TTL of 10 ms,`,
          await store.head!("a", CREATED_MS + ms),
          ms < 10 ? record : undefined,
        );
      }
      expectEqual(
        'get("a") after it',
        await store.get("a", CREATED_MS),
        record,
      );
    },
  },
  {
    id: "head-clock",
    does: "head() without a time goes by the store's own clock",
    async run({ store }) {
      const now = Date.now();
      for (
        const [taskId, ttlMs] of [["lives", DAY_MS], ["over", 1]] as const
      ) {
        const createdAt = new Date(now - 3_600_000).toISOString();
        const record = conformanceRecord({ taskId, createdAt, ttlMs });
        await store.create(record);
        expectEqual(
          `head("${taskId}") an hour after the creation, with a TTL of ${ttlMs} ms,`,
          await store.head!(taskId),
          taskId === "lives" ? record : undefined,
        );
      }
    },
  },
  {
    id: "head-copies",
    does: "head() gives a copy, a new one each time",
    async run({ store }) {
      const record = conformanceRecord({ steps: { list: [1] } });
      await store.create(record);
      const [one, other] = await Promise.all([
        store.head!("a"),
        store.head!("a"),
      ]);
      (memberOf(one, "steps") as { list: number[] }).list.push(2);
      (one as unknown as Record<string, unknown>).version = 77;
      for (
        const [what, head] of [
          ["another", other],
          ["a later", await store.head!("a")],
        ] as const
      ) {
        expectEqual(
          `${what} head("a"), after the caller has changed what the first gave,`,
          head,
          record,
        );
      }
      expectEqual('get("a") after it', await store.get("a"), record);
    },
  },
  {
    id: "head-refuses",
    does: "head() is refused after close(), by a promise",
    async run({ bare }) {
      await bare.create(conformanceRecord());
      await bare.close();
      const refused = expectPromise<TaskHead | undefined>(
        "head() after close()",
        () => bare.head!("a"),
      );
      await expectRefused("head() after close()", refused, "ERR_STORE_CLOSED");
    },
  },
  {
    id: "head-shared",
    does: "head() gives at once what another instance has written",
    claims: ["shared", "latestReads"],
    seams: ["secondInstance"],
    hint: "Nothing of a record may be kept in the instance.",
    async run({ store, secondInstance }) {
      const other = await secondInstance();
      expectEqual('head("a")', await other.head!("a"), undefined);
      await store.create(conformanceRecord());
      expectEqual(
        'head("a") of the second after create() of the first',
        await other.head!("a"),
        conformanceRecord(),
      );
      const updated = await store.update("a", { statusMessage: "new" }, 1);
      expectEqual(
        'head("a") of the second after update() of the first',
        await other.head!("a"),
        updated,
      );
    },
  },
];

export const HEAD_CASES: readonly ConformanceCase[] = defineCases(
  HEAD.map((one) => ({
    ...one,
    clause: "S27",
    claims: ["head", ...one.claims ?? []],
  })),
);
