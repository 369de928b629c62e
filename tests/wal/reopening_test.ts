/** What a store has of a log that another wrote is what that other had. */

import assert from "node:assert/strict";
import type { Disk } from "../../src/wal/disk.ts";
import { realDisk } from "../../src/wal/disk.ts";
import {
  resolveWalOptions,
  type WalTaskStoreOptions,
} from "../../src/wal/options.ts";
import { LogTaskStore } from "../../src/wal/store.ts";
import { aPatch, aRecord } from "../support/records.ts";
import { describe, it } from "../support/runner.ts";
import { segmentsIn, withTempDir } from "../support/wal_dir.ts";
import { FaultDisk } from "../support/wal_fault_disk.ts";

/** Opens a store whose segments are short. */
async function open(
  dir: string,
  segmentBytes: number,
  options: Omit<WalTaskStoreOptions, "dir"> = {},
  disk: Disk = realDisk,
): Promise<LogTaskStore> {
  const resolved = resolveWalOptions({ dir, ...options });
  const store = new LogTaskStore({ ...resolved, segmentBytes }, disk);
  await store.ready();
  return store;
}

describe("WalTaskStore, opened again, a task with many changes", () => {
  it("leaves no file open, and the one that is written to is never closed", () =>
    withTempDir(async (dir) => {
      const options = { compactEvery: null };
      let store = await open(dir, 3_000, options);
      const change = async (taskId: string) => {
        for (let version = 1; version <= 70; version++) {
          const patch = { statusMessage: `${version}` };
          await store.commit(taskId, patch, version);
        }
      };
      await store.create(aRecord("first"));
      await change("first");
      let count = 0;
      while (segmentsIn(dir).length < 40) {
        await store.create(aRecord(`${count++}`));
      }
      await store.close();

      const disk = new FaultDisk();
      store = await open(dir, 100_000, options, disk);
      // Made, and so many changes of it, in the segment that is written to.
      await store.create(aRecord("last"));
      await change("last");
      await store.close();
      assert.equal(disk.openFiles, 0);

      store = await open(dir, 100_000, options, disk);
      assert.ok(disk.openFiles <= 3, `${disk.openFiles} are open`);
      for (let i = 0; i < count; i++) assert.ok(await store.get(`${i}`));
      await store.create(aRecord("after"));
      for (const taskId of ["first", "last"]) {
        assert.equal((await store.get(taskId))?.statusMessage, "70");
      }
      await store.close();
      assert.equal(disk.openFiles, 0);
    }));
});

describe("WalTaskStore, opened again, health()", () => {
  it("counts a part that was replaced or dropped no more", () =>
    withTempDir(async (dir) => {
      const options = { compactEvery: null };
      let store = await open(dir, 100_000, options);
      const text = "x".repeat(20_000);
      await store.create(aRecord("a", { input: text, other: text }));
      await store.create(aRecord("b", { input: text }));
      for (let version = 1; version <= 9; version++) {
        await store.commit("a", aPatch({ input: text + version }), version);
      }
      await store.commit("a", aPatch({ other: "short" }), 10);
      await store.commit("b", aPatch({ input: undefined }), 1);
      const { aliveBytes } = await store.health();
      await store.close();
      store = await open(dir, 100_000, options);
      const again = (await store.health()).aliveBytes;
      assert.ok(
        Math.abs(again - aliveBytes) < 1_000,
        `${again} bytes, ${aliveBytes} before`,
      );
      await store.close();
    }));
});
