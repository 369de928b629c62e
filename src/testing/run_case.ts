/** Runs one case on one new store. */

import { describeError } from "./brief.ts";
import type { ConformanceCase } from "./case.ts";
import { CLAUSES } from "./clauses.ts";
import { type ConformanceFailure, Unmet } from "./failure.ts";
import { judgeNeeds } from "./needs.ts";
import type { ResolvedConformanceOptions } from "./options.ts";
import { type ConformanceResult, NOT_IN_ONLY } from "./report.ts";
import { World, type WorldOptions } from "./world.ts";

/** How long the closing of the stores may take after a case, in milliseconds. */
const CLEAN_UP_MS = 5_000;

/** How a case ended. */
type End = Pick<
  ConformanceResult,
  "status" | "reason" | "failure" | "traits"
>;

/**
 * Runs a case. Whatever the store does, it comes back with a result in time.
 *
 * @param one The case.
 * @param options The options of the run.
 * @param worlds What all cases of the run share.
 * @returns How it ended.
 */
export async function runCase(
  one: ConformanceCase,
  options: ResolvedConformanceOptions,
  worlds: WorldOptions,
): Promise<ConformanceResult> {
  const started = Date.now();
  const end = await endOf(one, options, worlds);
  const { id, clause, does } = one;
  return { id, clause, does, ms: Date.now() - started, ...end };
}

async function endOf(
  one: ConformanceCase,
  options: ResolvedConformanceOptions,
  worlds: WorldOptions,
): Promise<End> {
  const { only, caseTimeoutMs } = options;
  if (only && !only.has(one.id)) {
    return { status: "skipped", reason: NOT_IN_ONLY };
  }
  const failed = (error: unknown, world?: World): End => ({
    status: "failed",
    failure: explain(error, one, options, world),
    ...(world && { traits: world.traits }),
  });
  let world: World;
  try {
    world = await inTime(World.open(worlds), caseTimeoutMs, () =>
      new Unmet(
        "the factory gives a store in time",
        `nothing after ${caseTimeoutMs} ms`,
      ));
  } catch (error) {
    return failed(error);
  }
  const { traits } = world;
  let end: End;
  try {
    const notRun = judgeNeeds(one, world.fixture);
    if (!notRun) await runIn(world, one, caseTimeoutMs);
    end = { traits, ...(notRun ?? { status: "passed" }) };
  } catch (error) {
    end = failed(error, world);
  }
  try {
    await inTime(world.dispose(), CLEAN_UP_MS, () =>
      new Unmet(
        `close() and dispose() are done within ${CLEAN_UP_MS} ms at the end of the case`,
        "they are not",
      ));
  } catch (error) {
    if (end.status === "failed") return end;
    const unmet = error instanceof Unmet ? error : new Unmet(
      "the fixture's dispose() resolves",
      `it failed with ${describeError(error)}`,
      { thrown: error },
    );
    return failed(unmet, world);
  }
  return end;
}

async function runIn(
  world: World,
  one: ConformanceCase,
  timeoutMs: number,
): Promise<void> {
  world.deadline = Date.now() + timeoutMs;
  await inTime(one.run(world), timeoutMs, () => {
    const { length, 0: first } = world.recorder.pending();
    return new Unmet(
      `the case is done within ${timeoutMs} ms`,
      `after ${world.recorder.count} steps, ${
        length === 0
          ? "no call is under way"
          : `${length} ${
            length === 1 ? "call has" : "calls have"
          } not settled: ${first}`
      }`,
      {
        hint: length === 1
          ? "The call hangs: its promise is never resolved and never rejected."
          : "If the store is slow and does not hang, give it more time with caseTimeoutMs.",
      },
    );
  });
}

async function inTime<T>(
  promise: Promise<T>,
  ms: number,
  late: () => Error,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  promise.catch(() => {}); // it may reject when nobody waits any more
  try {
    return await Promise.race([
      promise,
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(late()), ms);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

function explain(
  error: unknown,
  one: ConformanceCase,
  options: ResolvedConformanceOptions,
  world: World | undefined,
): ConformanceFailure {
  const unmet = error instanceof Unmet ? error : unexpected(error, world);
  const steps = unmet.steps ?? world?.steps() ?? [];
  const { thrown } = unmet;
  const hint = unmet.hint ?? (steps.length > 0 ? one.hint : undefined);
  return {
    clauseText: `${one.clause}: ${CLAUSES[one.clause]}`,
    expected: unmet.expected,
    came: unmet.came,
    ...(hint !== undefined && { hint }),
    steps,
    again: `checkTaskStore(${
      JSON.stringify(options.name)
    }, factory, { only: ["${one.id}"], seed: ${options.seed} })`,
    ...(thrown instanceof Error && thrown.stack && { stack: thrown.stack }),
  };
}

/** What a case did not reckon with: a call that should have been granted. */
function unexpected(error: unknown, world: World | undefined): Unmet {
  const rejected = world?.recorder.lastRejected;
  return rejected?.error === error
    ? new Unmet(
      `${rejected!.call} resolves`,
      `it rejected with ${describeError(error)}`,
      { thrown: error },
    )
    : new Unmet(
      "the case runs to its end",
      `it stopped with ${describeError(error)}`,
      { thrown: error },
    );
}
