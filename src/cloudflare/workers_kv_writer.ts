/**
 * Writes to Workers KV, one at a time for each key, and no more often than KV
 * takes them. What comes meanwhile is merged into the next write.
 *
 * In a Worker a request may end at any time, and with it its timers and what it
 * waits for. So nobody writes for others: each caller waits by itself, and the
 * first whose turn has come writes what is newest then.
 */

import {
  ConcurrentUpdateError,
  DuplicateTaskIdError,
  StoreFailedError,
} from "../errors.ts";
import type { TaskRecord } from "../model/record.ts";
import type { KvClock } from "./workers_kv_clock.ts";
import type { KvEntry, KvMemory, KvPending } from "./workers_kv_memory.ts";
import type { WorkersKvBinding } from "./workers_kv_shape.ts";
import {
  isNewer,
  isSame,
  type KvVersion,
  putOptions,
} from "./workers_kv_value.ts";

/** How often a write is tried. With the pauses between, for 15 to 23 seconds. */
const MAX_ATTEMPTS = 5;
/** The first pause after a refusal; each further one is twice as long. */
const FIRST_PAUSE_MS = 1_000;
/** A write that takes longer was begun by a request that has ended. */
const LONGEST_FLIGHT_MS = 30_000;

/** The one way in which the store writes. */
export class KvWriter {
  readonly #kv: WorkersKvBinding;
  readonly #memory: KvMemory;
  readonly #clock: KvClock;
  readonly #intervalMs: number;

  /**
   * @param kv The namespace.
   * @param memory What is known of the tasks.
   * @param clock The clock of the waits.
   * @param intervalMs How long a key rests between two writes.
   */
  constructor(
    kv: WorkersKvBinding,
    memory: KvMemory,
    clock: KvClock,
    intervalMs: number,
  ) {
    this.#kv = kv;
    this.#memory = memory;
    this.#clock = clock;
    this.#intervalMs = intervalMs;
  }

  /**
   * Whether nothing of a key is pending or under way.
   *
   * @param entry What is known of it.
   */
  isIdle({ pending, flight }: KvEntry): boolean {
    return !pending && !(flight && this.#clock.now() < flight.until);
  }

  /**
   * Gives KV a state, and waits until KV has taken it, or one that was made of
   * it. The state counts as pending when this returns its promise.
   *
   * @param key The key.
   * @param entry What is known of it.
   * @param pending The state.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: KV did not take it; it may be there all the same.
   * @throws {ConcurrentUpdateError} `ERR_CONCURRENT_UPDATE`: another instance was faster.
   * @throws {DuplicateTaskIdError} `ERR_DUPLICATE_TASK_ID`: the same, of a new task.
   */
  async write(key: string, entry: KvEntry, pending: KvPending): Promise<void> {
    entry.pending = pending;
    entry.busySince = this.#clock.now();
    await this.#land(key, entry, pending);
  }

  async #land(key: string, entry: KvEntry, mine: KvPending): Promise<void> {
    const { batch, version } = mine;
    for (;;) {
      if (batch.landed >= version) return;
      if (batch.failure !== undefined) throw batch.failure;
      await (this.#obstacle(entry) ?? this.#put(key, entry));
    }
  }

  /**
   * Waits until nothing of a key is pending or under way, however it ends.
   *
   * @param key The key.
   * @param entry What is known of it.
   */
  async settle(key: string, entry: KvEntry): Promise<void> {
    while (!this.isIdle(entry)) {
      const { pending } = entry;
      if (pending) await this.#land(key, entry, pending).catch(() => {});
      else await this.#obstacle(entry);
    }
  }

  /**
   * Deletes a key, unless something else is done with it.
   *
   * @param key The key.
   * @param isDue Gives the state that is to be deleted; `undefined` if it is not, or no longer.
   * @returns Whether it was deleted here.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: KV did not do it.
   */
  async remove(
    key: string,
    isDue: () => KvVersion | undefined,
  ): Promise<boolean> {
    for (let attempts = 0;;) {
      const known = this.#memory.get(key);
      if (known && !this.isIdle(known)) return false;
      const obstacle = known && this.#obstacle(known);
      if (obstacle) {
        await obstacle;
        continue;
      }
      const version = isDue();
      if (!version) return false;
      // Without room for a mark that it was deleted, it is deleted without.
      const entry = known ??
        (this.#memory.hasRoom() ? this.#memory.add(key) : undefined);
      const end = entry && this.#begin(entry);
      try {
        await this.#kv.delete(key);
        const { text: _, ...rest } = version;
        if (entry) {
          this.#memory.note(key, { ...rest, deleted: true });
          this.#rest(entry, this.#intervalMs);
        }
        return true;
      } catch (error) {
        attempts++;
        if (isFinal(error, attempts)) {
          throw new StoreFailedError("delete a task", { cause: error });
        }
      } finally {
        end?.();
        this.#memory.dropIfEmpty(key);
      }
      await this.#clock.wait(this.#pause(attempts));
    }
  }

  /** What has to pass before a key may be written; `undefined`: it may be now. */
  #obstacle({ flight, notBefore }: KvEntry): Promise<void> | undefined {
    const now = this.#clock.now();
    if (flight && now < flight.until) {
      return this.#clock.wait(flight.until - now, flight.done);
    }
    if (now < notBefore) return this.#clock.wait(notBefore - now);
    return undefined;
  }

  async #put(key: string, entry: KvEntry): Promise<void> {
    const pending = entry.pending!;
    const { batch, text, ttlMs } = pending;
    const { landed } = entry;
    if (landed && !isNewer(pending, landed)) {
      // Seen there by a reader: this very state, after an answer that was lost, or another's.
      if (isSame(landed, pending)) this.#landed(entry, pending);
      else this.#fail(entry, pending, overtaken(pending, landed));
      return;
    }
    const end = this.#begin(entry);
    let error: unknown;
    let isMade = false;
    try {
      await this.#kv.put(key, text, putOptions(pending, ttlMs));
      isMade = true;
    } catch (thrown) {
      error = thrown;
    }
    const isOvertaken = !end();
    if (isMade) {
      const { stamp, write, version, expiresAt } = pending;
      const state = { stamp, write, version, expiresAt, deleted: false };
      this.#memory.note(key, { ...state, text });
      this.#landed(entry, pending);
      this.#rest(entry, this.#intervalMs);
    } else if (isOvertaken) {
      // Others have written since: they say how it goes on.
    } else if (isFinal(error, ++batch.attempts)) {
      const failure = new StoreFailedError("write a task", { cause: error });
      this.#fail(entry, pending, failure);
      entry.givenUp = Math.max(entry.givenUp ?? 0, pending.stamp);
      this.#rest(entry, this.#intervalMs);
    } else this.#rest(entry, this.#pause(batch.attempts));
    if (isOvertaken && entry.landed && isNewer(entry.landed, pending)) {
      await this.#putAgain(key, entry, entry.landed);
    }
    this.#memory.dropIfEmpty(key);
  }

  /**
   * Writes what is newest once more, after a write that took so long that
   * others did not wait for it: it may have come to KV after theirs.
   */
  async #putAgain(
    key: string,
    entry: KvEntry,
    { text, ...landed }: KvVersion,
  ): Promise<void> {
    if (!entry.pending) {
      // It was deleted, or its record is not kept.
      if (text === undefined) return;
      const { taskId, ttlMs }: TaskRecord = JSON.parse(text);
      const stamp = Math.max(landed.stamp, entry.givenUp ?? 0) + 1;
      const batch = { landed: -Infinity, attempts: 0 };
      const again = { ...landed, text, stamp, taskId, ttlMs, batch };
      entry.pending = { ...again, first: false };
      entry.busySince = this.#clock.now();
    }
    // What was acknowledged stands in memory; a failure is nobody's.
    await this.#land(key, entry, entry.pending).catch(() => {});
  }

  #landed(entry: KvEntry, pending: KvPending): void {
    const { batch, version } = pending;
    batch.landed = Math.max(batch.landed, version);
    batch.attempts = 0;
    if (pending.stamp > (entry.givenUp ?? -1)) entry.givenUp = undefined;
    if (entry.pending === pending) entry.pending = undefined;
  }

  #fail(entry: KvEntry, { batch }: KvPending, failure: unknown): void {
    batch.failure = failure;
    if (entry.pending?.batch === batch) entry.pending = undefined;
  }

  /** Marks that something is under way; answers what ends it, and says whether others waited so long. */
  #begin(entry: KvEntry): () => boolean {
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const now = this.#clock.now();
    const flight = { until: now + LONGEST_FLIGHT_MS, done };
    entry.flight = flight;
    entry.busySince = now;
    return () => {
      resolve();
      if (entry.flight !== flight) return false;
      entry.flight = undefined;
      return true;
    };
  }

  #rest(entry: KvEntry, ms: number): void {
    entry.notBefore = this.#clock.now() + ms;
  }

  #pause(attempts: number): number {
    const ms = FIRST_PAUSE_MS * 2 ** (attempts - 1);
    return ms * (1 + this.#clock.random() / 2);
  }
}

function overtaken(pending: KvPending, landed: KvVersion): Error {
  const { taskId, version } = pending;
  return pending.first
    ? new DuplicateTaskIdError(taskId)
    : new ConcurrentUpdateError(taskId, version - 1, landed.version);
}

/** KV says in the message what it answers: 429 where it was too soon, another 4xx where it never will. */
function isFinal(error: unknown, attempts: number): boolean {
  if (attempts >= MAX_ATTEMPTS || error instanceof TypeError) return true;
  const status = /\bfailed: (\d{3})\b/.exec(String(error))?.[1];
  return status !== undefined && status.startsWith("4") && status !== "429";
}
