import assert from "node:assert/strict";
import { join } from "node:path";
import type { TaskStore } from "../../src/store/contract.ts";
import type { TaskStoreFactory } from "../../testing.ts";
import { realDisk } from "../../src/wal/disk.ts";
import {
  resolveWalOptions,
  type WalTaskStoreOptions,
} from "../../src/wal/options.ts";
import { LogTaskStore } from "../../src/wal/store.ts";
import { WalTaskStore } from "../../wal.ts";
import { aRecord } from "../support/records.ts";
import { describe, it } from "../support/runner.ts";
import {
  describeShippedStore,
  type ShippedStore,
} from "../support/shipped_store.ts";
import { makeTempDir, removeDir, withTempDir } from "../support/wal_dir.ts";

type Options = Omit<WalTaskStoreOptions, "dir">;

function factoryOf(open: (options: WalTaskStoreOptions) => TaskStore) {
  return (options: Options): TaskStoreFactory => () => {
    const parent = makeTempDir();
    const dir = join(parent, "not", "there yet");
    let skewMs = 0;
    const now = () => Date.now() + skewMs;
    const openIt = (lower: Options = {}) =>
      open({ dir, lockTimeoutMs: 0, now, ...options, ...lower });
    return {
      store: openIt(),
      reopen: () => openIt(),
      reopenLower: (maxEntryBytes) => openIt({ maxEntryBytes }),
      secondInstance: () => openIt(),
      advanceTime(ms) {
        skewMs += ms;
      },
      dispose: () => removeDir(parent),
    };
  };
}

const shipped: ShippedStore = {
  claims: [
    "compareAndSwap",
    "durable",
    "exclusive",
    "maxRecordBytes",
    "latestReads",
    "head",
    "commit",
  ],
  checks: 87,
};

const publicStore = factoryOf((options) => new WalTaskStore(options));
for (
  const options of [
    {},
    { fsync: true, maxEntryBytes: 70_001 },
    { compactEvery: 3 },
  ]
) {
  const name = `WalTaskStore ${JSON.stringify(options)}`;
  describeShippedStore(name, publicStore(options), shipped);
}

// Segments end all the time, and the oldest is always being compacted.
const tinySegments = factoryOf((options) =>
  new LogTaskStore(
    { ...resolveWalOptions(options), segmentBytes: 3_000 },
    realDisk,
  )
);
describeShippedStore(
  "WalTaskStore with tiny segments",
  tinySegments({}),
  shipped,
);

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
