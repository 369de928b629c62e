/** The handle as the store uses it: within its limits, and patient where the file is locked. */

import { LIST_BATCH, MAX_READ_KEYS } from "./limits.ts";
import { untilUnlocked } from "./retry.ts";
import type {
  DenoKv,
  DenoKvAtomic,
  DenoKvCommit,
  DenoKvEntry,
  DenoKvKey,
  DenoKvRange,
} from "./shape.ts";

/** A connection to a database. While another process has its file locked, each call tries again. */
export class Connection {
  readonly #kv: DenoKv;
  readonly #busyTimeoutMs: number;

  /**
   * @param kv The handle.
   * @param busyTimeoutMs For how long it tries, in milliseconds.
   */
  constructor(kv: DenoKv, busyTimeoutMs: number) {
    this.#kv = kv;
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  /**
   * Reads a value.
   *
   * @param key The key.
   * @returns The value with its version.
   */
  get(key: DenoKvKey): Promise<DenoKvEntry> {
    return this.#try(() => this.#kv.get(key));
  }

  /**
   * Reads any number of values.
   *
   * @param keys The keys.
   * @returns The values, in the order of the keys; not all are of one moment.
   */
  async getMany(keys: readonly DenoKvKey[]): Promise<DenoKvEntry[]> {
    const reads: Promise<readonly DenoKvEntry[]>[] = [];
    for (let from = 0; from < keys.length; from += MAX_READ_KEYS) {
      const some = keys.slice(from, from + MAX_READ_KEYS);
      reads.push(this.#try(() => this.#kv.getMany(some)));
    }
    return (await Promise.all(reads)).flat();
  }

  /**
   * Makes changes, all or none.
   *
   * @param build Adds checks and changes; it is called anew for each try.
   * @returns Whether they were made.
   */
  commit(build: (atomic: DenoKvAtomic) => void): Promise<DenoKvCommit> {
    return this.#try(() => {
      const atomic = this.#kv.atomic();
      build(atomic);
      return atomic.commit();
    });
  }

  /**
   * Hands out what is in a range, some entries at a time. Where the file is
   * locked it begins anew, so that what is there still comes again.
   *
   * @param range The range.
   * @param size How many entries at a time.
   * @param take Takes them.
   */
  async list(
    range: DenoKvRange,
    size: number,
    take: (entries: readonly DenoKvEntry[]) => Promise<void>,
  ): Promise<void> {
    await this.#try(async () => {
      let chunk: DenoKvEntry[] = [];
      const entries = this.#kv.list(range, { batchSize: LIST_BATCH });
      for await (const entry of entries) {
        if (chunk.push(entry) < size) continue;
        await take(chunk);
        chunk = [];
      }
      if (chunk.length > 0) await take(chunk);
    });
  }

  #try<T>(operation: () => Promise<T>): Promise<T> {
    return untilUnlocked(operation, this.#busyTimeoutMs);
  }
}
