/** The store on Deno KV. */

import {
  ConcurrentUpdateError,
  DuplicateTaskIdError,
  StoreClosedError,
  StoreFailedError,
  TASK_ERRORS,
  TaskEntryTooLargeError,
  TaskNotFoundError,
} from "../errors.ts";
import { copyJson } from "../model/json.ts";
import {
  headOf,
  patchRecord,
  type TaskHead,
  type TaskPatch,
  type TaskRecord,
} from "../model/record.ts";
import type { TaskStore, TaskStoreTraits } from "../store/contract.ts";
import { isTooLarge } from "../store/record_size.ts";
import { TaskQueues } from "../store/task_queues.ts";
import { Connection } from "./connection.ts";
import { Database, type Stored } from "./database.ts";
import { type IdPart, idPartOf, Keys } from "./keys.ts";
import {
  checkKv,
  type DenoKvTaskStoreOptions,
  type ResolvedDenoKvOptions,
  resolveDenoKvOptions,
} from "./options.ts";
import type { DenoKv } from "./shape.ts";
import { Sweeper } from "./sweeper.ts";
import {
  type PieceName,
  type Pieces,
  type Plan,
  planWrite,
  recordBytesOf,
} from "./value.ts";
import { Watches } from "./watches.ts";

/** How often a record is read again that changes under every read of its parts, or whose parts a sweep takes. */
const TRIES = 20;

/**
 * Keeps tasks in a Deno KV: on Deno Deploy, in a file that any number of
 * processes of one machine may share, or in memory. It takes the handle, and
 * leaves it open: on Deno that of `Deno.openKv()`, which needs
 * `"unstable": ["kv"]` in `deno.json` (or `--unstable-kv`); on Node and Bun that
 * of `openKv()` of `@deno/kv`.
 *
 * Changes are compare-and-swap by the version that the database keeps (rule
 * I9). A record of up to 64 KiB is one value: a change of it is a read and a
 * write. Of a larger one, up to `maxRecordBytes`, the result, the error, the
 * requests and the answers go into values of their own, which are written
 * before the record that points to them, and only when they change.
 *
 * A sweep deletes what has expired 10 minutes ago or earlier, since another
 * instance's clock may be behind (rule I12); reads go by the millisecond.
 *
 * @example
 * ```ts
 * import { TaskLifecycle } from "@mcp-durable/tasks";
 * import { DenoKvTaskStore } from "@mcp-durable/tasks/deno-kv";
 *
 * const kv = await Deno.openKv(":memory:");
 * const store = new DenoKvTaskStore(kv, { durable: false });
 * const tasks = new TaskLifecycle({ store });
 * const { taskId } = await tasks.createTask({ statusMessage: "half" });
 * console.log((await tasks.getTask(taskId)).statusMessage); // "half"
 * await tasks.close();
 * kv.close();
 * ```
 *
 * @example On Node and Bun
 * ```ts
 * import { openKv } from "@deno/kv";
 * import { DenoKvTaskStore } from "@mcp-durable/tasks/deno-kv";
 *
 * // Bun insists on these two; the store itself writes bytes, and uses neither.
 * const kv = await openKv(":memory:", {
 *   encodeV8: (value: unknown) =>
 *     new TextEncoder().encode(JSON.stringify(value)),
 *   decodeV8: (bytes: Uint8Array) =>
 *     JSON.parse(new TextDecoder().decode(bytes)),
 * });
 * const store = new DenoKvTaskStore(kv, { durable: false });
 * console.log(await store.get("unknown")); // undefined
 * await store.close();
 * kv.close();
 * ```
 */
export class DenoKvTaskStore implements TaskStore {
  /** What the store says of itself: durable unless it was told otherwise, for any number of instances. */
  readonly traits: TaskStoreTraits;
  /**
   * Says when a record may have changed, where the options ask for it: of up to
   * 64 tasks at a time; a task beyond is never reported. While one is watched,
   * the process does not exit by itself: `close()` ends all. Absent elsewhere
   * than on Deno.
   */
  readonly watch?: (taskId: string, changed: () => void) => () => void;
  readonly #options: ResolvedDenoKvOptions;
  readonly #database: Database;
  readonly #sweeper: Sweeper;
  readonly #watches: Watches;
  readonly #queues: TaskQueues = new TaskQueues();
  readonly #pending: Set<Promise<unknown>> = new Set();
  /** What the names of this instance's writes begin with: drawn at the first. */
  #writer: string | undefined;
  #writes = 0;
  #closed = false;

  /**
   * Makes the store. Nothing is read or written yet.
   *
   * @param kv The handle: what `await Deno.openKv()` gives, or `await openKv()` of `@deno/kv`. It has to stay open until `close()` has resolved, and is the caller's to close.
   * @param options The options.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: the handle or an option is wrong.
   */
  constructor(kv: DenoKv, options: DenoKvTaskStoreOptions = {}) {
    this.#options = resolveDenoKvOptions(options);
    const { prefix, busyTimeoutMs, now } = this.#options;
    const keys = new Keys(prefix);
    const connection = new Connection(checkKv(kv), busyTimeoutMs);
    this.#database = new Database(connection, keys, now);
    this.#sweeper = new Sweeper(connection, this.#database, this.#options);
    this.#watches = new Watches(kv, keys);
    if (this.#options.watch && this.#watches.supported) {
      this.watch = (taskId, changed) =>
        this.#watches.watch(idPartOf(taskId), changed);
    }
    const { durable, maxRecordBytes } = this.#options;
    this.traits = Object.freeze({
      durable,
      writers: "shared",
      compareAndSwap: true,
      reads: "latest",
      maxRecordBytes,
    });
  }

  /**
   * Keeps a new record.
   *
   * @param record The record.
   * @throws {DuplicateTaskIdError} `ERR_DUPLICATE_TASK_ID`: the id exists.
   * @throws {TaskEntryTooLargeError} `ERR_ENTRY_TOO_LARGE`: nothing was kept.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: it could not be written, or nobody can tell.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  create(record: TaskRecord): Promise<void> {
    return this.#run("create a task", () => {
      const { taskId } = record;
      const plan = this.#plan(record, new Map(), []);
      this.#refuseIfTooLarge(taskId, plan);
      const id = idPartOf(taskId);
      return this.#queues.run(taskId, () => this.#create(taskId, id, plan));
    });
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
  get(taskId: string, now?: number): Promise<TaskRecord | undefined> {
    return this.#run("read a task", () => this.#read(taskId, now, isAny));
  }

  /**
   * Reads a record without `inputRequests`, `inputResponses`, `result` and
   * `error`: one read, however large they are.
   *
   * @param taskId The id.
   * @param now The caller's time, in milliseconds since the epoch.
   * @returns A copy; `undefined` if it is unknown or expired.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: it could not be read.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  head(taskId: string, now?: number): Promise<TaskHead | undefined> {
    return this.#run("read a task", async () => {
      const record = await this.#read(taskId, now, isRest);
      return record && headOf(record);
    });
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
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: it could not be written, or nobody can tell.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  update(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<TaskRecord> {
    return this.#change(taskId, patch, expectedVersion, now, isAny);
  }

  /**
   * Changes a record as `update()` does, and reads nothing back: fields that
   * are in values of their own and stay as they are cost nothing.
   *
   * @param taskId The id.
   * @param patch The change.
   * @param expectedVersion The version that the caller has read.
   * @param now The caller's time, in milliseconds since the epoch.
   * @returns The version of the record now.
   * @throws {TaskNotFoundError} `ERR_TASK_NOT_FOUND`: unknown or expired.
   * @throws {ConcurrentUpdateError} `ERR_CONCURRENT_UPDATE`: another version is stored.
   * @throws {TaskEntryTooLargeError} `ERR_ENTRY_TOO_LARGE`: nothing was changed.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: it could not be written, or nobody can tell.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  async commit(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<number> {
    return (await this.#change(taskId, patch, expectedVersion, now, isRest))
      .version;
  }

  /**
   * Deletes every record that expired more than 10 minutes ago, and what is
   * left of writes that were broken off.
   *
   * @param now The caller's time, in milliseconds since the epoch.
   * @returns How many records were deleted.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: it could not go on; some may be deleted.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after `close()`.
   */
  sweep(now?: number): Promise<number> {
    return this.#run(
      "sweep",
      () => this.#sweeper.sweep(now ?? this.#options.now()),
    );
  }

  /** Ends the store when what is under way is done. The handle stays open. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#watches.close();
    await Promise.allSettled(this.#pending);
  }

  async #create(
    taskId: string,
    idPart: IdPart | Promise<IdPart>,
    plan: Plan,
  ): Promise<void> {
    const id = await idPart;
    for (let tries = 0; tries < TRIES; tries++) {
      const outcome = await this.#database.write(id, plan, undefined);
      if (outcome === "written") return;
      if (await this.#database.read(id)) throw new DuplicateTaskIdError(taskId);
    }
    throw unsettled();
  }

  async #read(
    taskId: string,
    now: number | undefined,
    wanted: (name: PieceName) => boolean,
  ): Promise<TaskRecord | undefined> {
    const id = await idPartOf(taskId);
    for (let tries = 0; tries < TRIES; tries++) {
      const stored = await this.#database.read(id);
      if (!stored || this.#isExpired(stored, now)) return undefined;
      const record = await this.#database.assemble(stored, wanted);
      if (record) return record;
    }
    throw unsettled();
  }

  /** Changes a record; what is returned lacks the pieces that are not wanted. */
  #change(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now: number | undefined,
    wanted: (name: PieceName) => boolean,
  ): Promise<TaskRecord> {
    return this.#run("update a task", () => {
      const change = copyJson(patch);
      return this.#queues.run(taskId, async () => {
        const id = await idPartOf(taskId);
        for (let tries = 0; tries < TRIES; tries++) {
          const stored = await this.#database.read(id);
          if (!stored || this.#isExpired(stored, now)) {
            throw new TaskNotFoundError(taskId);
          }
          const { version } = stored;
          if (version !== expectedVersion) {
            throw new ConcurrentUpdateError(taskId, expectedVersion, version);
          }
          const next = await this.#tryChange(
            taskId,
            id,
            stored,
            change,
            wanted,
          );
          if (next) return next;
        }
        throw unsettled();
      });
    });
  }

  /** Answers nothing where another writer was faster. */
  async #tryChange(
    taskId: string,
    id: IdPart,
    stored: Stored,
    change: TaskPatch,
    wanted: (name: PieceName) => boolean,
  ): Promise<TaskRecord | undefined> {
    const stays = (name: PieceName) =>
      name !== "rest" && !Object.hasOwn(change, name);
    const record = await this.#database.assemble(
      stored,
      (name) => name === "rest" || wanted(name) && stays(name),
    );
    if (!record) return undefined;
    const next = patchRecord(record, change);
    const kept = new Map([...stored.pieces].filter(([name]) => stays(name)));
    const plan = this.#plan(next, kept, stored.writes);
    this.#refuseIfTooLarge(taskId, plan, stored);
    const outcome = await this.#database.write(id, plan, stored);
    return outcome === "written" ? next : undefined;
  }

  /** Plans a write of a record, which may hold what is kept in pieces. */
  #plan(
    record: TaskRecord,
    kept: Pieces,
    writesBefore: readonly string[],
  ): Plan {
    this.#writer ??= crypto.randomUUID().replaceAll("-", "").slice(0, 16);
    const write = `${this.#writer}-${(this.#writes++).toString(36)}`;
    return planWrite({ record, kept, write, writesBefore });
  }

  #isExpired({ expiresAt }: Stored, now = this.#options.now()): boolean {
    return expiresAt !== null && now >= expiresAt;
  }

  #refuseIfTooLarge(taskId: string, plan: Plan, before?: Stored): void {
    const { maxRecordBytes } = this.#options;
    const { recordBytes } = plan;
    const bytesBefore = () => before ? recordBytesOf(before) : 0;
    if (!isTooLarge(recordBytes, maxRecordBytes, bytesBefore)) return;
    throw new TaskEntryTooLargeError(taskId, recordBytes, maxRecordBytes);
  }

  #run<T>(operation: string, job: () => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new StoreClosedError(operation));
    const promise = guard(operation, job);
    const settled: Promise<void> = promise.then(() => {}, () => {})
      .then(() => void this.#pending.delete(settled));
    this.#pending.add(settled);
    return promise;
  }
}

const isAny = () => true;
const isRest = (name: PieceName) => name === "rest";

async function guard<T>(operation: string, job: () => Promise<T>): Promise<T> {
  try {
    return await job();
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    if (typeof code === "string" && Object.hasOwn(TASK_ERRORS, code)) {
      throw cause;
    }
    throw new StoreFailedError(operation, { cause });
  }
}

function unsettled(): Error {
  return new Error(
    `the record did not hold still, or parts of it are missing, ${TRIES} times in a row`,
  );
}
