/** Every case of the kit, in the order in which they run. */

import type { ConformanceCase, ConformanceCheck } from "./case.ts";
import { COMMIT_CASES } from "./cases/commit.ts";
import { COPY_CASES } from "./cases/copies.ts";
import { CREATE_CASES } from "./cases/create.ts";
import { DURABLE_CASES } from "./cases/durable.ts";
import { EVENTUAL_CASES } from "./cases/eventual.ts";
import { EXPIRY_CASES } from "./cases/expiry.ts";
import { HEAD_CASES } from "./cases/head.ts";
import { INSTANCE_CASES } from "./cases/instances.ts";
import { JSON_CASES } from "./cases/json.ts";
import { RACE_CASES } from "./cases/races.ts";
import { RANDOM_CASES } from "./cases/random_runs.ts";
import { SIZE_CASES } from "./cases/sizes.ts";
import { SWEEP_CASES } from "./cases/sweep.ts";
import { UPDATE_CASES } from "./cases/update.ts";
import { WATCH_CASES } from "./cases/watch.ts";
import { WHOLE_CASES } from "./cases/whole.ts";

/** All of them. */
export const CASES: readonly ConformanceCase[] = [
  ...WHOLE_CASES,
  ...CREATE_CASES,
  ...UPDATE_CASES,
  ...RACE_CASES,
  ...COPY_CASES,
  ...JSON_CASES,
  ...SIZE_CASES,
  ...EXPIRY_CASES,
  ...SWEEP_CASES,
  ...DURABLE_CASES,
  ...INSTANCE_CASES,
  ...EVENTUAL_CASES,
  ...HEAD_CASES,
  ...COMMIT_CASES,
  ...WATCH_CASES,
  ...RANDOM_CASES,
];

/**
 * Every check of the kit, as data: what it holds against a store, and what the
 * store has to claim and the factory to give for it to run. Frozen, in the
 * order in which they run.
 *
 * @example
 * ```ts
 * import { conformanceChecks } from "@mcp-durable/tasks/testing";
 *
 * const races = conformanceChecks.filter(({ clause }) => clause === "S15");
 * console.log(races.map(({ id }) => id)); // [ "race-two", "race-fifty", … ]
 * ```
 */
export const conformanceChecks: readonly ConformanceCheck[] = Object.freeze(
  CASES.map(({ id, clause, does, claims, seams }) =>
    Object.freeze({
      id,
      clause,
      does,
      claims: Object.freeze([...claims]),
      seams: Object.freeze([...seams]),
    })
  ),
);
