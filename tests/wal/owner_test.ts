/** A directory that was removed under its store, and may be another's by now. */

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { openLogStore } from "../support/log_store.ts";
import { aRecord } from "../support/records.ts";
import { describe, it } from "../support/runner.ts";
import { rejects } from "../support/rejects.ts";
import { withTempDir } from "../support/wal_dir.ts";

/** Longer than the file's name goes unlooked at. */
function aWhile(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 40));
}

// Windows removes nothing that is open.
if (process.platform !== "win32") {
  describe("WalTaskStore, a directory that was removed and is another's", () => {
    // A write begins a segment, or goes on with one.
    for (const segmentBytes of [100, 100_000]) {
      for (const fsync of [false, true]) {
        it(`is left alone, with segments of ${segmentBytes} bytes, fsync ${fsync}`, () =>
          withTempDir(async (parent) => {
            const dir = join(parent, "tasks");
            const options = { fsync, compactEvery: null };
            const open = () => openLogStore(dir, segmentBytes, options);
            const first = await open();
            for (const id of ["a", "b", "c"]) await first.create(aRecord(id));
            rmSync(dir, { recursive: true });

            let second = await open();
            const others = ["d", "e", "f", "g", "h"];
            for (const id of others) await second.create(aRecord(id));
            await aWhile();
            const refused = first.create(aRecord("lost"));
            const error = await refused.catch((error) => error);
            assert.equal(error.code, "ERR_STORE_FAILED");
            assert.match(error.message, /lock file was removed/);
            await rejects(first.compact(), "ERR_STORE_FAILED");
            assert.equal((await first.health()).writable, false);
            assert.deepEqual(await first.get("a"), aRecord("a"));
            await first.close();

            await second.close();
            second = await open();
            for (const id of others) {
              assert.deepEqual(await second.get(id), aRecord(id));
            }
            assert.equal((await second.health()).tasks, others.length);
            assert.deepEqual((await second.health()).damage, []);
            await second.close();
          }));
      }
    }

    it("is not compacted by who had it before", () =>
      withTempDir(async (parent) => {
        const dir = join(parent, "tasks");
        const first = await openLogStore(dir, 100, { compactEvery: null });
        for (const id of ["a", "b", "c"]) await first.create(aRecord(id));
        rmSync(dir, { recursive: true });
        const second = await openLogStore(dir, 100, { compactEvery: null });
        for (const id of ["d", "e"]) await second.create(aRecord(id));
        await rejects(first.compact(), "ERR_STORE_FAILED");
        await first.close();
        for (const id of ["d", "e"]) assert.ok(await second.get(id));
        await second.compact();
        assert.deepEqual((await second.health()).damage, []);
        await second.close();
      }));

    it("may be any process's once its lock is removed: nothing more is written", () =>
      withTempDir(async (dir) => {
        let store = await openLogStore(dir, 100_000);
        await store.create(aRecord("a"));
        rmSync(join(dir, "lock.db"));
        await aWhile();
        await rejects(store.create(aRecord("b")), "ERR_STORE_FAILED");
        assert.deepEqual(await store.get("a"), aRecord("a"));
        await store.close();
        store = await openLogStore(dir, 100_000);
        await store.create(aRecord("b"));
        assert.deepEqual(await store.get("a"), aRecord("a"));
        await store.close();
      }));
  });
}
