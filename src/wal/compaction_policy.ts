/** When a log is compacted without being asked. */

import type { Log } from "./log.ts";

/** A smaller log is not worth it. */
const SMALLEST_LOG_BYTES = 1024 * 1024;

/** Decides by the growth of a log. */
export class CompactionPolicy {
  readonly #every: number | null | undefined;
  /** What the log must have grown to since a compaction has failed. */
  #afterBytes = 0;
  #afterEntries = 0;

  /** @param every The option: a number of entries, `null` for never, `undefined` for by size. */
  constructor(every: number | null | undefined) {
    this.#every = every;
  }

  /**
   * Tells whether it is time.
   *
   * @param log The log.
   * @param liveBytes Bytes that it would have after a compaction.
   */
  isDue(log: Log, liveBytes: number): boolean {
    if (this.#every === null) return false;
    if (this.#every !== undefined) {
      return log.appended >= this.#every + this.#afterEntries;
    }
    return log.bytes > SMALLEST_LOG_BYTES && log.bytes > 2 * liveBytes &&
      log.bytes > this.#afterBytes;
  }

  /** Starts anew after a compaction. */
  succeeded(): void {
    this.#afterBytes = this.#afterEntries = 0;
  }

  /** Waits until the log has grown by as much again, so that a full disk is not hammered. */
  failed(log: Log): void {
    this.#afterBytes = log.bytes * 1.5;
    this.#afterEntries = log.appended;
  }
}
