/** One queue for each task: writers of one process do not meet in the database. */

/** Queues that come and go with their jobs. */
export class KeyQueues {
  readonly #tails: Map<string, Promise<void>> = new Map();

  /**
   * Runs a job when those before it in the same queue are done.
   *
   * @param name The queue.
   * @param job The job.
   * @returns What it gives.
   */
  run<T>(name: string, job: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(name);
    const result = before ? before.then(job) : job();
    const tail = result.then(() => {}, () => {}).then(() => {
      if (this.#tails.get(name) === tail) this.#tails.delete(name);
    });
    this.#tails.set(name, tail);
    return result;
  }
}
