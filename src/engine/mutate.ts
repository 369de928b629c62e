/** Read, decide, compare-and-swap: the one way in which a task changes. */

import {
  isConcurrentUpdateError,
  isTaskNotFoundError,
  LifecycleClosedError,
  TaskEntryTooLargeError,
  TaskNotFoundError,
} from "../errors.ts";
import { isExpired } from "../model/expiry.ts";
import { fitsJson, jsonBytes } from "../model/json.ts";
import type { TaskHead, TaskPatch, TaskRecord } from "../model/record.ts";
import type { TaskQueues } from "../store/task_queues.ts";
import { READ, READ_HEAD, sightOfWrite } from "./live_task.ts";
import type { LiveTasks } from "./live_tasks.ts";
import type { ResolvedOptions } from "./options.ts";
import type { ProgressReports } from "./progress_reports.ts";
import { storeError } from "./store_guard.ts";

/** What a decision comes to. */
export interface Change<T> {
  /** What to write; absent: nothing. */
  readonly patch?: TaskPatch;
  /** The client would not see it, so `lastUpdatedAt` stays (rule I4). */
  readonly silent?: boolean;
  /** The store alone decides whether the record is too large. */
  readonly anySize?: boolean;
  /** Makes what the caller gets: after the commit, before the next write of this process. */
  readonly result: () => T;
}

/** Decides on a record; called again when somebody else was faster. */
export type Decide<T> = (record: TaskRecord) => Change<T>;

/** Decides on the head of a record, the same way. Its change of an open round of input is its end. */
export type DecideByHead<T> = (head: TaskHead) => Change<T>;

/** Tries before a writer gives up against others. */
const MAX_ATTEMPTS = 64;

/** The longest pause between two tries, in milliseconds. */
const MAX_PAUSE_MS = 100;

/** The fields whose size the worker decides at the end; input is measured where it is made. */
const PAYLOADS = ["result", "error"] as const;

/** One try of a change. */
interface Attempt<T> {
  readonly operation: string;
  readonly taskId: string;
  readonly decide: Decide<T>;
  /** Whether it is by the whole record in any case. */
  readonly whole: boolean;
  /** Counts the tries, from 1. */
  readonly number: number;
}

/** Reads and writes tasks. */
export class TaskWriter {
  readonly #options: ResolvedOptions;
  readonly #queues: TaskQueues;
  readonly #live: LiveTasks;
  readonly #reports: ProgressReports | undefined;
  readonly #isClosed: () => boolean;

  /**
   * @param options The options of the engine.
   * @param queues One queue for each task.
   * @param live Who in this process has to learn of a change.
   * @param reports The reports of progress that may be merged, if any.
   * @param isClosed Whether everything is refused.
   */
  constructor(
    options: ResolvedOptions,
    queues: TaskQueues,
    live: LiveTasks,
    reports: ProgressReports | undefined,
    isClosed: () => boolean,
  ) {
    this.#options = options;
    this.#queues = queues;
    this.#live = live;
    this.#reports = reports;
    this.#isClosed = isClosed;
  }

  /**
   * Reads a record.
   *
   * @param taskId The task.
   * @returns The record; `undefined` if it is unknown or expired.
   */
  read(taskId: string): Promise<TaskRecord | undefined> {
    const { store } = this.#options;
    return this.#read(store.get, taskId);
  }

  /**
   * Reads the head of a record, or all of it where the store knows no shorter way.
   *
   * @param taskId The task.
   * @returns The head; `undefined` if it is unknown or expired.
   */
  readHead(taskId: string): Promise<TaskHead | undefined> {
    const { store } = this.#options;
    return this.#read<TaskHead>(store.head ?? store.get, taskId);
  }

  async #read<T extends TaskHead>(
    method: (taskId: string, now: number) => Promise<T | undefined>,
    taskId: string,
  ): Promise<T | undefined> {
    this.#refuseIfClosed("read a task");
    const { store, now } = this.#options;
    const time = now();
    let record: T | undefined;
    try {
      record = await method.call(store, taskId, time);
    } catch (error) {
      throw storeError("read a task", error);
    }
    return record && !isExpired(record, time) ? record : undefined;
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
    return this.#change(operation, taskId, decide, true);
  }

  /**
   * Changes a record as {@linkcode change} does, whatever its payloads are:
   * they are read only where somebody in this process has to learn of them.
   * What was seen last is tried first: if it is no longer true, the store says so.
   *
   * @param taskId The task.
   * @param operation What is being done, for messages.
   * @param decide Decides what to write.
   * @returns The result of the decision.
   */
  changeByHead<T>(
    taskId: string,
    operation: string,
    decide: DecideByHead<T>,
  ): Promise<T> {
    return this.#change(operation, taskId, decide, false);
  }

  #change<T>(
    operation: string,
    taskId: string,
    decide: Decide<T>,
    whole: boolean,
  ): Promise<T> {
    this.#reports?.seal(taskId);
    return this.#queues.run(
      taskId,
      () =>
        this.#attempt(
          { operation, taskId, decide, whole, number: 1 },
          whole,
          whole ? undefined : this.#known(taskId),
        ),
    );
  }

  async #attempt<T>(
    attempt: Attempt<T>,
    whole: boolean,
    known?: TaskHead,
  ): Promise<T> {
    const { operation, taskId, decide } = attempt;
    this.#refuseIfClosed(operation);
    // No decision is made inside the call that asks for it.
    if (known) await undefined;
    const { store, now, times } = this.#options;
    const byHead = !whole && (known ?? store.head) !== undefined;
    const before: TaskRecord | undefined = known ??
      (byHead ? await this.readHead(taskId) : await this.read(taskId));
    if (!before) {
      this.#live.gone(taskId);
      throw new TaskNotFoundError(taskId);
    }
    const sight = byHead ? READ_HEAD : READ;
    if (this.#live.lacks(before, sight)) {
      return await this.#attempt(attempt, true);
    }
    if (!known) this.#live.see(before, sight);
    const change = decide(before);
    if (!change.patch) {
      // Nothing asks the store whether it is still so.
      if (known) return await this.#attempt(attempt, whole);
      return change.result();
    }
    const at = now();
    const patch = change.silent ? change.patch : {
      ...change.patch,
      lastUpdatedAt: times.writeLater(before.lastUpdatedAt, at),
    };
    const { version } = before;
    // As far as it is known without the store: what is undefined is absent.
    let after: TaskRecord = { ...before, ...patch, version: version + 1 };
    if (!change.anySize) this.#checkSize(after, patch);
    let seen = sightOfWrite(!change.silent, sight.whole);
    // Listeners hear of each version that is written here, so it is not read back.
    if (store.commit && this.#live.lacks(after, seen)) {
      return await this.#attempt(attempt, true);
    }
    try {
      if (store.commit) await store.commit(taskId, patch, version, at);
      else {
        after = await store.update(taskId, patch, version, at);
        seen = sightOfWrite(!change.silent, true);
      }
    } catch (error) {
      if (isConcurrentUpdateError(error) && attempt.number < MAX_ATTEMPTS) {
        return await this.#again(attempt);
      }
      if (isTaskNotFoundError(error)) this.#live.gone(taskId);
      throw storeError(operation, error);
    }
    const result = change.result();
    if (this.#live.lacks(after, seen)) {
      // Somebody has begun to listen while it was being written.
      await this.#live.readAndSee(after, seen);
    } else this.#live.see(after, seen);
    return result;
  }

  /** Tries once more, after somebody else was faster. */
  async #again<T>(attempt: Attempt<T>): Promise<T> {
    const { number, whole } = attempt;
    // After the first it may only be that what was seen last is old.
    if (number > 1 || whole) {
      await pause(Math.random() * Math.min(2 ** number, MAX_PAUSE_MS));
    }
    return await this.#attempt({ ...attempt, number: number + 1 }, whole);
  }

  /** What may stand for a read: the store refuses it if it is old, or expired. */
  #known(taskId: string): TaskHead | undefined {
    const { traits } = this.#options.store;
    return traits?.compareAndSwap === false
      ? undefined
      : this.#live.lastSeen(taskId);
  }

  #checkSize(after: TaskRecord, patch: TaskPatch): void {
    if (!PAYLOADS.some((field) => patch[field] !== undefined)) return;
    const { maxRecordBytes } = this.#options.limits;
    if (fitsJson(after, maxRecordBytes)) return;
    const bytes = jsonBytes(after);
    throw new TaskEntryTooLargeError(after.taskId, bytes, maxRecordBytes);
  }

  #refuseIfClosed(operation: string): void {
    if (this.#isClosed()) throw new LifecycleClosedError(operation);
  }
}

/** Keeps the process alive, unlike a sweep: somebody waits for this write. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
