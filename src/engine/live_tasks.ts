/** Every task that this process holds something of, and how it learns what others wrote. */

import { LimitExceededError } from "../errors.ts";
import { copyJson } from "../model/json.ts";
import type { TaskHead, TaskRecord } from "../model/record.ts";
import type { TaskQueues } from "../store/task_queues.ts";
import { CreatedTasks } from "./created_tasks.ts";
import { Deadlines } from "./deadlines.ts";
import type { Emit } from "./events.ts";
import {
  createSubscription,
  type ListenOptions,
  type TaskListener,
} from "./listeners.ts";
import { LiveTask, READ, READ_HEAD, type Sight } from "./live_task.ts";
import type { ResolvedOptions } from "./options.ts";
import { StoreWatches } from "./store_watches.ts";
import { startLoop, startTimer, type Timer } from "./timers.ts";
import { createWaiter, type Waiter } from "./waiters.ts";

/** So many looks at a store that answers at once, and whatever else waits has its turn. */
const LOOKS_AT_ONCE = 64;

/** How records are read; `undefined` if the task does not exist. */
export interface RecordReader {
  /** Reads all of a record. */
  read(taskId: string): Promise<TaskRecord | undefined>;
  /** Reads its head; absent where the store has no cheaper way than to read all of it. */
  readonly readHead:
    | ((taskId: string) => Promise<TaskHead | undefined>)
    | undefined;
}

/** A record as it was read. */
interface Reading {
  /** The record, or its head. */
  readonly record: TaskRecord;
  /** Which of the two. */
  readonly sight: Sight;
}

/** The table of live tasks. */
export class LiveTasks {
  readonly #options: ResolvedOptions;
  readonly #queues: TaskQueues;
  readonly #reader: RecordReader;
  readonly #emit: Emit;
  readonly #watches: StoreWatches;
  readonly #tasks: Map<string, LiveTask> = new Map();
  readonly #deadlines: Deadlines;
  readonly #created: CreatedTasks = new CreatedTasks();
  #waiters = 0;
  #reservedWaiters = 0;
  #listeners = 0;
  #observer: Timer | undefined;
  #closed = false;

  /**
   * @param options The options of the engine.
   * @param queues One queue for each task.
   * @param reader Reads records.
   * @param emit Where errors go.
   */
  constructor(
    options: ResolvedOptions,
    queues: TaskQueues,
    reader: RecordReader,
    emit: Emit,
  ) {
    this.#options = options;
    this.#queues = queues;
    this.#reader = reader;
    this.#emit = emit;
    this.#deadlines = new Deadlines(
      options.now,
      {
        has: (live) => this.#tasks.get(live.taskId) === live,
        look: (taskId) => this.look(taskId),
      },
      emit,
    );
    this.#watches = new StoreWatches(
      options.store,
      queues,
      (taskId) => this.look(taskId),
      emit,
    );
  }

  /**
   * Says that this process has created a task. Where it alone writes to the
   * store, the task needs no look when its work begins.
   *
   * @param record The record. It never changes.
   */
  created(record: TaskRecord): void {
    const { traits } = this.#options.store;
    if (traits?.writers === "exclusive") this.#created.add(record);
  }

  /**
   * The live task of a handle, whose signal is kept from now on.
   *
   * @param taskId The task.
   * @returns The live task.
   */
  hold(taskId: string): LiveTask {
    const live = this.#enter(taskId);
    live.held = true;
    return live;
  }

  /**
   * Subscribes a listener.
   *
   * @param taskId The task.
   * @param listener The listener.
   * @param options How.
   * @returns Ends the subscription.
   * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: there are too many.
   */
  subscribe(
    taskId: string,
    listener: TaskListener,
    options: ListenOptions,
  ): () => void {
    const { maxListeners } = this.#options.limits;
    if (this.#listeners >= maxListeners) {
      throw new LimitExceededError(
        "maxListeners",
        maxListeners,
        "Cannot listen to a task: there are too many listeners",
      );
    }
    const live = this.#enter(taskId);
    const subscription = createSubscription(
      taskId,
      listener,
      options,
      this.#emit,
    );
    this.#settle(live, () => live.subscribe(subscription));
    // What it is to be told of is a difference to what is there now.
    if (live.wantsRecord) void this.look(taskId);
    return () => {
      subscription.cancel();
      this.#settle(live, () => live.unsubscribe(subscription));
    };
  }

  /**
   * Keeps a place for a waiter while its requests are being written, so that
   * calls that are made at once do not all take the last one.
   *
   * @param write Writes the requests and makes the waiter with {@linkcode wait}.
   * @returns What it gives.
   * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: there are too many.
   */
  async reserveWaiter<T>(write: () => Promise<T>): Promise<T> {
    const { maxWaiters } = this.#options.limits;
    if (this.#waiters + this.#reservedWaiters >= maxWaiters) {
      throw new LimitExceededError(
        "maxWaiters",
        maxWaiters,
        "Cannot request input: too many calls wait for answers",
      );
    }
    this.#reservedWaiters++;
    try {
      return await write();
    } finally {
      this.#reservedWaiters--;
    }
  }

  /**
   * Adds a waiter to a task.
   *
   * @param taskId The task.
   * @param keys The keys that it asked under.
   * @returns The waiter.
   */
  wait(taskId: string, keys: readonly string[]): Waiter {
    const waiter = createWaiter(keys);
    const live = this.hold(taskId);
    this.#settle(live, () => {
      live.addWaiter(waiter);
      if (this.#closed) live.close();
    });
    return waiter;
  }

  /**
   * Whether a key's answer belongs to a waiter of this process.
   *
   * @param taskId The task.
   * @param key The key.
   * @returns Whether one waits for it, or has got it.
   */
  isSpokenFor(taskId: string, key: string): boolean {
    return this.#tasks.get(taskId)?.isSpokenFor(key) ?? false;
  }

  /**
   * What this process has seen last of a task.
   *
   * @param taskId The task.
   * @returns The head; `undefined` where it knows nothing, or is to read it for somebody.
   */
  lastSeen(taskId: string): TaskHead | undefined {
    const live = this.#tasks.get(taskId);
    return live?.wantsRecord ? undefined : live?.head;
  }

  /**
   * Whether more than the head of a record is needed to show it.
   *
   * @param record The head, with the payloads that a write set.
   * @param sight How it was seen.
   * @returns Whether the record has to be read.
   */
  lacks(record: TaskRecord, sight: Sight): boolean {
    return this.#tasks.get(record.taskId)?.lacks(record, sight) ?? false;
  }

  /** Reads as much of a record as is needed to show it. */
  async #read(taskId: string): Promise<Reading | undefined> {
    const { readHead } = this.#reader;
    if (readHead) {
      const head = await readHead(taskId);
      if (!head || !this.lacks(head, READ_HEAD)) {
        return head && { record: head, sight: READ_HEAD };
      }
    }
    const record = await this.#reader.read(taskId);
    return record && { record, sight: READ };
  }

  /**
   * Shows a record to whom it concerns in this process.
   *
   * @param record The record, or as much of it as is needed.
   * @param sight How it was seen.
   */
  see(record: TaskRecord, sight: Sight = READ): void {
    const live = this.#tasks.get(record.taskId);
    if (!live) return this.#created.forget(record.taskId);
    const stale = record.version < live.version;
    const ended = this.#settle(live, () => live.see(record, sight));
    if (ended) this.#leave(live);
    else if (!stale && this.#tasks.get(record.taskId) === live) {
      this.#deadlines.watch(live, record);
    }
  }

  /**
   * Shows what this process has just written where that lacks something. If it
   * cannot be read now, listeners hear of it when it can.
   *
   * @param written The head, with the payloads that were written.
   * @param sight How it is seen.
   */
  async readAndSee(written: TaskRecord, sight: Sight): Promise<void> {
    const { taskId, version } = written;
    let record: TaskRecord | undefined;
    try {
      record = await this.#reader.read(taskId);
    } catch (error) {
      const operation = "observe a task";
      this.#emit({ type: "error", operation, taskId, error });
    }
    if (!record) this.see(written, sight);
    else if (record.version > version) this.see(record, READ);
    else this.see(record, { ...sight, whole: true });
  }

  /**
   * Says that a task does not exist any more.
   *
   * @param taskId The task.
   */
  gone(taskId: string): void {
    const live = this.#tasks.get(taskId);
    if (!live) return this.#created.forget(taskId);
    this.#settle(live, () => live.end());
    this.#leave(live);
  }

  /**
   * Shows a record that was read for somebody else.
   *
   * @param record The whole record.
   */
  glimpse(record: TaskRecord): void {
    if (!this.#tasks.get(record.taskId)?.isNews(record)) return;
    // The reader has the record by then, and may change what is its own.
    const copy = copyJson(record);
    void this.#show(record.taskId, { record: copy, sight: READ });
  }

  /**
   * Reads a task, and shows it to whom it concerns in this process.
   *
   * @param taskId The task.
   * @returns The record or its head; `undefined` if the task does not exist.
   */
  async observe(taskId: string): Promise<TaskHead | undefined> {
    for (;;) {
      const reading = await this.#read(taskId);
      if (await this.#show(taskId, reading)) return reading?.record;
    }
  }

  /**
   * The same for whom only the showing matters.
   *
   * @param taskId The task.
   * @returns Whether it could be read.
   */
  async look(taskId: string): Promise<boolean> {
    try {
      await this.observe(taskId);
      return true;
    } catch (error) {
      if (!this.#closed) {
        const operation = "observe a task";
        this.#emit({ type: "error", operation, taskId, error });
      }
      return false;
    }
  }

  /**
   * Shows a record that was read beside the queue, once the writes of this
   * process that are under way have come back: a read may overtake one, and
   * listeners hear of every change that this process makes, in order.
   *
   * @param taskId The task.
   * @param reading The record; `undefined` if the task does not exist.
   * @returns Whether it was enough: somebody may have begun to listen since.
   */
  async #show(taskId: string, reading: Reading | undefined): Promise<boolean> {
    if (!this.#tasks.has(taskId)) return true;
    // deno-lint-ignore require-await -- the queue takes asynchronous jobs
    return await this.#queues.run(taskId, async () => {
      if (!reading) this.gone(taskId);
      else if (this.lacks(reading.record, reading.sight)) return false;
      else this.see(reading.record, reading.sight);
      return true;
    });
  }

  /** Ends every signal, waiter and listener. */
  close(): void {
    this.#closed = true;
    for (const live of [...this.#tasks.values()]) {
      this.#settle(live, () => live.close());
      this.#leave(live);
    }
  }

  /** Finds or makes the live task, and looks at the record of a new one. */
  #enter(taskId: string): LiveTask {
    let live = this.#tasks.get(taskId);
    if (live) return live;
    live = new LiveTask(taskId);
    if (this.#closed) {
      live.close();
      return live;
    }
    this.#tasks.set(taskId, live);
    this.#observeWhileNeeded();
    this.#watches.start(taskId);
    const created = this.#created.get(taskId);
    if (created) {
      this.#created.forget(taskId);
      live.see(created, READ);
      this.#deadlines.watch(live, created);
    } else void this.#firstLook(live);
    return live;
  }

  /** Looks at a record, unless a write that was begun at once has read it anyway. */
  async #firstLook(live: LiveTask): Promise<void> {
    const { taskId } = live;
    await undefined;
    if (this.#queues.isBusy(taskId)) {
      await this.#queues.run(taskId, () => Promise.resolve());
    }
    if (live.version > 0 || this.#tasks.get(taskId) !== live) return;
    await this.look(taskId);
  }

  #leave(live: LiveTask): void {
    if (this.#tasks.get(live.taskId) !== live) return;
    this.#deadlines.stop(live);
    this.#tasks.delete(live.taskId);
    this.#watches.stop(live.taskId);
    this.#observeWhileNeeded();
  }

  /**
   * Keeps the totals right through a change, and forgets who is not needed. A
   * change may lead to another one inside it: an abort listener unsubscribes.
   */
  #settle<T>(live: LiveTask, change: () => T): T {
    const value = change();
    this.#waiters += live.waiters.length - live.countedWaiters;
    this.#listeners += live.subscriptions.length - live.countedListeners;
    live.countedWaiters = live.waiters.length;
    live.countedListeners = live.subscriptions.length;
    if (live.idle) this.#leave(live);
    return value;
  }

  #observeWhileNeeded(): void {
    const { observeIntervalMs } = this.#options;
    if (this.#tasks.size === 0 || this.#closed) {
      this.#observer?.stop();
      this.#observer = undefined;
    } else if (observeIntervalMs !== null) {
      this.#observer ??= startLoop(async () => {
        let looks = 0;
        for (const taskId of [...this.#tasks.keys()]) {
          if (++looks % LOOKS_AT_ONCE === 0) await turn();
          if (this.#closed) return;
          // A write looks for itself, and a slow one must not hold up the others.
          if (!this.#tasks.has(taskId) || this.#queues.isBusy(taskId)) continue;
          await this.look(taskId);
        }
      }, observeIntervalMs);
    }
  }
}

/** Lets the event loop turn; it keeps no process alive. */
function turn(): Promise<void> {
  return new Promise((resolve) => startTimer(resolve, 0));
}
