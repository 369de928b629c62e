/**
 * Callers that do not wait for each other, over a disk whose calls overtake each
 * other and fail, through closings and openings. A seed determines all of it.
 */

import { setImmediate, setTimeout } from "node:timers";
import { applyTaskPatch, type TaskRecord } from "../../../mod.ts";
import { LogTaskStore } from "../../../src/wal/store.ts";
import { CREATED_MS } from "../records.ts";
import type { SimCall, SimFault } from "./calls.ts";
import { ABSENT, type Expected, headOf, parse, textOf } from "./model.ts";
import { Arrivals, type OwnDisk, ownDisk } from "./overlap_disk.ts";
import { Attempt, Histories, versionOf } from "./overlap_history.ts";
import { OldProcess } from "./overlap_old.ts";
import {
  type Heard,
  type ProofOptions,
  proofOptions,
} from "./proof_options.ts";
import {
  type Change,
  createdBy,
  END_MS,
  EXPIRED_MS,
  patchOf,
  type Random,
} from "./script.ts";
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

/** Changes of one task that are under way at the same time, at most. */
const MOST_PENDING = 4;
/** No operation, and no flush, takes so many milliseconds. */
const HANG_MS = 5_000;
const CODES = ["EIO", "ENOSPC", "EMFILE"];

/** A store that is open, or was. */
interface Opened {
  readonly number: number;
  readonly store: LogTaskStore;
  readonly disk: OwnDisk;
  /** It did not open, or takes no writes. */
  isBroken: boolean;
  isDead: boolean;
}

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
  const { histories, calls, faults, operations, stores } = run;
  report.operations += operations;
  report.calls += calls;
  report.faults += faults;
  report.stores += stores;
  report.violations.push(...histories.violations);
  if (report.violations.length > 0) return;
  await run.verify(report);
}

class Overlap {
  readonly histories: Histories;
  operations = 0;
  faults = 0;
  stores = 0;
  readonly #options: OverlapOptions;
  readonly #random: Random;
  readonly #sim = new SimDisk();
  readonly #arrivals: Arrivals;
  readonly #taskIds: readonly string[];
  /** The version that the next caller takes for the appended one. */
  readonly #guesses = new Map<string, number>();
  readonly #creating = new Set<string>();
  readonly #closings = new Set<Promise<void>>();
  readonly #moments: Moment[] = [];
  /** How the stores of this run are opened. */
  readonly #segmentBytes: number;
  readonly #compactEvery: number | null;
  /** One call in so many meets a fault; 0: none does. */
  readonly #faultEvery: number;
  /** What the directory was made by, in some of the runs. */
  readonly #old: OldProcess | undefined;
  #isOldWriting = false;
  #process;
  #current!: Opened;
  readonly #opened: Opened[] = [];
  #left: number;
  #serial = 0;
  #faultsLeft = 0;
  #faultKind: string | undefined;
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
    this.#faultEvery = [0, 0, 25, 80, 200][random(5)];
    this.#process = this.#sim.session();
    const { meter } = this.#sim;
    if (random(3) === 0) {
      this.#process.makeDir(options.dir);
      this.#old = new OldProcess(this.#sim.beside(), options.dir);
      this.#appendOld();
      this.#sim.settle();
    }
    meter.arrival = this.#arrivals.wait;
    meter.fault = (call) => this.#fault(call);
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
    const opened = { number, store, disk, isBroken: false, isDead: false };
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
      if (await this.#read(taskId, opened, true)) count++;
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
    if (this.#old && random(8) === 0) {
      if (random(2)) this.#appendOld();
      return this.#readOld(this.#old, opened);
    }
    const dice = random(100);
    if (dice < 18) return this.#create(taskId, opened);
    if (dice < 55) return this.#update(taskId, opened);
    if (dice < 70) return this.#read(taskId, opened, random(2) > 0);
    if (dice < 80) return this.#sweep(opened);
    if (dice < 88) {
      return opened.store.compact().catch((error) =>
        this.#unexpected("compact()", error, opened)
      );
    }
    if (dice < 94) return this.#look(opened);
    if (dice < 96) return this.#reopen();
    if (dice === 96) return Promise.resolve(this.#kill());
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

  /** Kills the process, and starts another, which finds what the system has. */
  #kill(): void {
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

  #create(taskId: string, opened: Opened): Promise<void> {
    // Two lives of one task would have no order.
    if (this.#creating.has(taskId)) return Promise.resolve();
    if (this.histories.pendingOf(taskId) >= MOST_PENDING) {
      return Promise.resolve();
    }
    const record = createdBy(taskId, ++this.#serial, this.#size());
    const text = textOf(record);
    this.#creating.add(taskId);
    return this.#change(
      opened,
      `create ${this.#serial} of ${taskId}`,
      taskId,
      (state) => state === ABSENT ? text : undefined,
      () => opened.store.create(record),
      () => undefined,
    ).finally(() => this.#creating.delete(taskId));
  }

  #update(taskId: string, opened: Opened): Promise<void> {
    const random = this.#random;
    if (this.histories.pendingOf(taskId) >= MOST_PENDING) {
      return Promise.resolve();
    }
    const [known] = this.histories.last(taskId);
    const guess = this.#guesses.get(taskId) ?? versionOf(known);
    const version = random(8) ? guess : versionOf(known);
    if (version === 0) return Promise.resolve();
    const changes: readonly Change[] = [
      ...["progress", "progress", "progress", "ask", "answer"] as const,
      ...["complete", "expire"] as const,
    ];
    const change = changes[random(changes.length)];
    // So that each state tells what has made it.
    const patch = {
      ...patchOf(taskId, ++this.#serial, change, this.#size()),
      statusMessage: `é漢😀 ${this.#serial}`,
    };
    this.#guesses.set(taskId, version + 1);
    const isCommit = random(2) > 0;
    return this.#change<TaskRecord | number>(
      opened,
      `${change} ${this.#serial} of v${version} of ${taskId}`,
      taskId,
      (state) =>
        versionOf(state) === version
          ? textOf(applyTaskPatch(parse(state), patch))
          : undefined,
      () =>
        isCommit
          ? opened.store.commit(taskId, patch, version, CREATED_MS)
          : opened.store.update(taskId, patch, version, CREATED_MS),
      (made) => typeof made === "number" ? undefined : textOf(made),
    );
  }

  async #change<T>(
    opened: Opened,
    name: string,
    taskId: string,
    change: (state: string) => string | undefined,
    run: () => Promise<T>,
    told: (made: T) => string | undefined,
  ): Promise<void> {
    const { histories } = this;
    const attempt = new Attempt({
      name,
      taskId,
      store: opened.number,
      asked: histories.tick(),
      change,
    });
    histories.ask(attempt);
    try {
      const made = await run();
      this.#progress++;
      histories.done(attempt, told(made));
    } catch (error) {
      this.#progress++;
      this.#guesses.delete(taskId);
      const { code } = error as { code?: string };
      if (
        code === "ERR_CONCURRENT_UPDATE" || code === "ERR_TASK_NOT_FOUND" ||
        code === "ERR_DUPLICATE_TASK_ID" || code === "ERR_STORE_CLOSED"
      ) return histories.refused(attempt);
      histories.failed(attempt);
      this.#unexpected(name, error, opened);
    }
  }

  async #sweep(opened: Opened): Promise<void> {
    const { histories } = this;
    if (histories.pendingOf(undefined) >= 2) return;
    const attempt = new Attempt({
      name: `sweep ${++this.#serial}`,
      taskId: undefined,
      store: opened.number,
      asked: histories.tick(),
      change: (state) => isExpired(state) ? ABSENT : undefined,
    });
    const places = new Map<string, number>();
    for (const taskId of this.#taskIds) {
      if (![...histories.last(taskId)].every(isExpired)) continue;
      places.set(taskId, histories.place(taskId));
    }
    histories.ask(attempt);
    try {
      await opened.store.sweep(EXPIRED_MS);
      this.#progress++;
      histories.swept(attempt, places);
    } catch (error) {
      this.#progress++;
      histories.failed(attempt);
      this.#unexpected(attempt.name, error, opened);
    }
  }

  async #read(
    taskId: string,
    opened: Opened,
    isWhole: boolean,
  ): Promise<boolean> {
    const { histories } = this;
    const { store, number } = opened;
    const place = histories.place(taskId);
    const asked = histories.tick();
    try {
      const text = isWhole
        ? textOf(await store.get(taskId, CREATED_MS))
        : textOf(
          await store.head(taskId, CREATED_MS) as TaskRecord | undefined,
        );
      this.#progress++;
      const isOf = (state: string) =>
        isWhole || state === ABSENT
          ? state === text
          : textOf(headOf(parse(state))) === text;
      if (!opened.isDead) {
        histories.read(taskId, place, { asked, store: number }, { text, isOf });
      }
      return true;
    } catch (error) {
      this.#progress++;
      this.#unexpected(`a read of ${taskId}`, error, opened);
      return false;
    }
  }

  #appendOld(): void {
    const old = this.#old!;
    const taskId = old.taskIds[this.#random(old.taskIds.length)];
    this.#isOldWriting = true;
    old.append(taskId, `old ${++this.#serial}`);
    this.#isOldWriting = false;
  }

  /** @param least The place of the oldest state that may be found; by default any that was found before. */
  async #readOld(
    old: OldProcess,
    opened: Opened,
    taskId = old.taskIds[this.#random(old.taskIds.length)],
    least = old.seen(taskId),
  ): Promise<void> {
    try {
      const record = await opened.store.get(taskId, CREATED_MS);
      const wrong = old.judge(taskId, record, least);
      if (wrong && !opened.isDead) this.#violation(wrong);
    } catch (error) {
      this.#unexpected(`a read of ${taskId}`, error, opened);
    }
  }

  /** What a store says of itself is so. */
  async #look(opened: Opened): Promise<void> {
    try {
      const health = await opened.store.health();
      if (health.damage.length > 0) this.#damage(opened.number);
      if (!health.writable) opened.isBroken = true;
    } catch (error) {
      this.#unexpected("health()", error, opened);
    }
  }

  /** The last store is closed, and all that is left is looked at. */
  async #end(): Promise<void> {
    const { histories } = this;
    this.#faultsLeft = -1;
    await this.#close(this.#current);
    while (this.#closings.size > 0) await Promise.all(this.#closings);
    const opened = this.#open();
    try {
      await opened.store.ready();
    } catch {
      return;
    }
    for (const taskId of this.#taskIds) await this.#read(taskId, opened, true);
    const isThere = (taskId: string) => !histories.last(taskId).has(ABSENT);
    let there = this.#taskIds.filter(isThere).length;
    for (const taskId of this.#old?.taskIds ?? []) {
      const place = this.#old!.place(taskId);
      await this.#readOld(this.#old!, opened, taskId, place);
      if (place > 0) there++;
    }
    const { store } = opened;
    if (this.#random(2)) await store.compact();
    const health = await store.health();
    if (health.tasks !== there) {
      this.#violation(`health() tells of ${health.tasks} tasks, not ${there}`);
    }
    const sizes = [...this.#sim.files()].filter(([path]) =>
      path.endsWith(".log")
    ).map(([, bytes]) => bytes.length);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    if (health.diskBytes !== bytes || health.segments !== sizes.length) {
      this.#violation(
        `health() tells of ${health.diskBytes} bytes in ${health.segments} files, not ${bytes} in ${sizes.length}`,
      );
    }
    this.#sim.meter.moment = () => {};
    const count = await store.sweep(END_MS);
    if (count !== there) {
      this.#violation(`sweep() counts ${count}, not ${there}`);
    }
    await this.#close(opened);
  }

  #size(): number {
    return [0, 0, 30, 600, 3_000][this.#random(5)];
  }

  #damage(number: number): void {
    this.#violation(`store ${number} reports damage`);
  }

  #unexpected(what: string, error: unknown, opened: Opened): void {
    if (opened.isDead) return;
    const { code } = error as { code?: string };
    if (code === "ERR_STORE_CLOSED") return;
    if (code === "ERR_STORE_FAILED" && this.faults > 0) {
      opened.isBroken ||= this.#random(4) === 0;
      return;
    }
    this.#violation(`${what}: ${(error as Error)?.stack ?? error}`);
  }

  #fault(call: SimCall): SimFault | undefined {
    const random = this.#random;
    if (this.#faultEvery === 0 || this.#faultsLeft < 0) return undefined;
    if (this.#isOldWriting) return undefined;
    if (this.#faultsLeft === 0) {
      if (random(this.#faultEvery) > 0) return undefined;
      this.#faultsLeft = [1, 1, 2, 12][random(4)];
      this.#faultKind = random(2) ? call.kind : undefined;
    }
    if (this.#faultKind && call.kind !== this.#faultKind) return undefined;
    this.#faultsLeft--;
    this.faults++;
    if (call.kind === "write" && random(2)) {
      return { atMost: random(call.bytes + 1) };
    }
    return { throws: CODES[random(CODES.length)] };
  }
}

function isExpired(state: string): boolean {
  return state !== ABSENT && parse(state).ttlMs === EXPIRED_MS - CREATED_MS;
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
