/** Cases about the store as a whole: its factory, its promises, its traits, its end. */

import type { TaskStore, TaskStoreTraits } from "../../store/contract.ts";
import { brief, describeError } from "../brief.ts";
import { type ConformanceCase, defineCases } from "../case.ts";
import { hasErrorCode } from "../../errors.ts";
import {
  expect,
  expectEqual,
  expectPromise,
  expectRefused,
} from "../expect.ts";
import { Unmet } from "../failure.ts";
import { conformanceRecord, CREATED_MS } from "../record.ts";

/** Each trait with what it may be. */
const TRAITS: Readonly<
  Record<string, readonly [wanted: string, holds: (value: unknown) => boolean]>
> = {
  durable: ["true or false", (value) => typeof value === "boolean"],
  writers: [
    '"shared" or "exclusive"',
    (value) => value === "shared" || value === "exclusive",
  ],
  compareAndSwap: ["true or false", (value) => typeof value === "boolean"],
  reads: [
    '"latest" or "eventual"',
    (value) => value === "latest" || value === "eventual",
  ],
  minWriteIntervalMs: [
    "a number of 0 or more",
    (value) => Number.isFinite(value) && (value as number) >= 0,
  ],
  maxRecordBytes: [
    "a whole number of 65,536 or more",
    (value) => Number.isSafeInteger(value) && (value as number) >= 65_536,
  ],
};

export const WHOLE_CASES: readonly ConformanceCase[] = defineCases([
  {
    id: "factory-fresh",
    clause: "F1",
    does: "two stores of the factory have nothing to do with each other",
    hint:
      "Give each its own file, folder, table or key prefix, and remove it in dispose().",
    async run({ store, another }) {
      await store.create(conformanceRecord());
      await another(async ({ store: other }) => {
        expectEqual(
          'get("a") of another store of the factory',
          await other.get("a"),
          undefined,
        );
        await other.create(conformanceRecord({ version: 9 }));
        await other.close();
      });
      expectEqual(
        'get("a") of the first, after the other has closed,',
        await store.get("a"),
        conformanceRecord(),
      );
    },
  },
  {
    id: "promises",
    clause: "S1",
    does: "every method returns a promise, also when it refuses",
    hint: "Make the methods async: what they throw is a rejection then.",
    async run({ bare }) {
      const record = conformanceRecord();
      const calls: readonly [string, (store: TaskStore) => Promise<unknown>][] =
        [
          ["create()", (store) => store.create(record)],
          ["create() of an id that exists", (store) => store.create(record)],
          ['get("a")', (store) => store.get("a")],
          ['get("unknown")', (store) => store.get("unknown")],
          ["update()", (store) => store.update("a", {}, 1)],
          ["update() at a stale version", (store) => store.update("a", {}, 1)],
          ['update("unknown")', (store) => store.update("unknown", {}, 1)],
          ["sweep()", (store) => store.sweep(CREATED_MS)],
          ["close()", (store) => store.close()],
          ["create() after close()", (store) => store.create(record)],
          ["get() after close()", (store) => store.get("a")],
          ["update() after close()", (store) => store.update("a", {}, 2)],
          ["sweep() after close()", (store) => store.sweep(CREATED_MS)],
        ];
      for (const [what, call] of calls) {
        await expectPromise(what, () => call(bare)).then(() => {}, () => {});
      }
    },
  },
  {
    id: "traits",
    clause: "S22",
    does: "traits are plain data of the stated types, and stay as they are",
    async run({ bare, another }) {
      const { traits = {} } = bare;
      expect(
        typeof traits === "object" && traits !== null,
        "traits is an object",
        brief(traits),
      );
      const given = traits as Readonly<Record<string, unknown>>;
      for (const [name, [wanted, holds]] of Object.entries(TRAITS)) {
        if (given[name] === undefined) continue;
        expect(
          holds(given[name]),
          `traits.${name} is ${wanted}, or absent`,
          brief(given[name]),
        );
      }
      const copy = (traits: TaskStoreTraits): TaskStoreTraits =>
        Object.fromEntries(
          Object.keys(TRAITS).map((
            name,
          ) => [name, traits[name as keyof TaskStoreTraits]]),
        );
      const before = copy(traits);
      await bare.create(conformanceRecord());
      await bare.close();
      expectEqual(
        "traits after the store has been used and closed",
        copy(bare.traits ?? {}),
        before,
      );
      await another(({ bare: other }) => {
        expectEqual(
          "traits of another store of the factory",
          copy(other.traits ?? {}),
          before,
        );
        return Promise.resolve();
      });
    },
  },
  {
    id: "close-again",
    clause: "S19",
    does: "close() resolves each time, also at the same time",
    async run({ store }) {
      await store.create(conformanceRecord());
      await Promise.all([store.close(), store.close()]);
      await store.close();
    },
  },
  {
    id: "close-unused",
    clause: "S19",
    does: "close() resolves on a store that was never used",
    async run({ store }) {
      await store.close();
    },
  },
  {
    id: "close-refuses",
    clause: "S20",
    does: "every method that is called after close() is refused",
    hint:
      "Also when close() has not resolved yet: what comes after its call comes too late.",
    async run({ store }) {
      await store.create(conformanceRecord());
      const closing = store.close();
      const calls = () =>
        [
          ["create()", store.create(conformanceRecord({ taskId: "b" }))],
          ["create() of an id that exists", store.create(conformanceRecord())],
          ["get()", store.get("a")],
          ["get() of an unknown id", store.get("b")],
          ["update()", store.update("a", {}, 1)],
          ["update() of an unknown id", store.update("b", {}, 1)],
          ["sweep()", store.sweep(CREATED_MS)],
        ] as const;
      for (const [what, call] of calls()) {
        await expectRefused(
          `${what} while close() is under way`,
          call,
          "ERR_STORE_CLOSED",
        );
      }
      await closing;
      for (const [what, call] of calls()) {
        await expectRefused(`${what} after close()`, call, "ERR_STORE_CLOSED");
      }
    },
  },
  {
    id: "close-under-way",
    clause: "S21",
    does: "what is under way when close() is called settles",
    async run({ store }) {
      await store.create(conformanceRecord());
      const calls = [
        store.update("a", { statusMessage: "last" }, 1),
        store.create(conformanceRecord({ taskId: "b" })),
        store.get("a"),
        store.sweep(CREATED_MS),
      ];
      await store.close();
      for (const [i, outcome] of (await Promise.allSettled(calls)).entries()) {
        const what = ["update()", "create()", "get()", "sweep()"][i];
        if (
          outcome.status === "rejected" &&
          !hasErrorCode(outcome.reason, "ERR_STORE_CLOSED")
        ) {
          throw new Unmet(
            `${what}, under way when close() was called, resolves, or rejects with ERR_STORE_CLOSED`,
            `it rejected with ${describeError(outcome.reason)}`,
            { thrown: outcome.reason },
          );
        }
      }
    },
  },
]);
