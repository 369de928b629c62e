import assert from "node:assert/strict";
import { appendFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { TaskLifecycle, type TaskRecord } from "../../mod.ts";
import { WalTaskStore, type WalTaskStoreOptions } from "../../wal.ts";
import type { WalDamage } from "../../src/wal/damage.ts";
import { resolveWalOptions } from "../../src/wal/options.ts";
import { LogTaskStore } from "../../src/wal/store.ts";
import type { WalTakeoverEvent } from "../../src/wal/takeover_target.ts";
import { OldProcess } from "../support/process_wal_old.ts";
import { aPatch, aRecord, CREATED_MS } from "../support/records.ts";
import { rejects } from "../support/rejects.ts";
import { describe, it } from "../support/runner.ts";
import { withTempDir } from "../support/wal_dir.ts";
import { FaultDisk } from "../support/wal_fault_disk.ts";

const DAMAGED = '{"seq":9,"value":{"t":"put","rec\n';

/** Opens a store, runs a body with it, and closes it. */
async function withStore<T>(
  options: WalTaskStoreOptions,
  body: (store: WalTaskStore) => Promise<T>,
): Promise<T> {
  const store = await WalTaskStore.open(options);
  try {
    return await body(store);
  } finally {
    await store.close();
  }
}

/** Writes a log of an old process that has ended. */
function leave(dir: string, ...records: TaskRecord[]): void {
  const old = new OldProcess(dir);
  for (const record of records) old.put(record);
  old.wal.close();
}

describe("WalTaskStore.open() on a directory of mcp-durable-tasks", () => {
  for (const fsync of [false, true]) {
    it(`has its tasks, and goes on with them, with fsync ${fsync}`, () =>
      withTempDir(async (dir) => {
        const text = "é".repeat(20_000);
        const full = aRecord("full", {
          status: "completed",
          version: 7,
          result: { text, list: [1, null] },
          unknown: JSON.parse('{"__proto__":{"":[]}}'),
          usedInputKeys: ["k"],
        });
        leave(dir, aRecord("a", { version: 0 }), full);
        await withStore({ dir, fsync }, async (store) => {
          assert.deepEqual(await store.get("full"), full);
          const next = await store.update("a", { statusMessage: "on" }, 0);
          assert.equal(next.version, 1);
          await rejects(store.create(full), "ERR_DUPLICATE_TASK_ID");
        });
        await withStore({ dir, fsync }, async (store) => {
          assert.deepEqual(await store.get("full"), full);
          assert.equal((await store.get("a"))?.statusMessage, "on");
          await store.compact();
        });
        await withStore({ dir, fsync }, async (store) => {
          assert.deepEqual(await store.get("full"), full);
          assert.equal((await store.get("a"))?.version, 1);
        });
        assert.deepEqual(
          readdirSync(dir).filter((name) => name.startsWith("wal.")),
          ["wal.jsonl.taken"],
        );
      }));
  }

  it("serves them to clients", () =>
    withTempDir(async (dir) => {
      const lastUpdatedAt = new Date(CREATED_MS + 5).toISOString();
      leave(
        dir,
        aRecord("w", { version: 0, pollIntervalMs: 1_000 }),
        aRecord("i", {
          version: 2,
          status: "input_required",
          lastUpdatedAt,
          inputRequests: { k: { method: "roots/list" } },
          inputResponses: {},
          usedInputKeys: ["k"],
        }),
        aRecord("f", {
          version: 3,
          status: "failed",
          error: { code: 1, message: "x" },
        }),
      );
      const store = new WalTaskStore({ dir });
      const tasks = new TaskLifecycle({ store, sweepIntervalMs: null });
      assert.equal((await tasks.getTask("w")).status, "working");
      assert.equal((await tasks.getTask("f")).status, "failed");
      const parked = await tasks.getTask("i");
      assert.ok(parked.status === "input_required");
      assert.deepEqual(Object.keys(parked.inputRequests), ["k"]);
      await tasks.updateTask("i", { k: { roots: [] } });
      assert.equal((await tasks.getTask("i")).status, "working");
      await rejectsReuse(tasks);
      await tasks.handle("w").complete({ content: [] });
      assert.equal((await tasks.getTask("w")).status, "completed");
      await tasks.close();
    }));

  async function rejectsReuse(tasks: TaskLifecycle): Promise<void> {
    await rejects(
      tasks.handle("i").requestInput({ k: { method: "roots/list" } }),
      "ERR_DUPLICATE_INPUT_KEY",
    );
  }

  it("sweeps those that are expired", () =>
    withTempDir(async (dir) => {
      leave(dir, aRecord("a", { ttlMs: 10 }), aRecord("b", { ttlMs: 20 }));
      await withStore({ dir, now: () => CREATED_MS + 10 }, async (store) => {
        assert.equal(await store.get("a"), undefined);
        assert.equal((await store.get("b"))?.ttlMs, 20);
        assert.equal(await store.sweep(), 1);
      });
      await withStore({ dir, now: () => CREATED_MS }, async (store) => {
        assert.equal(await store.get("a"), undefined);
      });
    }));

  it("takes a record that is larger than maxEntryBytes, which may shrink", () =>
    withTempDir(async (dir) => {
      const large = aRecord("a", { x: "x".repeat(5_000) });
      leave(dir, large);
      await withStore({ dir, maxEntryBytes: 3_000 }, async (store) => {
        assert.deepEqual(await store.get("a"), large);
        await rejects(
          store.update("a", aPatch({ y: "y".repeat(1_025) }), 1),
          "ERR_ENTRY_TOO_LARGE",
        );
        await store.update("a", aPatch({ x: "x" }), 1);
        assert.equal((await store.get("a"))?.version, 2);
      });
    }));

  it("answers with an error for what a damaged line may have been about, after a restart too", () =>
    withTempDir(async (dir) => {
      const file = join(dir, "wal.jsonl.taken");
      const done = aRecord("done", { status: "cancelled", version: 4 });
      leave(dir, aRecord("open", { ttlMs: 50 }), done);
      appendFileSync(join(dir, "wal.jsonl"), DAMAGED);
      const damages: WalDamage[] = [];
      const options = {
        dir,
        now: () => CREATED_MS,
        onDamage: (damage: WalDamage) => damages.push(damage),
      };
      for (let opening = 1; opening <= 3; opening++) {
        await withStore(options, async (store) => {
          await assert.rejects(store.get("open"), {
            code: "ERR_STORE_DAMAGED",
            file,
          });
          await rejects(store.update("open", {}, 1), "ERR_STORE_DAMAGED");
          await rejects(store.create(aRecord("open")), "ERR_DUPLICATE_TASK_ID");
          assert.deepEqual(await store.get("done"), done);
          const [damage, ...more] = (await store.health()).damage;
          assert.deepEqual(more, []);
          assert.equal(damage.file, file);
          assert.equal(damage.reason, "a line is no JSON");
          assert.deepEqual(damage.taskIds, ["open"]);
          assert.equal(damages.length, opening);
          assert.deepEqual(damages.at(-1), damage);
          await store.compact();
        });
      }
      await withStore({ dir }, async (store) => {
        assert.equal(await store.sweep(CREATED_MS + 50), 1);
        assert.equal(await store.get("open"), undefined);
      });
    }));

  it("refuses a log of another program, and opens when it is gone", () =>
    withTempDir(async (dir) => {
      const path = join(dir, "wal.jsonl");
      writeFileSync(path, '{"seq":1,"value":"job"}\n');
      await rejects(WalTaskStore.open({ dir }), "ERR_STORE_FAILED");
      const store = new WalTaskStore({ dir });
      await rejects(store.get("a"), "ERR_STORE_FAILED");
      await store.close();
      assert.ok(readdirSync(dir).includes("wal.jsonl"));
      writeFileSync(path, "");
      await withStore({ dir }, (store) => store.create(aRecord("a")));
    }));

  it("takes everything again when its own log was removed", () =>
    withTempDir(async (dir) => {
      const parent = join(dir, "tasks");
      leave(parent, aRecord("a", { version: 3 }));
      await withStore({ dir: parent }, (store) => store.get("a"));
      const { rmSync } = await import("node:fs");
      for (const name of readdirSync(parent)) {
        if (name.startsWith("tasks-")) rmSync(join(parent, name));
      }
      await withStore({ dir: parent }, async (store) => {
        assert.equal((await store.get("a"))?.version, 3);
      });
    }));
});

describe("WalTaskStore with an old process that goes on", () => {
  /** Resolves with the next event. */
  class Events {
    readonly all: WalTakeoverEvent[] = [];
    #waiting: ((event: WalTakeoverEvent) => void) | undefined;
    readonly take = (event: WalTakeoverEvent): void => {
      this.all.push(event);
      this.#waiting?.(event);
    };
    next(): Promise<WalTakeoverEvent> {
      return new Promise((resolve) => this.#waiting = resolve);
    }
  }

  it("takes over what it creates, changes and deletes, and keeps what both have changed", () =>
    withTempDir(async (dir) => {
      const old = new OldProcess(dir);
      old.put(aRecord("theirs", { version: 0 }));
      old.put(aRecord("both", { version: 0 }));
      old.put(aRecord("gone", { version: 0 }));
      const events = new Events();
      const options = { dir, onTakeover: events.take };
      await withStore(options, async (store) => {
        const mine = await store.update("both", { statusMessage: "ours" }, 0);
        const next = events.next();
        old.put(aRecord("theirs", { version: 1, statusMessage: "on" }));
        old.put(
          aRecord("new", { version: 0, result: { x: "x".repeat(3_000) } }),
        );
        old.put(aRecord("both", { version: 1, statusMessage: "theirs" }));
        old.delete("gone");
        assert.equal((await next).type, "conflict");
        while (events.all.length < 3) await events.next();
        assert.deepEqual(events.all.slice(1), [
          {
            type: "conflict",
            file: join(dir, "wal.jsonl.taken"),
            offset: (events.all[1] as { offset: number }).offset,
            taskId: "both",
            ours: 1,
            theirs: 1,
          },
          { type: "taken", file: join(dir, "wal.jsonl.taken"), tasks: 3 },
        ]);
        assert.deepEqual(await store.get("both"), mine);
        assert.equal((await store.get("theirs"))?.statusMessage, "on");
        assert.equal(await store.get("gone"), undefined);
        const next2 = await store.update("new", { status: "completed" }, 0);
        assert.equal(next2.version, 1);
      });
      old.put(aRecord("theirs", { version: 2, statusMessage: "while away" }));
      await withStore(options, async (store) => {
        const found = await store.get("theirs");
        assert.equal(found?.statusMessage, "while away");
        assert.equal((await store.get("new"))?.status, "completed");
      });
      old.wal.close();
    }));

  it("tells of a line that cannot be read as soon as it is found", () =>
    withTempDir(async (dir) => {
      leave(dir, aRecord("a", { version: 0 }));
      const found = Promise.withResolvers<WalDamage>();
      await withStore({ dir, onDamage: found.resolve }, async (store) => {
        appendFileSync(join(dir, "wal.jsonl.taken"), DAMAGED);
        assert.equal((await found.promise).reason, "a line is no JSON");
        while ((await store.health()).damage[0].taskIds.length === 0) {
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        await rejects(store.get("a"), "ERR_STORE_DAMAGED");
      });
    }));
});

describe("WalTaskStore.open(), a takeover on a disk that takes no bytes", () => {
  for (const name of ["takeover.known", "takeover.json.tmp"]) {
    it(`fails, and does not try for ever: ${name}`, () =>
      withTempDir(async (dir) => {
        leave(dir, aRecord("a"));
        const disk = new FaultDisk();
        let writes = 0;
        disk.faults.write = ({ path }) => {
          if (basename(path) !== name) return;
          if (++writes > 100) throw new Error("it tries for ever");
          return 0;
        };
        const failing = new LogTaskStore(resolveWalOptions({ dir }), disk);
        await rejects(failing.ready(), "ERR_STORE_FAILED");
        assert.equal(writes, 1);
        await withStore({ dir }, async (store) => {
          assert.deepEqual(await store.get("a"), aRecord("a"));
        });
      }));
  }
});
