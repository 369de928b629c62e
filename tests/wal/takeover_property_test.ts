/**
 * Any order of what an old process, a new one and the system do. Whatever it
 * was, each task ends in the last state that the old process acknowledged, or,
 * where the new one has changed it, in the last of the new one; and where both
 * have changed it, that is reported.
 *
 * `FC_RUNS` and `FC_SEED` are as in `tests/engine/state_machine_test.ts`.
 */

import assert from "node:assert/strict";
import { appendFileSync, existsSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import fc from "../support/fast_check.ts";
import type { TaskRecord } from "../../mod.ts";
import type { Disk, DiskFile } from "../../src/wal/disk.ts";
import { Takeover } from "../../src/wal/takeover.ts";
import type { WalTakeoverEvent } from "../../src/wal/takeover_target.ts";
import { OldProcess } from "../support/process_wal_old.ts";
import { MapTarget } from "../support/process_wal_target.ts";
import { aRecord } from "../support/records.ts";
import { describe, it } from "../support/runner.ts";
import { FAULT_POINTS, FaultDisk } from "../support/wal_fault_disk.ts";
import { withTempDir } from "../support/wal_dir.ts";

const IDS = ["a", "b", "c"];

type Command =
  | { readonly does: "oldPut" | "oldDelete" | "newPut"; readonly id: string }
  | { readonly does: "oldCompact" | "oldRestart" | "poll" | "restart" }
  | {
    /** A restart that is cut short after so many calls, or changes. */
    readonly does: "crash" | "pollCrash";
    readonly calls: number;
    readonly changes: number;
  }
  | { readonly does: "race" | "rollBack" };

const id = fc.constantFrom(...IDS);
const budget = {
  calls: fc.integer({ min: 0, max: 40 }),
  changes: fc.integer({ min: 0, max: 4 }),
};
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ does: fc.constant("oldPut"), id }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("oldDelete"), id }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant("newPut"), id }) },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constantFrom("oldCompact", "oldRestart", "poll", "restart"),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constantFrom("crash", "pollCrash"),
      ...budget,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constantFrom("race", "rollBack") }),
  },
) as fc.Arbitrary<Command>;

/** The end of a process loses nothing that was not flushed: a disk that does without is as good here, and fast. */
function withoutFlushes(disk: Disk): Disk {
  const unflushed = (file: DiskFile): DiskFile => ({
    ...file,
    sync: () => Promise.resolve(),
    syncNow: () => {},
  });
  return {
    makeDir: (path) => disk.makeDir(path),
    open: (path) => unflushed(disk.open(path)),
    openToRead: (path) => unflushed(disk.openToRead(path)),
    list: (path) => disk.list(path),
    rename: (from, to) => disk.rename(from, to),
    remove: (path) => disk.remove(path),
    identityOf: () => undefined,
    restrict: (path) => disk.restrict(path),
    syncDir: () => Promise.resolve(),
  };
}

/** What happens, and what is known of it. */
class World {
  readonly #dir: string;
  readonly #target = new MapTarget();
  readonly #disk = new FaultDisk();
  #old: OldProcess;
  #takeover: Takeover | undefined;
  #isOpen = false;
  #serial = 0;
  /** The last state of each task that an old process has acknowledged; `undefined`: it was deleted. */
  readonly #theirs = new Map<string, TaskRecord | undefined>();
  /** The last state of each task that the new process has changed. */
  readonly #ours = new Map<string, TaskRecord>();
  /** States of theirs that were reported as conflicts, as `id version`. */
  readonly #conflicts = new Set<string>();
  /** States of theirs that the new process had when it changed the task first. */
  readonly #bases = new Map<string, TaskRecord>();
  /** Whether a log was made anew, so that deletions in it may be compacted before it is found. */
  #reappeared = false;
  #crashed = false;

  constructor(dir: string) {
    this.#dir = dir;
    this.#old = new OldProcess(dir);
  }

  async run(commands: readonly Command[]): Promise<void> {
    try {
      for (const one of commands) await this.#do(one);
      await this.#restart();
      await this.#takeover?.poll();
      this.#check();
    } finally {
      await this.#takeover?.close();
      this.#old.wal.close();
    }
  }

  async #do(one: Command): Promise<void> {
    switch (one.does) {
      case "oldPut":
        return this.#oldPut(one.id);
      case "oldDelete":
        if (!this.#old.tasks.has(one.id)) return;
        this.#old.delete(one.id);
        this.#theirs.set(one.id, undefined);
        return;
      case "oldCompact":
        return this.#old.compact();
      case "oldRestart": {
        this.#old.wal.close();
        // It was killed while it wrote.
        const log = join(this.#dir, "wal.jsonl");
        if (existsSync(log)) appendFileSync(log, '{"seq":1,"val');
        else this.#reappeared = true;
        this.#old = new OldProcess(this.#dir);
        return;
      }
      case "newPut":
        return this.#newPut(one.id);
      case "restart":
        return await this.#restart();
      case "poll":
        return await this.#takeover?.poll();
      case "crash":
        await this.#close();
        return await this.#cutShort(one, () => this.#open());
      case "pollCrash":
        await this.#cutShort(one, async () => await this.#takeover?.poll());
        return await this.#restart();
      case "rollBack":
        return await this.#rollBack();
      case "race": {
        const finish = this.#old.beginCompact();
        await this.#restart();
        finish?.();
        this.#reappeared ||= finish !== undefined;
        return;
      }
    }
  }

  /** The host goes back to the old release, with the files that it has left. */
  async #rollBack(): Promise<void> {
    const path = (name: string) => join(this.#dir, name);
    const names = readdirSync(this.#dir);
    const logs = names.filter((name) => name.startsWith("wal.jsonl"));
    if (logs.length !== 1 || logs[0] === "wal.jsonl") return;
    await this.#close();
    this.#old.wal.close();
    renameSync(path(logs[0]), path("wal.jsonl"));
    const checkpoint = logs[0].replace("jsonl", "checkpoint");
    if (names.includes(checkpoint) && !names.includes("wal.checkpoint")) {
      renameSync(path(checkpoint), path("wal.checkpoint"));
    }
    this.#old = new OldProcess(this.#dir);
    this.#reappeared = true;
  }

  #oldPut(id: string): void {
    const before = this.#old.tasks.get(id);
    const record = aRecord(id, {
      ...before,
      statusMessage: `theirs ${++this.#serial}`,
      version: before ? before.version + 1 : 0,
    });
    this.#old.put(record);
    this.#theirs.set(id, record);
  }

  #newPut(id: string): void {
    if (!this.#isOpen) return;
    const before = this.#target.read(id);
    const record = aRecord(id, {
      ...before,
      statusMessage: `ours ${++this.#serial}`,
      version: before ? before.version + 1 : 1,
    });
    if (before && !this.#ours.has(id)) this.#bases.set(id, before);
    this.#target.tasks.set(id, record);
    this.#ours.set(id, record);
  }

  async #open(): Promise<void> {
    this.#takeover = await Takeover.open({
      dir: this.#dir,
      disk: withoutFlushes(this.#disk),
      isNew: false,
      target: this.#target,
      observer: {
        onEvent: (event) => this.#see(event),
        onDamage: (damage) => assert.fail(JSON.stringify(damage)),
      },
    });
    this.#isOpen = true;
  }

  async #close(): Promise<void> {
    this.#isOpen = false;
    await this.#takeover?.close();
    this.#takeover = undefined;
  }

  async #restart(): Promise<void> {
    await this.#close();
    await this.#open();
  }

  /** Lets everything fail after so many calls or changes, as if the process were killed there. */
  async #cutShort(
    { calls, changes }: { readonly calls: number; readonly changes: number },
    body: () => Promise<void>,
  ): Promise<void> {
    this.#crashed = false;
    const die = () => {
      this.#crashed = true;
      throw new Error("killed");
    };
    for (const point of FAULT_POINTS) {
      if (point === "close") continue;
      this.#disk.faults[point] = () => {
        if (calls-- <= 0) die();
      };
    }
    this.#target.beforeChange = () => {
      if (changes-- <= 0) die();
    };
    try {
      await body();
    } catch (error) {
      if (!this.#crashed) throw error;
    } finally {
      for (const point of FAULT_POINTS) delete this.#disk.faults[point];
      this.#target.beforeChange = () => {};
    }
  }

  #see(event: WalTakeoverEvent): void {
    if (event.type === "conflict") {
      this.#conflicts.add(`${event.taskId} ${event.theirs}`);
    } else if (event.type === "failed" && !this.#crashed) throw event.error;
  }

  #check(): void {
    for (const id of IDS) {
      const ours = this.#ours.get(id);
      const theirs = this.#theirs.get(id);
      const found = this.#target.read(id);
      // They delete what has expired alone, and so do we.
      if (!ours && !theirs && found && this.#reappeared) continue;
      assert.deepEqual(found, ours ?? theirs, `of ${id}`);
      if (!ours || !theirs) continue;
      const base = this.#bases.get(id);
      if (theirs.statusMessage === base?.statusMessage) continue;
      assert.ok(
        this.#conflicts.has(`${id} ${theirs.version}`),
        `nobody heard of ${JSON.stringify(theirs)}`,
      );
    }
    assert.equal(readdirSync(this.#dir).includes("wal.jsonl"), false);
  }
}

describe("Takeover", () => {
  it("loses no acknowledged state, whatever happens in whatever order", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(command, { minLength: 3, maxLength: 40 }),
        (commands) => withTempDir((dir) => new World(dir).run(commands)),
      ),
      { numRuns: Number(process.env.FC_RUNS ?? 150) },
    ));
});
