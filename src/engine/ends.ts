/** How a worker has ended its task itself, whether it has awaited that or not. */

import { quiet } from "./quiet.ts";

/** The ends that one run of a worker has set. */
export class Ends {
  readonly #set: Promise<void>[] = [];
  #ended = false;
  #failure: { readonly error: unknown } | undefined;

  /** Whether one of them has taken effect. */
  get ended(): boolean {
    return this.#ended;
  }

  /**
   * Sets an end. A worker that forgets to await it loses neither its result
   * nor the process.
   *
   * @param end Sets it.
   * @returns Settles when it is set; a rejection is never an unhandled one.
   */
  track(end: () => Promise<void>): Promise<void> {
    const set = end().then(
      () => {
        this.#ended = true;
      },
      (error) => {
        this.#failure = { error };
        throw error;
      },
    );
    this.#set.push(set);
    return quiet(set);
  }

  /** Waits until all of them are settled. */
  async settle(): Promise<void> {
    for (let settled = 0; settled < this.#set.length;) {
      settled = this.#set.length;
      await Promise.allSettled(this.#set);
    }
  }

  /**
   * Waits, and throws what the last one failed with, where none has taken
   * effect and there is nothing else to end the task with.
   *
   * @param result What the worker has returned.
   */
  async conclude(result: unknown): Promise<void> {
    await this.settle();
    if (!this.#ended && this.#failure && result === undefined) {
      throw this.#failure.error;
    }
  }
}
