/** What a case is made of. */

import type { TaskStore, TaskStoreTraits } from "../store/contract.ts";
import type { ClauseId } from "./clauses.ts";
import type { ConformanceSeam } from "./fixture.ts";

/**
 * What a store claims by a trait: `durable`, `writers: "shared"`, `writers:
 * "exclusive"`, `maxRecordBytes`, `reads: "eventual"`; and what it claims unless
 * it says otherwise: `compareAndSwap`, and `latestReads` (`reads: "latest"`).
 * What is no duty of a store it claims by having the method: `head`, `commit`,
 * `watch`.
 */
export type ConformanceClaim =
  | "durable"
  | "shared"
  | "exclusive"
  | "compareAndSwap"
  | "latestReads"
  | "eventualReads"
  | "maxRecordBytes"
  | "head"
  | "commit"
  | "watch";

/** One check of the kit, as data. */
export interface ConformanceCheck {
  /** What `only` and the report call it. */
  readonly id: string;
  /** The clause of the contract that it holds against the store. */
  readonly clause: ClauseId;
  /** What the store has to do. */
  readonly does: string;
  /** What the store has to claim for the check to concern it. */
  readonly claims: readonly ConformanceClaim[];
  /** What the factory has to give for the check to run. */
  readonly seams: readonly ConformanceSeam[];
}

/** What a case gets to work with. All stores in it are watched by a recorder. */
export interface CaseWorld {
  /** The store, new and empty. */
  readonly store: TaskStore;
  /** The same without the recorder. */
  readonly bare: TaskStore;
  /** What it says of itself. */
  readonly traits: TaskStoreTraits;
  /** What random runs start from. */
  readonly seed: number;
  /** When the case has to be done, in milliseconds since the epoch. */
  readonly deadline: number;
  /** Closes the store that is open and opens its data again. */
  reopen(): Promise<TaskStore>;
  /** Does the same, with a lower limit of records. */
  reopenLower(maxRecordBytes: number): Promise<TaskStore>;
  /** Opens the data a second time. */
  secondInstance(): Promise<TaskStore>;
  /** Puts the store's own clock forward. */
  advanceTime(ms: number): Promise<void>;
  /** Runs a body in a world of its own. */
  another<T>(body: (world: CaseWorld) => Promise<T>): Promise<T>;
  /** The steps so far. */
  steps(): readonly string[];
}

/** A check that can be run. */
export interface ConformanceCase extends ConformanceCheck {
  /** Where a fault of this kind usually comes from. */
  readonly hint?: string;
  /** Throws where the store is wrong. */
  run(world: CaseWorld): Promise<void>;
}

/** What a case is written as. */
export type CaseInit =
  & Omit<ConformanceCase, "claims" | "seams">
  & Partial<Pick<ConformanceCase, "claims" | "seams">>;

/**
 * Completes cases.
 *
 * @param cases The cases of one subject.
 * @returns The same, with nothing left out.
 */
export function defineCases(
  cases: readonly CaseInit[],
): readonly ConformanceCase[] {
  return cases.map((one) => ({ claims: [], seams: [], ...one }));
}

/**
 * The name of a case, for runners and reports.
 *
 * @param one The case.
 * @returns Its clause, what the store has to do, and its id.
 */
export function titleOf(
  one: Pick<ConformanceCheck, "clause" | "does" | "id">,
): string {
  return `${one.clause} ${one.does} [${one.id}]`;
}
