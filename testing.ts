/**
 * The conformance kit: it proves a store right, or tells what is wrong with it.
 *
 * A store for a database of your own implements the five methods of
 * `TaskStore`. The kit holds it against every clause of that contract: races,
 * expiry to the millisecond, copies, all that JSON can hold, sizes, sweeps,
 * restarts, several instances, and random runs against a model. It runs in any
 * test runner, or without one.
 *
 * @example Without a runner
 * ```ts
 * import { MemoryTaskStore } from "@mcp-durable/tasks";
 * import { checkTaskStore, formatConformanceReport } from "@mcp-durable/tasks/testing";
 *
 * const report = await checkTaskStore("mine", () => new MemoryTaskStore());
 * if (!report.ok) throw new Error(formatConformanceReport(report));
 * ```
 *
 * @module
 */

export { checkTaskStore } from "./src/testing/check.ts";
export {
  type ConformanceRunner,
  type RunConformanceOptions,
  runTaskStoreConformance,
  TaskStoreConformanceError,
} from "./src/testing/register.ts";
export { conformanceChecks } from "./src/testing/cases.ts";
export {
  conformanceRecord,
  type ConformanceRecordFields,
} from "./src/testing/record.ts";
export { formatConformanceReport } from "./src/testing/report.ts";
export type { ConformanceCheck, ConformanceClaim } from "./src/testing/case.ts";
export type { ClauseId } from "./src/testing/clauses.ts";
export type { ConformanceFailure } from "./src/testing/failure.ts";
export type {
  ConformanceSeam,
  TaskStoreFactory,
  TaskStoreFixture,
} from "./src/testing/fixture.ts";
export type { ConformanceOptions } from "./src/testing/options.ts";
export type {
  ConformanceCounts,
  ConformanceReport,
  ConformanceResult,
  ConformanceStatus,
} from "./src/testing/report.ts";
export type { TaskRecord } from "./src/model/record.ts";
export type { TaskStore, TaskStoreTraits } from "./src/store/contract.ts";
