/** Reports of progress on a store that takes few writes. */

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
  /** The last that is queued for a task, as long as nothing else is after it. */
  readonly #queued: Map<string, QueuedReport> = new Map();

  /**
   * Reports.
   *
   * @param taskId The task.
   * @param patch What changes.
   * @param write Queues a write, of what `take` gives when its turn has come.
   * @returns Resolves when it is stored.
   */
  report(
    taskId: string,
    patch: TaskPatch,
    write: (take: () => TaskPatch) => Promise<void>,
  ): Promise<void> {
    const queued = this.#queued.get(taskId);
    if (queued) {
      queued.patch = { ...queued.patch, ...patch };
      return queued.written;
    }
    const leave = () => {
      if (this.#queued.get(taskId) === report) this.seal(taskId);
    };
    const written = write(() => {
      leave();
      return report.patch;
    });
    const report: QueuedReport = { patch, written };
    this.#queued.set(taskId, report);
    written.then(leave, leave);
    return written;
  }

  /**
   * Says that something else is queued: reports that come after it stay after it.
   *
   * @param taskId The task.
   */
  seal(taskId: string): void {
    this.#queued.delete(taskId);
  }
}
