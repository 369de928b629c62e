/** A Workers KV namespace as far as the store uses it, typed by its structure. */

/** What can be said of a value when it is written. */
export interface WorkersKvPutOptions {
  /** After how many seconds KV deletes it; 60 at least. Absent: never. */
  readonly expirationTtl?: number;
  /** What a listing gives beside the key: at most 1,024 bytes of JSON. */
  readonly metadata?: unknown;
}

/** One page of a listing. */
export interface WorkersKvListing {
  /** The keys in their order, with what was said of their values. */
  readonly keys: readonly {
    /** The key. */
    readonly name: string;
    /** What was given as `metadata` when the value was written. */
    readonly metadata?: unknown;
  }[];
  /** Whether there are no more. */
  readonly list_complete: boolean;
  /** Where the next page begins; absent on the last one. */
  readonly cursor?: string;
}

/** A Workers KV namespace: `env.TASKS`, where `TASKS` is a binding of `kv_namespaces`. */
export interface WorkersKvBinding {
  /**
   * Reads a value, and what was said of it.
   *
   * @param key The key.
   * @param type How to read it.
   * @returns The value; `null` if there is none.
   */
  getWithMetadata(
    key: string,
    type: "text",
  ): Promise<{ readonly value: string | null; readonly metadata: unknown }>;
  /**
   * Writes a value.
   *
   * @param key The key.
   * @param value The value.
   * @param options What to say of it.
   */
  put(
    key: string,
    value: string,
    options: WorkersKvPutOptions,
  ): Promise<void>;
  /**
   * Deletes a value.
   *
   * @param key The key.
   */
  delete(key: string): Promise<void>;
  /**
   * Lists keys, 1,000 at most.
   *
   * @param options What they begin with, and where the page begins.
   */
  list(options: {
    readonly prefix: string;
    readonly cursor?: string;
  }): Promise<WorkersKvListing>;
}
