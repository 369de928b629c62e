/** Read, decide, compare-and-swap: the one way in which a task changes. */

import {
  isConcurrentUpdateError,
  isTaskNotFoundError,
  LifecycleClosedError,
  TaskEntryTooLargeError,
  TaskNotFoundError,
} from "../errors.ts";
import { isExpired } from "../model/expiry.ts";
import { jsonBytes } from "../model/json.ts";
import {
  applyTaskPatch,
  type TaskPatch,
  type TaskRecord,
} from "../model/record.ts";
import type { LiveTasks } from "./live_tasks.ts";
import type { ResolvedOptions } from "./options.ts";
import { guardStore } from "./store_guard.ts";
import type { TaskQueues } from "./task_queues.ts";

/** What a decision comes to. */
export interface Change<T> {
  /** What to write; absent: nothing. */
  readonly patch?: TaskPatch;
  /** The client would not see it, so `lastUpdatedAt` stays (rule I4). */
  readonly silent?: boolean;
  /** Makes what the caller gets: after the commit, before the next write of this process. */
  readonly result: () => T;
}

/** Decides on a record; called again when somebody else was faster. */
export type Decide<T> = (record: TaskRecord) => Change<T>;

/** Tries before a writer gives up against others. */
const MAX_ATTEMPTS = 64;

/** The longest pause between two tries, in milliseconds. */
const MAX_PAUSE_MS = 100;

/** The fields whose size the worker decides at the end; input is measured where it is made. */
const PAYLOADS = ["result", "error"] as const;

/** Reads and writes tasks. */
export class TaskWriter {
  readonly #options: ResolvedOptions;
  readonly #queues: TaskQueues;
  readonly #live: LiveTasks;
  readonly #isClosed: () => boolean;

  /**
   * @param options The options of the engine.
   * @param queues One queue for each task.
   * @param live Who in this process has to learn of a change.
   * @param isClosed Whether everything is refused.
   */
  constructor(
    options: ResolvedOptions,
    queues: TaskQueues,
    live: LiveTasks,
    isClosed: () => boolean,
  ) {
    this.#options = options;
    this.#queues = queues;
    this.#live = live;
    this.#isClosed = isClosed;
  }

  /**
   * Reads a record.
   *
   * @param taskId The task.
   * @returns The record; `undefined` if it is unknown or expired.
   */
  async read(taskId: string): Promise<TaskRecord | undefined> {
    this.#refuseIfClosed("read a task");
    const now = this.#options.now();
    const record = await guardStore(
      "read a task",
      () => this.#options.store.get(taskId, now),
    );
    return record && !isExpired(record, now) ? record : undefined;
  }

  /**
   * Changes a record.
   *
   * @param taskId The task.
   * @param operation What is being done, for messages.
   * @param decide Decides what to write.
   * @returns The result of the decision.
   * @throws {TaskNotFoundError} `ERR_TASK_NOT_FOUND`: unknown or expired.
   * @throws {ConcurrentUpdateError} `ERR_CONCURRENT_UPDATE`: others were faster, time and again.
   * @throws {TaskEntryTooLargeError} `ERR_ENTRY_TOO_LARGE`: the record would be too large.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: the store failed.
   * @throws {LifecycleClosedError} `ERR_LIFECYCLE_CLOSED`: after the end of `close()`.
   */
  change<T>(taskId: string, operation: string, decide: Decide<T>): Promise<T> {
    return this.#queues.run(taskId, async () => {
      for (let attempt = 1;; attempt++) {
        this.#refuseIfClosed(operation);
        try {
          return await this.#attempt(taskId, operation, decide);
        } catch (error) {
          if (!isConcurrentUpdateError(error) || attempt === MAX_ATTEMPTS) {
            throw error;
          }
        }
        await pause(Math.random() * Math.min(2 ** attempt, MAX_PAUSE_MS));
      }
    });
  }

  async #attempt<T>(
    taskId: string,
    operation: string,
    decide: Decide<T>,
  ): Promise<T> {
    const { store, now } = this.#options;
    const before = await this.read(taskId);
    if (!before) {
      this.#live.gone(taskId);
      throw new TaskNotFoundError(taskId);
    }
    this.#live.see(before);
    const change = decide(before);
    if (!change.patch) return change.result();
    const at = now();
    const patch = change.silent
      ? change.patch
      : { ...change.patch, lastUpdatedAt: laterOf(before.lastUpdatedAt, at) };
    this.#checkSize(before, patch);
    const after = await guardStore(
      operation,
      () => store.update(taskId, patch, before.version, at),
    ).catch((error) => {
      if (isTaskNotFoundError(error)) this.#live.gone(taskId);
      throw error;
    });
    const result = change.result();
    this.#live.see(after, { committed: true, visible: !change.silent });
    return result;
  }

  #checkSize(before: TaskRecord, patch: TaskPatch): void {
    if (!PAYLOADS.some((field) => patch[field] !== undefined)) return;
    const { maxRecordBytes } = this.#options.limits;
    const bytes = jsonBytes(applyTaskPatch(before, patch));
    if (bytes > maxRecordBytes) {
      throw new TaskEntryTooLargeError(before.taskId, bytes, maxRecordBytes);
    }
  }

  #refuseIfClosed(operation: string): void {
    if (this.#isClosed()) throw new LifecycleClosedError(operation);
  }
}

/** The later of two times, so that a clock set back changes nothing (rule I4). */
function laterOf(iso: string, now: number): string {
  return new Date(Math.max(Date.parse(iso), now)).toISOString();
}

/** Keeps the process alive, unlike a sweep: somebody waits for this write. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
