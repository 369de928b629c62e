/** The public face of the store in a Durable Object. */

import { StoreClosedError } from "../errors.ts";
import { checkFunction } from "../model/limits.ts";
import type { TaskHead, TaskPatch, TaskRecord } from "../model/record.ts";
import type { TaskStore, TaskStoreTraits } from "../store/contract.ts";
import { checkAlarmTime, type Ringing } from "./durable_object_alarm.ts";
import {
  checkStorage,
  type DurableObjectTaskStoreOptions,
  resolveDurableObjectOptions,
} from "./durable_object_options.ts";
import { ObjectRecords } from "./durable_object_records.ts";
import type {
  DurableObjectAlarmInfo,
  DurableObjectStorageBinding,
} from "./shape.ts";

/**
 * Keeps tasks in the storage of a Durable Object, `ctx.storage`, with SQLite
 * behind it or without. It is the right store on Cloudflare Workers: reads are
 * never stale, a change happens whole or not at all, and the object that keeps
 * the tasks keeps their work running too.
 *
 * What is acknowledged is durable before anybody outside the object can hear of
 * it: the platform holds back every answer and every request that the object
 * sends until what it wrote before is on disk.
 *
 * The `alarm()` of the class has to call {@linkcode DurableObjectTaskStore.alarm},
 * so that expired tasks are deleted when nobody calls.
 *
 * @example
 * ```ts
 * import { TaskLifecycle } from "@mcp-durable/tasks";
 * import {
 *   type DurableObjectStorageBinding,
 *   DurableObjectTaskStore,
 * } from "@mcp-durable/tasks/cloudflare";
 *
 * export class Tasks {
 *   readonly #store: DurableObjectTaskStore;
 *   readonly #tasks: TaskLifecycle;
 *
 *   constructor(ctx: { storage: DurableObjectStorageBinding }) {
 *     this.#store = new DurableObjectTaskStore(ctx.storage);
 *     this.#tasks = new TaskLifecycle({ store: this.#store });
 *   }
 *
 *   async alarm(): Promise<void> {
 *     await this.#store.alarm();
 *   }
 *
 *   async fetch(): Promise<Response> {
 *     const { taskId } = await this.#tasks.createTask();
 *     return Response.json(await this.#tasks.getTask(taskId));
 *   }
 * }
 * ```
 */
export class DurableObjectTaskStore implements TaskStore {
  /**
   * What the store says of itself: durable, and several stores in the object
   * may share the data. The largest record is `maxRecordBytes`.
   */
  readonly traits: TaskStoreTraits;
  readonly #records: ObjectRecords;
  /** What rings, while the host does what it does then; its time is kept until that is done. */
  #ringing: Ringing | undefined;
  #closed = false;

  /**
   * Makes the store. Nothing is read or written yet.
   *
   * @param storage The `ctx.storage` of the object.
   * @param options The options.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an argument or option is wrong.
   */
  constructor(
    storage: DurableObjectStorageBinding,
    options: DurableObjectTaskStoreOptions = {},
  ) {
    const resolved = resolveDurableObjectOptions(options);
    this.#records = new ObjectRecords(checkStorage(storage), resolved);
    this.traits = Object.freeze({
      durable: true,
      writers: "shared",
      compareAndSwap: true,
      maxRecordBytes: resolved.maxRecordBytes,
    });
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
  async create(record: TaskRecord): Promise<void> {
    this.#refuseIfClosed("create a task");
    await this.#records.create(record);
  }

  /**
   * Reads a record.
   *
   * @param taskId The id.
   * @param now The caller's time, in milliseconds since the epoch.
   * @returns A copy; `undefined` if it is unknown or expired.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: it could not be read.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  async get(taskId: string, now?: number): Promise<TaskRecord | undefined> {
    this.#refuseIfClosed("read a task");
    return await this.#records.read(taskId, now, () => true);
  }

  /**
   * Reads a record without the fields that may be large, which then are not
   * read from storage either.
   *
   * @param taskId The id.
   * @param now The caller's time, in milliseconds since the epoch.
   * @returns The head; `undefined` if the record is unknown or expired.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: it could not be read.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  async head(taskId: string, now?: number): Promise<TaskHead | undefined> {
    this.#refuseIfClosed("read a task");
    return await this.#records.read(
      taskId,
      now,
      (column) => column === "head",
    );
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
   * @throws {TaskEntryTooLargeError} `ERR_ENTRY_TOO_LARGE`: nothing was changed.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: it could not be written.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  async update(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<TaskRecord> {
    this.#refuseIfClosed("update a task");
    return await this.#records.change({
      taskId,
      patch,
      expectedVersion,
      now,
      whole: true,
    });
  }

  /**
   * Changes a record as `update` does, and reads nothing back: of what is
   * stored, only the head and what the patch changes is touched.
   *
   * @param taskId The id.
   * @param patch The change.
   * @param expectedVersion The version that the caller has read.
   * @param now The caller's time, in milliseconds since the epoch.
   * @returns The version of the record now.
   * @throws {TaskNotFoundError} `ERR_TASK_NOT_FOUND`: unknown or expired.
   * @throws {ConcurrentUpdateError} `ERR_CONCURRENT_UPDATE`: another version is stored.
   * @throws {TaskEntryTooLargeError} `ERR_ENTRY_TOO_LARGE`: nothing was changed.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: it could not be written.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  async commit(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<number> {
    this.#refuseIfClosed("update a task");
    const { version } = await this.#records.change({
      taskId,
      patch,
      expectedVersion,
      now,
      whole: false,
    });
    return version;
  }

  /**
   * Deletes every expired record, in slices: each is a transaction of its own.
   *
   * @param now The caller's time, in milliseconds since the epoch.
   * @returns How many were deleted.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: it could not be written; what was deleted before stays deleted.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  async sweep(now?: number): Promise<number> {
    this.#refuseIfClosed("sweep");
    return await this.#records.sweep(now);
  }

  /**
   * Does what the alarm of the object is for: deletes what has expired, and sets
   * the alarm for what expires next. For the `alarm()` of the class.
   *
   * An object has one alarm. The store and its host share it: the earlier of
   * their times is set, so neither is ever late by the other. A host that wants
   * to be woken uses `getAlarm`, `setAlarm` and `deleteAlarm` of the store as
   * it would use those of `ctx.storage`, and says here what it does then. Where
   * it throws, or the sweep before it does, its time stays, and the platform
   * rings again.
   *
   * A host that sets an alarm of `ctx.storage` itself is woken by then too. If
   * that is later than what the store had set, the store sweeps as late, and
   * knows whose alarm rings only from `info`.
   *
   * @param hostAlarm What the host does when its own time has come.
   * @param info What the platform has given to `alarm()`.
   * @returns How many tasks were deleted.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: `hostAlarm` is no function.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: the storage failed; the platform rings again.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   *
   * @example
   * ```ts
   * import type {
   *   DurableObjectAlarmInfo,
   *   DurableObjectTaskStore,
   * } from "@mcp-durable/tasks/cloudflare";
   *
   * export class Tasks {
   *   readonly #store: DurableObjectTaskStore;
   *
   *   constructor(store: DurableObjectTaskStore) {
   *     this.#store = store;
   *   }
   *
   *   async alarm(info?: DurableObjectAlarmInfo): Promise<void> {
   *     await this.#store.alarm(() => this.#everyHour(), info);
   *   }
   *
   *   async #everyHour(): Promise<void> {
   *     await this.#store.setAlarm(Date.now() + 3_600_000);
   *   }
   * }
   * ```
   */
  async alarm(
    hostAlarm: () => void | Promise<void> = () => {},
    info?: DurableObjectAlarmInfo,
  ): Promise<number> {
    checkFunction("hostAlarm", hostAlarm);
    this.#refuseIfClosed("read the alarm");
    // Before anything else sets it anew.
    const rang = await this.#records.withAlarm(
      "read the alarm",
      (alarm) => alarm.rings(info?.scheduledTime),
    );
    let deleted: number;
    try {
      deleted = await this.#records.sweep();
    } finally {
      // A sweep that fails is no reason to keep the host waiting.
      if (rang.due) await this.#ring(rang, hostAlarm);
    }
    await this.#records.withAlarm(
      "set the alarm",
      async (alarm, sweepAt) => alarm.settle(await sweepAt(), rang),
    );
    return deleted;
  }

  /**
   * When the host's alarm is due: what it has set with
   * {@linkcode DurableObjectTaskStore.setAlarm}, whatever the store needs itself.
   *
   * @returns Milliseconds since the epoch; `null` if none is set, and while it rings.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: it could not be read.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  async getAlarm(): Promise<number | null> {
    this.#refuseIfClosed("read the alarm");
    return await this.#records.withAlarm(
      "read the alarm",
      (alarm) => alarm.host(this.#ringing),
    );
  }

  /**
   * Sets the host's alarm, and leaves the store's own as it is.
   *
   * @param scheduledTimeMs When, in milliseconds since the epoch.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is no whole number above 0, or after the year 2188.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: it could not be written.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  async setAlarm(scheduledTimeMs: number): Promise<void> {
    this.#refuseIfClosed("set the alarm");
    checkAlarmTime(scheduledTimeMs);
    await this.#setHostAlarm(scheduledTimeMs);
  }

  /**
   * Takes the host's alarm away, and leaves the store's own as it is.
   *
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: it could not be written.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  async deleteAlarm(): Promise<void> {
    this.#refuseIfClosed("delete the alarm");
    await this.#setHostAlarm(null);
  }

  /** Ends the store; what it keeps, and the alarm, stay in the object. Idempotent. */
  close(): Promise<void> {
    this.#closed = true;
    return Promise.resolve();
  }

  async #ring(
    rang: Ringing,
    hostAlarm: () => void | Promise<void>,
  ): Promise<void> {
    this.#ringing = rang;
    try {
      await hostAlarm();
    } finally {
      if (this.#ringing === rang) this.#ringing = undefined;
    }
  }

  async #setHostAlarm(host: number | null): Promise<void> {
    await this.#records.withAlarm(
      "set the alarm",
      async (alarm, sweepAt) => alarm.setHost(await sweepAt(), host),
    );
  }

  #refuseIfClosed(operation: string): void {
    if (this.#closed) throw new StoreClosedError(operation);
  }
}
