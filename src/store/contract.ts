/**
 * What a store of tasks has to do. Each rule has a number, S1 and so on, that
 * the conformance kit (`@mcp-durable/tasks/testing`) names in its report.
 */

import type { TaskHead, TaskPatch, TaskRecord } from "../model/record.ts";

/**
 * What a store says of itself, as data. A member that is absent claims nothing,
 * but for `compareAndSwap`, which every store has unless it says otherwise.
 * What is claimed is held against the store by the conformance kit.
 *
 * - **S22.** Traits are plain data, have the types below, and never change, nor
 *   do they differ between two openings of the same store.
 */
export interface TaskStoreTraits {
  /**
   * **S23.** What was acknowledged is there again, to the last field and with
   * its version, when the store is closed and opened again over the same data.
   * What was deleted stays away.
   *
   * @default false
   */
  readonly durable?: boolean;
  /**
   * How many instances may have the same data open at once.
   *
   * - `"shared"`, **S24:** several, in any number of processes. All of the
   *   contract holds between them: what one has acknowledged the others read,
   *   and of their writers of one version at most one wins.
   * - `"exclusive"`, **S25:** one. While it is open a second opening is refused
   *   with `ERR_STORE_LOCKED`, at the latest by its methods, and the first is
   *   not disturbed.
   *
   * @default neither is claimed
   */
  readonly writers?: "exclusive" | "shared";
  /**
   * `false` says that two writers of one version may both win, and two creators
   * of one id (against S9, S15): a database without an atomic write. Nothing
   * but a single process may write to it.
   *
   * @default true
   */
  readonly compareAndSwap?: boolean;
  /**
   * What a read may miss.
   *
   * - `"latest"`: nothing. What was acknowledged is read, whoever wrote it.
   * - `"eventual"`, **S26:** for a time, of an hour at most, what another
   *   instance wrote or deleted; one that is opened again is another instance.
   *   An instance reads its own writes at once, and a version that it has seen
   *   never goes back for it: once it has read a record, no later read of it
   *   gives an older one, or none before the record expires. What is refused
   *   (S9, S14, S16) is refused by what the instance has seen.
   *
   * @default "latest"
   */
  readonly reads?: "latest" | "eventual";
  /**
   * How long a record rests between two writes, in milliseconds: a write that
   * comes sooner waits for it. The engine then merges the reports of progress
   * that wait for the same write.
   *
   * @default 0
   */
  readonly minWriteIntervalMs?: number;
  /**
   * The largest record that the store takes, in bytes of its JSON in UTF-8. The
   * engine refuses what is larger before it gets here; so does the store (S7).
   * A store takes 64 KiB at least.
   *
   * @default 8 MiB are taken, and nothing is said of more
   */
  readonly maxRecordBytes?: number;
}

/**
 * Keeps tasks. Five methods, three more that are short cuts, and these rules
 * for all of them:
 *
 * - **S1. Promises.** Every method returns a promise, and refuses by rejecting
 *   it: nothing is thrown. The errors that are named below carry their stable
 *   `code`. Any other error means: it is unknown whether the write happened.
 * - **S2. Copies (rule I10).** What comes in and what goes out shares nothing
 *   with what is kept. The copy is made before the method returns its promise:
 *   a caller may change its object at once, and nothing happens here. Nor does
 *   the store change what it was given.
 * - **S3. Fields.** Every field is kept, known or not, under every name that
 *   JSON can have (`__proto__` and the empty string too), and with it every
 *   value: strings to the last code unit, numbers to the last bit (`-0` may
 *   become `0`), empty objects and arrays, `null`.
 * - **S4. Ids.** An id is any string. Two that differ in one code unit are two.
 * - **S5. One clock (rule I12).** `now` is the caller's time in milliseconds
 *   since the epoch. A store that gets it uses it, and only without it its own.
 * - **S6. Expiry.** A record is expired when `now >= Date.parse(createdAt) +
 *   ttlMs` ({@linkcode isExpired}), to the millisecond; `ttlMs: null` never is.
 *   For `get` and `update` it does not exist then, whether swept or not. Both
 *   fields are read as they are now: a TTL can be raised, lowered and lifted.
 * - **S7. Sizes.** Records of up to `traits.maxRecordBytes` bytes are taken, of
 *   up to 8 MiB where that is absent; fields may be nested 1,000 levels deep. Of
 *   a record over `traits.maxRecordBytes` nothing is kept
 *   (`ERR_ENTRY_TOO_LARGE`), and what was there stays as it was.
 * - **S30. A lower limit.** A record that is over `traits.maxRecordBytes` all the
 *   same, from a time when that was more, is read, deleted and changed as any
 *   other. Refused is a change that makes it more than 1 KiB (1,024 bytes)
 *   larger than it is: a cancel and an end always fit (rule I13).
 *
 * What {@linkcode TaskStoreTraits} adds has numbers too. A store knows nothing
 * of the states of a task; those rules are the engine's.
 */
export interface TaskStore {
  /** What the store says of itself; absent: nothing beyond the five methods (S22). */
  readonly traits?: TaskStoreTraits;

  /**
   * Keeps a new record.
   *
   * - **S8.** It is kept as it is, `version` included, and the promise resolves
   *   only when a `get` would find it (rule I1).
   * - **S9.** An id that exists is refused, and the record that is there stays
   *   untouched; of many that create one id at once, one wins. (An id whose
   *   record is expired and not swept yet may be refused or taken.)
   *
   * @param record The record.
   * @throws {DuplicateTaskIdError} `ERR_DUPLICATE_TASK_ID`: the id exists.
   * @throws {TaskEntryTooLargeError} `ERR_ENTRY_TOO_LARGE`: nothing was kept (S7).
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()` (S20).
   */
  create(record: TaskRecord): Promise<void>;

  /**
   * Reads a record.
   *
   * - **S10.** An id that is unknown or expired gives `undefined`.
   * - **S11.** A read writes nothing (rule I3): no version, no time, and it
   *   deletes nothing, since its `now` may be wrong.
   *
   * @param taskId The id.
   * @param now The caller's time.
   * @returns The record; `undefined` if it is unknown or expired.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()` (S20).
   */
  get(taskId: string, now?: number): Promise<TaskRecord | undefined>;

  /**
   * Changes a record if its version is the expected one (rule I9).
   *
   * - **S12.** Each enumerable own string key of the patch is set, those that
   *   are `undefined` are deleted, all others stay. `taskId`, `createdAt` and
   *   `version` are no part of a patch. ({@linkcode applyTaskPatch} does it.)
   * - **S13.** The version grows by exactly 1, and what is returned is the whole
   *   record as it is stored now.
   * - **S14.** Another version than the expected one is refused, and nothing is
   *   changed.
   * - **S15.** Of the writers of one version one wins, also when they come at
   *   the same time: the others are refused, and nothing of theirs is stored.
   * - **S16.** An id that is unknown or expired is refused, and nothing comes
   *   into being.
   *
   * @param taskId The id.
   * @param patch The change.
   * @param expectedVersion The version that the caller has read.
   * @param now The caller's time.
   * @returns The record as it is now.
   * @throws {TaskNotFoundError} `ERR_TASK_NOT_FOUND`: unknown or expired.
   * @throws {ConcurrentUpdateError} `ERR_CONCURRENT_UPDATE`: another version is stored.
   * @throws {TaskEntryTooLargeError} `ERR_ENTRY_TOO_LARGE`: nothing was changed (S7).
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()` (S20).
   */
  update(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<TaskRecord>;

  /**
   * Deletes what is expired.
   *
   * - **S17.** Every expired record is deleted, and none that lives; the count
   *   is exact, and the ids are free again. (A store that is shared or whose
   *   reads are eventual may leave what expired in the last 10 minutes to a later
   *   sweep: another instance's clock may be behind, rule I12, and a raised TTL
   *   under way.)
   * - **S18.** Sweeps at the same time count each record once. An update that
   *   was acknowledged is not lost to a sweep that runs beside it.
   *
   * @param now The caller's time.
   * @returns How many were deleted.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()` (S20).
   */
  sweep(now?: number): Promise<number>;

  /**
   * Reads a record without the fields that may be large. A store that has no
   * cheaper way than `get` leaves it out; the engine then calls `get`.
   *
   * - **S27.** It is what `get` gives at that moment (S5, S6, S10, S11), without
   *   `inputRequests`, `inputResponses`, `result` and `error`.
   *
   * @param taskId The id.
   * @param now The caller's time.
   * @returns The head; `undefined` if the record is unknown or expired.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()` (S20).
   */
  head?(taskId: string, now?: number): Promise<TaskHead | undefined>;

  /**
   * Does what `update` does, and reads nothing back. A store that has no cheaper
   * way than `update` leaves it out; the engine then calls `update`.
   *
   * - **S28.** All that is said of `update` holds (S12 to S16), but that the
   *   version is returned, and not the record.
   *
   * @param taskId The id.
   * @param patch The change.
   * @param expectedVersion The version that the caller has read.
   * @param now The caller's time.
   * @returns The version of the record now: `expectedVersion + 1`.
   * @throws {TaskNotFoundError} `ERR_TASK_NOT_FOUND`: unknown or expired.
   * @throws {ConcurrentUpdateError} `ERR_CONCURRENT_UPDATE`: another version is stored.
   * @throws {TaskEntryTooLargeError} `ERR_ENTRY_TOO_LARGE`: nothing was changed (S7).
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()` (S20).
   */
  commit?(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<number>;

  /**
   * Says when a record may have changed. It makes other instances' changes
   * known sooner than the engine's polling, which goes on: nothing may depend
   * on it. A store that cannot tell leaves it out.
   *
   * - **S29.** After a change of the record that this instance can learn of,
   *   `changed` is called, later than the change is readable and from outside
   *   of any call to the store; it may be called for nothing. It is not called
   *   after the returned function was, nor after `close()`.
   *
   * @param taskId The id.
   * @param changed What to call. It does not throw.
   * @returns Ends it. Idempotent.
   */
  watch?(taskId: string, changed: () => void): () => void;

  /**
   * Ends the store.
   *
   * - **S19.** It can be called any number of times, also at the same time, and
   *   resolves each time.
   * - **S20.** Every method that is called after it rejects with
   *   `ERR_STORE_CLOSED`.
   * - **S21.** What was under way is done or refused, and its promise settles.
   */
  close(): Promise<void>;
}
