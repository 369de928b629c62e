/** The handles of segments, of which only some are open. */

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { Segment, SegmentFiles } from "../../src/wal/segment.ts";
import { openLogStore } from "../support/log_store.ts";
import { aRecord } from "../support/records.ts";
import { describe, it } from "../support/runner.ts";
import { segmentsIn, withTempDir } from "../support/wal_dir.ts";
import { FaultDisk, Gate, systemError } from "../support/wal_fault_disk.ts";

/** So small that each entry is in a segment of its own. */
const SEGMENT_BYTES = 100;
/** More segments than handles. */
const MANY = 50;

describe("WalTaskStore, with more segments than handles", () => {
  it("goes on where one that is sealed cannot be closed", () =>
    withTempDir(async (dir) => {
      const disk = new FaultDisk();
      const options = { compactEvery: null };
      let store = await openLogStore(dir, SEGMENT_BYTES, options, disk);
      disk.faults.close = () => {
        throw systemError("EIO");
      };
      for (let i = 0; i < MANY; i++) await store.create(aRecord(`${i}`));
      for (let i = 0; i < MANY; i++) {
        assert.deepEqual(await store.get(`${i}`), aRecord(`${i}`));
      }
      delete disk.faults.close;
      await store.close();
      store = await openLogStore(dir, SEGMENT_BYTES, options, disk);
      for (let i = 0; i < MANY; i++) assert.ok(await store.get(`${i}`));
      await store.close();
      assert.equal(disk.openFiles, 0);
    }));

  it("closes none that is in use", () =>
    withTempDir(async (dir) => {
      const disk = new FaultDisk();
      const files = new SegmentFiles(disk);
      const segments = Array.from({ length: MANY }, (_, i) => {
        const segment = new Segment(dir, i + 1);
        segment.file = disk.open(segment.path);
        return segment;
      });
      const [first, ...others] = segments;
      files.keep(first);
      const gate = new Gate();
      disk.faults.sync = gate.wait;
      const used = [1, 2].map(() => files.using(first, (file) => file.sync()));
      const closed: string[] = [];
      disk.faults.close = ({ path }) => void closed.push(path);
      for (const segment of others) files.keep(segment);
      assert.ok(disk.openFiles < MANY);
      // What is opened again is another handle.
      files.handle(first);
      files.close(first);
      assert.deepEqual(closed.filter((path) => path === first.path).length, 1);
      gate.open();
      await Promise.all(used);
      assert.deepEqual(closed.filter((path) => path === first.path).length, 2);
      files.closeAll();
      assert.equal(disk.openFiles, 0);
    }));
});

describe("WalTaskStore, a segment that is deleted just before the next one begins", () => {
  it("gets its name again", () =>
    withTempDir(async (dir) => {
      let store = await openLogStore(dir, SEGMENT_BYTES, {
        compactEvery: null,
      });
      await store.create(aRecord("a"));
      rmSync(segmentsIn(dir).at(-1)!);
      await store.create(aRecord("b"));
      await store.close();
      store = await openLogStore(dir, SEGMENT_BYTES);
      assert.deepEqual(await store.get("a"), aRecord("a"));
      assert.deepEqual(await store.get("b"), aRecord("b"));
      assert.deepEqual((await store.health()).damage, []);
      await store.close();
    }));
});
