/** A Deno KV with a seam: it counts what is asked of it, and lets a test step in at a write. */

import type {
  DenoKv,
  DenoKvAtomic,
  DenoKvCommit,
  DenoKvEntry,
  DenoKvKey,
  DenoKvRange,
} from "../../deno_kv.ts";

/** A change of one write. */
export type Mutation =
  | {
    readonly type: "set";
    readonly key: DenoKvKey;
    readonly value: Uint8Array;
    readonly expireIn?: number;
  }
  | { readonly type: "delete"; readonly key: DenoKvKey };

/** What stands between the store and the database. */
export class ProbeKv implements DenoKv {
  /** How many reads were made, of one value or several. */
  reads = 0;
  /** The changes of each write that was made, in order. */
  readonly writes: (readonly Mutation[])[] = [];
  /** Is called for each write in place of the write itself, which it may make. */
  onCommit: (
    commit: () => Promise<DenoKvCommit>,
    mutations: readonly Mutation[],
  ) => Promise<DenoKvCommit> = (commit) => commit();
  /** Is called for each read in place of the read itself. */
  onRead: <T>(read: () => Promise<T>) => Promise<T> = (read) => read();
  /** Is called before each entry of a list. */
  onEntry: () => void = () => {};
  readonly #kv: DenoKv;

  constructor(kv: DenoKv) {
    this.#kv = kv;
  }

  get(key: DenoKvKey): Promise<DenoKvEntry> {
    this.reads++;
    return this.onRead(() => this.#kv.get(key));
  }

  getMany(keys: readonly DenoKvKey[]): Promise<readonly DenoKvEntry[]> {
    this.reads++;
    return this.onRead(() => this.#kv.getMany(keys));
  }

  async *list(
    range: DenoKvRange,
    options?: { batchSize?: number },
  ): AsyncGenerator<DenoKvEntry> {
    for await (const entry of this.#kv.list(range, options)) {
      this.onEntry();
      yield entry;
    }
  }

  atomic(): DenoKvAtomic {
    const inner = this.#kv.atomic();
    const mutations: Mutation[] = [];
    const outer: DenoKvAtomic = {
      check: (...checks) => {
        inner.check(...checks);
        return outer;
      },
      set: (key, value, options) => {
        inner.set(key, value, options);
        mutations.push({
          type: "set",
          key,
          value: value as Uint8Array,
          ...options,
        });
        return outer;
      },
      delete: (key) => {
        inner.delete(key);
        mutations.push({ type: "delete", key });
        return outer;
      },
      commit: () =>
        this.onCommit(async () => {
          const result = await inner.commit();
          if (result.ok) this.writes.push(mutations);
          return result;
        }, mutations),
    };
    return outer;
  }

  /** The bytes that were written since the last call, keys left out. */
  takeWrittenBytes(): number {
    let bytes = 0;
    for (const mutation of this.writes.splice(0).flat()) {
      if (mutation.type === "set") bytes += mutation.value.length;
    }
    return bytes;
  }
}
