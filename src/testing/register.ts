/** The kit in a test runner. */

import { unusable } from "../model/limits.ts";
import { CASES } from "./cases.ts";
import type { ConformanceFailure } from "./failure.ts";
import type { TaskStoreFactory } from "./fixture.ts";
import {
  type ConformanceOptions,
  resolveConformanceOptions,
} from "./options.ts";
import { formatFailure } from "./report.ts";
import { titleOf } from "./case.ts";
import { runCase } from "./run_case.ts";

/** How much longer than the kit the runner is asked to wait, in milliseconds. */
const RUNNER_MARGIN_MS = 15_000;

/**
 * The words of a test runner. `describe` and `it` of `node:test`, vitest, Jest,
 * `bun:test` and `@std/testing/bdd` fit as they are.
 */
export interface ConformanceRunner<Context = unknown> {
  /**
   * Groups cases.
   *
   * @param name The name of the group.
   * @param body Registers the cases, at once.
   */
  describe(name: string, body: () => void): unknown;
  /**
   * Registers a case.
   *
   * @param name Its name.
   * @param body Runs it; its argument is handed to `skip`.
   * @param timeoutMs How long the runner should wait, where it takes that here.
   */
  it(
    name: string,
    body: (context: Context) => Promise<void>,
    timeoutMs?: number,
  ): unknown;
  /**
   * Marks the case that runs as skipped. It is called inside of it, when the
   * store has been asked what it claims, and is the last thing that happens.
   *
   * @param context What the runner gave to the case.
   * @param reason Why.
   */
  skip(context: Context, reason: string): unknown;
}

/** The options of {@linkcode runTaskStoreConformance}. */
export interface RunConformanceOptions<Context = unknown>
  extends ConformanceOptions {
  /** The runner. */
  readonly runner: ConformanceRunner<Context>;
}

/** What a failed case throws: the message is the whole report of it. */
export class TaskStoreConformanceError extends Error {
  /** The stable code. */
  readonly code = "ERR_STORE_CONFORMANCE" as const;
  readonly #failure: ConformanceFailure;

  /**
   * Makes the error.
   *
   * @param name The store and the case.
   * @param failure What went wrong.
   */
  constructor(name: string, failure: ConformanceFailure) {
    super(`${name}\n${formatFailure(failure)}`);
    this.name = "TaskStoreConformanceError";
    this.#failure = failure;
  }

  /** The same as data. No member of its own, which runners would print once more. */
  get failure(): ConformanceFailure {
    return this.#failure;
  }
}

/**
 * Registers every check with a test runner, one case for each. A check that
 * does not concern the store is a case too, and is skipped with the reason.
 *
 * @param name The name of the store.
 * @param factory Makes a store; called once for each case.
 * @param options The runner; seed, deadline, a choice of checks.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an argument or option is wrong.
 *
 * @example With `node:test`
 * ```ts ignore
 * import { describe, it } from "node:test";
 * import { runTaskStoreConformance } from "@mcp-durable/tasks/testing";
 *
 * runTaskStoreConformance("MyStore", () => new MyStore(), {
 *   runner: { describe, it, skip: (t, reason) => t.skip(reason) },
 * });
 * ```
 */
export function runTaskStoreConformance<Context>(
  name: string,
  factory: TaskStoreFactory,
  options: RunConformanceOptions<Context>,
): void {
  const { runner: given, ...others } = options ?? {};
  const resolved = resolveConformanceOptions(name, factory, options && others);
  const runner = checkRunner(given);
  const worlds = { factory, seen: new WeakSet(), seed: resolved.seed };
  const timeoutMs = 2 * resolved.caseTimeoutMs + RUNNER_MARGIN_MS;
  runner.describe(`${name} keeps the contract of a task store`, () => {
    for (const one of CASES) {
      runner.it(titleOf(one), async (context) => {
        const result = await runCase(one, resolved, worlds);
        if (result.failure) {
          throw new TaskStoreConformanceError(
            `${name}: ${titleOf(one)}`,
            result.failure,
          );
        }
        if (result.status === "passed") return;
        const reason = result.status === "notClaimed"
          ? `not claimed: ${result.reason}`
          : `skipped: ${result.reason}`;
        await runner.skip(context, reason);
      }, timeoutMs);
    }
  });
}

function checkRunner<Context>(
  runner: ConformanceRunner<Context>,
): ConformanceRunner<Context> {
  for (const word of ["describe", "it", "skip"] as const) {
    if (typeof runner?.[word] === "function") continue;
    throw unusable("runner", runner, "an object with describe, it and skip");
  }
  return runner;
}
