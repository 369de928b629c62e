import assert from "node:assert/strict";
import { realDisk } from "../../src/wal/disk.ts";
import { Log } from "../../src/wal/log.ts";
import { SegmentFiles } from "../../src/wal/segment.ts";
import { describe, it } from "../support/runner.ts";
import { withTempDir } from "../support/wal_dir.ts";

describe("Log.release()", () => {
  it("lets those that wait go before those that come at that moment", () =>
    withTempDir(async (dir) => {
      const log = new Log(
        {
          dir,
          fsync: false,
          disk: realDisk,
          segmentBytes: () => 4_096,
          isOwner: () => true,
        },
        new SegmentFiles(realDisk),
        { segments: [], isLastOpen: false, nextSequence: 1 },
      );
      const order: string[] = [];
      const write = (name: string) =>
        (log.held ?? Promise.resolve()).then(() => void order.push(name));
      log.hold();
      const waiting = write("waits");
      const late = Promise.resolve().then(() => {
        if (log.held) return write("comes");
        order.push("comes");
      });
      log.release();
      await Promise.all([waiting, late]);
      assert.deepEqual(order, ["waits", "comes"]);
      assert.equal(log.held, undefined);
    }));
});
