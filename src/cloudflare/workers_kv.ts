/** The public face of the store on Workers KV. */

import type { TaskPatch, TaskRecord } from "../model/record.ts";
import type { TaskStore, TaskStoreTraits } from "../store/contract.ts";
import { runtimeClock } from "./workers_kv_clock.ts";
import { KV_MEMORY_LIMITS } from "./workers_kv_memory.ts";
import {
  checkNamespace,
  resolveWorkersKvOptions,
  type WorkersKvTaskStoreOptions,
} from "./workers_kv_options.ts";
import type { WorkersKvBinding } from "./workers_kv_shape.ts";
import { KvTaskStore } from "./workers_kv_store.ts";

/**
 * Keeps tasks in a Workers KV namespace, for those who have nothing else.
 *
 * **What it cannot do.** KV has no compare-and-swap, and what it gives may be a
 * minute old or more; {@linkcode DurableObjectTaskStore} has neither fault. So:
 *
 * - **One writer.** One instance of the store writes: in one Durable Object, or
 *   in one cron. Of two instances that write one task at once, one write is
 *   lost without a word, a cancel, an answer or the end of the task among them.
 * - **Other instances read late**: a task that was just created may be unknown
 *   to them, and its progress and its end a minute old.
 * - **A write of a task takes up to a second**, since KV takes one a second for
 *   each key. A worker that awaits its progress goes no faster; reports that are
 *   not awaited are merged.
 * - **`create()` refuses the ids that this instance knows**, and no others.
 *   Ids of the engine are never the same.
 *
 * **What it does.** A write is acknowledged when KV has taken it, and is then
 * durable. Writes of one task that come within the second are merged into one;
 * each is acknowledged when the one that holds it is. Where KV answers 429 or
 * fails, the same is written again, five times in all within 15 to 23 seconds;
 * then the error is `ERR_STORE_FAILED`, and the write may be there or not.
 *
 * What this instance has read or written within 10 minutes is never taken back
 * by an older answer of KV. It remembers the versions of 100,000 tasks for that,
 * and refuses to read or create more within the time (`ERR_STORE_FAILED`); of
 * their records the newest 16 Mi characters, and where KV gives an older one
 * than a version whose record is not kept, that is `ERR_STORE_FAILED` too, for
 * a minute or so.
 *
 * A TTL is checked at each read. `sweep()` lists all keys, and deletes what
 * expired 10 minutes ago or earlier; what nobody sweeps, KV deletes itself, a
 * day after its end at the earliest. The count is exact for what this instance knows and what
 * KV lists; what KV has deleted, or another instance deletes at the same time,
 * is not in it, or in both. A Worker may call KV 1,000 times in one invocation:
 * a sweep that has more to delete fails there, and the next one goes on.
 *
 * @example
 * ```ts
 * import { TaskLifecycle } from "@mcp-durable/tasks";
 * import {
 *   type WorkersKvBinding,
 *   WorkersKvTaskStore,
 * } from "@mcp-durable/tasks/cloudflare";
 *
 * export class Tasks {
 *   readonly #tasks: TaskLifecycle;
 *
 *   constructor(_ctx: unknown, env: { TASKS: WorkersKvBinding }) {
 *     const store = new WorkersKvTaskStore(env.TASKS, {
 *       acceptEventualStore: true,
 *     });
 *     this.#tasks = new TaskLifecycle({ store, sweepIntervalMs: 3_600_000 });
 *   }
 *
 *   async fetch(): Promise<Response> {
 *     const { taskId } = await this.#tasks.createTask({ ttlMs: 60_000 });
 *     return Response.json(await this.#tasks.getTask(taskId));
 *   }
 * }
 * ```
 */
export class WorkersKvTaskStore implements TaskStore {
  /** What the store says of itself: durable, no compare-and-swap, eventual reads, and the largest record. */
  readonly traits: TaskStoreTraits;
  readonly #store: KvTaskStore;

  /**
   * Makes the store. Nothing is read or written yet.
   *
   * @param kv The namespace, such as `env.TASKS`.
   * @param options The options; `acceptEventualStore: true` has to be among them.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an option is wrong, or missing.
   */
  constructor(kv: WorkersKvBinding, options: WorkersKvTaskStoreOptions) {
    const resolved = resolveWorkersKvOptions(options);
    this.#store = new KvTaskStore(
      checkNamespace(kv),
      resolved,
      runtimeClock,
      KV_MEMORY_LIMITS,
    );
    this.traits = this.#store.traits;
  }

  /**
   * Keeps a new record. KV is not asked whether there is one of the id: it
   * would remember for a minute that there is none.
   *
   * @param record The record.
   * @throws {DuplicateTaskIdError} `ERR_DUPLICATE_TASK_ID`: this instance knows the id.
   * @throws {TaskEntryTooLargeError} `ERR_ENTRY_TOO_LARGE`: nothing was kept.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: KV did not take it, and it may be there all the same.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  create(record: TaskRecord): Promise<void> {
    return this.#store.create(record);
  }

  /**
   * Reads a record: the newest that KV gives or this instance knows.
   *
   * @param taskId The id.
   * @param now The caller's time, in milliseconds since the epoch.
   * @returns A copy; `undefined` if it is unknown or expired.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: KV failed, or gives an older version than was seen, or what stands under the key is no record of the task.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  get(taskId: string, now?: number): Promise<TaskRecord | undefined> {
    return this.#store.get(taskId, now);
  }

  /**
   * Changes a record, judged by the newest version that KV gives or this
   * instance knows (rule I9 within this instance, not across instances).
   *
   * @param taskId The id.
   * @param patch The change.
   * @param expectedVersion The version that the caller has read.
   * @param now The caller's time, in milliseconds since the epoch.
   * @returns A copy of the record as it is now.
   * @throws {TaskNotFoundError} `ERR_TASK_NOT_FOUND`: unknown or expired.
   * @throws {ConcurrentUpdateError} `ERR_CONCURRENT_UPDATE`: another version is known.
   * @throws {TaskEntryTooLargeError} `ERR_ENTRY_TOO_LARGE`: nothing was changed.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: as in `get()`; or KV did not take the change, and it may be there all the same.
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
   * Deletes what expired 10 minutes ago or earlier.
   *
   * @param now The caller's time, in milliseconds since the epoch.
   * @returns How many were deleted by this call.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: KV failed. What was deleted until then stays deleted.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  sweep(now?: number): Promise<number> {
    return this.#store.sweep(now);
  }

  /**
   * Ends the store when what is under way has settled, and after 4 minutes at
   * the latest: what a request has begun that has ended never does. Idempotent.
   */
  close(): Promise<void> {
    return this.#store.close();
  }
}
