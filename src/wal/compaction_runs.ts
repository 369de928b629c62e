/** When the log is compacted, and what becomes of a compaction that fails. */

import { hasErrorCode, StoreClosedError, StoreFailedError } from "../errors.ts";
import { Compactor } from "./compactor.ts";
import { appendOldest } from "./entries.ts";
import type { StoreParts } from "./open_store.ts";
import type { ResolvedWalOptions } from "./options.ts";
import type { Segment } from "./segment.ts";

/** The pause after the first failure, in milliseconds; it doubles with each. */
const FIRST_PAUSE_MS = 500;
/** The longest pause after a failure, in milliseconds. */
const LONGEST_PAUSE_MS = 60_000;
/** How often a run goes over the log without making it shorter. */
const PASSES_IN_VAIN = 3;

/** Runs compactions, one at a time. */
export class CompactionRuns {
  readonly #options: ResolvedWalOptions;
  readonly #parts: StoreParts;
  readonly #compactor: Compactor;
  /** The run that is under way. */
  #running: Promise<void> | undefined;
  /** The whole compaction that waits for it. */
  #waiting: Promise<void> | undefined;
  #isStopped = false;
  /** When a failed compaction is tried again, by the clock of `performance`. */
  #notBefore = 0;
  #pauseMs = FIRST_PAUSE_MS;

  /**
   * @param options The options of the store.
   * @param parts The store.
   * @param how How a task is copied.
   */
  constructor(
    options: ResolvedWalOptions,
    parts: StoreParts,
    how: { readonly copy: (taskId: string) => number | Promise<number> },
  ) {
    const { dir, fsync } = options;
    this.#options = options;
    this.#parts = parts;
    this.#compactor = new Compactor({
      ...{ dir, fsync, copy: how.copy },
      disk: parts.disk,
      log: parts.log,
      files: parts.files,
      records: parts.records,
      damages: parts.damages,
      settled: () => parts.settled(),
    });
  }

  /** Starts a run where the log has grown enough. */
  startIfDue(): void {
    const { compactEvery } = this.#options;
    if (compactEvery === null || this.#isStopped) return;
    const { log } = this.#parts;
    if (this.#running) {
      if (this.#isFarTooLong && !this.#compactor.isRefused) log.hold();
      return;
    }
    const isManyEntries = compactEvery !== undefined &&
      log.appended >= compactEvery;
    if (!isManyEntries && !this.#isTooLong) return;
    if (performance.now() < this.#notBefore) return;
    this.#run(() => isManyEntries ? this.#all() : this.#whileTooLong())
      .catch((error) => {
        // A full disk is not to be hammered.
        this.#notBefore = performance.now() + this.#pauseMs;
        this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
        try {
          if (!this.#isStopped) this.#options.onCompactionError(error);
        } catch {
          // An observer changes no outcome.
        }
      });
  }

  /** Compacts all that is there. */
  compactAll(): Promise<void> {
    return this.#waiting ??= this.#allAfterRun();
  }

  async #allAfterRun(): Promise<void> {
    await undefined; // Only then it is known that this waits.
    // Nothing comes between its end and the beginning of this one.
    while (this.#running) await this.#running.catch(() => {});
    this.#waiting = undefined;
    await this.#run(() => this.#all());
  }

  /** Waits for the segment that is under way, and ends. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#waiting?.catch(() => {}); // Whoever asked for it knows.
    await this.#running?.catch(() => {}); // It has told whom it had to.
  }

  get #isTooLong(): boolean {
    const { log, records, segmentBytes } = this.#parts;
    return log.segments.length > 1 &&
      log.bytes > 2 * records.aliveBytes + segmentBytes();
  }

  get #isFarTooLong(): boolean {
    const { log, records, segmentBytes } = this.#parts;
    return log.bytes > 2.1 * records.aliveBytes + 1.2 * segmentBytes();
  }

  #run(work: () => Promise<void>): Promise<void> {
    const running = (async () => {
      await undefined; // Its end comes after it is known to be under way.
      try {
        this.#parts.log.refuseIfUnsure("compact the log");
        await work();
        this.#notBefore = 0;
        this.#pauseMs = FIRST_PAUSE_MS;
      } catch (cause) {
        if (
          hasErrorCode(cause, "ERR_STORE_FAILED") ||
          hasErrorCode(cause, "ERR_STORE_CLOSED")
        ) throw cause;
        throw new StoreFailedError("compact the log", { cause });
      } finally {
        this.#running = undefined;
        this.#parts.log.release();
      }
    })();
    this.#running = running;
    return running;
  }

  async #whileTooLong(): Promise<void> {
    const { log } = this.#parts;
    for (let inVain = 0; inVain < PASSES_IN_VAIN; inVain++) {
      const before = log.bytes;
      for (let left = log.segments.length - 1; left > 0; left--) {
        if (!this.#isTooLong || this.#isStopped) return;
        await this.#compactor.compactOldest();
        if (!this.#isFarTooLong) log.release();
      }
      if (log.bytes < before) inVain = 0;
    }
  }

  async #all(): Promise<void> {
    const { log } = this.#parts;
    log.seal();
    appendOldest(log, log.segments[0].number);
    await this.#parts.settled();
    const last: Segment = log.active!;
    while (log.segments[0] !== last) {
      if (this.#isStopped) throw new StoreClosedError("compact");
      await this.#compactor.compactOldest();
    }
    log.appended = 0;
  }
}
