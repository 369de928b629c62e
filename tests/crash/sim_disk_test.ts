import assert from "node:assert/strict";
import { describe, it } from "../support/runner.ts";
import { SimDisk } from "../support/wal_proof/sim_disk.ts";
import { imagesOf, type Loss } from "../support/wal_proof/snapshot.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What a loss may leave: each image as one text. */
function leftBy(disk: SimDisk, loss: Loss, inWrite = false): Set<string> {
  const images = [...imagesOf(disk.snapshot(inWrite))];
  return new Set(
    images.filter((image) => image.loss === loss).map(({ files }) =>
      [...files].map(([path, bytes]) => `${path}=${decoder.decode(bytes)}`)
        .sort().join(" ")
    ),
  );
}

/** A disk with a folder and a file in it, all on the platter. */
function diskWith(text: string): SimDisk {
  return new SimDisk(new Map([["/d/a", encoder.encode(text)]]));
}

describe("SimDisk", () => {
  it("a kill loses nothing, a power loss any end of what was not flushed", () => {
    const disk = diskWith("1");
    const file = disk.session().open("/d/a");
    file.write(encoder.encode("2"), 1);
    file.write(encoder.encode("3"), 2);
    assert.deepEqual(leftBy(disk, "kill"), new Set(["/d/a=123"]));
    assert.deepEqual(
      leftBy(disk, "power"),
      new Set(["/d/a=1", "/d/a=12", "/d/a=12\x00"]),
    );
    file.syncNow();
    assert.deepEqual(leftBy(disk, "kill"), new Set(["/d/a=123"]));
    assert.deepEqual(leftBy(disk, "power"), new Set());
  });

  it("a process that dies in a write leaves part of it", () => {
    const disk = diskWith("");
    disk.session().open("/d/a").write(encoder.encode("abcd"), 0);
    assert.deepEqual(
      leftBy(disk, "kill", true),
      new Set(["/d/a=a", "/d/a=ab", "/d/a=abc", "/d/a=abcd"]),
    );
    const other = diskWith("");
    const session = other.session();
    other.killInWrite(0.5);
    const file = session.open("/d/a");
    assert.throws(() => file.write(encoder.encode("abcd"), 0), /dead/);
    assert.throws(() => file.size(), /dead/);
    assert.deepEqual(leftBy(other, "kill"), new Set(["/d/a=ab"]));
  });

  it("names are lost until their folder is flushed, whatever is in the file", async () => {
    const disk = diskWith("old");
    const session = disk.session();
    const file = session.open("/d/b");
    file.write(encoder.encode("new"), 0);
    file.syncNow();
    session.rename("/d/b", "/d/a");
    assert.deepEqual(leftBy(disk, "kill"), new Set(["/d/a=new"]));
    assert.deepEqual(
      leftBy(disk, "power"),
      new Set(["/d/a=old", "/d/a=old /d/b=new"]),
    );
    await session.syncDir("/d");
    assert.deepEqual(leftBy(disk, "power"), new Set());
    session.remove("/d/a");
    assert.deepEqual(leftBy(disk, "kill"), new Set([""]));
    assert.deepEqual(leftBy(disk, "power"), new Set(["/d/a=new"]));
  });

  it("a folder that is lost takes what is in it along", async () => {
    const disk = new SimDisk();
    const session = disk.session();
    assert.deepEqual(session.makeDir("/d"), ["/"]);
    const file = session.open("/d/a");
    file.write(encoder.encode("x"), 0);
    file.syncNow();
    await session.syncDir("/d");
    assert.ok(leftBy(disk, "power").has(""));
    await session.syncDir("/");
    assert.deepEqual(leftBy(disk, "power"), new Set());
    assert.deepEqual(session.makeDir("/d"), []);
  });

  it("a flush covers what was written before it began, and a failed one is not made up for", async () => {
    const disk = diskWith("");
    const file = disk.session().open("/d/a");
    file.write(encoder.encode("1"), 0);
    const flushed = file.sync();
    file.write(encoder.encode("2"), 1);
    await flushed;
    assert.ok(leftBy(disk, "power").has("/d/a=1"));
    assert.ok(!leftBy(disk, "power").has("/d/a="));

    disk.meter.fault = () => ({ throws: "EIO" });
    await assert.rejects(file.sync(), { code: "EIO" });
    assert.throws(() => file.write(encoder.encode("x"), 0), { code: "EIO" });
    disk.meter.fault = ({ kind }) =>
      kind === "write" ? { atMost: 1 } : undefined;
    await file.sync();
    assert.ok(leftBy(disk, "power").has("/d/a=1"));
    assert.equal(file.write(encoder.encode("34"), 2), 1);
    await file.sync();
    assert.ok(leftBy(disk, "power").has("/d/a=1\x003"));
    assert.deepEqual(leftBy(disk, "kill"), new Set(["/d/a=123"]));

    const next = disk.session().open("/d/a");
    await next.sync();
    assert.deepEqual(leftBy(disk, "power"), new Set());
  });
});
