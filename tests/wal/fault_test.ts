import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
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
import { withTempDir } from "../support/wal_dir.ts";
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
      await body(store, disk, join(dir, "tasks.log"));
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
      const first = store.update("a", { statusMessage: "first" }, 5);
      await gate.arrived;
      const queued = store.update("a", { statusMessage: "queued" }, 6);
      const created = store.create(aRecord("b"));
      await rejects(store.update("a", {}, 5), "ERR_CONCURRENT_UPDATE");
      await rejects(store.create(aRecord("b")), "ERR_DUPLICATE_TASK_ID");
      assert.deepEqual(await store.get("a"), aRecord("a", { version: 5 }));
      assert.equal(await store.get("b"), undefined);
      gate.open();
      assert.equal((await first).version, 6);
      assert.equal((await queued).version, 7);
      await created;
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
      const first = store.update("a", { statusMessage: "first" }, 5);
      await one.arrived;
      const second = store.update("a", { statusMessage: "second" }, 6);
      disk.faults.sync = two.wait;
      one.open();
      await first;
      await two.arrived;
      assert.equal((await store.get("a"))?.version, 6);
      await rejects(store.update("a", {}, 6), "ERR_CONCURRENT_UPDATE");
      const third = store.update("a", { statusMessage: "third" }, 7);
      two.open();
      await Promise.all([second, third]);
    }, async (reopened) => {
      assert.equal((await reopened.get("a"))?.version, 8);
    }));

  it("what arrives while a flush is under way shares the next one", () =>
    withFaults({ fsync: true }, async (store, disk) => {
      const gate = new Gate();
      disk.faults.sync = gate.wait;
      const flushes = disk.calls.sync;
      const first = store.create(aRecord("first"));
      await gate.arrived;
      const others = Array.from(
        { length: 64 },
        (_, i) => store.create(aRecord(`task ${i}`)),
      );
      gate.open();
      await Promise.all([first, ...others]);
      assert.equal(disk.calls.sync - flushes, 2);
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

  it("a sweep that finds nothing waits for the one that took it", () =>
    withFaults({ fsync: true }, async (store, disk) => {
      await store.create(aRecord("a", { ttlMs: 10 }));
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
      gate.open();
      await Promise.all([first, second]);
      assert.deepEqual(settled, ["first 1", "second 0"]);
      assert.equal(disk.calls.sync - flushes, 1);
    }));

  it("close() waits for what is queued", () =>
    withFaults({ fsync: true }, async (store, disk) => {
      const gate = new Gate();
      disk.faults.sync = gate.wait;
      const first = store.create(aRecord("a"));
      await gate.arrived;
      const second = store.create(aRecord("b"));
      const closed = store.close();
      gate.open();
      await Promise.all([first, second, closed]);
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
        const filler = "x".repeat(700_000);
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

    it("takes writes that are short", () =>
      withFaults({ fsync }, async (store, disk) => {
        disk.faults.write = () => 7;
        await store.create(aRecord("a", { statusMessage: "é".repeat(100) }));
        await store.compact();
        await store.update("a", { status: "cancelled" }, 1);
      }, async (reopened) => {
        assert.equal((await reopened.get("a"))?.status, "cancelled");
      }));

    it("leaves the log alone when a compaction does not fit", () => {
      const cause = systemError("ENOSPC");
      return withFaults({ fsync }, async (store, disk, log) => {
        const filler = "x".repeat(100_000);
        for (let i = 0; i < 30; i++) {
          await store.create(aRecord(`task ${i}`, { filler }));
        }
        const before = readFileSync(log);
        // From the second slice on.
        let writes = 0;
        disk.faults.write = ({ partly }) => {
          if (++writes < 2) return;
          partly(1_000);
          throw cause;
        };
        assert.equal(await causeOf(store.compact()), cause);
        assert.deepEqual(readFileSync(log), before);
        assert.equal(existsSync(`${log}.tmp`), false);
        delete disk.faults.write;
        disk.faults.sync = ({ path }) => {
          if (path.endsWith(".tmp")) throw cause;
        };
        assert.equal(await causeOf(store.compact()), cause);
        delete disk.faults.sync;
        await store.update("task 7", { statusMessage: "works" }, 1);
        await store.compact();
        await store.update("task 7", { statusMessage: "works on" }, 2);
      }, async (reopened) => {
        const message = (await reopened.get("task 7"))?.statusMessage;
        assert.equal(message, "works on");
        assert.ok(await reopened.get("task 29"));
      });
    });
  });
}

describe("WalTaskStore, compaction on a disk that fails", () => {
  for (const code of ["EPERM", "EBUSY", "EACCES"]) {
    it(`tries a rename that is refused with ${code} three times more`, () =>
      withFaults({}, async (store, disk) => {
        await store.create(aRecord("a"));
        disk.faults.rename = () => {
          if (disk.calls.rename <= 3) throw systemError(code);
        };
        const compacted = store.compact();
        await store.update("a", { statusMessage: "waited" }, 1);
        await compacted;
        assert.equal(disk.calls.rename, 4);
      }, async (reopened) => {
        assert.equal((await reopened.get("a"))?.statusMessage, "waited");
      }));
  }

  it("keeps the old log when the rename is refused for good", () =>
    withFaults({}, async (store, disk, log) => {
      await store.create(aRecord("a"));
      await store.update("a", { statusMessage: "x" }, 1);
      const before = readFileSync(log);
      const cause = systemError("EPERM");
      disk.faults.rename = () => {
        throw cause;
      };
      assert.equal(await causeOf(store.compact()), cause);
      assert.equal(disk.calls.rename, 4);
      assert.deepEqual(readFileSync(log), before);
      assert.equal(existsSync(`${log}.tmp`), false);
      await store.update("a", { statusMessage: "y" }, 2);
    }, async (reopened) => {
      assert.equal((await reopened.get("a"))?.statusMessage, "y");
    }));

  it("tells onCompactionError, and waits until the log has grown", async () => {
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
        disk.faults.rename = () => {
          throw cause;
        };
        for (let i = 0; i < 4; i++) await store.create(aRecord(`task ${i}`));
        await heard.promise;
        for (let i = 4; i < 7; i++) await store.create(aRecord(`task ${i}`));
        assert.deepEqual(told, [cause]);
        delete disk.faults.rename;
        await store.create(aRecord("task 7"));
        await store.close();
        assert.equal(disk.calls.rename, 2);
      });
      assert.deepEqual(told, [cause]);
    }
  });

  it("refuses writes when the new name may not be on the disk", () =>
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

  it("what is appended meanwhile waits, reads go on", () =>
    withFaults({}, async (store, disk, log) => {
      await store.create(aRecord("a", { ttlMs: 10 }));
      await store.create(aRecord("b"));
      await store.update("b", { statusMessage: "old" }, 1);
      const gate = new Gate();
      disk.faults.sync = gate.wait;
      const compacted = store.compact();
      await gate.arrived;
      const writes = Promise.all([
        store.update("b", { statusMessage: "new" }, 2),
        store.create(aRecord("c")),
        store.sweep(Date.now()),
      ]);
      const message = (await store.get("b"))?.statusMessage;
      assert.equal(message, "old");
      const size = statSync(log).size;
      gate.open();
      await Promise.all([compacted, writes]);
      assert.ok(statSync(log).size !== size);
    }, async (reopened) => {
      assert.equal((await reopened.get("b"))?.statusMessage, "new");
      assert.ok(await reopened.get("c"));
      assert.equal(await reopened.get("a", 0), undefined);
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
