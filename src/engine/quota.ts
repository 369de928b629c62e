/** How many tasks there may be, over all and for each owner (rule I13). */

import { LimitExceededError } from "../errors.ts";
import type { TaskLimits } from "../model/limits.ts";

/** A task that counts. */
interface Counted {
  readonly owner: string | undefined;
  readonly expiresAt: number;
}

/** Counts the tasks that this instance has created and that have not expired. */
export class TaskQuota {
  readonly #limits: TaskLimits;
  readonly #tasks: Map<string, Counted> = new Map();
  readonly #owners: Map<string | undefined, number> = new Map();

  /** Whether there is no limit, and so nothing to count. */
  readonly isOff: boolean;

  /** @param limits The limits in force. */
  constructor(limits: TaskLimits) {
    this.#limits = limits;
    this.isOff = limits.maxTasks === null && limits.maxTasksPerOwner === null;
  }

  /**
   * Counts a task that is about to be created.
   *
   * @param taskId The task.
   * @param owner Its owner.
   * @param expiresAt When it expires, in milliseconds since the epoch.
   * @param now The time.
   * @returns Takes it back, if the task was not created.
   * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: there would be too many.
   */
  add(
    taskId: string,
    owner: string | undefined,
    expiresAt: number,
    now: number,
  ): () => void {
    const { maxTasks, maxTasksPerOwner } = this.#limits;
    // An id that is counted already will be refused by the store.
    if (this.isOff || this.#tasks.has(taskId)) return () => {};
    const full = () =>
      maxTasks !== null && this.#tasks.size >= maxTasks
        ? (["maxTasks", maxTasks] as const)
        : maxTasksPerOwner !== null &&
            (this.#owners.get(owner) ?? 0) >= maxTasksPerOwner
        ? (["maxTasksPerOwner", maxTasksPerOwner] as const)
        : undefined;
    if (full()) this.#forgetExpired(now);
    const limit = full();
    if (limit) {
      const [name, maximum] = limit;
      throw new LimitExceededError(
        name,
        maximum,
        "Cannot create a task: there are as many as there may be",
      );
    }
    this.#tasks.set(taskId, { owner, expiresAt });
    this.#owners.set(owner, (this.#owners.get(owner) ?? 0) + 1);
    return () => this.#remove(taskId);
  }

  #remove(taskId: string): void {
    const task = this.#tasks.get(taskId);
    if (!task) return;
    this.#tasks.delete(taskId);
    const left = this.#owners.get(task.owner)! - 1;
    if (left === 0) this.#owners.delete(task.owner);
    else this.#owners.set(task.owner, left);
  }

  #forgetExpired(now: number): void {
    for (const [taskId, task] of this.#tasks) {
      if (task.expiresAt <= now) this.#remove(taskId);
    }
  }
}
