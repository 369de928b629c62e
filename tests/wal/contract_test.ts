import assert from "node:assert/strict";
import { join } from "node:path";
import type { TaskStoreFactory } from "../../testing.ts";
import { WalTaskStore, type WalTaskStoreOptions } from "../../wal.ts";
import { aRecord } from "../support/records.ts";
import { describe, it } from "../support/runner.ts";
import { describeShippedStore } from "../support/shipped_store.ts";
import { makeTempDir, removeDir, withTempDir } from "../support/wal_dir.ts";

function factoryOf(options: Partial<WalTaskStoreOptions>): TaskStoreFactory {
  return () => {
    const parent = makeTempDir();
    const dir = join(parent, "not", "there yet");
    let skewMs = 0;
    const open = () =>
      new WalTaskStore({
        dir,
        lockTimeoutMs: 0,
        now: () => Date.now() + skewMs,
        ...options,
      });
    return {
      store: open(),
      reopen: open,
      secondInstance: open,
      advanceTime(ms) {
        skewMs += ms;
      },
      dispose: () => removeDir(parent),
    };
  };
}

for (
  const options of [
    {},
    { fsync: true, maxEntryBytes: 70_001 },
    { compactEvery: 3 },
  ]
) {
  describeShippedStore(
    `WalTaskStore ${JSON.stringify(options)}`,
    factoryOf(options),
    {
      claims: [
        "compareAndSwap",
        "durable",
        "exclusive",
        "latestReads",
        "maxRecordBytes",
      ],
      checks: 71,
    },
  );
}

describe("WalTaskStore.close()", () => {
  it("waits for what is under way, and grants it", () =>
    withTempDir(async (dir) => {
      const store = new WalTaskStore({ dir });
      await store.create(aRecord("a"));
      const [updated] = await Promise.all([
        store.update("a", { statusMessage: "last" }, 1),
        store.close(),
      ]);
      assert.equal(updated.version, 2);
    }));
});
