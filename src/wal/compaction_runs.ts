/** When the log is compacted, and what becomes of a compaction that fails. */

import { hasErrorCode, StoreFailedError } from "../errors.ts";
import { Compactor } from "./compactor.ts";
import { appendOldest } from "./entries.ts";
import type { StoreParts } from "./open_store.ts";
import type { ResolvedWalOptions } from "./options.ts";
import type { Segment } from "./segment.ts";

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
  /** What the log must have grown to since a compaction has failed. */
  #afterBytes = 0;
  #afterEntries = 0;

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
      settled: () => parts.settled(true),
    });
  }

  /** Starts a run where the log has grown enough. */
  startIfDue(): void {
    const { compactEvery } = this.#options;
    if (compactEvery === null || this.#isStopped) return;
    const { log } = this.#parts;
    if (this.#running) {
      if (this.#isFarTooLong) log.hold();
      return;
    }
    const isManyEntries = compactEvery !== undefined &&
      log.appended >= compactEvery + this.#afterEntries;
    if (!isManyEntries && !this.#isTooLong) return;
    this.#run(() => isManyEntries ? this.#all() : this.#whileTooLong())
      .catch((error) => {
        this.#afterBytes = log.bytes * 1.5;
        this.#afterEntries = log.appended;
        try {
          if (!this.#isStopped) this.#options.onCompactionError(error);
        } catch {
          // An observer changes no outcome.
        }
      });
  }

  /** Compacts all that is there. */
  compactAll(): Promise<void> {
    return this.#waiting ??= (async () => {
      try {
        await this.#running;
      } catch {
        // It has told whom it had to.
      }
      this.#waiting = undefined;
      await this.#run(() => this.#all());
    })();
  }

  /** Waits for the slice that is under way, and ends. */
  async stop(): Promise<void> {
    try {
      await this.#waiting;
      this.#isStopped = true;
      await this.#running;
    } catch {
      // Whoever asked for it knows.
    }
    this.#isStopped = true;
  }

  get #isTooLong(): boolean {
    const { log, records, segmentBytes } = this.#parts;
    return log.segments.length > 1 && log.bytes > this.#afterBytes &&
      log.bytes > 2 * records.aliveBytes + segmentBytes();
  }

  get #isFarTooLong(): boolean {
    const { log, records, segmentBytes } = this.#parts;
    return log.bytes > 2.1 * records.aliveBytes + 1.2 * segmentBytes();
  }

  #run(work: () => Promise<void>): Promise<void> {
    const running = (async () => {
      try {
        const { log } = this.#parts;
        if (log.refusal) {
          throw new StoreFailedError(
            "compact the log (a flush to the disk has failed; open the store again)",
            log.refusal,
          );
        }
        await work();
        this.#afterBytes = this.#afterEntries = 0;
      } catch (cause) {
        if (hasErrorCode(cause, "ERR_STORE_FAILED")) throw cause;
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
    // What is appended meanwhile is for the next run.
    for (let left = log.segments.length - 1; left > 0; left--) {
      if (!this.#isTooLong || this.#isStopped) return;
      await this.#compactor.compactOldest();
      if (!this.#isFarTooLong) log.release();
    }
  }

  async #all(): Promise<void> {
    const { log } = this.#parts;
    log.seal();
    appendOldest(log, log.segments[0].number);
    await this.#parts.settled(true);
    const last: Segment = log.active!;
    while (log.segments[0] !== last) await this.#compactor.compactOldest();
    log.appended = 0;
  }
}
