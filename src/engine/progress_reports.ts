/** The reports of progress of one handle, on a store that takes few writes. */

import type { TaskPatch } from "../model/record.ts";

/** A report that is queued, with all that were merged into it. */
interface QueuedReport {
  patch: TaskPatch;
  readonly written: Promise<void>;
}

/**
 * Merges reports that wait for the same write: the client reads the newest, as
 * it would have anyway, and each report resolves when that one is stored.
 */
export class ProgressReports {
  readonly #write: (take: () => TaskPatch) => Promise<void>;
  #queued: QueuedReport | undefined;

  /** @param write Writes what `take` gives when its turn has come. */
  constructor(write: (take: () => TaskPatch) => Promise<void>) {
    this.#write = write;
  }

  /**
   * Reports.
   *
   * @param patch What changes.
   * @returns Resolves when it is stored.
   */
  report(patch: TaskPatch): Promise<void> {
    if (this.#queued) {
      this.#queued.patch = { ...this.#queued.patch, ...patch };
      return this.#queued.written;
    }
    const written = this.#write(() => {
      this.#leave(report);
      return report.patch;
    });
    const report: QueuedReport = { patch, written };
    this.#queued = report;
    const leave = () => this.#leave(report);
    written.then(leave, leave);
    return written;
  }

  /** Something else is queued: reports that come after it stay after it. */
  seal(): void {
    this.#queued = undefined;
  }

  #leave(report: QueuedReport): void {
    if (this.#queued === report) this.#queued = undefined;
  }
}
