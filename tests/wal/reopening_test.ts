/** What a store has of a log that another wrote is what that other had. */

import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TaskPatch, TaskRecord } from "../../mod.ts";
import { openLogStore } from "../support/log_store.ts";
import { aPatch, aRecord } from "../support/records.ts";
import { rejects } from "../support/rejects.ts";
import { describe, it } from "../support/runner.ts";
import { segmentsIn, withTempDir } from "../support/wal_dir.ts";
import { FaultDisk, systemError } from "../support/wal_fault_disk.ts";
import { SimDisk } from "../support/wal_proof/sim_disk.ts";
import { imagesOf } from "../support/wal_proof/snapshot.ts";

describe("WalTaskStore, opened again, a task with many changes", () => {
  for (const changes of [1, 63, 64, 65, 70, 128, 131]) {
    it(`is changed from the last of ${changes}, though nobody has read it`, () =>
      withTempDir(async (dir) => {
        const options = { compactEvery: null };
        let store = await openLogStore(dir, 100_000, options);
        await store.create(aRecord("a", { input: "x".repeat(2_000) }));
        for (let version = 1; version <= changes; version++) {
          const patch = { [`field ${version}`]: version, statusMessage: "m" };
          await store.commit("a", patch, version);
        }
        const before = (await store.get("a"))!;
        await store.close();
        store = await openLogStore(dir, 100_000, options);
        await store.commit("a", { statusMessage: "now" }, changes + 1);
        const after = {
          ...before,
          statusMessage: "now",
          version: changes + 2,
        };
        assert.deepEqual(await store.get("a"), after);
        await store.close();
        store = await openLogStore(dir, 100_000, options);
        assert.deepEqual(await store.get("a"), after);
        await store.close();
      }));
  }

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

describe("WalTaskStore.get(), head() and update()", () => {
  for (const size of [10, 3_000, 1_700_000]) {
    it(`give copies however often they read, as I10 asks, of ${size} characters`, () =>
      withTempDir(async (dir) => {
        let store = await openLogStore(dir, 8_000_000, { compactEvery: null });
        const input = { list: [{ text: "x".repeat(size) }], more: [1, [2]] };
        const record = aRecord("a", { input, takenInputKeys: ["one", "two"] });
        await store.create(record);
        let expected: TaskRecord = structuredClone(record);
        const reads = async () => {
          for (let i = 0; i < 4; i++) {
            const found = (await store.get("a"))!;
            assert.deepEqual(found, expected);
            spoil(found);
            const head = (await store.head("a"))!;
            const { result: _, ...rest } = expected;
            assert.deepEqual(head, rest);
            spoil(head);
          }
        };
        const change = async (patch: TaskPatch) => {
          const { version } = expected;
          expected = { ...expected, ...patch, version: version + 1 };
          const updated = await store.update("a", patch, version);
          assert.deepEqual(updated, expected);
          spoil(updated);
          await reads();
        };
        await reads();
        await change({ statusMessage: "on" });
        await store.close();
        store = await openLogStore(dir, 8_000_000, { compactEvery: null });
        await reads();
        const result = { rows: [{ text: "y".repeat(size) }, [[0]]] };
        await change({ status: "completed", result });
        await store.close();
        store = await openLogStore(dir, 8_000_000, { compactEvery: null });
        await reads();
        await store.close();
      }));
  }
});

/** Changes whatever an object has. */
function spoil(value: object): void {
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === "object" && member !== null) spoil(member);
    else (value as Record<string, unknown>)[key] = "spoilt";
  }
  if (Array.isArray(value)) value.push("spoilt");
  else (value as Record<string, unknown>).spoilt = true;
}

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

describe("WalTaskStore, opened again after a flush that has failed", () => {
  it("has on the disk what it serves, though the system flushes that no more", () =>
    withTempDir(async (dir) => {
      const sim = new SimDisk();
      const session = sim.session();
      const { meter } = sim;
      let store = await openLogStore(dir, 100_000, { fsync: true }, session);
      await store.create(aRecord("a", { version: 4 }));
      meter.fault = ({ kind }) =>
        kind === "truncate" || kind.startsWith("sync")
          ? { throws: "EIO" }
          : undefined;
      await rejects(
        store.update("a", { statusMessage: "unsure" }, 4),
        "ERR_STORE_FAILED",
      );
      meter.fault = () => undefined;
      await store.close();

      store = await openLogStore(dir, 100_000, { fsync: true }, session);
      const served = await store.get("a");
      const left = [...imagesOf(sim.snapshot(false))];
      await store.close();
      assert.equal(served?.version, 5);
      assert.ok(left.length > 0);
      for (const { label, files } of left) {
        const after = new SimDisk(files).session();
        const other = await openLogStore(dir, 100_000, {}, after);
        assert.deepEqual(await other.get("a"), served, label);
        await other.close();
      }
    }));
});

describe("WalTaskStore, an opening that fails", () => {
  for (const point of ["syncDir", "sync", "read", "list"] as const) {
    it(`leaves no file open where it is ${point} that fails`, () =>
      withTempDir(async (dir) => {
        const disk = new FaultDisk();
        let store = await openLogStore(dir, 200, { fsync: true }, disk);
        for (const id of ["a", "b", "c"]) await store.create(aRecord(id));
        await store.close();
        // Each call of it, in its turn.
        for (let number = 1;; number++) {
          let calls = 0;
          disk.faults[point] = () => {
            if (++calls === number) throw systemError("EIO");
          };
          const opening = openLogStore(dir, 200, { fsync: true }, disk);
          const opened = await opening.catch(() => undefined);
          delete disk.faults[point];
          if (calls < number) {
            await opened?.close();
            assert.ok(number > 1);
            break;
          }
          assert.equal(opened, undefined);
          assert.equal(disk.openFiles, 0, `${point} ${number}`);
        }
        store = await openLogStore(dir, 200, {}, disk);
        for (const id of ["a", "b", "c"]) assert.ok(await store.get(id));
        await store.close();
      }));
  }
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
