/** The bindings of Cloudflare Workers as far as the stores use them, typed by their structure. */

/** Where a listing of a Durable Object's storage begins and ends. */
export interface DurableObjectListing {
  /** Keys that begin with this. */
  readonly prefix?: string;
  /** Keys after this one. */
  readonly startAfter?: string;
  /** Keys before this one. */
  readonly end?: string;
  /** So many entries at most. */
  readonly limit?: number;
}

/** What reads and writes the storage of a Durable Object: the storage itself, and a transaction on it. */
export interface DurableObjectReadWrite {
  /** Reads up to 128 values; keys without one are absent. */
  get(keys: string[]): Promise<Map<string, unknown>>;
  /** Reads the entries in the order of their keys' UTF-8 bytes. */
  list(options: DurableObjectListing): Promise<Map<string, unknown>>;
  /** Writes up to 128 values. */
  put(entries: Record<string, unknown>): Promise<void>;
  /** Deletes up to 128 keys, and counts those that were there. */
  delete(keys: string[]): Promise<number>;
}

/** The storage of a Durable Object, `ctx.storage`, with SQLite behind it or without. */
export interface DurableObjectStorageBinding extends DurableObjectReadWrite {
  /** Runs a body whose writes all happen, or none of them. */
  transaction<T>(
    body: (transaction: DurableObjectReadWrite) => Promise<T>,
  ): Promise<T>;
  /** When the alarm of the object is due, in milliseconds since the epoch; `null` if it has none. */
  getAlarm(): Promise<number | null>;
  /** Sets the one alarm of the object. */
  setAlarm(scheduledTimeMs: number): Promise<void>;
}
