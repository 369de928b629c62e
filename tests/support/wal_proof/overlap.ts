/**
 * Callers that do not wait for each other, over a disk whose calls overtake each
 * other and fail, through closings and openings. A seed determines all of it.
 */

import { setImmediate, setTimeout } from "node:timers";
import { LogTaskStore } from "../../../src/wal/store.ts";
import { ABSENT, type Expected } from "./model.ts";
import { Callers, type Opened } from "./overlap_callers.ts";
import { Arrivals, ownDisk } from "./overlap_disk.ts";
import { Faults } from "./overlap_faults.ts";
import { Histories } from "./overlap_history.ts";
import { OldProcess } from "./overlap_old.ts";
import {
  type Heard,
  type ProofOptions,
  proofOptions,
} from "./proof_options.ts";
import { END_MS, type Random } from "./script.ts";
import { SimDisk } from "./sim_disk.ts";
import { imagesOf, type Snapshot } from "./snapshot.ts";
import { verifyImage } from "./verify.ts";

/** How to run. */
export interface OverlapOptions extends ProofOptions {
  /** Where the choices come from. */
  readonly random: Random;
  /** Operations, about. */
  readonly operations: number;
  /** At how many moments a crash is tried, at most. */
  readonly crashes: number;
}

/** What was done, and what came of it. */
export interface OverlapReport {
  /** Operations that were asked for. */
  operations: number;
  /** Calls of the disk. */
  calls: number;
  /** Calls that met a fault. */
  faults: number;
  /** Stores that were opened, one after the other. */
  stores: number;
  /** Crash images that were opened and compared. */
  images: number;
  /** What must not have happened. */
  readonly violations: string[];
}

/** Makes an empty report. */
export function newOverlapReport(): OverlapReport {
  return {
    operations: 0,
    calls: 0,
    faults: 0,
    stores: 0,
    images: 0,
    violations: [],
  };
}

/** No operation, and no flush, takes so many milliseconds. */
const HANG_MS = 5_000;
/** Bytes of a segment beside its entries, at most. */
const HEADER_BYTES = 250;

interface Moment {
  readonly label: string;
  readonly snapshot: Snapshot;
  readonly expected: Expected;
}

/**
 * Runs callers until each has asked for what it had to, and compares.
 *
 * @param options How.
 * @param report Where it is written down.
 */
export async function overlap(
  options: OverlapOptions,
  report: OverlapReport,
): Promise<void> {
  const run = new Overlap(options);
  const { random } = options;
  // What a clock decides, the seed decides.
  const stepMs = [0, 0.001, 0.3, 4][random(4)];
  await withClock(stepMs, () => run.run());
  const { histories, calls, operations, stores } = run;
  report.operations += operations;
  report.calls += calls;
  report.faults += run.faults.count;
  report.stores += stores;
  report.violations.push(...histories.violations);
  if (report.violations.length > 0) return;
  await run.verify(report);
}

class Overlap {
  readonly histories: Histories;
  readonly faults: Faults;
  operations = 0;
  stores = 0;
  readonly #options: OverlapOptions;
  readonly #random: Random;
  readonly #sim = new SimDisk();
  readonly #arrivals: Arrivals;
  readonly #taskIds: readonly string[];
  readonly #callers: Callers;
  readonly #closings = new Set<Promise<void>>();
  readonly #moments: Moment[] = [];
  /** How the stores of this run are opened. */
  readonly #segmentBytes: number;
  readonly #compactEvery: number | null;
  /** What the directory was made by, in some of the runs. */
  readonly #old: OldProcess | undefined;
  #process;
  #current!: Opened;
  readonly #opened: Opened[] = [];
  #isDying = false;
  #left: number;
  #progress = 0;
  #turn = Promise.withResolvers<void>();
  /** Turns that callers have before a store that is opening has the lock. */
  #patience = 0;

  constructor(options: OverlapOptions) {
    const { random } = options;
    this.#options = options;
    this.#random = random;
    this.#left = options.operations;
    this.#taskIds = Array.from({ length: 1 + random(5) }, (_, i) => `t${i}`);
    this.histories = new Histories(this.#taskIds);
    this.#arrivals = new Arrivals(random);
    this.#segmentBytes = [150, 300, 1_200, 4_000][random(4)];
    this.#compactEvery = [null, 4, 12, 40][random(4)];
    this.faults = new Faults(random);
    this.#process = this.#sim.session();
    const { meter } = this.#sim;
    if (random(3) === 0) {
      this.#process.makeDir(options.dir);
      this.#old = new OldProcess(this.#sim.beside(), options.dir);
    }
    const run = {
      random,
      taskIds: this.#taskIds,
      histories: this.histories,
      old: this.#old,
      unexpected: (what: string, error: unknown, opened: Opened) =>
        this.#unexpected(what, error, opened),
    };
    this.#callers = new Callers(run, () => this.#progress++);
    if (this.#old) this.#callers.appendOld();
    this.#sim.settle();
    meter.arrival = this.#arrivals.wait;
    meter.fault = this.faults.meet;
    const every = 1 + random(60);
    meter.moment = (call, when) => {
      this.#progress++;
      if (this.#moments.length >= options.crashes) return;
      if (random(every) > 0) return;
      this.#moments.push({
        label: `crash just ${when} call ${call.number} (${call.kind})`,
        snapshot: this.#sim.snapshot(when === "after" && call.kind === "write"),
        expected: this.#expected(),
      });
    };
  }

  get calls(): number {
    return this.#sim.meter.calls;
  }

  async run(): Promise<void> {
    const random = this.#random;
    this.#open();
    const actors = Array.from({ length: 1 + random(7) }, () => this.#act());
    const ended = Promise.all(actors).then(() => this.#end());
    let isOver = false;
    ended.finally(() => isOver = true).catch(() => {});
    let seen = -1;
    let since = Date.now();
    while (!isOver) {
      await nextTurn();
      this.#arrivals.step();
      if (seen !== this.#progress) {
        seen = this.#progress;
        since = Date.now();
      } else if (Date.now() - since > HANG_MS) {
        this.#violation("something waits for ever");
        return;
      }
      const { disk, isBroken } = this.#current;
      if (disk.hasLock || isBroken || this.#patience-- > 0) {
        const turn = this.#turn;
        this.#turn = Promise.withResolvers();
        turn.resolve();
      } else {
        // The lock is waited for by a clock of its own: everybody else waits too.
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
    await ended;
  }

  /** Opens every image of every crash. */
  async verify(report: OverlapReport): Promise<void> {
    const { random, dir, fsync } = this.#options;
    for (const { label, snapshot, expected } of this.#moments) {
      for (const image of imagesOf(snapshot, 3)) {
        report.images++;
        const deep = random(4) === 0;
        const wrong = await verifyImage(image, expected, { dir, fsync }, deep);
        for (const one of wrong) {
          report.violations.push(`${label}, ${image.label}: ${one}`);
        }
      }
    }
  }

  #expected(): Expected {
    const { version, tasks } = this.histories.expected();
    const old = this.#old?.allowed() ?? [];
    return { version, tasks: new Map([...tasks, ...old]) };
  }

  #violation(what: string): void {
    this.histories.violations.push(what);
  }

  #open(): Opened {
    const number = ++this.stores;
    const disk = ownDisk(this.#process, (call) => {
      if (!opened.isDead) this.#violation(`store ${number} calls ${call}`);
    });
    const heard: Heard = {
      compactionError: (error) =>
        this.#unexpected("a compaction", error, opened),
      damages: { push: () => this.#damage(number) } as never,
    };
    const options = {
      ...proofOptions(this.#options, heard),
      compactEvery: this.#compactEvery,
      segmentBytes: this.#segmentBytes,
      lockTimeoutMs: 2 ** 31 - 1,
    };
    const store = new LogTaskStore(options, disk);
    const isDead = this.#isDying;
    const opened = { number, store, disk, isBroken: false, isDead };
    this.#current = opened;
    this.#patience = this.#random(12);
    this.#opened.push(opened);
    store.ready().then(
      () => this.#lookAtAll(opened),
      (error) => {
        opened.isBroken = true;
        this.#unexpected("opening", error, opened);
      },
    );
    return opened;
  }

  async #lookAtAll(opened: Opened): Promise<void> {
    let count = 0;
    await Promise.all(this.#taskIds.map(async (taskId) => {
      if (await this.#callers.read(taskId, opened, true)) count++;
    }));
    if (count === this.#taskIds.length) this.histories.known(opened.number);
  }

  async #act(): Promise<void> {
    const random = this.#random;
    const underWay: Promise<unknown>[] = [];
    while (this.#left-- > 0) {
      this.operations++;
      const done = this.#operate();
      if (random(3) === 0) await done;
      else underWay.push(done);
      for (let turns = random(5) - 1; turns > 0; turns--) {
        await this.#turn.promise;
      }
      for (let hops = random(4); hops > 0; hops--) await undefined;
    }
    await Promise.all(underWay);
  }

  /** Begins an operation before it returns, as a caller would. */
  #operate(): Promise<unknown> {
    const random = this.#random;
    const opened = this.#current;
    const taskId = this.#taskIds[random(this.#taskIds.length)];
    if (opened.isBroken && random(3) === 0) return this.#reopen();
    const callers = this.#callers;
    if (this.#old && random(8) === 0) {
      if (random(2)) callers.appendOld();
      return callers.readOld(this.#old, opened);
    }
    const dice = random(100);
    if (dice < 18) return callers.create(taskId, opened);
    if (dice < 55) return callers.update(taskId, opened);
    if (dice < 70) return callers.read(taskId, opened, random(2) > 0);
    if (dice < 80) return callers.sweep(opened);
    if (dice < 88) {
      return opened.store.compact().catch((error) =>
        this.#unexpected("compact()", error, opened)
      );
    }
    if (dice < 94) return callers.look(opened);
    if (dice < 96) return this.#reopen();
    if (dice === 96) return this.#die();
    if (dice < 98) {
      this.#sim.settle();
      this.histories.settle();
    }
    return Promise.resolve();
  }

  /** Closes the store, and opens another on the same directory right away. */
  async #reopen(): Promise<void> {
    const opened = this.#current;
    const closing = this.#close(opened);
    if (this.#random(2)) await closing;
    if (this.#current === opened) this.#open();
    await closing;
  }

  #close(opened: Opened): Promise<void> {
    const closing = opened.store.close().then(
      () => {},
      (error) => this.#unexpected("close()", error, opened),
    ).then(() => {
      this.#closings.delete(closing);
      if (opened.isDead) return;
      opened.disk.isClosed = true;
      const { openFiles } = opened.disk;
      if (openFiles === 0) return;
      this.#violation(`store ${opened.number} leaves ${openFiles} files open`);
    });
    this.#closings.add(closing);
    return closing;
  }

  /** Kills the process, now or in the middle of its next write. */
  async #die(): Promise<void> {
    if (this.#isDying) return;
    this.#isDying = true;
    for (const one of this.#opened) one.isDead = true;
    if (this.#random(2)) {
      this.#sim.killInWrite(this.#random(101) / 100);
      for (let turns = 1 + this.#random(8); turns > 0; turns--) {
        await this.#turn.promise;
      }
    }
    this.#isDying = false;
    this.#startAgain();
  }

  /** Starts another process, which finds what the system has. */
  #startAgain(): void {
    const opened = this.#current;
    for (const one of this.#opened) {
      one.isDead = true;
      one.disk.isClosed = false;
    }
    this.#process = this.#sim.session();
    this.histories.killed();
    // It frees the lock, as the system would.
    this.#close(opened);
    this.#open();
  }

  /** The last store is closed, and all that is left is looked at. */
  async #end(): Promise<void> {
    const { histories } = this;
    this.faults.end();
    await this.#close(this.#current);
    while (this.#closings.size > 0) await Promise.all(this.#closings);
    const opened = this.#open();
    try {
      await opened.store.ready();
    } catch {
      return;
    }
    for (const taskId of this.#taskIds) {
      await this.#callers.read(taskId, opened, true);
    }
    const isThere = (taskId: string) => !histories.last(taskId).has(ABSENT);
    let there = this.#taskIds.filter(isThere).length;
    for (const taskId of this.#old?.taskIds ?? []) {
      const place = this.#old!.place(taskId);
      await this.#callers.readOld(this.#old!, opened, taskId, place);
      if (place > 0) there++;
    }
    const { store } = opened;
    await store.compact();
    await this.#checkHealth(store, there);
    this.#sim.meter.moment = () => {};
    const count = await store.sweep(END_MS);
    if (count !== there) {
      this.#violation(`sweep() counts ${count}, not ${there}`);
    }
    await this.#close(opened);
  }

  /** What the store says of itself is what is there, and that is no more than it should be. */
  async #checkHealth(store: LogTaskStore, there: number): Promise<void> {
    for (let turn = 0;; turn++) {
      const { tasks, diskBytes, segments, aliveBytes } = await store.health();
      const sizes = [...this.#sim.files()].filter(([path]) =>
        path.endsWith(".log")
      ).map(([, bytes]) => bytes.length);
      const bytes = sizes.reduce((sum, size) => sum + size, 0);
      const isSo = tasks === there && diskBytes === bytes &&
        segments === sizes.length &&
        bytes <= 1.5 * aliveBytes + HEADER_BYTES * (segments + 2);
      if (isSo) return;
      // A compaction that has begun by itself may be at work.
      if (turn < 500) await nextTurn();
      else {
        return this.#violation(
          `health() tells of ${tasks} tasks in ${diskBytes} bytes in ${segments} files, ${aliveBytes} of them alive, and there are ${there} in ${bytes} in ${sizes.length}`,
        );
      }
    }
  }

  #damage(number: number): void {
    this.#violation(`store ${number} reports damage`);
  }

  #unexpected(what: string, error: unknown, opened: Opened): void {
    if (opened.isDead) return;
    const { code } = error as { code?: string };
    if (code === "ERR_STORE_CLOSED") return;
    if (code === "ERR_STORE_FAILED" && this.faults.count > 0) {
      opened.isBroken ||= this.#random(4) === 0;
      return;
    }
    this.#violation(`${what}: ${(error as Error)?.stack ?? error}`);
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** Runs a body under a clock that goes on by so much with each look at it. */
async function withClock(
  stepMs: number,
  body: () => Promise<void>,
): Promise<void> {
  let now = 1_000;
  const before = Object.getOwnPropertyDescriptor(performance, "now");
  Object.defineProperty(performance, "now", {
    configurable: true,
    value: () => now += stepMs,
  });
  try {
    await body();
  } finally {
    delete (performance as { now?: unknown }).now;
    if (before) Object.defineProperty(performance, "now", before);
  }
}
