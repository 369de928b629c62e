/** The public face of the write-ahead-log store. */

import type { TaskHead, TaskPatch, TaskRecord } from "../model/record.ts";
import type { TaskStore, TaskStoreTraits } from "../store/contract.ts";
import { realDisk } from "./disk.ts";
import type { WalHealth } from "./health.ts";
import { resolveWalOptions, type WalTaskStoreOptions } from "./options.ts";
import {
  type ProcessLogTaskStoreOptions,
  resolveProcessLogOptions,
} from "./process_log_options.ts";
import { ProcessLogTaskStore } from "./process_log_store.ts";
import { LogTaskStore } from "./store.ts";

/**
 * Keeps tasks in a directory, for one process: what it acknowledges is in an
 * append-only log first, and there again after a crash (rule I8). It runs on
 * Deno, Node 22.13 or later and Bun.
 *
 * The constructor starts to open the directory, and every method waits for
 * that; if it cannot be opened, every method but `close()` gives the reason.
 * {@linkcode WalTaskStore.open} gives it at once.
 *
 * What a crash leaves unfinished at the end of the log is cut when it is opened.
 * What fails its check anywhere else is copied aside and reported (`onDamage`,
 * {@linkcode WalTaskStore.health}). The tasks that it has taken answer with
 * `ERR_STORE_DAMAGED`, never with an older state; all others are served.
 *
 * A directory that mcp-durable-tasks wrote is taken over when it is opened: its
 * tasks with all of their fields and versions, the expired ones too, until they
 * are swept. Its files stay, as `wal.jsonl.taken` and `wal.checkpoint.taken`. What
 * an old process that still has the log open appends later is taken over within
 * a second, for ten minutes after the last time that it did, and then within a minute.
 * A task that only the old process has changed follows it; one that this store
 * has changed stays as it is, and the other record is reported (`onTakeover`).
 *
 * Given a log that the host has opened with process-wal instead of a directory,
 * the store writes whole records to it. Then it is as durable as that log, and
 * it is for the host to let no other process write to it.
 *
 * @example
 * ```ts
 * import { TaskLifecycle } from "@mcp-durable/tasks";
 * import { WalTaskStore } from "@mcp-durable/tasks/wal";
 * import { mkdtempSync, rmSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 *
 * const dir = mkdtempSync(join(tmpdir(), "tasks-"));
 * const before = new TaskLifecycle({ store: new WalTaskStore({ dir }) });
 * const { taskId } = await before.createTask({ statusMessage: "half" });
 * await before.close();
 *
 * const after = new TaskLifecycle({ store: new WalTaskStore({ dir }) });
 * console.log((await after.getTask(taskId)).statusMessage); // "half"
 * await after.close();
 * rmSync(dir, { recursive: true });
 * ```
 */
export class WalTaskStore implements TaskStore {
  /** What the store says of itself: durable, for one process if it has a directory; the largest record is `maxEntryBytes`. */
  readonly traits: TaskStoreTraits;
  readonly #store: LogTaskStore | ProcessLogTaskStore;

  /**
   * Starts to open the directory, or reads the log.
   *
   * @param options The options.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an option is wrong, or there are both a directory and a log.
   */
  constructor(options: WalTaskStoreOptions | ProcessLogTaskStoreOptions) {
    this.#store = hasLog(options)
      ? new ProcessLogTaskStore(resolveProcessLogOptions(options))
      : new LogTaskStore(resolveWalOptions(options), realDisk);
    this.traits = this.#store.traits;
  }

  /**
   * Opens a directory or a log, for those who want the error at boot.
   *
   * @param options The options.
   * @returns The store, open.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an option is wrong.
   * @throws {StoreLockedError} `ERR_STORE_LOCKED`: another store has the directory open.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: the directory or the log cannot be used; the cause says why.
   * @throws {StoreDamagedError} `ERR_STORE_DAMAGED`: `takeover.json` is damaged, so that it cannot be told what was taken over before.
   */
  static async open(
    options: WalTaskStoreOptions | ProcessLogTaskStoreOptions,
  ): Promise<WalTaskStore> {
    const store = new WalTaskStore(options);
    await store.#store.ready();
    return store;
  }

  /**
   * Keeps a new record.
   *
   * @param record The record.
   * @throws {DuplicateTaskIdError} `ERR_DUPLICATE_TASK_ID`: the id exists.
   * @throws {TaskEntryTooLargeError} `ERR_ENTRY_TOO_LARGE`: nothing was kept.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: it could not be written.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  create(record: TaskRecord): Promise<void> {
    return this.#store.create(record);
  }

  /**
   * Reads a record: the last that was acknowledged, never one that is on its
   * way to the disk.
   *
   * @param taskId The id.
   * @param now The caller's time, in milliseconds since the epoch.
   * @returns A copy; `undefined` if it is unknown or expired.
   * @throws {StoreDamagedError} `ERR_STORE_DAMAGED`: damage in the log has taken its state.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  get(taskId: string, now?: number): Promise<TaskRecord | undefined> {
    return this.#store.get(taskId, now);
  }

  /**
   * Reads a record without `inputRequests`, `inputResponses`, `result` and
   * `error`, however large they are.
   *
   * @param taskId The id.
   * @param now The caller's time, in milliseconds since the epoch.
   * @returns A copy; `undefined` if it is unknown or expired.
   * @throws {StoreDamagedError} `ERR_STORE_DAMAGED`: damage in the log has taken its state.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  head(taskId: string, now?: number): Promise<TaskHead | undefined> {
    return this.#store.head(taskId, now);
  }

  /**
   * Changes a record by compare-and-swap (rule I9). Only the change is written.
   *
   * @param taskId The id.
   * @param patch The change.
   * @param expectedVersion The version that the caller has read.
   * @param now The caller's time, in milliseconds since the epoch.
   * @returns A copy of the record as it is now.
   * @throws {TaskNotFoundError} `ERR_TASK_NOT_FOUND`: unknown or expired.
   * @throws {ConcurrentUpdateError} `ERR_CONCURRENT_UPDATE`: another version is stored, or on its way to the disk.
   * @throws {TaskEntryTooLargeError} `ERR_ENTRY_TOO_LARGE`: nothing was changed.
   * @throws {StoreDamagedError} `ERR_STORE_DAMAGED`: damage in the log has taken its state.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: it could not be written.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  update(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<TaskRecord> {
    return this.#store.update(taskId, patch, expectedVersion, now);
  }

  /**
   * Changes a record as `update()` does, and reads nothing back: what the change
   * leaves alone costs nothing.
   *
   * @param taskId The id.
   * @param patch The change.
   * @param expectedVersion The version that the caller has read.
   * @param now The caller's time, in milliseconds since the epoch.
   * @returns The version of the record now.
   * @throws {TaskNotFoundError} `ERR_TASK_NOT_FOUND`: unknown or expired.
   * @throws {ConcurrentUpdateError} `ERR_CONCURRENT_UPDATE`: another version is stored, or on its way to the disk.
   * @throws {TaskEntryTooLargeError} `ERR_ENTRY_TOO_LARGE`: nothing was changed.
   * @throws {StoreDamagedError} `ERR_STORE_DAMAGED`: damage in the log has taken its state.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: it could not be written.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  commit(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<number> {
    return this.#store.commit(taskId, patch, expectedVersion, now);
  }

  /**
   * Deletes every expired record, some hundred at a time.
   *
   * @param now The caller's time, in milliseconds since the epoch.
   * @returns How many were deleted.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: it could not be written; some may be deleted.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  sweep(now?: number): Promise<number> {
    return this.#store.sweep(now);
  }

  /**
   * Writes anew what is alive in the log, and removes the rest. All else goes on
   * meanwhile.
   *
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: it could not be done to its end; nothing is lost.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  compact(): Promise<void> {
    return this.#store.compact();
  }

  /**
   * Tells whether the store takes writes, how large it is, and what was damaged.
   *
   * @returns What it says of itself at this moment.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  health(): Promise<WalHealth> {
    return this.#store.health();
  }

  /** Waits for what is being written, and gives the directory free. Idempotent. */
  close(): Promise<void> {
    return this.#store.close();
  }
}

function hasLog(
  options: WalTaskStoreOptions | ProcessLogTaskStoreOptions,
): options is ProcessLogTaskStoreOptions {
  return options?.log !== undefined;
}
