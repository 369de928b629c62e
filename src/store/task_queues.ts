/** One queue for each task: its writes run one after another, those of others beside them. */

/** The queues of an engine, or of a store whose writers should not meet in the database. */
export class TaskQueues {
  readonly #tails: Map<string, Promise<void>> = new Map();

  /**
   * Runs a job after all that was queued for the task before.
   *
   * @param taskId The task.
   * @param job The job.
   * @returns What the job gives.
   */
  run<T>(taskId: string, job: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(taskId);
    const done = before ? before.then(job) : job();
    const end = () => {
      if (this.#tails.get(taskId) === tail) this.#tails.delete(taskId);
    };
    const tail: Promise<void> = done.then(end, end);
    this.#tails.set(taskId, tail);
    return done;
  }

  /**
   * Whether something is queued for a task.
   *
   * @param taskId The task.
   * @returns Whether it is.
   */
  isBusy(taskId: string): boolean {
    return this.#tails.has(taskId);
  }

  /** Resolves when nothing is queued any more. */
  async idle(): Promise<void> {
    while (this.#tails.size > 0) await Promise.all(this.#tails.values());
  }
}
