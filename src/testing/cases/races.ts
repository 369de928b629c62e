/** Cases about writers that come at the same time. */

import { hasErrorCode } from "../../errors.ts";
import type { TaskStore } from "../../store/contract.ts";
import { type ConformanceCase, defineCases } from "../case.ts";
import { expect, expectEqual, expectOneWins } from "../expect.ts";
import { conformanceRecord, memberOf, patchOf } from "../record.ts";

const ONE_STEP =
  "Check the version and write in one step that nothing can come between: UPDATE … WHERE id = ? AND version = ? and the number of rows that it changed, a conditional put, a transaction, or a queue for each task. An await between the check and the write is the usual fault.";

/** How often a writer tries again: many times what is needed where all others win first. */
const MAX_TRIES = 500;

/**
 * Lets writers of one version race.
 *
 * @param stores The store of each writer.
 */
export async function race(stores: readonly TaskStore[]): Promise<void> {
  const [store] = stores;
  await store.create(conformanceRecord({ version: 5 }));
  const winner = await expectOneWins(
    `${stores.length} update() of version 5 at once`,
    stores.map((writer, i) =>
      writer.update("a", patchOf({ [`writer${i}`]: true, winner: i }), 5)
    ),
    "ERR_CONCURRENT_UPDATE",
  );
  expectEqual(
    'get("a"), with what the winner wrote and nothing of the others,',
    await store.get("a"),
    conformanceRecord({ [`writer${winner}`]: true, winner, version: 6 }),
  );
}

/**
 * Lets writers count to a number together, each by reading, changing and
 * trying again.
 *
 * @param stores The store of each writer.
 * @param each How often each of them counts.
 */
export async function countTogether(
  stores: readonly TaskStore[],
  each: number,
): Promise<void> {
  await stores[0].create(conformanceRecord({ marks: [] }));
  await Promise.all(stores.map(async (store, writer) => {
    for (let i = 0; i < each; i++) {
      for (let tries = 1;; tries++) {
        const record = (await store.get("a"))!;
        const marks = [
          ...memberOf(record, "marks") as string[],
          `${writer}-${i}`,
        ];
        try {
          await store.update("a", patchOf({ marks }), record.version);
          break;
        } catch (error) {
          if (!hasErrorCode(error, "ERR_CONCURRENT_UPDATE")) throw error;
          expect(
            tries < MAX_TRIES,
            "a writer that reads again when it has lost wins at some time",
            `it lost ${tries} times in a row; the last time it had read version ${record.version}`,
          );
          // Not at once: what the others write has to get its turn.
          await new Promise((resolve) => setTimeout(resolve, 0));
        }
      }
    }
  }));
  const record = await stores[0].get("a");
  const marks = memberOf(record, "marks") as readonly string[];
  const total = stores.length * each;
  expect(
    new Set(marks).size === total && marks.length === total,
    `get("a") gives the ${total} marks of ${stores.length} writers that try again when they lose`,
    `${marks.length} marks, ${new Set(marks).size} of them different`,
  );
  expect(
    record?.version === total + 1,
    `get("a") gives version ${total + 1} after ${total} updates`,
    `version ${record?.version}`,
  );
}

export const RACE_CASES: readonly ConformanceCase[] = defineCases([
  {
    id: "race-two",
    clause: "S15",
    does: "update() lets one of two writers of a version win",
    claims: ["compareAndSwap"],
    hint: ONE_STEP,
    run: ({ store }) => race([store, store]),
  },
  {
    id: "race-fifty",
    clause: "S15",
    does: "update() lets one of 50 writers of a version win",
    claims: ["compareAndSwap"],
    hint: ONE_STEP,
    run: ({ store }) => race(Array(50).fill(store)),
  },
  {
    id: "race-count",
    clause: "S15",
    does: "update() loses nothing of 8 writers that try again when they lose",
    claims: ["compareAndSwap"],
    hint: ONE_STEP,
    run: ({ store }) => countTogether(Array(8).fill(store), 5),
  },
  {
    id: "race-tasks",
    clause: "S15",
    does: "update() of 50 tasks at once hinders none of them",
    hint: "Writers of different tasks never compete.",
    async run({ store }) {
      const ids = Array.from({ length: 50 }, (_, i) => `task ${i}`);
      for (const taskId of ids) {
        await store.create(conformanceRecord({ taskId }));
      }
      await Promise.all(
        ids.map((taskId) => store.update(taskId, { statusMessage: taskId }, 1)),
      );
      for (const taskId of ids) {
        expectEqual(
          `get("${taskId}")`,
          await store.get(taskId),
          conformanceRecord({ taskId, statusMessage: taskId, version: 2 }),
        );
      }
    },
  },
]);
