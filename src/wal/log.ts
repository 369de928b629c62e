/** What the store needs of a log, whatever its files look like. */

import type { StoreFailedError } from "../errors.ts";

/** A log that is open. What it holds was given out when it was opened. */
export interface Log {
  /** Bytes on the disk. */
  readonly bytes: number;
  /** Entries appended since the last compaction. */
  readonly appended: number;

  /**
   * Appends entries, all in one write. `settled` is called once, from outside
   * this call: without an error when they are as safe as the log makes them,
   * in the order of the calls; with one when they were cut off again. On an
   * error it is called, in one go, for every entry that is not yet settled, so
   * that none stays whose predecessor is gone.
   *
   * @param bodies The entries, each JSON on one line; none, to wait for what was
   * appended before.
   * @param settled Takes the outcome. It must not throw.
   */
  append(
    bodies: readonly string[],
    settled: (error?: StoreFailedError) => void,
  ): void;

  /**
   * Writes what is alive anew and drops the rest. Nothing is settled while it
   * runs: what is appended meanwhile waits.
   *
   * @param live Gives the entries that are alive, when its time has come.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: all is as it was.
   */
  compact(live: () => LiveEntries): Promise<void>;

  /** Waits until everything is settled, and closes the files. */
  close(): Promise<void>;
}

/** What a compaction keeps. */
export interface LiveEntries {
  /** How many there are. */
  readonly count: number;
  /** The entries. They must not change while they are read. */
  readonly bodies: Iterable<string>;
}
