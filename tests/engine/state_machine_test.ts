/**
 * The engine held against a model of its rules, on scripts that fast-check makes.
 *
 * `FC_RUNS` sets the number of runs and `FC_SEED` the seed, for long runs and
 * to see a failure again: `FC_RUNS=5000 FC_SEED=7 deno task test:deno state_machine`.
 * A case has two minutes, so a longer run is several of them under several seeds.
 */

import { MemoryTaskStore } from "../../mod.ts";
import { describe, it } from "../support/runner.ts";
import { checkScripts } from "../support/state_machine/check.ts";
import { scripts } from "../support/state_machine/commands.ts";
import { races } from "../support/state_machine/moves.ts";
import { runRace } from "../support/state_machine/race.ts";
import { World } from "../support/state_machine/world.ts";

describe("TaskLifecycle", () => {
  it("does what the rules say, step by step", () =>
    checkScripts(
      scripts(40),
      (script) =>
        World.run({
          reopens: false,
          open: (now) => Promise.resolve(new MemoryTaskStore({ now })),
        }, script),
      150,
    ));

  it("keeps the rules however calls of two processes meet", () =>
    checkScripts(races, runRace, 300));
});
