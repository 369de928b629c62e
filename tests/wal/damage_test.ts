/** Damage that is found while the store is open. */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import {
  closeSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename } from "node:path";
import type { WalDamage } from "../../wal.ts";
import { openLogStore } from "../support/log_store.ts";
import { aPatch, aRecord } from "../support/records.ts";
import { rejects } from "../support/rejects.ts";
import { describe, it } from "../support/runner.ts";
import { segmentsIn, withTempDir } from "../support/wal_dir.ts";
import { FaultDisk, Gate } from "../support/wal_fault_disk.ts";

/** Writes over a byte of the first segment, behind the first place where a text is. */
function spoil(dir: string, text: string): void {
  const [path] = segmentsIn(dir);
  const at = readFileSync(path).indexOf(text);
  assert.ok(at > 0);
  const fd = openSync(path, "r+");
  writeSync(fd, Buffer.from("Z"), 0, 1, at + text.length);
  closeSync(fd);
}

/** Writes over the last segment from a place to its end, but for the newline. */
function spoilEnd(dir: string, from: (segment: Buffer) => number): void {
  const path = segmentsIn(dir).at(-1)!;
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill("Z", from(bytes), bytes.length - 1));
}

describe("WalTaskStore, damage up to the end of the log", () => {
  it("counts the entries behind a header whose text is damaged", () =>
    withTempDir(async (dir) => {
      let store = await openLogStore(dir, 1_000);
      await store.create(aRecord("a", { statusMessage: "m".repeat(1_000) }));
      await store.update("a", { statusMessage: "new" }, 1);
      await store.close();
      assert.equal(segmentsIn(dir).length, 2);
      spoilEnd(dir, (bytes) => bytes.indexOf("\n") - 5);
      store = await openLogStore(dir, 1_000);
      await rejects(store.get("a"), "ERR_STORE_DAMAGED");
      await store.close();
    }));

  it("counts the entries behind one whose fields are damaged", () =>
    withTempDir(async (dir) => {
      let store = await openLogStore(dir, 100_000);
      await store.create(aRecord("a"));
      await store.create(aRecord("b"));
      await store.update("b", { statusMessage: "spoilt" }, 1);
      await store.update("a", { statusMessage: "new" }, 1);
      await store.close();
      spoilEnd(dir, (bytes) => bytes.indexOf("spoilt"));
      store = await openLogStore(dir, 100_000);
      await rejects(store.get("a"), "ERR_STORE_DAMAGED");
      await rejects(store.get("b"), "ERR_STORE_DAMAGED");
      await store.close();
    }));

  it("takes no other task where only the last entry is damaged", () =>
    withTempDir(async (dir) => {
      let store = await openLogStore(dir, 100_000);
      const record = aRecord("a");
      await store.create(record);
      await store.create(aRecord("b", { statusMessage: "spoilt" }));
      await store.close();
      spoilEnd(dir, (bytes) => bytes.indexOf("spoilt"));
      store = await openLogStore(dir, 100_000);
      assert.deepEqual(await store.get("a"), record);
      await rejects(store.get("b"), "ERR_STORE_DAMAGED");
      await store.close();
    }));
});

describe("WalTaskStore, damage that a read finds while a change is flushed", () => {
  const long = { text: "q".repeat(5_000) };
  for (const isCompacted of [false, true]) {
    it(`leaves a change alone that replaces what is damaged, compacted ${isCompacted}`, () =>
      withTempDir(async (dir) => {
        let store = await openLogStore(dir, 100_000);
        await store.create(aRecord("a", { result: long }));
        await store.close();
        const disk = new FaultDisk();
        store = await openLogStore(dir, 100_000, { fsync: true }, disk);
        spoil(dir, "qqqqq");
        const gate = new Gate();
        disk.faults.sync = gate.wait;
        const patch = aPatch({
          status: "completed",
          result: { text: "new" },
        });
        const commit = store.commit("a", patch, 1);
        await gate.arrived;
        await rejects(store.get("a"), "ERR_STORE_DAMAGED");
        gate.open();
        assert.equal(await commit, 2);
        const expected = aRecord("a", { ...patch, version: 2 });
        assert.deepEqual(await store.get("a"), expected);
        const { damage } = await store.health();
        assert.deepEqual(damage.map(({ taskIds }) => taskIds), [[]]);
        if (isCompacted) await store.compact();
        await store.close();
        store = await openLogStore(dir, 100_000);
        assert.deepEqual(await store.get("a"), expected);
        await store.close();
      }));
  }

  it("takes a change with it that keeps what is damaged", () =>
    withTempDir(async (dir) => {
      let store = await openLogStore(dir, 100_000);
      await store.create(aRecord("a", { result: long }));
      await store.close();
      const disk = new FaultDisk();
      store = await openLogStore(dir, 100_000, { fsync: true }, disk);
      spoil(dir, "qqqqq");
      const gate = new Gate();
      disk.faults.sync = gate.wait;
      const commit = store.commit("a", { statusMessage: "new" }, 1);
      await gate.arrived;
      await rejects(store.get("a"), "ERR_STORE_DAMAGED");
      gate.open();
      await commit;
      await rejects(store.get("a"), "ERR_STORE_DAMAGED");
      await store.compact();
      await rejects(store.get("a"), "ERR_STORE_DAMAGED");
      await store.close();
    }));
});

describe("WalTaskStore, damage that a compaction comes across", () => {
  const long = { text: "q".repeat(5_000) };
  for (const isRead of [false, true]) {
    it(`is told once, and is listed once with its task, read before ${isRead}`, () =>
      withTempDir(async (dir) => {
        const told: WalDamage[] = [];
        const options = {
          compactEvery: null,
          onDamage: (damage: WalDamage) => told.push(damage),
        };
        const first = await openLogStore(dir, 20_000, options);
        await first.create(aRecord("b", { result: long }));
        await first.create(aRecord("a", { result: { text: "a".repeat(999) } }));
        await first.create(aRecord("c", { result: long }));
        await first.close();
        const store = await openLogStore(dir, 20_000, options);
        spoil(dir, "aaaaa");
        if (isRead) await rejects(store.get("a"), "ERR_STORE_DAMAGED");
        await store.compact();
        assert.deepEqual(told.map(({ taskIds }) => taskIds), [["a"]]);
        const { damage } = await store.health();
        assert.deepEqual(damage.map(({ taskIds }) => taskIds), [["a"]]);
        // All of the entry, for whoever may read more out of it.
        const copy = readFileSync(damage[0].copy!, "utf8");
        assert.match(copy, /^\S+ \d+ p .*"status":"working".*aZa.*\n$/);
        await rejects(store.get("a"), "ERR_STORE_DAMAGED");
        for (const taskId of ["b", "c"]) assert.ok(await store.get(taskId));
        await store.close();
      }));
  }

  it("is told with every task that it has taken, where a head is lost", () =>
    withTempDir(async (dir) => {
      const told: WalDamage[] = [];
      const store = await openLogStore(dir, 20_000);
      for (const taskId of ["a", "b", "c"]) {
        await store.create(aRecord(taskId, { result: long }));
      }
      await store.close();
      const next = await openLogStore(dir, 20_000, {
        compactEvery: null,
        onDamage: (damage) => told.push(damage),
      });
      spoil(dir, ' "b"');
      await next.compact();
      assert.deepEqual(told.map(({ taskIds }) => taskIds), [["b"]]);
      for (const taskId of ["a", "c"]) assert.ok(await next.get(taskId));
      await rejects(next.get("b"), "ERR_STORE_DAMAGED");
      await next.close();
    }));
});

describe("WalTaskStore, the copies of much damage", () => {
  it("take no flush each at opening, and are flushed before their segment goes", () =>
    withTempDir(async (dir) => {
      let store = await openLogStore(dir, 2_000_000, { compactEvery: null });
      for (let i = 0; i < 40; i++) {
        await store.create(
          aRecord(`${i}`, { result: { text: "q".repeat(999) } }),
        );
      }
      await store.close();
      const [path] = segmentsIn(dir);
      const bytes = readFileSync(path);
      for (let at = 0; (at = bytes.indexOf("qqq", at)) > 0; at += 999) {
        bytes[at + 9] = 0x5a;
      }
      writeFileSync(path, bytes);
      const disk = new FaultDisk();
      store = await openLogStore(dir, 2_000_000, { compactEvery: null }, disk);
      assert.equal((await store.health()).damage.length, 40);
      assert.ok(disk.calls.sync < 5, `${disk.calls.sync} flushes`);
      const events: string[] = [];
      for (const point of ["sync", "syncDir", "remove"] as const) {
        disk.faults[point] = ({ path }) =>
          void events.push(`${point} ${basename(path)}`);
      }
      const { damage } = await store.health();
      await store.compact();
      const before = events.slice(
        0,
        events.indexOf(`remove ${basename(path)}`),
      );
      for (const { copy } of damage) {
        assert.ok(before.includes(`sync ${basename(copy!)}`), copy);
      }
      assert.ok(before.includes("syncDir damaged"));
      await store.close();
    }));
});
