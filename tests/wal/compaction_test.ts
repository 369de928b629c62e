/** Compactions beside writers, and on disks that have lost something. */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import {
  closeSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeSync,
} from "node:fs";
import type { WalDamage } from "../../wal.ts";
import { openLogStore } from "../support/log_store.ts";
import { aPatch, aRecord } from "../support/records.ts";
import { rejects } from "../support/rejects.ts";
import { describe, it } from "../support/runner.ts";
import { segmentsIn, withTempDir } from "../support/wal_dir.ts";
import { FaultDisk, systemError } from "../support/wal_fault_disk.ts";
import type { CallKind } from "../support/wal_proof/calls.ts";
import { SimDisk } from "../support/wal_proof/sim_disk.ts";

describe("WalTaskStore.compact(), a large task that changes all the time", () => {
  const long = "x".repeat(300_000);
  const changes = {
    "beside its large fields": (version: number) => ({
      statusMessage: `${version}`,
    }),
    "in a large field": (version: number) => ({ input: `${version}${long}` }),
  };
  for (const [where, change] of Object.entries(changes)) {
    it(`ends, and keeps the last version: ${where}`, () =>
      withTempDir(async (dir) => {
        const disk = new FaultDisk();
        let store = await openLogStore(
          dir,
          2_000_000,
          { compactEvery: null },
          disk,
        );
        let record = aRecord("a", { input: long, other: long });
        await store.create(record);
        let reads = 0;
        // With each read that the compaction waits for, a version comes.
        disk.faults.read = async () => {
          if (++reads > 50) throw new Error("it reads on and on");
          const patch = aPatch(change(record.version));
          const version = await store.commit("a", patch, record.version);
          record = { ...record, ...patch, version };
        };
        await store.compact();
        delete disk.faults.read;
        assert.ok(record.version > 3);
        assert.deepEqual(await store.get("a"), record);
        assert.doesNotMatch(segmentsIn(dir)[0], /001\.log$/);
        await store.close();
        store = await openLogStore(dir, 2_000_000);
        assert.deepEqual(await store.get("a"), record);
        await store.close();
      }));
  }

  it("looks again where what it was reading fails, and is no longer needed", () =>
    withTempDir(async (dir) => {
      const disk = new FaultDisk();
      const store = await openLogStore(
        dir,
        2_000_000,
        { compactEvery: null },
        disk,
      );
      await store.create(aRecord("a", { input: long }));
      let reads = 0;
      disk.faults.read = async () => {
        if (++reads < 2) return; // The segment itself.
        delete disk.faults.read;
        await store.commit("a", aPatch({ input: "short" }), 1);
        throw new Error("EIO, made by the test");
      };
      await store.compact();
      assert.equal(disk.faults.read, undefined);
      assert.deepEqual(
        await store.get("a"),
        aRecord("a", { input: "short", version: 2 }),
      );
      await store.close();
    }));
});

/** Writes over a byte of a file, in front of a text. */
function spoil(path: string, text: string): void {
  const at = readFileSync(path).indexOf(text);
  assert.ok(at > 0);
  const fd = openSync(path, "r+");
  writeSync(fd, Buffer.from("Z"), 0, 1, at - 1);
  closeSync(fd);
}

describe("WalTaskStore, a segment that somebody touches", () => {
  const touches = {
    "removed": {
      touch: (path: string) => rmSync(path),
      reason: "the file is missing",
    },
    "cut": {
      touch: (path: string) => truncateSync(path, 1_000),
      reason: "the file is cut short",
    },
  };
  for (const [name, { touch, reason }] of Object.entries(touches)) {
    for (const isRead of [false, true]) {
      it(`is damage when it was ${name}, and compaction goes on, read before ${isRead}`, () =>
        withTempDir(async (dir) => {
          const told: WalDamage[] = [];
          const errors: unknown[] = [];
          const options = {
            onDamage: (damage: WalDamage) => told.push(damage),
            onCompactionError: (error: unknown) => errors.push(error),
          };
          let store = await openLogStore(dir, 20_000, options);
          const note = "x".repeat(200);
          for (let i = 0; i < 100; i++) {
            await store.create(aRecord(`${i}`, { note }));
          }
          await store.create(aRecord("hot"));
          await store.close();
          // Damage that was told before hides nothing of what comes.
          spoil(segmentsIn(dir)[0], 'Id":"30"');
          store = await openLogStore(dir, 20_000, options);
          touch(segmentsIn(dir)[0]);
          if (isRead) {
            for (const taskId of ["20", "21"]) {
              await rejects(store.get(taskId), "ERR_STORE_DAMAGED");
            }
          }
          for (let version = 1; version < 500; version++) {
            await store.commit("hot", { statusMessage: note }, version);
          }
          await store.compact();
          const { damage, diskBytes, aliveBytes } = await store.health();
          assert.ok(diskBytes < 2.5 * aliveBytes + 40_000, `${diskBytes}`);
          const lost = damage.flatMap(({ taskIds }) => taskIds);
          assert.ok(lost.includes("20"));
          assert.ok(damage.some((one) => one.reason === reason));
          assert.ok(told.some((one) => one.reason === reason));
          assert.deepEqual(errors, []);
          const check = async () => {
            for (let i = 0; i < 100; i++) {
              if (lost.includes(`${i}`)) {
                await rejects(store.get(`${i}`), "ERR_STORE_DAMAGED");
              } else {
                assert.deepEqual(
                  await store.get(`${i}`),
                  aRecord(`${i}`, { note }),
                );
              }
            }
            assert.equal((await store.get("hot"))?.version, 500);
          };
          await check();
          await store.close();
          store = await openLogStore(dir, 20_000, options);
          await check();
          await store.close();
        }));
    }
  }
});

describe("WalTaskStore, a compaction whose file the system does not let go", () => {
  it("holds up no writer, however far the log is over its bound", () =>
    withTempDir(async (dir) => {
      const disk = new FaultDisk();
      disk.skipsFlushes = true;
      const told = Promise.withResolvers<unknown>();
      let isTold = false;
      const onCompactionError = (error: unknown) => {
        isTold = true;
        told.resolve((error as Error).cause);
      };
      const options = { onCompactionError };
      const store = await openLogStore(dir, 2_000, options, disk);
      await store.create(aRecord("a"));
      let version = 1;
      const write = async () => {
        const patch = { statusMessage: "x".repeat(400) };
        version = await store.commit("a", patch, version);
      };
      const cause = systemError("EBUSY");
      let refusals = 0;
      // It is tried three times more, for half a second in all.
      disk.faults.remove = () => {
        refusals++;
        throw cause;
      };
      while (refusals === 0) await write();
      for (let i = 0; i < 10; i++) await write();
      const { diskBytes, aliveBytes } = await store.health();
      assert.ok(diskBytes > 2.1 * aliveBytes + 2_400, `${diskBytes}`);
      assert.equal(isTold, false, "the writers have waited");
      assert.equal(await told.promise, cause);
      assert.equal(refusals, 4);
      await store.close();
    }));
});

describe("WalTaskStore.compact(), called while another compaction is at its end", () => {
  it("begins no second one beside one that begins in the same turn", async () => {
    // How far the end of the one is from the write that begins the next.
    for (let hops = 0; hops < 16; hops++) {
      await withTempDir(async (dir) => {
        const sim = new SimDisk();
        const errors: unknown[] = [];
        const options = {
          fsync: true,
          compactEvery: 1,
          onCompactionError: (error: unknown) => errors.push(error),
        };
        const disk = sim.session();
        const store = await openLogStore(dir, 100_000, options, disk);
        /** The next call of a kind is held up. */
        const hold = (kind: CallKind) => {
          const arrived = Promise.withResolvers<void>();
          const released = Promise.withResolvers<void>();
          let isNext = false;
          sim.meter.moment = (call, when) => {
            isNext = when === "before" && call.kind === kind;
          };
          sim.meter.arrival = () => {
            if (!isNext) return Promise.resolve();
            sim.meter.moment = () => {};
            sim.meter.arrival = () => Promise.resolve();
            arrived.resolve();
            return released.promise;
          };
          return { arrived: arrived.promise, release: released.resolve };
        };
        const removed = Promise.withResolvers<void>();
        sim.meter.moment = ({ kind }) => {
          if (kind === "remove") removed.resolve();
        };
        const created = store.create(aRecord("a"));
        await removed.promise;
        // The last step of a compaction: its names are flushed.
        const end = hold("syncDir");
        await Promise.all([created, end.arrived]);
        const compacted = store.compact();
        const write = hold("sync");
        const others = ["b", "c"].map((id) => store.create(aRecord(id)));
        await write.arrived;
        end.release();
        for (let hop = 0; hop < hops; hop++) await undefined;
        write.release();
        await Promise.all([compacted, ...others]);
        await store.close();
        assert.deepEqual(errors, [], `${hops} hops`);
      });
    }
  });
});

describe("WalTaskStore, a segment that cannot be read for a time", () => {
  it("stops compaction alone, which says so, and loses nothing", () =>
    withTempDir(async (dir) => {
      const disk = new FaultDisk();
      const errors: unknown[] = [];
      const onCompactionError = (error: unknown) => errors.push(error);
      const options = { onCompactionError };
      const store = await openLogStore(dir, 5_000, options, disk);
      const note = "x".repeat(400);
      for (let i = 0; i < 10; i++) {
        await store.create(aRecord(`${i}`, { note }));
      }
      await store.create(aRecord("last", { note, result: { note } }));
      // Memory has what was written last; what was written first is read.
      const fields = { input: "y".repeat(5_000_000) };
      for (const id of ["large", "larger", "largest"]) {
        await store.create(aRecord(id, fields));
      }
      const cause = systemError("EIO");
      const [first] = segmentsIn(dir);
      const fail = ({ path }: { path: string }) => {
        if (path === first) throw cause;
      };
      disk.faults.read = disk.faults.readNow = fail;
      for (let version = 1; version < 60; version++) {
        await store.commit("last", { statusMessage: note }, version);
      }
      const error = await store.compact().catch((error) => error);
      assert.equal(error.code, "ERR_STORE_FAILED");
      assert.equal(error.cause, cause);
      assert.equal((await store.health()).writable, true);
      assert.deepEqual((await store.health()).damage, []);
      assert.equal((await store.get("last"))?.version, 60);
      for (let i = 0; i < 10; i++) {
        const found = await store.get(`${i}`).catch(({ code }) => code);
        if (found !== "ERR_STORE_FAILED") {
          assert.deepEqual(found, aRecord(`${i}`, { note }));
        }
      }
      delete disk.faults.read;
      delete disk.faults.readNow;
      await store.compact();
      const { diskBytes, aliveBytes } = await store.health();
      assert.ok(diskBytes < 1.5 * aliveBytes + 10_000, `${diskBytes}`);
      for (let i = 0; i < 10; i++) {
        assert.deepEqual(await store.get(`${i}`), aRecord(`${i}`, { note }));
      }
      assert.deepEqual((await store.health()).damage, []);
      for (const one of errors) {
        assert.equal((one as { cause: unknown }).cause, cause);
      }
      await store.close();
    }));
});
