/** The kit without a runner. */

import { CASES } from "./cases.ts";
import type { TaskStoreFactory } from "./fixture.ts";
import {
  type ConformanceOptions,
  resolveConformanceOptions,
} from "./options.ts";
import {
  type ConformanceReport,
  type ConformanceResult,
  makeReport,
} from "./report.ts";
import { runCase } from "./run_case.ts";

/**
 * Holds a store against the whole contract, and reports. It needs no test
 * runner, and works inside the request of a Worker too. A store that is wrong
 * is told in the report: nothing is thrown.
 *
 * @param name The name of the store, for the report.
 * @param factory Makes a store; called once for each check.
 * @param options Seed, deadline, a choice of checks.
 * @returns How each check ended.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an argument or option is wrong.
 *
 * @example
 * ```ts
 * import { MemoryTaskStore } from "@mcp-durable/tasks";
 * import { checkTaskStore, formatConformanceReport } from "@mcp-durable/tasks/testing";
 *
 * const report = await checkTaskStore(
 *   "MemoryTaskStore",
 *   () => new MemoryTaskStore(),
 *   { only: ["race-two", "reopen-fields"] },
 * );
 * console.log(report.ok); // true
 * console.log(formatConformanceReport(report));
 * ```
 */
export async function checkTaskStore(
  name: string,
  factory: TaskStoreFactory,
  options: ConformanceOptions = {},
): Promise<ConformanceReport> {
  const resolved = resolveConformanceOptions(name, factory, options);
  const worlds = { factory, seen: new WeakSet(), seed: resolved.seed };
  const results: ConformanceResult[] = [];
  for (const one of CASES) results.push(await runCase(one, resolved, worlds));
  return makeReport(name, resolved.seed, results);
}
