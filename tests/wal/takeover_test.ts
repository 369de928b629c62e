import assert from "node:assert/strict";
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { TaskRecord } from "../../mod.ts";
import type { Disk } from "../../src/wal/disk.ts";
import { Takeover } from "../../src/wal/takeover.ts";
import type {
  ForeignDamage,
  WalTakeoverEvent,
} from "../../src/wal/takeover_target.ts";
import { digestOf } from "../../src/wal/takeover_known.ts";
import { judge } from "../../src/wal/takeover_verdict.ts";
import { OldProcess } from "../support/process_wal_old.ts";
import { MapTarget } from "../support/process_wal_target.ts";
import { aRecord } from "../support/records.ts";
import { rejects } from "../support/rejects.ts";
import { describe, it } from "../support/runner.ts";
import { FaultDisk } from "../support/wal_fault_disk.ts";
import { withTempDir } from "../support/wal_dir.ts";

/** Lines of a log, with the numbers from 1. */
function lines(...values: unknown[]): string {
  return values.map((value, index) =>
    typeof value === "string"
      ? `${value}\n`
      : JSON.stringify({ seq: index + 1, value }) + "\n"
  ).join("");
}

function put(record: TaskRecord): { t: string; record: TaskRecord } {
  return { t: "put", record };
}

/** A directory that a store takes over, again and again. */
class Site {
  readonly dir: string;
  readonly target = new MapTarget();
  readonly disk = new FaultDisk();
  isNew = false;
  events: WalTakeoverEvent[] = [];
  damage: ForeignDamage[] = [];
  /** Is called with each event. */
  onEvent: (event: WalTakeoverEvent) => void = () => {};

  constructor(dir: string) {
    this.dir = dir;
  }

  open(disk: Disk = this.disk): Promise<Takeover | undefined> {
    return Takeover.open({
      dir: this.dir,
      disk,
      isNew: this.isNew,
      target: this.target,
      observer: {
        onEvent: (event) => {
          this.events.push(event);
          this.onEvent(event);
        },
        onDamage: (damage) => this.damage.push(damage),
      },
    });
  }

  /** Opens it, and closes it again. */
  async take(): Promise<this> {
    await (await this.open())?.close();
    assert.equal(this.disk.openFiles, 0);
    return this;
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.dir, name), text);
  }

  read(name: string): string {
    return readFileSync(join(this.dir, name), "utf8");
  }

  names(): string[] {
    return readdirSync(this.dir).sort();
  }
}

function onSite(body: (site: Site) => Promise<unknown>): Promise<void> {
  return withTempDir(async (dir) => void await body(new Site(dir)));
}

describe("Takeover.open()", () => {
  it("does nothing where nothing of mcp-durable-tasks is", () =>
    onSite(async (site) => {
      site.write("wal.checkpoint", "3");
      assert.equal(await site.open(), undefined);
      assert.deepEqual(site.names(), ["wal.checkpoint"]);
      assert.equal(site.disk.calls.rename, 0);
    }));

  it("takes the last put of each task with every field and its version, and keeps the files", () =>
    onSite(async (site) => {
      const full = aRecord("full", {
        status: "completed",
        version: 12,
        ttlMs: 60_000,
        pollIntervalMs: 250,
        usedInputKeys: ["k"],
        result: { content: [{ type: "text", text: "é\ud83d\ude00" }] },
        unknown: JSON.parse('{"__proto__":[{"":null}]}'),
      });
      const log = lines(
        put(aRecord("full", { version: 11 })),
        put(aRecord("gone", { version: 0 })),
        put(aRecord("first", { version: 0 })),
        { t: "del", taskId: "gone" },
        put(full),
        { t: "del", taskId: "never there" },
      );
      const torn = '{"seq":7,"value":{"t":"put","record":{"taskId":"to';
      site.write("wal.jsonl", log + torn);
      site.write("wal.checkpoint", "0\n");
      await site.take();
      assert.deepEqual([...site.target.tasks], [
        ["first", aRecord("first", { version: 0 })],
        ["full", full],
      ]);
      assert.deepEqual(site.names(), [
        "takeover.json",
        "takeover.known",
        "wal.checkpoint.taken",
        "wal.jsonl.taken",
      ]);
      assert.equal(site.read("wal.jsonl.taken"), log + torn);
      assert.equal(site.read("wal.checkpoint.taken"), "0\n");
      assert.deepEqual(site.events, [{
        type: "taken",
        file: join(site.dir, "wal.jsonl.taken"),
        tasks: 2,
      }]);
    }));

  it("leaves out what the checkpoint says is done", async () => {
    const log = lines(put(aRecord("a")), put(aRecord("b")), put(aRecord("c")));
    for (
      const [checkpoint, wanted] of [
        ["0", "abc"],
        ["1", "bc"],
        [" 2\n", "c"],
        ["3", ""],
        ["99", ""],
        ["", "abc"],
        ["2x", "abc"],
        ["-1", "abc"],
      ]
    ) {
      await onSite(async (site) => {
        site.write("wal.jsonl", log);
        site.write("wal.checkpoint", checkpoint);
        await site.take();
        const found = [...site.target.tasks.keys()].join("");
        assert.equal(found, wanted, checkpoint);
      });
    }
  });

  it("takes what is expired too, since no clock takes part", () =>
    onSite(async (site) => {
      const expired = aRecord("a", { ttlMs: 1 });
      site.write("wal.jsonl", lines(put(expired)));
      await site.take();
      assert.deepEqual(site.target.read("a"), expired);
    }));

  it("finds new names, over no other file, each time a log appears", () =>
    onSite(async (site) => {
      site.write("wal.checkpoint.taken", "somebody's");
      for (const id of ["a", "b", "c"]) {
        site.write("wal.jsonl", lines(put(aRecord(id))));
        await site.take();
      }
      // What was known under a name must not be taken for what comes.
      renameSync(
        join(site.dir, "wal.jsonl.taken.4"),
        join(site.dir, "archived"),
      );
      site.write("wal.jsonl", lines(put(aRecord("d"))));
      await site.take();
      assert.deepEqual([...site.target.tasks.keys()], ["a", "b", "c", "d"]);
      assert.deepEqual(site.names(), [
        "archived",
        "takeover.json",
        "takeover.known",
        "wal.checkpoint.taken",
        "wal.jsonl.taken.2",
        "wal.jsonl.taken.3",
        "wal.jsonl.taken.5",
      ]);
      assert.equal(site.read("wal.checkpoint.taken"), "somebody's");
    }));

  it("takes a log once: what is swept afterwards stays away", () =>
    onSite(async (site) => {
      site.write("wal.jsonl", lines(put(aRecord("a")), put(aRecord("b"))));
      await site.take();
      site.target.tasks.delete("a");
      const reads = site.disk.calls.read;
      await site.take();
      assert.deepEqual([...site.target.tasks.keys()], ["b"]);
      // It reads how far it was, and not the log again.
      assert.equal(site.disk.calls.read - reads, 1);
    }));

  it("takes it again for a store that has no log any more", () =>
    onSite(async (site) => {
      site.write("wal.jsonl", lines(put(aRecord("a"))));
      await site.take();
      site.target.tasks.clear();
      site.isNew = true;
      await site.take();
      assert.equal(site.target.version("a"), 1);
      site.isNew = false;
      site.target.tasks.clear();
      await site.take();
      assert.equal(site.target.version("a"), undefined);
    }));

  it("refuses the log of another program, and leaves it where it is", () =>
    onSite(async (site) => {
      const log = lines("{torn", { job: 1 }, put(aRecord("a")));
      site.write("wal.jsonl", log);
      await assert.rejects(site.open(), {
        code: "ERR_STORE_FAILED",
        message: /wal\.jsonl: it is not of mcp-durable-tasks/,
      });
      assert.equal(site.read("wal.jsonl"), log);
      assert.deepEqual(site.names(), ["wal.jsonl"]);
      assert.equal(site.disk.openFiles, 0);
    }));

  it("refuses where it cannot be told what was taken before", () =>
    onSite(async (site) => {
      site.write("wal.jsonl", lines(put(aRecord("a"))));
      await site.take();
      const sound = site.read("takeover.json");
      for (
        const text of [
          "",
          "null",
          sound.slice(0, -3),
          sound.replace('"format":1', '"format":2'),
          sound.replace(/"known":\d+/, '"known":null'),
          sound.replace(/"read":\d+/, '"read":-1'),
          sound.replace(/"checkpoint":0/, '"checkpoint":"0"'),
        ]
      ) {
        assert.notEqual(text, sound);
        site.write("takeover.json", text);
        await rejects(site.open(), "ERR_STORE_DAMAGED");
        assert.equal(site.disk.openFiles, 0);
      }
    }));

  it("takes more than one batch", () =>
    onSite(async (site) => {
      const text = "x".repeat(400_000);
      const ids = Array.from({ length: 12 }, (_, index) => `${index}`);
      site.write(
        "wal.jsonl",
        lines(
          ...ids.map((id) => put(aRecord(id, { version: 0, text }))),
          ...ids.map((id) => put(aRecord(id, { version: 1, text }))),
        ),
      );
      await site.take();
      assert.deepEqual(
        [...site.target.tasks.keys()].map((id) => site.target.version(id)),
        ids.map(() => 1),
      );
      assert.equal(site.events.length, 1);
    }));

  it("takes every entry where two processes have written, and says so", () =>
    onSite(async (site) => {
      site.write(
        "wal.jsonl",
        [7, 8, 8, 9, 3, 10].map((seq) =>
          JSON.stringify({ seq, value: put(aRecord(`${seq}`)) }) + "\n"
        ).join(""),
      );
      site.write("wal.checkpoint", "7");
      await site.take();
      assert.deepEqual([...site.target.tasks.keys()], ["8", "9", "3", "10"]);
      assert.equal(site.damage.length, 1);
      assert.match(
        site.damage[0].reason,
        /^an entry has sequence number 8, the one before it 8, as if/,
      );
    }));
});

describe("Takeover.open() on a log with a damaged line", () => {
  const done = aRecord("done", { status: "completed", version: 4 });
  const before = [
    put(aRecord("later", { version: 1 })),
    put(aRecord("open", { version: 2 })),
    put(done),
    put(aRecord("deleted")),
  ];
  const after = [
    put(aRecord("later", { version: 3 })),
    { t: "del", taskId: "deleted" },
    put(aRecord("new", { version: 0 })),
  ];
  const damaged = '{"seq":5,"value":{"t":"put","record":{"taskId":"?';

  it("serves what it cannot have touched, and marks what it may have", () =>
    onSite(async (site) => {
      site.write("wal.jsonl", lines(...before, damaged, ...after));
      await site.take();
      assert.deepEqual([...site.target.tasks.keys()].sort(), [
        "done",
        "later",
        "new",
        "open",
      ]);
      assert.deepEqual(site.target.read("done"), done);
      assert.equal(site.target.version("later"), 3);
      assert.equal(site.target.version("new"), 0);
      assert.equal(site.target.version("open"), NaN);
      assert.deepEqual(site.damage, [{
        file: join(site.dir, "wal.jsonl.taken"),
        offset: lines(...before).length,
        bytes: damaged.length,
        reason: "a line is no JSON",
      }]);
      assert.ok(site.read("wal.jsonl.taken").includes(damaged));
    }));

  it("marks the same after it was cut short", () =>
    onSite(async (site) => {
      site.write("wal.jsonl", lines(...before, damaged, ...after));
      let changes = 0;
      site.target.beforeChange = () => {
        if (++changes === 4) throw new Error("killed");
      };
      await assert.rejects(site.open(), /killed/);
      site.target.beforeChange = () => {};
      await site.take();
      assert.equal(site.target.version("open"), NaN);
      assert.equal(site.target.version("later"), 3);
      assert.equal(site.target.version("new"), 0);
      assert.deepEqual(site.target.read("done"), done);
    }));

  it("marks what was taken before, if the line comes behind it", () =>
    onSite(async (site) => {
      const old = new OldProcess(site.dir);
      for (const { record } of before) old.put(record);
      old.put(aRecord("ours", { version: 2 }));
      old.put(aRecord("both", { version: 2 }));
      const takeover = await site.open();
      site.target.tasks.set("ours", aRecord("ours", { version: 3 }));
      site.target.tasks.set("both", aRecord("both", { version: 3 }));
      old.put(aRecord("both", { version: 3, x: "theirs" }));
      const path = join(site.dir, "wal.jsonl.taken");
      writeFileSync(path, `${damaged}\n`, { flag: "a" });
      await takeover!.poll();
      assert.equal(site.target.version("open"), NaN);
      assert.equal(site.target.version("later"), NaN);
      assert.equal(site.target.version("ours"), 3);
      assert.deepEqual(
        site.target.read("both"),
        aRecord("both", { version: 3 }),
      );
      assert.deepEqual(site.target.read("done"), done);
      await takeover!.close();
      old.wal.close();
    }));

  it("reports it where nothing can be read at all", () =>
    onSite(async (site) => {
      site.write("wal.jsonl", "\0\0\0\n{\n\n[]\n");
      await site.take();
      assert.equal(site.target.tasks.size, 0);
      assert.deepEqual(
        site.damage.map(({ offset, bytes }) => [offset, bytes]),
        [[0, 5], [7, 2]],
      );
      assert.ok(existsSync(join(site.dir, "wal.jsonl.taken")));
    }));
});

describe("Takeover.poll()", () => {
  async function withOld(
    body: (
      site: Site,
      old: OldProcess,
      takeover: Takeover,
    ) => Promise<unknown>,
  ): Promise<void> {
    await onSite(async (site) => {
      const old = new OldProcess(site.dir);
      old.put(aRecord("a", { version: 5 }));
      const takeover = (await site.open())!;
      site.events = [];
      await body(site, old, takeover);
      await takeover.close();
      old.wal.close();
    });
  }

  it("takes what an old process has created and changed since", () =>
    withOld(async (site, old, takeover) => {
      old.put(aRecord("a", { version: 6 }));
      old.put(aRecord("a", { version: 7, statusMessage: "on" }));
      old.put(aRecord("b", { version: 0 }));
      await takeover.poll();
      assert.equal(site.target.read("a")?.statusMessage, "on");
      assert.equal(site.target.version("b"), 0);
      assert.equal(site.events.length, 1);
      await takeover.poll();
      assert.equal(site.events.length, 1);
    }));

  it("keeps what both have changed as we have it, and reports each news of theirs once", () =>
    withOld(async (site, old, takeover) => {
      site.target.tasks.set("a", aRecord("a", { version: 6 }));
      old.put(aRecord("a", { version: 6, statusMessage: "theirs" }));
      await takeover.poll();
      old.compact();
      await takeover.poll();
      old.put(aRecord("a", { version: 9 }));
      await takeover.poll();
      assert.deepEqual(site.target.read("a"), aRecord("a", { version: 6 }));
      assert.deepEqual(
        site.events.map((event) =>
          event.type === "conflict" && [event.taskId, event.ours, event.theirs]
        ),
        [["a", 6, 6], ["a", 6, 9]],
      );
    }));

  it("deletes what they deleted, unless we have changed it", () =>
    withOld(async (site, old, takeover) => {
      old.put(aRecord("b"));
      await takeover.poll();
      site.target.tasks.set("b", aRecord("b", { version: 2 }));
      old.delete("a");
      old.delete("b");
      await takeover.poll();
      assert.deepEqual([...site.target.tasks.keys()], ["b"]);
    }));

  it("waits for the newline of a line that is being written", () =>
    withOld(async (site, _old, takeover) => {
      const path = join(site.dir, "wal.jsonl.taken");
      const text = "x".repeat(3_000_000);
      const line = JSON.stringify({
        seq: 2,
        value: put(aRecord("b", { text })),
      });
      for (const part of [line.slice(0, 9), line.slice(9), "\n"]) {
        assert.equal(site.target.version("b"), undefined);
        writeFileSync(path, part, { flag: "a" });
        await takeover.poll();
      }
      assert.deepEqual(site.target.read("b"), aRecord("b", { text }));
    }));

  it("takes a log that an older release makes anew", () =>
    withOld(async (site, old, takeover) => {
      const older = new OldProcess(site.dir);
      older.put(aRecord("older"));
      await takeover.poll();
      assert.equal(site.target.version("older"), 1);
      older.put(aRecord("older", { version: 2 }));
      old.put(aRecord("a", { version: 6 }));
      await takeover.poll();
      assert.equal(site.target.version("older"), 2);
      assert.equal(site.target.version("a"), 6);
      older.wal.close();
    }));

  it("judges by what is there when it writes, not by what it has read", () =>
    withOld(async (site, old, takeover) => {
      old.put(aRecord("a", { version: 6 }));
      old.put(aRecord("b"));
      old.put(aRecord("c"));
      let isFirst = true;
      site.target.beforeChange = () => {
        if (!isFirst) return;
        isFirst = false;
        site.target.tasks.set("a", aRecord("a", { version: 6, x: "ours" }));
        site.target.tasks.set("b", aRecord("b"));
        site.target.tasks.set("c", aRecord("c", { x: "ours" }));
      };
      await takeover.poll();
      assert.deepEqual(
        site.target.read("a"),
        aRecord("a", { version: 6, x: "ours" }),
      );
      assert.deepEqual(
        site.events.map((event) => event.type === "conflict" && event.taskId),
        ["a", "c"],
      );
    }));

  it("tries again where a write that was faster fails", () =>
    withOld(async (site, old, takeover) => {
      const before = site.target.read("a")!;
      const ours = aRecord("a", { version: 6, x: "ours" });
      let tries = 0;
      site.target.beforeChange = () => {
        if (tries++ === 0) site.target.tasks.set("a", ours);
      };
      site.target.afterTake = () => {
        if (tries === 1) site.target.tasks.set("a", before);
      };
      old.put(aRecord("a", { version: 6, x: "theirs" }));
      await takeover.poll();
      assert.equal(tries, 2);
      assert.deepEqual(site.target.read("a"), old.tasks.get("a"));
      assert.deepEqual(site.events.map(({ type }) => type), ["taken"]);
    }));

  it("goes on after it could note only a part of what it took", () =>
    withOld(async (site, old, takeover) => {
      const path = join(site.dir, "takeover.known");
      for (const id of ["b", "c", "d"]) old.put(aRecord(id));
      site.disk.faults.write = (call) => {
        if (call.path !== path) return;
        call.partly(70);
        throw new Error("no room");
      };
      await takeover.poll();
      delete site.disk.faults.write;
      old.delete("b");
      await takeover.poll();
      await takeover.close();
      for (const id of ["c", "d"]) old.put(aRecord(id, { version: 2 }));
      await site.take();
      assert.deepEqual(
        ["b", "c", "d"].map((id) => site.target.version(id)),
        [undefined, 2, 2],
      );
      const types = site.events.map(({ type }) => type);
      assert.deepEqual(new Set(types), new Set(["taken", "failed"]));
    }));

  it("keeps a record as ours where its note is damaged", () =>
    withOld(async (site, old, takeover) => {
      old.put(aRecord("b"));
      await takeover.poll();
      await takeover.close();
      const notes = site.read("takeover.known");
      site.write("takeover.known", notes.replace('["a"', '["a'));
      for (const id of ["a", "b"]) old.put(aRecord(id, { version: 9 }));
      site.events = [];
      await site.take();
      assert.equal(site.target.version("a"), 5);
      assert.equal(site.target.version("b"), 9);
      assert.deepEqual(
        site.events.map((event) => event.type === "conflict" && event.taskId),
        ["a", false],
      );
    }));

  it("reads nothing while nothing grows", () =>
    withOld(async (site, _old, takeover) => {
      writeFileSync(join(site.dir, "wal.jsonl.taken"), "{", { flag: "a" });
      await takeover.poll();
      const { read } = site.disk.calls;
      await takeover.poll();
      assert.equal(site.disk.calls.read, read);
    }));

  it("tries again what has failed, and says why", () =>
    withOld(async (site, old, takeover) => {
      old.put(aRecord("b"));
      const error = new Error("no room");
      for (
        const point of ["size", "read", "list", "write", "rename"] as const
      ) {
        site.disk.faults[point] = () => {
          throw error;
        };
        await takeover.poll();
        delete site.disk.faults[point];
        assert.deepEqual(site.events.at(-1), { type: "failed", error }, point);
        old.put(aRecord("b", { version: 1 + site.events.length }));
      }
      await takeover.poll();
      assert.equal(site.target.version("b"), old.tasks.get("b")?.version);
    }));

  it("comes by itself", () =>
    withOld(async (site, old) => {
      const seen = new Promise<WalTakeoverEvent>((resolve) => {
        site.onEvent = resolve;
      });
      old.put(aRecord("b"));
      assert.equal((await seen).type, "taken");
      assert.equal(site.target.version("b"), 1);
    }));

  it("does nothing after close()", () =>
    withOld(async (site, old, takeover) => {
      old.put(aRecord("b"));
      await takeover.close();
      await takeover.poll();
      assert.equal(site.target.version("b"), undefined);
      assert.equal(site.disk.openFiles, 0);
    }));
});

describe("judge()", () => {
  const theirs = { version: 3, isOurs: false, isKnown: false };
  const untouched = { version: 2, isUntouched: true };
  const changed = { version: 2, isUntouched: false };

  for (
    const [name, ours, of, verdict] of [
      ["creates what is new", undefined, theirs, "create"],
      ["leaves away what has expired here", undefined, {
        ...theirs,
        isKnown: true,
      }, "keep"],
      ["does nothing where both have nothing", undefined, undefined, "keep"],
      ["follows them while it is untouched", untouched, theirs, "replace"],
      ["follows them to a lower version", untouched, {
        ...theirs,
        version: 2,
      }, "recreate"],
      ["follows a deletion", untouched, undefined, "delete"],
      ["leaves alone what is the same", untouched, {
        ...theirs,
        isOurs: true,
      }, "keep"],
      ["keeps ours against news", changed, theirs, "conflict"],
      ["keeps ours against what is no news", changed, {
        ...theirs,
        isKnown: true,
      }, "keep"],
      ["keeps ours against a deletion", changed, undefined, "keep"],
    ] as const
  ) it(name, () => assert.equal(judge(ours, of), verdict));
});

describe("digestOf()", () => {
  it("tells records apart to the last value, in whatever order the fields are", () => {
    const record = aRecord("a", { x: [1, { b: null }], "": {}, y: "" });
    const digest = digestOf(record);
    const entries = Object.entries(record);
    assert.equal(
      digestOf(Object.fromEntries(entries.reverse()) as typeof record),
      digest,
    );
    const others = [
      { x: [1, { b: 0 }] },
      { x: { 0: 1, 1: { b: null } } },
      { "": [] },
      { y: null },
      { z: 1 },
      { version: 2 },
      JSON.parse('{"__proto__":{}}'),
    ].map((fields) => digestOf(aRecord("a", { ...record, ...fields })));
    assert.equal(new Set([digest, ...others]).size, 1 + others.length);
  });
});
