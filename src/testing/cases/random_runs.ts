/** Cases that hold long random runs against a model, and make what fails short. */

import { describeError } from "../brief.ts";
import {
  type CaseInit,
  type CaseWorld,
  type ConformanceCase,
  defineCases,
} from "../case.ts";
import { Unmet } from "../failure.ts";
import { randomFrom } from "../random.ts";
import { drawSteps, runSteps, type Step } from "./model.ts";

const STEPS = 250;
/** How many shorter runs are tried at most to find the shortest that fails. */
const TRIES = 120;

interface RandomRun {
  readonly instances: number;
  readonly reopens: boolean;
}

/** Runs steps on a store of their own; answers why they fail. */
function attempt(
  world: CaseWorld,
  steps: readonly Step[],
  { instances }: RandomRun,
): Promise<Unmet | undefined> {
  return world.another(async (own) => {
    const stores = [own.store];
    while (stores.length < instances) stores.push(await own.secondInstance());
    try {
      await runSteps(steps, stores, own.reopen);
      return undefined;
    } catch (error) {
      const taken = own.steps();
      return error instanceof Unmet
        ? new Unmet(error.expected, error.came, {
          thrown: error.thrown,
          steps: taken,
        })
        : new Unmet(
          "the store does the step",
          `it failed with ${describeError(error)}`,
          { thrown: error, steps: taken },
        );
    }
  });
}

/** Leaves out what is not needed for a run to fail, in ever smaller pieces. */
async function shorten(
  world: CaseWorld,
  steps: readonly Step[],
  run: RandomRun,
  failure: Unmet,
): Promise<Unmet> {
  let shortest = steps;
  let reason = failure;
  let tries = TRIES;
  const half = Date.now() + (world.deadline - Date.now()) / 2;
  for (
    let size = Math.ceil(steps.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let from = 0; from < shortest.length;) {
      if (tries-- <= 0 || Date.now() > half) return reason;
      const fewer = shortest.toSpliced(from, size);
      const failed = await attempt(world, fewer, run);
      if (failed) {
        shortest = fewer;
        reason = failed;
      } else from += size;
    }
  }
  return reason;
}

async function randomRun(world: CaseWorld, run: RandomRun): Promise<void> {
  const steps = drawSteps(randomFrom(world.seed), { count: STEPS, ...run });
  const failure = await attempt(world, steps, run);
  if (failure) throw await shorten(world, steps, run, failure);
}

const MODEL =
  "The steps are the shortest run that was found to fail: follow them by hand.";

const RUNS: readonly (Omit<CaseInit, "run" | "hint"> & RandomRun)[] = [
  {
    id: "random",
    clause: "S12",
    does: `${STEPS} random steps do what a model does`,
    instances: 1,
    reopens: false,
  },
  {
    id: "random-reopened",
    clause: "S23",
    does:
      `${STEPS} random steps, with the store opened again among them, do what a model does`,
    claims: ["durable"],
    seams: ["reopen"],
    instances: 1,
    reopens: true,
  },
  {
    id: "random-shared",
    clause: "S24",
    does: `${STEPS} random steps in turn on two instances do what a model does`,
    claims: ["shared", "latestReads"],
    seams: ["secondInstance"],
    instances: 2,
    reopens: false,
  },
];

export const RANDOM_CASES: readonly ConformanceCase[] = defineCases(
  RUNS.map(({ instances, reopens, ...one }) => ({
    ...one,
    hint: MODEL,
    run: (world: CaseWorld) => randomRun(world, { instances, reopens }),
  })),
);
