import { fuzzServer } from "../support/mcp_fuzz.ts";
import { describe, it } from "../support/runner.ts";
import { withTempDir } from "../support/wal_dir.ts";

/** How many frames each server gets; `deno task fuzz` sends 10^5. */
const FRAMES = 500;

describe(`${FRAMES} fuzzed frames`, () => {
  it("are each answered, and change nothing for a server with MemoryTaskStore", async () => {
    await fuzzServer(["memory"], FRAMES);
  });

  it("are each answered, and change nothing for a server with WalTaskStore", () =>
    withTempDir(async (dir) => {
      await fuzzServer(["wal", dir], FRAMES);
    }));
});
