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
  /**
   * Reads values.
   *
   * @param keys Up to 128 keys.
   * @returns The values; keys without one are absent.
   */
  get(keys: string[]): Promise<Map<string, unknown>>;
  /**
   * Reads entries in the order of their keys' UTF-8 bytes.
   *
   * @param options Which.
   * @returns The entries, in that order.
   */
  list(options: DurableObjectListing): Promise<Map<string, unknown>>;
  /**
   * Writes values.
   *
   * @param entries Up to 128 values by their keys.
   */
  put(entries: Record<string, unknown>): Promise<void>;
  /**
   * Deletes values.
   *
   * @param keys Up to 128 keys.
   * @returns How many were there.
   */
  delete(keys: string[]): Promise<number>;
  /**
   * Reads for when the alarm of the object is set.
   *
   * @returns Milliseconds since the epoch; `null` if it is not, and while it rings.
   */
  getAlarm(): Promise<number | null>;
  /**
   * Sets the one alarm of the object.
   *
   * @param scheduledTimeMs When, in milliseconds since the epoch.
   */
  setAlarm(scheduledTimeMs: number): Promise<void>;
  /** Takes the alarm of the object away. */
  deleteAlarm(): Promise<void>;
}

/** The storage of a Durable Object, `ctx.storage`, with SQLite behind it or without. */
export interface DurableObjectStorageBinding extends DurableObjectReadWrite {
  /**
   * Runs a body whose writes all happen, or none of them. No other event of the
   * object runs meanwhile.
   *
   * @param body The body, which gets what it reads and writes with.
   * @returns What the body returns.
   */
  transaction<T>(
    body: (transaction: DurableObjectReadWrite) => Promise<T>,
  ): Promise<T>;
}

/** What the platform hands to a Durable Object's `alarm()`. */
export interface DurableObjectAlarmInfo {
  /** For when the alarm was set, in milliseconds since the epoch. */
  readonly scheduledTime?: number;
}
