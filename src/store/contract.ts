/** What a store of tasks has to do. */

import type { TaskPatch, TaskRecord } from "../model/record.ts";

/** What a store says of itself, as data. */
export interface TaskStoreTraits {
  /**
   * The largest record that the store takes, in bytes of its JSON. The engine
   * refuses what is larger before it gets here.
   */
  readonly maxRecordBytes: number;
}

/**
 * Keeps tasks. Five methods, and these rules for all of them:
 *
 * - **Copies (rule I10).** What comes in and what goes out shares nothing with
 *   what is kept: a caller may change its object and nothing happens here.
 * - **Fields.** Every field is kept, known or not, under every name that JSON
 *   can have (`__proto__` and the empty string too).
 * - **One clock (rule I12).** `now` is the caller's time in milliseconds since
 *   the epoch. A store that gets it uses it, and only without it its own. A
 *   record is expired when `now >= Date.parse(createdAt) + ttlMs`
 *   ({@linkcode isExpired}); `ttlMs: null` never is.
 * - **Errors.** Those named below carry their stable `code`. Any other error
 *   means: it is unknown whether the write happened.
 * - **Acknowledged means kept (rule I8).** What a resolved promise says is
 *   there after a crash, within the boundary that the store states.
 *
 * A store knows nothing of the states of a task; those rules are the engine's.
 */
export interface TaskStore {
  /** What the store says of itself; absent: nothing beyond the five methods. */
  readonly traits?: TaskStoreTraits;

  /**
   * Keeps a new record as it is, `version` included (rule I1): it resolves
   * only when a `get` would find it.
   *
   * @param record The record.
   * @throws {DuplicateTaskIdError} `ERR_DUPLICATE_TASK_ID`: the id exists; the
   * record that is there is untouched.
   * @throws {TaskEntryTooLargeError} `ERR_ENTRY_TOO_LARGE`: nothing was kept.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  create(record: TaskRecord): Promise<void>;

  /**
   * Reads a record, and writes nothing (rule I3).
   *
   * @param taskId The id.
   * @param now The caller's time.
   * @returns The record; `undefined` if it is unknown or expired.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  get(taskId: string, now?: number): Promise<TaskRecord | undefined>;

  /**
   * Changes a record if its version is the expected one (rule I9): sets each
   * enumerable own string key of the patch, deletes those that are
   * `undefined`, adds exactly 1 to `version`. Of two writers of one version at
   * most one wins.
   *
   * @param taskId The id.
   * @param patch The change.
   * @param expectedVersion The version that the caller has read.
   * @param now The caller's time.
   * @returns The record as it is now.
   * @throws {TaskNotFoundError} `ERR_TASK_NOT_FOUND`: unknown or expired.
   * @throws {ConcurrentUpdateError} `ERR_CONCURRENT_UPDATE`: another version is stored.
   * @throws {TaskEntryTooLargeError} `ERR_ENTRY_TOO_LARGE`: nothing was changed.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  update(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<TaskRecord>;

  /**
   * Deletes every expired record, and none that lives.
   *
   * @param now The caller's time.
   * @returns How many were deleted.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  sweep(now?: number): Promise<number>;

  /** Ends the store. Idempotent; what was acknowledged stays. */
  close(): Promise<void>;
}
