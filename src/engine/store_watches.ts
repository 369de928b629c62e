/** What the store says of changes by itself: sooner than polling finds them, and never to be relied upon. */

import type { TaskStore } from "../store/contract.ts";
import type { TaskQueues } from "../store/task_queues.ts";
import type { Emit } from "./events.ts";

/** A task that the store watches. */
interface Watch {
  /** Ends it. */
  end?: () => void;
  /** Whether the task is being looked at. */
  looking: boolean;
  /** Whether it has to be looked at once more. */
  again: boolean;
}

/** The watches of the live tasks. */
export class StoreWatches {
  readonly #store: TaskStore;
  readonly #queues: TaskQueues;
  readonly #look: (taskId: string) => Promise<unknown>;
  readonly #emit: Emit;
  readonly #watches: Map<string, Watch> = new Map();

  /**
   * @param store The store, which may have no watch.
   * @param queues One queue for each task.
   * @param look Reads a task and shows it; it does not reject.
   * @param emit Where errors go.
   */
  constructor(
    store: TaskStore,
    queues: TaskQueues,
    look: (taskId: string) => Promise<unknown>,
    emit: Emit,
  ) {
    this.#store = store;
    this.#queues = queues;
    this.#look = look;
    this.#emit = emit;
  }

  /**
   * Begins to watch a task.
   *
   * @param taskId The task.
   */
  start(taskId: string): void {
    if (!this.#store.watch) return;
    const watch: Watch = { looking: false, again: false };
    this.#watches.set(taskId, watch);
    this.#guard(taskId, () => {
      watch.end = this.#store.watch!(
        taskId,
        () => void this.#changed(taskId, watch),
      );
    });
  }

  /**
   * Ends to watch a task.
   *
   * @param taskId The task.
   */
  stop(taskId: string): void {
    const watch = this.#watches.get(taskId);
    if (!watch) return;
    this.#watches.delete(taskId);
    this.#guard(taskId, () => watch.end?.());
  }

  async #changed(taskId: string, watch: Watch): Promise<void> {
    if (watch.looking) {
      watch.again = true;
      return;
    }
    // A write looks for itself, and most changes are this process's own.
    if (!this.#isOpen(taskId, watch) || this.#queues.isBusy(taskId)) return;
    watch.looking = true;
    do {
      watch.again = false;
      await this.#look(taskId);
    } while (watch.again && this.#isOpen(taskId, watch));
    watch.looking = false;
  }

  #isOpen(taskId: string, watch: Watch): boolean {
    return this.#watches.get(taskId) === watch;
  }

  #guard(taskId: string, call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#emit({ type: "error", operation: "watch a task", taskId, error });
    }
  }
}
