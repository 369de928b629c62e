/** What the object is working on, in its storage beside the tasks. */

import type { TaskToolCall } from "@mcp-durable/tasks/mcp";

/** What an object has to know to take up a task that lost its worker. */
export interface Job {
  /** The task. */
  readonly taskId: string;
  /** The call that became the task. */
  readonly call: TaskToolCall;
  /** Up to which number it has counted. */
  readonly seen: number;
  /** How many primes there were. */
  readonly primes: number;
}

/** As much of `ctx.storage` as the jobs need. */
export interface JobStorage {
  get(key: string): Promise<unknown>;
  put(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<boolean>;
  list(options: { readonly prefix: string }): Promise<Map<string, unknown>>;
}

const PREFIX = "job/";

/**
 * Makes the job of a new task.
 *
 * @param taskId The task.
 * @param call The call that became the task.
 * @returns The job, at its beginning.
 */
export function startJob(taskId: string, call: TaskToolCall): Job {
  return { taskId, call, seen: 1, primes: 0 };
}

/** The jobs of an object, each under a key of its own. */
export class Jobs {
  readonly #storage: JobStorage;

  /** @param storage The storage of the object. */
  constructor(storage: JobStorage) {
    this.#storage = storage;
  }

  /** Every job. */
  async list(): Promise<readonly Job[]> {
    const found = await this.#storage.list({ prefix: PREFIX });
    return [...found.values()] as Job[];
  }

  /**
   * Finds a job.
   *
   * @param taskId Its task.
   * @returns The job as it was last put; `undefined` if there is none.
   */
  async find(taskId: string): Promise<Job | undefined> {
    return await this.#storage.get(PREFIX + taskId) as Job | undefined;
  }

  /**
   * Adds a job, or changes it.
   *
   * @param job The job as it is now.
   */
  async put(job: Job): Promise<void> {
    await this.#storage.put(PREFIX + job.taskId, job);
  }

  /**
   * Takes a job out.
   *
   * @param taskId Its task.
   */
  async remove(taskId: string): Promise<void> {
    await this.#storage.delete(PREFIX + taskId);
  }
}
