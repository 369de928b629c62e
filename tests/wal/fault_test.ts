import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { LogTaskStore } from "../../src/wal/store.ts";
import {
  resolveWalOptions,
  type WalTaskStoreOptions,
} from "../../src/wal/options.ts";
import { WalTaskStore } from "../../wal.ts";
import { aRecord, CREATED_MS } from "../support/records.ts";
import { describe, it } from "../support/runner.ts";
import { rejects } from "../support/rejects.ts";
import { segmentsIn, withTempDir } from "../support/wal_dir.ts";
import { FaultDisk, Gate, systemError } from "../support/wal_fault_disk.ts";

type Options = Omit<WalTaskStoreOptions, "dir">;

/** Runs a body with a store on a disk that may fail, then checks what a real one finds. */
function withFaults(
  options: Options,
  body: (store: LogTaskStore, disk: FaultDisk, log: string) => Promise<void>,
  after: (reopened: WalTaskStore) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  return withTempDir(async (dir) => {
    const disk = new FaultDisk();
    const resolved = resolveWalOptions({ dir, ...options });
    const store = new LogTaskStore(resolved, disk);
    try {
      await store.ready();
      await body(store, disk, segmentsIn(dir)[0]);
    } finally {
      for (const point of Object.keys(disk.faults)) {
        delete disk.faults[point as keyof typeof disk.faults];
      }
      await store.close();
    }
    assert.equal(disk.openFiles, 0);
    const reopened = await WalTaskStore.open({ dir });
    try {
      await after(reopened);
    } finally {
      await reopened.close();
    }
  });
}

async function causeOf(promise: Promise<unknown>): Promise<unknown> {
  const error = await promise.then(() => undefined, (error) => error);
  assert.equal(error?.code, "ERR_STORE_FAILED", String(error));
  return error.cause;
}

describe("WalTaskStore, flushes", () => {
  it("readers see the committed state, writers are judged by the appended one", () =>
    withFaults({ fsync: true }, async (store, disk) => {
      await store.create(aRecord("a", { version: 5 }));
      const gate = new Gate();
      disk.faults.sync = gate.wait;
      const beside = store.create(aRecord("beside"));
      const first = store.update("a", { statusMessage: "first" }, 5);
      await gate.arrived;
      assert.equal(await store.get("beside"), undefined);
      const queued = store.update("a", { statusMessage: "queued" }, 6);
      const created = store.create(aRecord("b"));
      await rejects(store.update("a", {}, 5), "ERR_CONCURRENT_UPDATE");
      await rejects(store.create(aRecord("b")), "ERR_DUPLICATE_TASK_ID");
      assert.deepEqual(await store.get("a"), aRecord("a", { version: 5 }));
      assert.equal(await store.get("b"), undefined);
      gate.open();
      assert.equal((await first).version, 6);
      assert.equal((await queued).version, 7);
      await Promise.all([created, beside]);
      assert.equal((await store.get("a"))?.statusMessage, "queued");
    }, async (reopened) => {
      assert.equal((await reopened.get("a"))?.version, 7);
      assert.ok(await reopened.get("b"));
    }));

  it("a committed version does not hide the one that is queued behind it", () =>
    withFaults({ fsync: true }, async (store, disk) => {
      await store.create(aRecord("a", { version: 5 }));
      const [one, two] = [new Gate(), new Gate()];
      disk.faults.sync = one.wait;
      const beside = store.create(aRecord("beside"));
      const first = store.update("a", { statusMessage: "first" }, 5);
      await one.arrived;
      const second = store.update("a", { statusMessage: "second" }, 6);
      const behind = store.create(aRecord("behind"));
      disk.faults.sync = two.wait;
      one.open();
      await Promise.all([first, beside]);
      await two.arrived;
      assert.equal((await store.get("a"))?.version, 6);
      await rejects(store.update("a", {}, 6), "ERR_CONCURRENT_UPDATE");
      const third = store.update("a", { statusMessage: "third" }, 7);
      two.open();
      await Promise.all([second, third, behind]);
    }, async (reopened) => {
      assert.equal((await reopened.get("a"))?.version, 8);
    }));

  it("what arrives while a flush is under way shares the next one", () =>
    withFaults({ fsync: true }, async (store, disk) => {
      const gate = new Gate();
      disk.faults.sync = gate.wait;
      const flushes = disk.calls.sync;
      const writes = disk.calls.write;
      const first = [store.create(aRecord("1")), store.create(aRecord("2"))];
      await gate.arrived;
      const others = Array.from(
        { length: 64 },
        (_, i) => store.create(aRecord(`task ${i}`)),
      );
      gate.open();
      await Promise.all([...first, ...others]);
      assert.equal(disk.calls.sync - flushes, 2);
      assert.equal(disk.calls.write - writes, 2);
    }));

  for (const fsync of [false, true]) {
    it(`what arrives in one turn shares a write, from the first on, fsync ${fsync}`, () =>
      withFaults({ fsync }, async (store, disk) => {
        const count = () => disk.calls.sync + disk.calls.syncNow;
        const [flushes, writes] = [count(), disk.calls.write];
        const settled: number[] = [];
        const creations = Array.from({ length: 64 }, async (_, i) => {
          // Callers that have come a different way.
          for (let hop = 0; hop < i % 3; hop++) await undefined;
          await store.create(aRecord(`task ${i}`));
          settled.push(i);
        });
        await Promise.all(creations);
        assert.equal(count() - flushes, fsync ? 1 : 0);
        assert.equal(disk.calls.write - writes, 1);
        assert.equal(settled.length, 64);
      }));
  }

  it("a lone caller's entry is written in its call, and one of many waits for the others", () =>
    withFaults({}, async (store, disk) => {
      let created = 0;
      // One of some milliseconds waits for a turn all the same.
      for (let inCall = 0; inCall < 20;) {
        const { write } = disk.calls;
        const creation = store.create(aRecord(`${created++}`));
        if (disk.calls.write > write) inCall++;
        // The opening has written one too.
        if (inCall > 0) assert.ok(created >= 8, `${created}`);
        await creation;
        assert.equal(disk.calls.write - write, 1);
      }
      let { write } = disk.calls;
      const many = (name: string) =>
        Promise.all(
          Array.from({ length: 64 }, (_, i) => store.create(aRecord(name + i))),
        );
      await many("a");
      for (let i = 0; disk.calls.write - write > 1; i++) {
        ({ write } = disk.calls);
        await new Promise((resolve) => setTimeout(resolve, 5));
        await many(`b${i} `);
      }
      write = disk.calls.write;
      await many("c");
      assert.equal(disk.calls.write - write, 1);
      const creation = store.create(aRecord("one"));
      assert.equal(disk.calls.write - write, 1);
      await creation;
    }));

  it("a lone caller whose write fails is refused, and nothing stands on it", () =>
    withFaults({}, async (store, disk, log) => {
      await store.create(aRecord("a", { version: 5 }));
      const cause = systemError("ENOSPC");
      for (let [version, inCall] = [5, 0]; inCall < 5; version++) {
        await store.update("a", { statusMessage: "m" }, version);
        const { write } = disk.calls;
        const before = readFileSync(log);
        disk.faults.write = ({ partly }) => {
          partly(40);
          throw cause;
        };
        const lost = store.commit("a", { statusMessage: "lost" }, version + 1);
        if (disk.calls.write > write) inCall++;
        assert.equal(await causeOf(lost), cause);
        assert.equal(await causeOf(store.create(aRecord("b"))), cause);
        delete disk.faults.write;
        assert.deepEqual(readFileSync(log), before);
        assert.equal((await store.get("a"))!.version, version + 1);
        assert.equal(await store.get("b"), undefined);
      }
    }, async (reopened) => {
      assert.equal((await reopened.get("a"))!.statusMessage, "m");
      assert.equal(await reopened.get("b"), undefined);
    }));

  it("a lone caller is flushed without the pool, once flushes are short", () =>
    withFaults({ fsync: true }, async (store, disk) => {
      disk.skipsFlushes = true;
      for (let i = 0; i < 9; i++) await store.create(aRecord(`${i}`));
      await store.create(aRecord("a"));
      for (let version = 1; version <= 20; version++) {
        const { sync, syncNow } = disk.calls;
        await store.commit("a", { statusMessage: `${version}` }, version);
        const flushes = disk.calls.sync + disk.calls.syncNow - sync - syncNow;
        assert.equal(flushes, 1, `${version}`);
      }
      assert.ok(disk.calls.syncNow >= 20);
    }));

  it("many callers are flushed without the pool, once flushes are very short, unless it is much", () =>
    withFaults({ fsync: true }, async (store, disk) => {
      disk.skipsFlushes = true;
      const many = async (name: string, size: number) => {
        const { sync, syncNow } = disk.calls;
        const statusMessage = "m".repeat(size);
        await Promise.all(
          Array.from(
            { length: 64 },
            (_, i) => store.create(aRecord(name + i, { statusMessage })),
          ),
        );
        return [disk.calls.sync - sync, disk.calls.syncNow - syncNow];
      };
      assert.deepEqual(await many("a", 10), [1, 0]);
      for (let i = 0; i < 9; i++) await store.create(aRecord(`${i}`));
      assert.deepEqual(await many("b", 10), [0, 1]);
      assert.deepEqual(await many("c", 3_000), [1, 0]);
    }));

  it("many callers whose flush at once fails are refused together", () =>
    withFaults({ fsync: true }, async (store, disk) => {
      disk.skipsFlushes = true;
      for (let i = 0; i < 9; i++) await store.create(aRecord(`${i}`));
      const cause = systemError("EIO");
      const { sync } = disk.calls;
      disk.faults.syncNow = () => {
        throw cause;
      };
      assert.deepEqual(
        await Promise.all([
          causeOf(store.create(aRecord("a"))),
          causeOf(store.commit("0", { statusMessage: "lost" }, 1)),
        ]),
        [cause, cause],
      );
      assert.equal(disk.calls.sync, sync);
      assert.equal(await store.get("a"), undefined);
      assert.equal((await store.get("0"))!.version, 1);
      const health = await store.health();
      assert.deepEqual([health.writable, health.reason], [false, cause]);
    }));

  it("a lone caller whose flush fails is refused, and so is all that comes", () =>
    withFaults({ fsync: true }, async (store, disk) => {
      for (let i = 0; i < 3; i++) await store.create(aRecord(`${i}`));
      const cause = systemError("EIO");
      const fail = () => {
        throw cause;
      };
      disk.faults.sync = disk.faults.syncNow = fail;
      assert.equal(await causeOf(store.create(aRecord("a"))), cause);
      delete disk.faults.sync;
      delete disk.faults.syncNow;
      assert.equal(await causeOf(store.create(aRecord("a"))), cause);
      assert.equal(await causeOf(store.compact()), cause);
      const health = await store.health();
      assert.equal(health.writable, false);
      assert.equal(health.reason, cause);
      assert.ok(await store.get("2"));
    }, async (reopened) => {
      assert.equal(await reopened.get("a"), undefined);
      await reopened.create(aRecord("a"));
    }));

  it("a failed flush rejects its batch and all that is queued, and ends writing", () => {
    const cause = systemError("EIO");
    return withFaults({ fsync: true }, async (store, disk, log) => {
      await store.create(aRecord("a", { version: 5 }));
      const size = statSync(log).size;
      const gate = new Gate();
      disk.faults.sync = gate.wait;
      const failing = Promise.all([
        causeOf(store.update("a", { statusMessage: "lost" }, 5)),
        causeOf(store.create(aRecord("b"))),
      ]);
      await gate.arrived;
      const queued = Promise.all([
        causeOf(store.update("a", { statusMessage: "lost too" }, 6)),
        causeOf(store.create(aRecord("c"))),
      ]);
      gate.fail(cause);
      assert.deepEqual(await failing, [cause, cause]);
      assert.deepEqual(await queued, [cause, cause]);
      assert.equal(statSync(log).size, size);

      delete disk.faults.sync;
      assert.equal(await causeOf(store.update("a", {}, 5)), cause);
      assert.equal(await causeOf(store.create(aRecord("b"))), cause);
      assert.equal(await causeOf(store.compact()), cause);
      assert.deepEqual(await store.get("a"), aRecord("a", { version: 5 }));
      assert.equal(await store.get("b"), undefined);
    }, async (reopened) => {
      assert.equal((await reopened.update("a", {}, 5)).version, 6);
      await reopened.create(aRecord("b"));
    });
  });

  it("a sweep that fails leaves all to the next", () =>
    withFaults({}, async (store, disk) => {
      for (let i = 0; i < 20; i++) {
        await store.create(aRecord(`${i}`, { ttlMs: 10 + i }));
      }
      disk.faults.write = () => {
        throw systemError("ENOSPC");
      };
      // The later time of a change that fails counts no more.
      const change = store.commit("3", { ttlMs: 1_000_000 }, 1, CREATED_MS);
      const failed = [change, store.sweep(CREATED_MS + 15)];
      for (const one of failed) await causeOf(one);
      delete disk.faults.write;
      assert.equal(await store.sweep(CREATED_MS + 15), 6);
      assert.equal(await store.sweep(CREATED_MS + 100), 14);
    }, async (reopened) => {
      assert.equal((await reopened.health()).tasks, 0);
    }));

  it("a sweep that finds nothing waits for the one that took it", () =>
    withFaults({ fsync: true }, async (store, disk) => {
      await store.create(aRecord("a", { ttlMs: 10 }));
      await store.create(aRecord("b", { ttlMs: 10 }));
      const flushes = disk.calls.sync;
      const gate = new Gate();
      disk.faults.sync = gate.wait;
      const settled: string[] = [];
      const sweep = async (name: string) => {
        const count = await store.sweep(CREATED_MS + 10);
        settled.push(`${name} ${count}`);
      };
      const first = sweep("first");
      await gate.arrived;
      const second = sweep("second");
      assert.ok(await store.get("a", CREATED_MS));
      assert.ok(await store.get("b", CREATED_MS));
      gate.open();
      await Promise.all([first, second]);
      assert.deepEqual(settled, ["first 2", "second 0"]);
      assert.equal(disk.calls.sync - flushes, 1);
    }));

  it("close() waits for what is queued", () =>
    withFaults({ fsync: true }, async (store, disk) => {
      const gate = new Gate();
      disk.faults.sync = gate.wait;
      const first = [store.create(aRecord("a")), store.create(aRecord("c"))];
      await gate.arrived;
      const second = store.create(aRecord("b"));
      const closed = store.close();
      gate.open();
      await Promise.all([...first, second, closed]);
    }, async (reopened) => {
      assert.ok(await reopened.get("a"));
      assert.ok(await reopened.get("b"));
    }));
});

for (const fsync of [false, true]) {
  describe(`WalTaskStore, a full disk, fsync ${fsync}`, () => {
    it("rejects the batch, keeps what was acknowledged, and works again", () => {
      const cause = systemError("ENOSPC");
      return withFaults({ fsync }, async (store, disk, log) => {
        await store.create(aRecord("a", { version: 5 }));
        const before = readFileSync(log);
        for (const written of [0, 1, 40, 200, 400]) {
          disk.faults.write = ({ partly }) => {
            partly(written);
            throw cause;
          };
          const outcomes = await Promise.all([
            causeOf(store.update("a", { statusMessage: "lost" }, 5)),
            causeOf(store.update("a", { statusMessage: "lost" }, 6)),
            causeOf(store.create(aRecord("b"))),
          ]);
          assert.deepEqual(outcomes, [cause, cause, cause]);
          assert.deepEqual(readFileSync(log), before);
        }
        delete disk.faults.write;
        assert.equal(await store.get("b"), undefined);
        await store.create(aRecord("b", { statusMessage: "there is room" }));
        const updated = await store.update("a", { statusMessage: "room" }, 5);
        assert.equal(updated.version, 6);
      }, async (reopened) => {
        const message = (await reopened.get("b"))?.statusMessage;
        assert.equal(message, "there is room");
        assert.equal((await reopened.get("a"))?.version, 6);
      });
    });

    it("rejects what was queued on the batch, which would stand on nothing", () => {
      const cause = systemError("ENOSPC");
      return withFaults({ fsync }, async (store, disk) => {
        // More than fits into one write.
        const filler = "x".repeat(3_000_000);
        const creations = ["a", "b", "c", "d"].map((id) =>
          store.create(aRecord(id, { filler }))
        );
        const update = store.update("a", { statusMessage: "lost" }, 1);
        disk.faults.write = () => {
          if (disk.calls.write === 2) throw cause;
        };
        for (const lost of [...creations, update]) {
          assert.equal(await causeOf(lost), cause);
        }
        await store.create(aRecord("a"));
      }, async (reopened) => {
        assert.deepEqual(await reopened.get("a"), aRecord("a"));
        assert.equal(await reopened.get("d"), undefined);
      });
    });

    it("cuts the partial write later where it cannot at once", () =>
      withFaults({ fsync }, async (store, disk) => {
        await store.create(aRecord("a"));
        disk.faults.write = ({ partly }) => {
          partly(100);
          throw systemError("ENOSPC");
        };
        disk.faults.truncate = () => {
          throw systemError("EIO");
        };
        await causeOf(store.create(aRecord("lost ".repeat(50))));
        delete disk.faults.write;
        await causeOf(store.create(aRecord("b")));
        delete disk.faults.truncate;
        await store.create(aRecord("c"));
      }, async (reopened) => {
        assert.ok(await reopened.get("a"));
        assert.equal(await reopened.get("b"), undefined);
        assert.ok(await reopened.get("c"));
      }));

    it("flushes what it has cut before it begins a segment", () =>
      withTempDir(async (dir) => {
        const disk = new FaultDisk();
        const options = resolveWalOptions({ dir, fsync, compactEvery: null });
        const store = new LogTaskStore({ ...options, segmentBytes: 900 }, disk);
        await store.create(aRecord("a"));
        disk.faults.write = ({ partly }) => {
          partly(100);
          throw systemError("ENOSPC");
        };
        await causeOf(store.create(aRecord("lost")));
        const calls: string[] = [];
        const note = (call: string) => ({ path }: { path: string }) => {
          calls.push(`${call} ${segmentsIn(dir).indexOf(path)}`);
        };
        disk.faults.write = note("write");
        disk.faults.sync = note("sync");
        await store.create(aRecord("b", { text: "x".repeat(900) }));
        assert.deepEqual(calls.slice(0, 2), ["sync 0", "write 1"]);
        await store.close();
      }));

    it("begins a segment anew whose first beginning could not be removed", () =>
      withTempDir(async (dir) => {
        const disk = new FaultDisk();
        const options = resolveWalOptions({ dir, fsync, compactEvery: null });
        const store = new LogTaskStore({ ...options, segmentBytes: 900 }, disk);
        await store.create(aRecord("a", { text: "x".repeat(900) }));
        disk.faults.write = ({ partly }) => {
          partly(3_000);
          throw systemError("ENOSPC");
        };
        disk.faults.remove = () => {
          throw systemError("EIO");
        };
        await causeOf(store.create(aRecord("l", { text: "x".repeat(4_000) })));
        const [, left] = segmentsIn(dir);
        assert.equal(statSync(left).size, 3_000);
        delete disk.faults.write;
        delete disk.faults.remove;
        await store.create(aRecord("b"));
        assert.ok(statSync(left).size < 900);
        await store.close();
        const reopened = await WalTaskStore.open({ dir });
        assert.ok(await reopened.get("b"));
        assert.deepEqual((await reopened.health()).damage, []);
        await reopened.close();
      }));

    it("removes a segment that could not be begun, also where closing it fails", () =>
      withTempDir(async (dir) => {
        const disk = new FaultDisk();
        const options = resolveWalOptions({ dir, fsync, compactEvery: null });
        const store = new LogTaskStore({ ...options, segmentBytes: 900 }, disk);
        await store.create(aRecord("a", { text: "x".repeat(900) }));
        disk.faults.write = disk.faults.close = () => {
          throw systemError("EIO");
        };
        await causeOf(store.create(aRecord("lost")));
        assert.equal(segmentsIn(dir).length, 1);
        delete disk.faults.write;
        delete disk.faults.close;
        await store.close();
      }));

    it("takes writes that are short", () =>
      withFaults({ fsync }, async (store, disk) => {
        disk.faults.write = () => 7;
        await store.create(aRecord("a", { statusMessage: "é".repeat(100) }));
        await store.compact();
        await store.update("a", { status: "cancelled" }, 1);
      }, async (reopened) => {
        assert.equal((await reopened.get("a"))?.status, "cancelled");
      }));

    it("loses nothing when a compaction does not fit", () => {
      const cause = systemError("ENOSPC");
      return withFaults({ fsync, compactEvery: null }, async (store, disk) => {
        const filler = "x".repeat(100_000);
        for (let i = 0; i < 30; i++) {
          await store.create(aRecord(`task ${i}`, { filler }));
        }
        const files = disk.openFiles;
        for (const failing of [1, 2, 3, 7]) {
          let writes = 0;
          disk.faults.write = ({ partly }) => {
            if (++writes < failing) return;
            partly(1_000);
            throw cause;
          };
          assert.equal(await causeOf(store.compact()), cause);
          assert.ok(disk.openFiles <= files + failing);
        }
        delete disk.faults.write;
        await store.update("task 7", { statusMessage: "works" }, 1);
        await store.compact();
        await store.update("task 7", { statusMessage: "works on" }, 2);
      }, async (reopened) => {
        const message = (await reopened.get("task 7"))?.statusMessage;
        assert.equal(message, "works on");
        for (let i = 0; i < 30; i++) assert.ok(await reopened.get(`task ${i}`));
      });
    });
  });
}

describe("WalTaskStore, compaction on a disk that fails", () => {
  for (const code of ["EPERM", "EBUSY", "EACCES"]) {
    it(`tries a removal that is refused with ${code} three times more`, () =>
      withFaults({}, async (store, disk, log) => {
        await store.create(aRecord("a"));
        const removals = disk.calls.remove;
        disk.faults.remove = () => {
          if (disk.calls.remove - removals <= 3) throw systemError(code);
        };
        const compacted = store.compact();
        await store.update("a", { statusMessage: "did not wait" }, 1);
        await compacted;
        assert.equal(disk.calls.remove - removals, 4);
        assert.equal(existsSync(log), false);
      }, async (reopened) => {
        const message = (await reopened.get("a"))?.statusMessage;
        assert.equal(message, "did not wait");
      }));
  }

  it("keeps a segment whose removal is refused for good, and loses nothing", () =>
    withFaults({}, async (store, disk, log) => {
      await store.create(aRecord("a", { ttlMs: 10 }));
      await store.create(aRecord("b"));
      const cause = systemError("EPERM");
      disk.faults.remove = () => {
        throw cause;
      };
      const before = readFileSync(log);
      assert.equal(await causeOf(store.compact()), cause);
      assert.deepEqual(readFileSync(log), before);
      assert.equal(await store.sweep(CREATED_MS + 10), 1);
      await store.update("b", { statusMessage: "y" }, 1);
      assert.equal(await causeOf(store.compact()), cause);
    }, async (reopened) => {
      assert.equal(await reopened.get("a", 0), undefined);
      assert.equal((await reopened.get("b"))?.statusMessage, "y");
      await reopened.compact();
      assert.equal((await reopened.health()).segments, 1);
    }));

  it("tells onCompactionError, and waits for a time", async () => {
    for (const throws of [false, true]) {
      const told: unknown[] = [];
      const cause = systemError("ENOENT");
      const heard = Promise.withResolvers<void>();
      const onCompactionError = (error: unknown) => {
        told.push((error as Error).cause);
        heard.resolve();
        if (throws) throw new Error("an observer's own");
      };
      const options = { compactEvery: 4, onCompactionError };
      await withFaults(options, async (store, disk) => {
        disk.faults.openToRead = () => {
          throw cause;
        };
        for (let i = 0; i < 4; i++) await store.create(aRecord(`task ${i}`));
        await heard.promise;
        await store.create(aRecord("task 4"));
        assert.deepEqual(told, [cause]);
        delete disk.faults.openToRead;
        for (let i = 5; i < 20; i++) await store.create(aRecord(`task ${i}`));
      });
      assert.deepEqual(told, [cause]);
    }
  });

  for (const fsync of [false, true]) {
    it(`has on the disk what it has copied before the segment goes, fsync ${fsync}`, () =>
      withFaults({ fsync, compactEvery: null }, async (store, disk) => {
        await store.create(aRecord("a", { text: "x".repeat(9_000) }));
        const unflushed = new Set<string>();
        const flushed = ({ path }: { path: string }) => {
          unflushed.delete(path);
        };
        disk.faults.write = ({ path }) => void unflushed.add(path);
        disk.faults.sync = flushed;
        disk.faults.syncNow = flushed;
        let removals = 0;
        disk.faults.remove = () => {
          removals++;
          assert.deepEqual([...unflushed], []);
        };
        await store.compact();
        assert.equal(removals, 1);
      }, async (reopened) => {
        assert.ok(await reopened.get("a"));
      }));
  }

  it("has on the disk that a segment is gone before the next one goes, with fsync", () =>
    withTempDir(async (dir) => {
      const disk = new FaultDisk();
      const options = resolveWalOptions({ dir, fsync: true });
      const store = new LogTaskStore({ ...options, segmentBytes: 300 }, disk);
      for (const id of ["a", "b", "c"]) await store.create(aRecord(id));
      const calls: string[] = [];
      disk.faults.remove = () => void calls.push("remove");
      disk.faults.syncDir = () => void calls.push("flush");
      await store.compact();
      assert.ok(calls.filter((call) => call === "remove").length >= 3);
      assert.doesNotMatch(calls.join(" "), /remove( remove|$)/);
      await store.close();
    }));

  it("refuses writes when the name of a segment may not be on the disk", () =>
    withFaults({ fsync: true }, async (store, disk) => {
      await store.create(aRecord("a"));
      const cause = systemError("EIO");
      disk.faults.syncDir = () => {
        throw cause;
      };
      assert.equal(await causeOf(store.compact()), cause);
      delete disk.faults.syncDir;
      assert.equal(await causeOf(store.create(aRecord("b"))), cause);
      assert.ok(await store.get("a"));
    }, async (reopened) => {
      assert.ok(await reopened.get("a"));
      await reopened.create(aRecord("b"));
    }));

  it("a version that is written while an older one is read for a copy stands", () =>
    withFaults({ compactEvery: null }, async (store, disk) => {
      const text = "x".repeat(700_000);
      await store.create(aRecord("a", { text, ttlMs: 10 }));
      await store.create(aRecord("b", { text }));
      await store.commit("b", { statusMessage: "2" }, 1);
      const [readA, readB] = [new Gate(), new Gate()];
      let reads = 0;
      // A chunk of the segment, "a", another chunk, "b".
      disk.faults.read = (call) => {
        reads++;
        if (reads === 2) return readA.wait(call);
        if (reads === 4) return readB.wait(call);
      };
      const compacted = store.compact();
      await readA.arrived;
      assert.equal(await store.sweep(CREATED_MS + 10), 1);
      readA.open();
      await readB.arrived;
      await store.commit("b", { statusMessage: "3" }, 2);
      readB.open();
      await compacted;
      assert.equal((await store.get("b"))?.statusMessage, "3");
      assert.equal(await store.get("a", 0), undefined);
    }, async (reopened) => {
      const record = await reopened.get("b") as unknown as { text: string };
      assert.equal(record.text.length, 700_000);
      assert.equal((await reopened.get("b"))?.version, 3);
      assert.equal(await reopened.get("a", 0), undefined);
    }));

  it("a task that was swept does not come back when its deletion is compacted", () =>
    withTempDir(async (dir) => {
      const options = {
        ...resolveWalOptions({
          dir,
          compactEvery: null,
          now: () => CREATED_MS,
        }),
        segmentBytes: 500,
      };
      const open = () => new LogTaskStore(options, new FaultDisk());
      let store = open();
      await store.create(aRecord("gone", { ttlMs: 1_000_000 }));
      await store.create(aRecord("stays"));
      await store.commit("gone", { ttlMs: 10 }, 1);
      assert.equal(await store.sweep(CREATED_MS + 10), 1);
      for (let round = 1; round <= 4; round++) {
        for (let i = 0; i < 5; i++) {
          await store.commit(
            "stays",
            { statusMessage: "x" },
            5 * round + i - 4,
          );
        }
        await store.compact();
        await store.close();
        store = open();
        assert.equal(await store.get("gone", 0), undefined);
        assert.equal((await store.get("stays"))?.version, 5 * round + 1);
        assert.ok(segmentsIn(dir).length <= 2);
      }
      await store.close();
    }));
});

describe("WalTaskStore, files that somebody touches", () => {
  it("that was deleted while it is written to gets its name again", () =>
    withFaults({ fsync: true }, async (store, _disk, log) => {
      await store.create(aRecord("a"));
      await new Promise((resolve) => setTimeout(resolve, 40));
      rmSync(log);
      await store.create(aRecord("b"));
      assert.equal(existsSync(log), true);
      await store.create(aRecord("c"));
    }, async (reopened) => {
      for (const id of ["a", "b", "c"]) assert.ok(await reopened.get(id), id);
    }));

  it("that is deleted with its directory ends writing, not reading", () =>
    withTempDir(async (parent) => {
      const dir = join(parent, "tasks");
      const store = await WalTaskStore.open({ dir });
      await store.create(aRecord("a", { text: "x".repeat(5_000) }));
      await new Promise((resolve) => setTimeout(resolve, 40));
      rmSync(dir, { recursive: true });
      await causeOf(store.create(aRecord("b")));
      assert.ok(await store.get("a"));
      assert.equal(await store.get("b"), undefined);
      await store.close();
    }));

  it("that cannot be read is a typed error, and no damage", () =>
    withFaults({}, async (store, disk) => {
      await store.create(aRecord("a", { text: "x".repeat(5_000_000) }));
      const cause = systemError("EIO");
      disk.faults.readNow = () => {
        throw cause;
      };
      assert.equal(await causeOf(store.get("a")), cause);
      delete disk.faults.readNow;
      assert.ok(await store.get("a"));
      assert.deepEqual((await store.health()).damage, []);
    }));
});

describe("WalTaskStore, opening on a disk that fails", () => {
  it("gives the error to every method, once the system has given it", () =>
    withTempDir(async (dir) => {
      const cause = systemError("EACCES");
      const disk = new FaultDisk();
      disk.faults.makeDir = () => {
        throw cause;
      };
      const store = new LogTaskStore(resolveWalOptions({ dir }), disk);
      assert.equal(await causeOf(store.create(aRecord("a"))), cause);
      assert.equal(await causeOf(store.get("a")), cause);
      assert.equal(await causeOf(store.update("a", {}, 1)), cause);
      assert.equal(await causeOf(store.sweep()), cause);
      assert.equal(await causeOf(store.compact()), cause);
      await store.close();
      await rejects(store.get("a"), "ERR_STORE_CLOSED");
    }));

  it("frees the directory, and leaves no rejection unhandled", () =>
    withTempDir(async (dir) => {
      const disk = new FaultDisk();
      disk.faults.write = () => {
        throw systemError("ENOSPC");
      };
      const unused = new LogTaskStore(resolveWalOptions({ dir }), disk);
      await causeOf(unused.ready());
      assert.equal(disk.openFiles, 0);
      delete disk.faults.write;
      const store = await WalTaskStore.open({ dir, lockTimeoutMs: 0 });
      await store.create(aRecord("a"));
      await store.close();
    }));
});
