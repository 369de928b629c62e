/** What a store has of a log that another wrote is what that other had. */

import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openLogStore } from "../support/log_store.ts";
import { aPatch, aRecord } from "../support/records.ts";
import { rejects } from "../support/rejects.ts";
import { describe, it } from "../support/runner.ts";
import { segmentsIn, withTempDir } from "../support/wal_dir.ts";
import { FaultDisk, systemError } from "../support/wal_fault_disk.ts";

describe("WalTaskStore, opened again, a task with many changes", () => {
  it("leaves no file open, and the one that is written to is never closed", () =>
    withTempDir(async (dir) => {
      const options = { compactEvery: null };
      let store = await openLogStore(dir, 3_000, options);
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
      store = await openLogStore(dir, 100_000, options, disk);
      // Made, and so many changes of it, in the segment that is written to.
      await store.create(aRecord("last"));
      await change("last");
      await store.close();
      assert.equal(disk.openFiles, 0);

      store = await openLogStore(dir, 100_000, options, disk);
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
      let store = await openLogStore(dir, 100_000, options);
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
      store = await openLogStore(dir, 100_000, options);
      const again = (await store.health()).aliveBytes;
      assert.ok(
        Math.abs(again - aliveBytes) < 1_000,
        `${again} bytes, ${aliveBytes} before`,
      );
      await store.close();
    }));
});

describe("WalTaskStore, opened again with fsync", () => {
  it("flushes the name of its directory, which one that failed may have made", () =>
    withTempDir(async (parent) => {
      const dir = join(parent, "tasks");
      const disk = new FaultDisk();
      disk.faults.restrict = () => {
        throw systemError("EIO");
      };
      await rejects(
        openLogStore(dir, 9_000, { fsync: true }, disk),
        "ERR_STORE_FAILED",
      );
      delete disk.faults.restrict;
      const flushed: string[] = [];
      disk.faults.syncDir = ({ path }) => void flushed.push(path);
      const store = await openLogStore(dir, 9_000, { fsync: true }, disk);
      await store.close();
      assert.ok(flushed.includes(parent), `flushed: ${flushed}`);
      // Who may not read the folder above may have a store in it.
      disk.faults.syncDir = ({ path }) => {
        if (path === parent) throw systemError("EACCES");
      };
      await (await openLogStore(dir, 9_000, { fsync: true }, disk)).close();
    }));
});

describe("WalTaskStore, opened again, a file that was replaced under it", () => {
  it("is what the store had written, and not a byte of the other one", () =>
    withTempDir(async (dir) => {
      let store = await openLogStore(dir, 100_000);
      for (let i = 0; i < 50; i++) await store.create(aRecord(`old ${i}`));
      await store.close();
      const [path] = segmentsIn(dir);
      const backup = readFileSync(path);
      rmSync(path);
      store = await openLogStore(dir, 100_000);
      await store.create(aRecord("a"));
      rmSync(path);
      writeFileSync(path, backup);
      // It is looked at from time to time, so by one of them at the latest.
      const taskIds: string[] = [];
      for (let i = 0; i < 5; i++) {
        taskIds.push(`b ${i}`);
        await store.create(aRecord(`b ${i}`));
        await new Promise((resolve) => setTimeout(resolve, 15));
      }
      await store.close();
      store = await openLogStore(dir, 100_000);
      assert.deepEqual((await store.health()).damage, []);
      assert.equal((await store.health()).tasks, taskIds.length + 1);
      for (const taskId of ["a", ...taskIds]) {
        assert.ok(await store.get(taskId));
      }
      await store.close();
    }));
});

describe("WalTaskStore, opened again, an entry whose end is damaged with its newline", () => {
  for (const fields of [{}, { text: "x".repeat(1_100_000) }]) {
    it(`takes its task alone, ${Object.keys(fields).join() || "small"}`, () =>
      withTempDir(async (dir) => {
        let store = await openLogStore(dir, 5_000_000);
        for (const taskId of ["a", "b", "c", "d"]) {
          await store.create(aRecord(taskId, fields));
        }
        await store.close();
        const [path] = segmentsIn(dir);
        const bytes = readFileSync(path);
        // The line of "c" begins after the newline of "b".
        const c = bytes.lastIndexOf("\n", bytes.indexOf(' "c" '));
        bytes.fill(0x5a, c - 9, c + 1);
        writeFileSync(path, bytes);
        store = await openLogStore(dir, 5_000_000);
        await rejects(store.get("b"), "ERR_STORE_DAMAGED");
        for (const taskId of ["a", "c", "d"]) {
          assert.deepEqual(await store.get(taskId), aRecord(taskId, fields));
        }
        assert.equal((await store.health()).damage.length, 1);
        await store.close();
      }));
  }
});
