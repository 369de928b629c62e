/** The ids and calls of the jobs that are running, in a small file. */

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { TaskToolCall } from "../../mcp.ts";

/** What a server has to know to take up a task that lost its worker. */
export interface Job {
  /** The task. */
  readonly taskId: string;
  /** The call that became the task. */
  readonly call: TaskToolCall;
  /** The extension that the client asked for, once it has answered. */
  readonly extension?: string;
  /** How many files are done: those are not read slowly again. */
  readonly done: number;
}

/** A file of jobs, rewritten as a whole and put in place by a rename. */
export class JobFile {
  readonly #path: string;
  readonly #jobs: Map<string, Job>;

  /** @param path The file; it need not exist. */
  constructor(path: string) {
    this.#path = path;
    this.#jobs = new Map(read(path).map((job) => [job.taskId, job]));
  }

  /** Every job in the file. */
  list(): readonly Job[] {
    return [...this.#jobs.values()];
  }

  /**
   * Finds a job.
   *
   * @param taskId Its task.
   * @returns The job as it was last put; `undefined` if there is none.
   */
  find(taskId: string): Job | undefined {
    return this.#jobs.get(taskId);
  }

  /**
   * Adds a job, or changes it.
   *
   * @param job The job as it is now.
   */
  put(job: Job): void {
    this.#jobs.set(job.taskId, job);
    this.#write();
  }

  /**
   * Takes a job out.
   *
   * @param taskId Its task.
   */
  remove(taskId: string): void {
    if (this.#jobs.delete(taskId)) this.#write();
  }

  #write(): void {
    const next = `${this.#path}.next`;
    writeFileSync(next, JSON.stringify(this.list(), null, 1));
    renameSync(next, this.#path);
  }
}

function read(path: string): readonly Job[] {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return [];
    throw error;
  }
}
