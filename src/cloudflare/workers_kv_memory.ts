/**
 * What an instance of the store on Workers KV knows of its tasks. KV may give
 * something older for a while, or nothing; who has seen a state goes by that.
 */

import { StoreFailedError } from "../errors.ts";
import type { KvClock } from "./workers_kv_clock.ts";
import { isNewer, type KvVersion } from "./workers_kv_value.ts";

/** How long a state is remembered: far longer than KV's caches keep an older one. */
const REMEMBER_MS = 10 * 60 * 1_000;
/** How long a write that nobody goes on with is waited for: its request has ended. */
const ABANDON_MS = 2 * 60 * 1_000;

/** How much is remembered. */
export interface KvMemoryLimits {
  /** Tasks. More than this within the time are refused. */
  readonly maxTasks: number;
  /** UTF-16 code units of records. Beyond, the oldest are forgotten, but not their versions. */
  readonly maxTextLength: number;
}

/** How much is remembered in a Worker, which has 128 MB. */
export const KV_MEMORY_LIMITS: KvMemoryLimits = {
  maxTasks: 100_000,
  maxTextLength: 16 * 1024 * 1024,
};

/** Writes of one key that land or fail together. */
export interface KvBatch {
  /** The newest version of them that KV has taken. */
  landed: number;
  /** How often the write that is due has been refused. */
  attempts: number;
  /** Why all that has not landed never will. */
  failure?: unknown;
}

/** A state that KV has not taken yet. */
export interface KvPending extends KvVersion {
  readonly text: string;
  /** The task, for messages. */
  readonly taskId: string;
  /** Whether it is the first of the task. */
  readonly first: boolean;
  /** For how long the task lives, in milliseconds; `null`: for ever. */
  readonly ttlMs: number | null;
  /** What becomes of it. */
  readonly batch: KvBatch;
}

/** A write or a deletion under way. */
export interface KvFlight {
  /** When to wait for it no longer, by the clock of the waits. */
  readonly until: number;
  /** Its end. Does not reject. */
  readonly done: Promise<void>;
}

/** What is known of one task. */
export interface KvEntry {
  /** The newest state that is known to be in KV. */
  landed?: KvVersion;
  /** When that became known. */
  landedAt: number;
  /** The largest stamp of the writes that were given up after that, and may be in KV all the same. */
  givenUp?: number;
  /** The newest state that is not. */
  pending?: KvPending;
  /** What is under way. */
  flight?: KvFlight;
  /** When the last of both began. */
  busySince: number;
  /** Before this KV is not given another write. */
  notBefore: number;
}

/** The tasks that are known, by their keys. */
export class KvMemory {
  readonly #clock: KvClock;
  readonly #limits: KvMemoryLimits;
  /** In the order in which their states became known. */
  readonly #entries: Map<string, KvEntry> = new Map();
  /** Those whose records are kept, in the same order. */
  readonly #texts: Map<string, number> = new Map();
  #textLength = 0;

  /**
   * @param clock The clock of the waits.
   * @param limits How much is remembered.
   */
  constructor(clock: KvClock, limits: KvMemoryLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /**
   * What is known of a task.
   *
   * @param key Its key.
   */
  get(key: string): KvEntry | undefined {
    const entry = this.#entries.get(key);
    if (!entry || !this.#isForgettable(entry)) return entry;
    this.#drop(key);
    return undefined;
  }

  /** The keys of all tasks that are known. */
  keys(): string[] {
    this.#forget();
    return [...this.#entries.keys()];
  }

  /**
   * Makes room for a task.
   *
   * @param key Its key.
   * @returns What is known of it: nothing yet.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: there are too many.
   */
  add(key: string): KvEntry {
    this.#forget();
    const { maxTasks } = this.#limits;
    if (this.#entries.size >= maxTasks) {
      throw new StoreFailedError("remember a task", {
        cause: new Error(
          `${maxTasks} tasks were read or written within ${
            REMEMBER_MS / 60_000
          } minutes, and as long they have to be remembered; spread them over more instances, or take DurableObjectTaskStore`,
        ),
      });
    }
    const now = this.#clock.now();
    const entry = { landedAt: now, busySince: now, notBefore: 0 };
    this.#entries.set(key, entry);
    return entry;
  }

  /** Whether another task can be remembered. */
  hasRoom(): boolean {
    this.#forget();
    return this.#entries.size < this.#limits.maxTasks;
  }

  /**
   * Takes note of a state that is in KV, if it is newer than what is known.
   *
   * @param key The key.
   * @param version The state.
   * @returns What is known of the task.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: there are too many.
   */
  note(key: string, version: KvVersion): KvEntry {
    const entry = this.get(key) ?? this.add(key);
    if (entry.landed && !isNewer(version, entry.landed)) return entry;
    entry.landed = version;
    entry.landedAt = this.#clock.now();
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#keepText(key, version.text?.length ?? 0);
    return entry;
  }

  /**
   * Forgets a task of which nothing is known.
   *
   * @param key Its key.
   */
  dropIfEmpty(key: string): void {
    const entry = this.#entries.get(key);
    if (entry && !entry.landed && !this.#isBusy(entry)) this.#drop(key);
  }

  /** Forgets everything. */
  clear(): void {
    this.#entries.clear();
    this.#texts.clear();
    this.#textLength = 0;
  }

  #keepText(key: string, length: number): void {
    this.#dropText(key);
    if (length === 0) return;
    this.#texts.set(key, length);
    this.#textLength += length;
    for (const [oldest] of this.#texts) {
      if (
        this.#textLength <= this.#limits.maxTextLength || oldest === key
      ) return;
      const entry = this.#entries.get(oldest)!;
      const { text: _, ...version } = entry.landed!;
      entry.landed = version;
      this.#dropText(oldest);
    }
  }

  #dropText(key: string): void {
    this.#textLength -= this.#texts.get(key) ?? 0;
    this.#texts.delete(key);
  }

  #forget(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#isForgettable(entry)) this.#drop(key);
      else if (!this.#isBusy(entry)) return;
    }
  }

  /** What became known long ago is everywhere by now. */
  #isForgettable(entry: KvEntry): boolean {
    return !this.#isBusy(entry) &&
      entry.landedAt <= this.#clock.now() - REMEMBER_MS;
  }

  #isBusy({ pending, flight, busySince }: KvEntry): boolean {
    return (pending !== undefined || flight !== undefined) &&
      busySince > this.#clock.now() - ABANDON_MS;
  }

  #drop(key: string): void {
    this.#entries.delete(key);
    this.#dropText(key);
  }
}
