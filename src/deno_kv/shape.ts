/** What is used of a Deno KV, as a structure: `Deno.Kv` has it, and so has the `Kv` of `@deno/kv`. */

/** A key: parts that are compared one after the other. */
export type DenoKvKey = readonly (Uint8Array | string | number)[];

/** A value with its version, or its absence. */
export interface DenoKvEntry {
  /** The key. */
  readonly key: readonly unknown[];
  /** The value; `null` if there is none. */
  readonly value: unknown;
  /** Grows with each change of the value; `null` if there is none. */
  readonly versionstamp: string | null;
}

/** What a write requires of a key. */
export interface DenoKvCheck {
  /** The key. */
  readonly key: DenoKvKey;
  /** The version that it has to have; `null`: it has no value. */
  readonly versionstamp: string | null;
}

/** How a write ended: it was made, or a check did not hold. */
export type DenoKvCommit =
  | {
    /** It was made. */
    readonly ok: true;
    /** The version that the keys have now. */
    readonly versionstamp: string;
  }
  | {
    /** A check did not hold, and nothing was changed. */
    readonly ok: false;
  };

/** Changes that are made together, or not at all. */
export interface DenoKvAtomic {
  /**
   * Adds checks.
   *
   * @param checks What has to hold for any change to be made.
   * @returns The same operation.
   */
  check(...checks: DenoKvCheck[]): DenoKvAtomic;
  /**
   * Adds a change that sets a value.
   *
   * @param key The key.
   * @param value The value.
   * @param options After how many milliseconds the database may drop it.
   * @returns The same operation.
   */
  set(
    key: DenoKvKey,
    value: unknown,
    options?: { expireIn?: number },
  ): DenoKvAtomic;
  /**
   * Adds a change that deletes a value.
   *
   * @param key The key.
   * @returns The same operation.
   */
  delete(key: DenoKvKey): DenoKvAtomic;
  /**
   * Makes the changes.
   *
   * @returns Whether they were made.
   */
  commit(): Promise<DenoKvCommit>;
}

/** The keys between two others. */
export interface DenoKvRange {
  /** The first key. */
  readonly start: DenoKvKey;
  /** The first key that is not among them. */
  readonly end: DenoKvKey;
}

/** Reports of changes, as a `ReadableStream` gives them. */
export interface DenoKvStream {
  /**
   * Takes the stream.
   *
   * @returns What reads it.
   */
  getReader(): {
    /** Waits for the next report. */
    read(): Promise<{ readonly done: boolean }>;
    /** Ends the stream. */
    cancel(): Promise<void>;
  };
}

/** A Deno KV: what `Deno.openKv()` gives, or `openKv()` of `@deno/kv`. */
export interface DenoKv {
  /**
   * Reads a value.
   *
   * @param key The key.
   * @returns The value with its version.
   */
  get(key: DenoKvKey): Promise<DenoKvEntry>;
  /**
   * Reads up to 10 values of one moment.
   *
   * @param keys The keys.
   * @returns The values, in the order of the keys.
   */
  getMany(keys: readonly DenoKvKey[]): Promise<readonly DenoKvEntry[]>;
  /**
   * Reads the values of a range, in the order of their keys.
   *
   * @param range The range.
   * @param options How many are read at once.
   * @returns The values, read as they are asked for.
   */
  list(
    range: DenoKvRange,
    options?: { batchSize?: number },
  ): AsyncIterable<DenoKvEntry>;
  /**
   * Begins a write.
   *
   * @returns A write without a change.
   */
  atomic(): DenoKvAtomic;
  /**
   * Reports changes of values, and what they are at first. Without it changes
   * are found by polling alone.
   *
   * @param keys The keys.
   * @returns The reports.
   */
  watch?(keys: readonly DenoKvKey[]): DenoKvStream;
}
