/** The kit on a store that we ship: it may neither claim nor run less than is written down. */

import assert from "node:assert/strict";
import {
  checkTaskStore,
  conformanceChecks,
  type ConformanceClaim,
  formatConformanceReport,
  runTaskStoreConformance,
  type TaskStoreFactory,
} from "../../testing.ts";
import { describe, it, skip } from "./runner.ts";

/** What a store of ours has to do in the kit. */
export interface ShippedStore {
  /** Everything that it claims. */
  readonly claims: readonly ConformanceClaim[];
  /** How many checks run: the same number on every runtime. */
  readonly checks: number;
  /** Where each case has to run; as it is when absent. */
  readonly within?: (body: () => Promise<void>) => Promise<void>;
}

/** Seeds of random runs, beside the one of the whole kit. */
const SEEDS = [2, 30, 401, 5_002, 60_003, 700_004, 8_000_005, 90_000_006];
const CASE_TIMEOUT_MS = 240_000;

/**
 * Registers the kit for a store.
 *
 * @param name The name of the store.
 * @param factory Makes it, with all seams that its claims need.
 * @param shipped What it has to claim, and how much of the kit has to run.
 */
export function describeShippedStore(
  name: string,
  factory: TaskStoreFactory,
  { claims, checks, within = (body) => body() }: ShippedStore,
): void {
  const concerned = conformanceChecks.filter((check) =>
    check.claims.every((claim) => claims.includes(claim))
  );
  const idOf = (title: string) => /\[([\w-]+)\]$/.exec(title)?.[1];
  let registered = 0;

  runTaskStoreConformance<{ skipped?: string }>(name, factory, {
    caseTimeoutMs: CASE_TIMEOUT_MS,
    runner: {
      describe,
      it(title, body) {
        if (!concerned.some(({ id }) => id === idOf(title))) {
          return skip(title, "not claimed");
        }
        registered++;
        it(title, async () => {
          const context: { skipped?: string } = {};
          await within(async () => await body(context));
          assert.equal(context.skipped, undefined);
        });
      },
      skip(context, reason) {
        context.skipped = reason;
      },
    },
  });

  describe(`${name} in the whole kit`, () => {
    it(`runs ${checks} checks, and claims no more than it should`, () =>
      within(async () => {
        assert.equal(registered, checks);
        const only = conformanceChecks.map(({ id }) => id)
          .filter((id) => !concerned.some((check) => check.id === id));
        const { results } = await checkTaskStore(name, factory, { only });
        const claimed = results
          .filter(({ status, id }) =>
            only.includes(id) && status !== "notClaimed"
          );
        assert.deepEqual(claimed, []);
        assert.equal(only.length, conformanceChecks.length - checks);
      }));

    it("does what a model does, from other seeds too", () =>
      within(async () => {
        const only = concerned.map(({ id }) => id)
          .filter((id) => id.startsWith("random"));
        for (const seed of SEEDS) {
          const report = await checkTaskStore(name, factory, { only, seed });
          assert.ok(report.ok, formatConformanceReport(report));
        }
      }));
  });
}
