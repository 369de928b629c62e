/**
 * The engine over the write-ahead log, held against the model of its rules. A
 * restart closes the store and opens its directory again.
 *
 * `FC_RUNS` and `FC_SEED` are as in `tests/engine/state_machine_test.ts`.
 */

import { describe, it } from "../support/runner.ts";
import { checkScripts } from "../support/state_machine/check.ts";
import { scripts } from "../support/state_machine/commands.ts";
import { World } from "../support/state_machine/world.ts";
import { withTempDir } from "../support/wal_dir.ts";
import { WalTaskStore } from "../../wal.ts";

describe("TaskLifecycle over WalTaskStore", () => {
  it("does what the rules say, step by step", () =>
    checkScripts(
      scripts(40),
      (script) =>
        withTempDir((dir) =>
          World.run({
            reopens: true,
            open: (now) => WalTaskStore.open({ dir, now, compactEvery: 13 }),
          }, script)
        ),
      40,
    ));
});
