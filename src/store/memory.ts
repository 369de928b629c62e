/** A store in the memory of the process. */

import {
  ConcurrentUpdateError,
  DuplicateTaskIdError,
  StoreClosedError,
  TaskNotFoundError,
} from "../errors.ts";
import { isExpired } from "../model/expiry.ts";
import { copyJson } from "../model/json.ts";
import { checkFunction } from "../model/limits.ts";
import { checkOptions, type NamesOf } from "../model/option_names.ts";
import {
  headOf,
  patchRecord,
  type TaskHead,
  type TaskPatch,
  type TaskRecord,
} from "../model/record.ts";
import type { TaskStore, TaskStoreTraits } from "./contract.ts";

/** The options of a {@linkcode MemoryTaskStore}. */
export interface MemoryTaskStoreOptions {
  /**
   * The clock for calls that bring no time of their own, in milliseconds since
   * the epoch.
   *
   * @default Date.now
   */
  readonly now?: () => number;
}

const NAMES: NamesOf<MemoryTaskStoreOptions> = { now: true };

const TRAITS: TaskStoreTraits = Object.freeze({
  durable: false,
  writers: "exclusive",
  compareAndSwap: true,
});

/**
 * Keeps tasks in the memory of the process, for tests and for servers whose
 * tasks may end with them. It follows the contract to the letter, but what is
 * acknowledged lives only as long as the process.
 *
 * @example
 * ```ts
 * import { MemoryTaskStore, TaskLifecycle } from "@mcp-durable/tasks";
 *
 * const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
 * const { taskId } = await tasks.createTask();
 * console.log((await tasks.getTask(taskId)).status); // "working"
 * await tasks.close();
 * ```
 */
export class MemoryTaskStore implements TaskStore {
  /** What the store says of itself: its tasks end with it, and nobody else reaches them. */
  readonly traits: TaskStoreTraits = TRAITS;
  /** Each is replaced by a change, and never changed itself. */
  readonly #records: Map<string, TaskRecord> = new Map();
  readonly #watchers: Map<string, Set<() => void>> = new Map();
  readonly #now: () => number;
  #closed = false;

  /**
   * Makes an empty store.
   *
   * @param options The options.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an option is wrong.
   */
  constructor(options: MemoryTaskStoreOptions = {}) {
    checkOptions("make a MemoryTaskStore", options, NAMES);
    this.#now = checkFunction("now", options.now ?? Date.now);
  }

  /**
   * Keeps a new record.
   *
   * @param record The record.
   * @throws {DuplicateTaskIdError} `ERR_DUPLICATE_TASK_ID`: the id exists.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  // deno-lint-ignore require-await -- a refusal has to be a rejection
  async create(record: TaskRecord): Promise<void> {
    this.#refuseIfClosed("create a task");
    if (this.#records.has(record.taskId)) {
      throw new DuplicateTaskIdError(record.taskId);
    }
    this.#records.set(record.taskId, copyJson(record));
    this.#tell(record.taskId);
  }

  /**
   * Reads a record.
   *
   * @param taskId The id.
   * @param now The caller's time, in milliseconds since the epoch.
   * @returns A copy; `undefined` if it is unknown or expired.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  // deno-lint-ignore require-await -- a refusal has to be a rejection
  async get(taskId: string, now?: number): Promise<TaskRecord | undefined> {
    this.#refuseIfClosed("read a task");
    const record = this.#live(taskId, now);
    return record && copyJson(record);
  }

  /**
   * Changes a record by compare-and-swap (rule I9).
   *
   * @param taskId The id.
   * @param patch The change.
   * @param expectedVersion The version that the caller has read.
   * @param now The caller's time, in milliseconds since the epoch.
   * @returns A copy of the record as it is now.
   * @throws {TaskNotFoundError} `ERR_TASK_NOT_FOUND`: unknown or expired.
   * @throws {ConcurrentUpdateError} `ERR_CONCURRENT_UPDATE`: another version is stored.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  // deno-lint-ignore require-await -- a refusal has to be a rejection
  async update(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<TaskRecord> {
    return copyJson(this.#change(taskId, patch, expectedVersion, now));
  }

  /**
   * Reads a record without `inputRequests`, `inputResponses`, `result` and `error`.
   *
   * @param taskId The id.
   * @param now The caller's time, in milliseconds since the epoch.
   * @returns A copy; `undefined` if it is unknown or expired.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  // deno-lint-ignore require-await -- a refusal has to be a rejection
  async head(taskId: string, now?: number): Promise<TaskHead | undefined> {
    this.#refuseIfClosed("read a task");
    const record = this.#live(taskId, now);
    return record && copyJson(headOf(record));
  }

  /**
   * Changes a record as `update()` does, and reads nothing back.
   *
   * @param taskId The id.
   * @param patch The change.
   * @param expectedVersion The version that the caller has read.
   * @param now The caller's time, in milliseconds since the epoch.
   * @returns The version of the record now.
   * @throws {TaskNotFoundError} `ERR_TASK_NOT_FOUND`: unknown or expired.
   * @throws {ConcurrentUpdateError} `ERR_CONCURRENT_UPDATE`: another version is stored.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  // deno-lint-ignore require-await -- a refusal has to be a rejection
  async commit(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<number> {
    return this.#change(taskId, patch, expectedVersion, now).version;
  }

  /**
   * Deletes every expired record.
   *
   * @param now The caller's time, in milliseconds since the epoch.
   * @returns How many were deleted.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  // deno-lint-ignore require-await -- a refusal has to be a rejection
  async sweep(now: number = this.#now()): Promise<number> {
    this.#refuseIfClosed("sweep");
    let deleted = 0;
    for (const [taskId, record] of this.#records) {
      if (!isExpired(record, now)) continue;
      this.#records.delete(taskId);
      this.#tell(taskId);
      deleted++;
    }
    return deleted;
  }

  /**
   * Says when a record was created, changed or deleted: to each lifecycle over
   * this store what the others do.
   *
   * @param taskId The id.
   * @param changed What to call.
   * @returns Ends it. Idempotent.
   */
  watch(taskId: string, changed: () => void): () => void {
    if (this.#closed) return () => {};
    const watchers = this.#watchers.get(taskId) ?? new Set();
    const watcher = () => changed();
    this.#watchers.set(taskId, watchers.add(watcher));
    return () => {
      if (!watchers.delete(watcher) || watchers.size > 0) return;
      // After the last has gone, another set may have begun.
      if (this.#watchers.get(taskId) === watchers) {
        this.#watchers.delete(taskId);
      }
    };
  }

  /** Ends the store and forgets what it held. Idempotent. */
  close(): Promise<void> {
    this.#closed = true;
    this.#records.clear();
    for (const watchers of this.#watchers.values()) watchers.clear();
    this.#watchers.clear();
    return Promise.resolve();
  }

  #change(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now: number | undefined,
  ): TaskRecord {
    this.#refuseIfClosed("update a task");
    const record = this.#live(taskId, now);
    if (!record) throw new TaskNotFoundError(taskId);
    if (record.version !== expectedVersion) {
      throw new ConcurrentUpdateError(taskId, expectedVersion, record.version);
    }
    const next = patchRecord(record, copyJson(patch));
    this.#records.set(taskId, next);
    this.#tell(taskId);
    return next;
  }

  #live(taskId: string, now: number = this.#now()): TaskRecord | undefined {
    const record = this.#records.get(taskId);
    return record && !isExpired(record, now) ? record : undefined;
  }

  /** Calls who watches, from outside of the call that made the change. */
  #tell(taskId: string): void {
    const watchers = this.#watchers.get(taskId);
    if (!watchers) return;
    queueMicrotask(() => {
      for (const watcher of watchers) watcher();
    });
  }

  #refuseIfClosed(operation: string): void {
    if (this.#closed) throw new StoreClosedError(operation);
  }
}
