/** The scenarios of the official suite that are about tasks, and what they are to show. */

/** A scenario. */
export interface Scenario {
  /** Its name in the suite. */
  readonly name: string;
  /** How many checks it makes. */
  readonly checks: number;
  /** Whether the suite skips it, whatever the server does. */
  readonly skipped?: true;
}

/**
 * All of them, each with the number of its checks, so that one that goes
 * missing is noticed.
 */
export const SCENARIOS: readonly Scenario[] = [
  { name: "tasks-lifecycle", checks: 9 },
  { name: "tasks-dispatch-and-envelope", checks: 9 },
  { name: "tasks-capability-negotiation", checks: 5 },
  { name: "tasks-request-headers", checks: 5 },
  { name: "tasks-wire-fields", checks: 4 },
  { name: "tasks-mrtr-input", checks: 4 },
  { name: "tasks-request-state-removal", checks: 3 },
  { name: "tasks-required-task-error", checks: 3 },
  { name: "tasks-mrtr-composition", checks: 2 },
  { name: "tasks-status-notifications", checks: 1, skipped: true },
];
