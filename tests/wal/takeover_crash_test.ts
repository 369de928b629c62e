/**
 * A takeover that is cut short just before and just after each call of the disk,
 * by the end of the process and by the loss of power: what is opened afterwards
 * has every task in its last acknowledged state, whoever acknowledged it.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import type { TaskRecord } from "../../mod.ts";
import { hasErrorCode } from "../../src/errors.ts";
import { resolveWalOptions } from "../../src/wal/options.ts";
import { LogTaskStore } from "../../src/wal/store.ts";
import { openLogStore } from "../support/log_store.ts";
import { aRecord, CREATED_MS } from "../support/records.ts";
import { rejects } from "../support/rejects.ts";
import { describe, it } from "../support/runner.ts";
import { withTempDir } from "../support/wal_dir.ts";
import { SimDisk } from "../support/wal_proof/sim_disk.ts";
import {
  type Image,
  imagesOf,
  type Snapshot,
} from "../support/wal_proof/snapshot.ts";

const IDS = ["a", "b", "c", "d", "large", "gone", "done"];
const PREFIXES = 4;

/** The states that a task may be in: its JSON, or none. */
type Allowed = Map<string, readonly (string | undefined)[]>;

interface Moment {
  readonly label: string;
  readonly snapshot: Snapshot;
  readonly allowed: Allowed;
  /** The same, where what was not flushed may be lost. */
  readonly allowedAfterPowerLoss: Allowed;
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Whatever order the fields are in; and short, so that it can be shown. */
function textOf(record: TaskRecord | undefined): string | undefined {
  return record && JSON.stringify(Object.entries(record).sort())
    .replace(/x{9,}/g, (text) => `${text.length} x`);
}

function put(seq: number, record: TaskRecord): string {
  return JSON.stringify({ seq, value: { t: "put", record } }) + "\n";
}

class Run {
  readonly #dir: string;
  readonly #fsync: boolean;
  readonly #disk: SimDisk;
  readonly #moments: Moment[] = [];
  readonly #allowed: Allowed = new Map();
  readonly #afterPowerLoss: Allowed = new Map();
  images = 0;

  constructor(dir: string, fsync: boolean) {
    this.#dir = dir;
    this.#fsync = fsync;
    const large = "x".repeat(3_000);
    const records = [
      aRecord("done", { version: 9 }),
      aRecord("a", { version: 0 }),
      aRecord("gone", { version: 0 }),
      aRecord("b", { version: 0, result: { large } }),
      aRecord("c", { version: 3 }),
      aRecord("large", { version: 0, result: { large } }),
      aRecord("a", { version: 1, statusMessage: "last" }),
    ];
    const log = records.map((record, index) => put(index + 1, record)).join("");
    const deletion = '{"seq":8,"value":{"t":"del","taskId":"gone"}}\n';
    this.#disk = new SimDisk(
      new Map([
        [join(dir, "wal.jsonl"), bytesOf(log + deletion + '{"seq":9,"val')],
        [join(dir, "wal.checkpoint"), bytesOf("1")],
      ]),
    );
    for (const record of records.slice(1)) this.#is(record.taskId, record);
    for (const taskId of ["done", "gone", "d"]) this.#is(taskId, undefined);
    this.#disk.meter.moment = (call, when) => {
      this.#moments.push({
        label: `${when} call ${call.number} (${call.kind} ${call.path})`,
        snapshot: this.#disk.snapshot(
          when === "after" && call.kind === "write",
        ),
        allowed: new Map(this.#allowed),
        allowedAfterPowerLoss: new Map(this.#afterPowerLoss),
      });
    };
  }

  async play(): Promise<void> {
    // The takeover, and a change of our own.
    let store = await this.#open();
    const before = await store.get("b");
    const after = { ...before!, version: 1, statusMessage: "ours" };
    this.#mayBe("b", after);
    await store.update("b", { statusMessage: "ours" }, 0);
    this.#is("b", after, this.#fsync);
    await store.close();

    // An old process goes on: it changes a task that we have changed, too.
    const theirs = [
      aRecord("c", { version: 4, statusMessage: "on" }),
      aRecord("d", { version: 0 }),
      aRecord("b", { version: 7 }),
    ];
    const session = this.#disk.session();
    const file = session.open(join(this.#dir, "wal.jsonl.taken"));
    for (const record of theirs.slice(0, 2)) this.#mayBe(record.taskId, record);
    if (!this.#fsync) {
      // Where ours is lost, there is nothing that theirs would be against.
      const states = this.#afterPowerLoss.get("b")!;
      this.#afterPowerLoss.set("b", [...states, textOf(theirs[2])]);
    }
    const at = file.size() - '{"seq":9,"val'.length;
    file.truncate(at); // As process-wal does with a torn line.
    const lines = theirs.map((record, index) => put(index + 9, record)).join(
      "",
    );
    file.write(bytesOf(lines), at);
    await file.sync();
    for (const record of theirs.slice(0, 2)) this.#is(record.taskId, record);
    file.close();

    store = await this.#open();
    assert.equal((await store.get("c"))?.version, 4);
    await store.compact();
    await store.close();
  }

  /**
   * Opens the directory with one call that fails, and then without.
   *
   * @param number Which call, from 1.
   * @returns Whether there was such a call.
   */
  async fail(number: number): Promise<boolean> {
    const { meter } = this.#disk;
    meter.fault = (call) =>
      call.number === number ? { throws: "EIO" } : undefined;
    const label = `call ${number} fails`;
    try {
      const store = await this.#open();
      try {
        for (const taskId of IDS) await store.get(taskId);
      } finally {
        await store.close();
      }
    } catch (error) {
      assert.ok(hasErrorCode(error, "ERR_STORE_FAILED"), `${label}: ${error}`);
      const { message, cause } = error as Error;
      assert.match(`${message} ${cause}`, /EIO|the store failed/, label);
    }
    assert.equal(this.#disk.openFiles, 0, label);
    const wasMade = meter.calls >= number;
    meter.fault = () => undefined;
    const image = this.#disk.files();
    await this.#verifyImage({ label, files: image }, this.#allowed, label);
    return wasMade;
  }

  async verify(): Promise<void> {
    const seen = new Set<string>();
    for (const moment of this.#moments) {
      for (const image of imagesOf(moment.snapshot, PREFIXES)) {
        const allowed = image.loss === "power"
          ? moment.allowedAfterPowerLoss
          : moment.allowed;
        const key = JSON.stringify([[...allowed], image.key]);
        if (seen.has(key)) continue;
        seen.add(key);
        this.images++;
        await this.#verifyImage(image, allowed, moment.label);
      }
    }
  }

  async #verifyImage(
    image: Pick<Image, "label" | "files">,
    allowed: Allowed,
    label: string,
  ): Promise<void> {
    const disk = new SimDisk(image.files);
    const found = new Map<string, string | undefined>();
    for (let opening = 1; opening <= 2; opening++) {
      const store = await this.#open(disk);
      for (const taskId of IDS) {
        const text = textOf(await store.get(taskId));
        const where = `${taskId}, ${label}, ${image.label}, opening ${opening}`;
        assert.ok(
          allowed.get(taskId)!.includes(text),
          `${where}: ${text} instead of ${allowed.get(taskId)}`,
        );
        if (opening === 2) assert.equal(text, found.get(taskId), where);
        found.set(taskId, text);
      }
      await store.close();
      assert.equal(disk.openFiles, 0);
    }
    const names = [...disk.files().keys()].map((path) => path.split("/").pop());
    assert.ok(!names.includes("wal.jsonl"), label);
    assert.ok(names.includes("wal.jsonl.taken"), label);
  }

  async #open(disk: SimDisk = this.#disk): Promise<LogTaskStore> {
    const options = resolveWalOptions({
      dir: this.#dir,
      fsync: this.#fsync,
      compactEvery: 12,
      lockTimeoutMs: 0,
      now: () => CREATED_MS,
      onDamage: (damage) => assert.fail(JSON.stringify(damage)),
      onCompactionError: (error) => assert.fail(String(error)),
    });
    const store = new LogTaskStore(
      { ...options, segmentBytes: 1_200 },
      disk.session(),
    );
    await store.ready();
    assert.deepEqual((await store.health()).damage, []);
    return store;
  }

  #mayBe(taskId: string, record: TaskRecord): void {
    const text = textOf(record);
    for (const allowed of [this.#allowed, this.#afterPowerLoss]) {
      allowed.set(taskId, [...allowed.get(taskId)!, text]);
    }
  }

  /** @param isFlushed Whether power loss leaves nothing else. */
  #is(
    taskId: string,
    record: TaskRecord | undefined,
    isFlushed = true,
  ): void {
    const states = [textOf(record)];
    this.#allowed.set(taskId, states);
    if (isFlushed) this.#afterPowerLoss.set(taskId, states);
  }
}

/**
 * Takes a log over that grows while it is read, and crashes at each call from then on.
 *
 * @param hasFailed Whether an opening before it could not flush what it noted.
 * @returns How many images were compared.
 */
async function growWhileRead(
  dir: string,
  fsync: boolean,
  hasFailed: boolean,
): Promise<number> {
  const path = join(dir, "wal.jsonl");
  const first = put(1, aRecord("a", { version: 0 }));
  const last = aRecord("a", { version: 1, statusMessage: "last" });
  const disk = new SimDisk(new Map([[path, bytesOf(first)]]));
  const old = disk.beside().open(path);
  const session = disk.session();
  const open = (on = session) => openLogStore(dir, 1_200, { fsync }, on);
  if (hasFailed) {
    disk.meter.fault = ({ kind, path }) =>
      kind === "sync" && path.endsWith("takeover.known")
        ? { throws: "EIO" }
        : undefined;
    await rejects(open(), "ERR_STORE_FAILED");
    disk.meter.fault = () => undefined;
  }
  const snapshots: [label: string, snapshot: Snapshot][] = [];
  let growth: "none" | "under way" | "flushed" = "none";
  disk.meter.moment = (call, when) => {
    const isRead = call.kind === "read" && call.path.endsWith(".taken");
    if (isRead && growth === "none") {
      growth = "under way";
      old.write(bytesOf(put(2, last)), bytesOf(first).length);
      old.syncNow();
      growth = "flushed";
    } else if (growth === "flushed" && when === "after") {
      const label = `${when} call ${call.number} (${call.kind})`;
      snapshots.push([label, disk.snapshot(false)]);
    }
  };
  await (await open()).close();
  let images = 0;
  for (const [label, snapshot] of snapshots) {
    for (const image of imagesOf(snapshot)) {
      images++;
      const store = await open(new SimDisk(image.files).session());
      const record = await store.get("a");
      await store.close();
      assert.equal(textOf(record), textOf(last), `${label}, ${image.label}`);
    }
  }
  return images;
}

describe("WalTaskStore cut short in a takeover", () => {
  for (const fsync of [false, true]) {
    for (const hasFailed of [false, true]) {
      it(`has the last state of a log that has grown while it was read, with fsync ${fsync}, after a failed flush ${hasFailed}`, () =>
        withTempDir(async (dir) => {
          const images = await growWhileRead(dir, fsync, hasFailed);
          assert.ok(images > 30, `${images} images`);
        }));
    }
  }

  for (const fsync of [false, true]) {
    it(`loses nothing of either side, at any call, with fsync ${fsync}`, () =>
      withTempDir(async (dir) => {
        const run = new Run(dir, fsync);
        await run.play();
        await run.verify();
        assert.ok(run.images > 100, `${run.images} images`);
      }));

    it(`loses nothing when any call fails, with fsync ${fsync}`, () =>
      withTempDir(async (dir) => {
        let calls = 0;
        while (await new Run(dir, fsync).fail(calls + 1)) calls++;
        assert.ok(calls > 40, `${calls} calls`);
      }));
  }
});
