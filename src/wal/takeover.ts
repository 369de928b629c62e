/**
 * Takes over a directory of mcp-durable-tasks, at the opening and, since an old
 * process may still have the log open, for as long as the store is open.
 */

import { clearTimeout, setTimeout } from "node:timers";
import type { Disk } from "./disk.ts";
import {
  findTakenLogs,
  FOREIGN_LOG,
  freeTakenName,
  readCheckpoint,
  refuseAlien,
  takeCheckpoint,
  takeLog,
} from "./takeover_files.ts";
import { KnownStates } from "./takeover_known.ts";
import { TakeoverProgress } from "./takeover_progress.ts";
import { takeRange } from "./takeover_range.ts";
import { TakenLog } from "./takeover_taken.ts";
import type { TakeoverObserver, TakeoverTarget } from "./takeover_target.ts";

/** How often the logs are looked at while one of them grows, and for a while after, in milliseconds. */
const FAST_POLL_MS = 1_000;
/** How often afterwards. */
const SLOW_POLL_MS = 60_000;
/** How long after the last growth the first of the two holds. */
const FAST_FOR_MS = 10 * 60_000;
/** How much of a log that grows is taken at a time. */
const RANGE_BYTES = 1024 * 1024;

/** Where to take over, and for whom. */
export interface TakeoverOptions {
  /** The directory. The store has its lock. */
  readonly dir: string;
  /** The file system. */
  readonly disk: Disk;
  /** Whether nothing was ever written to the store's log: then nothing was taken over, whatever is noted. */
  readonly isNew: boolean;
  /** The store. It gives nothing out before `open()` has resolved. */
  readonly target: TakeoverTarget;
  /** Is told what there is to know. */
  readonly observer: TakeoverObserver;
}

/** A takeover. */
export class Takeover {
  readonly #options: TakeoverOptions;
  readonly #logs: TakenLog[] = [];
  readonly #progress: TakeoverProgress;
  readonly #known: KnownStates;
  #polling: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Until when the logs are looked at often. */
  #fastUntil = 0;
  #closing: Promise<void> | undefined;

  private constructor(options: TakeoverOptions, progress: TakeoverProgress) {
    this.#options = options;
    this.#progress = progress;
    const { dir, disk } = options;
    this.#known = new KnownStates(dir, disk, progress.knownBytes);
  }

  /**
   * Takes over what is there, and goes on looking.
   *
   * @param options Where, and for whom.
   * @returns The takeover; `undefined` if there is nothing of mcp-durable-tasks.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: a log is of another program.
   * @throws {StoreDamagedError} `ERR_STORE_DAMAGED`: it cannot be told what was taken over before.
   */
  static async open(options: TakeoverOptions): Promise<Takeover | undefined> {
    const { dir, disk, isNew } = options;
    const names = disk.list(dir);
    const taken = findTakenLogs(names);
    if (taken.length === 0 && !names.includes(FOREIGN_LOG)) return undefined;
    const progress = await TakeoverProgress.load(dir, names, disk);
    if (isNew) await progress.forgetReads();
    const takeover = new Takeover(options, progress);
    try {
      for (const name of taken) takeover.#add(name);
      await takeover.#pass();
    } catch (error) {
      takeover.#closeFiles();
      throw error;
    }
    takeover.#schedule();
    return takeover;
  }

  /** Looks now whether an old process has appended anything, and takes it over. */
  poll(): Promise<void> {
    return this.#polling = this.#polling.then(async () => {
      if (this.#closing) return;
      try {
        await this.#pass();
      } catch (error) {
        this.#options.observer.onEvent({ type: "failed", error });
      }
    });
  }

  /** Ends it, and waits for what is under way. Idempotent. */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#polling;
    this.#closeFiles();
  }

  #schedule(): void {
    if (this.#closing) return;
    const isFast = performance.now() < this.#fastUntil;
    if (!isFast) this.#known.forget();
    this.#timer = setTimeout(
      () => void this.poll().then(() => this.#schedule()),
      isFast ? FAST_POLL_MS : SLOW_POLL_MS,
    );
    this.#timer.unref();
  }

  /** Takes over all that is there. */
  async #pass(): Promise<void> {
    const { dir, disk } = this.#options;
    for (let at = 0;; at++) {
      if (at === this.#logs.length) {
        // An old process may make the log anew: a compaction that was under way
        // replaces what is behind the name, and an older release makes a new one.
        const names = disk.list(dir);
        if (!names.includes(FOREIGN_LOG)) {
          return await takeCheckpoint(dir, this.#logs[at - 1].name, disk);
        }
        const name = this.#progress.unnamed(names) ??
          freeTakenName([...names, ...this.#progress.names]);
        await refuseAlien(dir, disk);
        const checkpoint = await readCheckpoint(dir, disk);
        await this.#progress.save(name, { checkpoint });
        await takeLog(dir, name, disk);
        this.#add(name);
      }
      await this.#takeLog(this.#logs[at]);
    }
  }

  #add(name: string): void {
    const { dir, disk } = this.#options;
    const progress = this.#progress.of(name) ?? { checkpoint: 0 };
    this.#logs.push(new TakenLog(dir, name, progress, disk));
  }

  /** Takes over what a log holds beyond what was read. */
  async #takeLog(log: TakenLog): Promise<void> {
    const { target, observer } = this.#options;
    const known = this.#known;
    const { checkpoint } = log;
    const size = log.file.size();
    if (log.read !== undefined && size === log.seen) return;
    for (let most = RANGE_BYTES; (log.read ?? -1) < size;) {
      const { read } = log;
      // What is new is taken at once: only its first entries may be done.
      const to = read === undefined ? size : Math.min(size, read + most);
      const end = await takeRange({ log, known, to, target, observer });
      if (end !== read) {
        const progress = { read: end, checkpoint };
        await this.#progress.save(log.name, progress, known.end);
        known.settle();
        log.read = end;
        most = RANGE_BYTES;
      } else if (to < size) most *= 2;
      else break;
      if (this.#closing) return;
    }
    log.seen = size;
    this.#fastUntil = performance.now() + FAST_FOR_MS;
  }

  #closeFiles(): void {
    for (const file of [this.#known, ...this.#logs.map(({ file }) => file)]) {
      try {
        file.close();
      } catch {
        // What counts is on the disk.
      }
    }
  }
}
