/** The verbs of the extension over a store. */

import {
  InvalidArgumentError,
  InvalidInputResponseError,
  isTaskEntryTooLargeError,
  LifecycleClosedError,
  show,
  TaskNotFoundError,
} from "../errors.ts";
import { expiresAt } from "../model/expiry.ts";
import { type AppliedAnswers, applyAnswers } from "../model/input_round.ts";
import type { TaskLimits } from "../model/limits.ts";
import { checkOptions, type NamesOf } from "../model/option_names.ts";
import { isTerminalStatus } from "../model/status.ts";
import {
  type CancelTaskResult,
  type CreateTaskResult,
  type GetTaskResult,
  toCreateTaskResult,
  toGetTaskResult,
  type UpdateTaskResult,
} from "../model/wire.ts";
import { TaskQueues } from "../store/task_queues.ts";
import { ownerOf, refuseForeign, type TaskAccess } from "./access.ts";
import { type Emit, safeEmit } from "./events.ts";
import { createHandle, refuseTerminal, type TaskHandle } from "./handle.ts";
import type { ListenOptions, TaskListener } from "./listeners.ts";
import type { LiveTask } from "./live_task.ts";
import { LiveTasks } from "./live_tasks.ts";
import { TaskWriter } from "./mutate.ts";
import {
  type ResolvedOptions,
  resolveOptions,
  type TaskLifecycleOptions,
} from "./options.ts";
import {
  type CreateTaskInit,
  DEFAULT_METHOD,
  newRecord,
} from "./new_record.ts";
import { ProgressReports } from "./progress_reports.ts";
import { TaskQuota } from "./quota.ts";
import { storeError } from "./store_guard.ts";
import { startLoop, startTimer, type Timer } from "./timers.ts";
import { runWorker, type TaskWorker } from "./workers.ts";

/** The options of {@linkcode TaskLifecycle.close}. */
export interface CloseOptions {
  /**
   * How long workers that `run()` started may take to end, in milliseconds.
   *
   * @default 5_000
   */
  readonly graceMs?: number;
}

const CLOSE_NAMES: NamesOf<CloseOptions> = { graceMs: true };

const LISTEN_NAMES: NamesOf<ListenOptions> = { onEnd: true };

/**
 * The tasks of a server: a state engine over a {@linkcode TaskStore}, without
 * transport, authentication, client or queue of its own.
 *
 * Making one does nothing but check the options: no timer, no clock and no
 * random number before the first call, so that it may stand at the top of a
 * module, in a Worker too.
 *
 * @example A task from its creation to its result
 * ```ts
 * import { MemoryTaskStore, TaskLifecycle } from "@mcp-durable/tasks";
 *
 * const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
 * const { taskId } = await tasks.createTask({ ttlMs: 60_000 });
 *
 * const task = tasks.handle(taskId);
 * await task.progress("half of it");
 * await task.complete({ content: [{ type: "text", text: "all of it" }] });
 *
 * const shown = await tasks.getTask(taskId);
 * console.log(shown.status, shown.status === "completed" && shown.result);
 * await tasks.close();
 * ```
 */
export class TaskLifecycle {
  /** The limits in force. */
  readonly limits: TaskLimits;
  /** Whether accepted form answers are checked against their `requestedSchema`. */
  readonly checkFormAnswers: boolean;
  readonly #options: ResolvedOptions;
  readonly #emit: Emit;
  readonly #queues: TaskQueues = new TaskQueues();
  readonly #reports: ProgressReports | undefined;
  readonly #writer: TaskWriter;
  readonly #live: LiveTasks;
  readonly #quota: TaskQuota;
  /** The workers that run, and what this process holds of their tasks. */
  readonly #runs: Map<Promise<void>, LiveTask> = new Map();
  #sweeper: Timer | undefined;
  #phase: "open" | "closing" | "closed" = "open";
  #closing: Promise<void> | undefined;

  /**
   * Checks the options, and does nothing else.
   *
   * @param options The options.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an option is wrong.
   * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: `defaultTtlMs` is over `limits.maxTtlMs`.
   */
  constructor(options: TaskLifecycleOptions) {
    this.#options = resolveOptions(options);
    this.limits = this.#options.limits;
    this.checkFormAnswers = this.#options.checkFormAnswers;
    this.#emit = safeEmit(this.#options.onEvent);
    this.#quota = new TaskQuota(this.#options.limits);
    this.#live = new LiveTasks(
      this.#options,
      this.#queues,
      {
        read: (taskId) => this.#writer.read(taskId),
        readHead: this.#options.store.head &&
          ((taskId) => this.#writer.readHead(taskId)),
      },
      this.#emit,
    );
    const { minWriteIntervalMs = 0 } = this.#options.store.traits ?? {};
    this.#reports = minWriteIntervalMs > 0 ? new ProgressReports() : undefined;
    this.#writer = new TaskWriter(
      this.#options,
      this.#queues,
      this.#live,
      this.#reports,
      () => this.#phase === "closed",
    );
  }

  /**
   * Creates a task, durably (rule I1): when it resolves, a `tasks/get` for the
   * id would succeed.
   *
   * @param init What the task starts with.
   * @returns The answer to the request that became the task.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an argument is wrong.
   * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: a limit is reached.
   * @throws {TaskEntryTooLargeError} `ERR_ENTRY_TOO_LARGE`: it would have no room for its end.
   * @throws {DuplicateTaskIdError} `ERR_DUPLICATE_TASK_ID`: `generateTaskId` gave an id that exists.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: the store failed.
   * @throws {LifecycleClosedError} `ERR_LIFECYCLE_CLOSED`: after `close()` was called.
   */
  async createTask(init: CreateTaskInit = {}): Promise<CreateTaskResult> {
    this.#start("create a task");
    const record = newRecord(init, this.#options);
    const { store, now } = this.#options;
    const { taskId, owner } = record;
    const uncount = this.#quota.isOff
      ? undefined
      : this.#quota.add(taskId, owner, expiresAt(record), now());
    try {
      await store.create(record);
    } catch (error) {
      uncount?.();
      throw storeError("create a task", error);
    }
    this.#live.created(record);
    return toCreateTaskResult(record);
  }

  /**
   * The write side of a task, for the code that does its work. It may be made
   * anew at any time, after a restart too.
   *
   * @param taskId The task.
   * @returns The handle.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: the id is no string.
   */
  handle(taskId: string): TaskHandle {
    checkTaskId(taskId);
    if (this.#phase === "open") this.#startSweeping();
    return createHandle(
      {
        options: this.#options,
        writer: this.#writer,
        live: this.#live,
        reports: this.#reports,
        isClosing: () => this.#phase !== "open",
      },
      taskId,
    );
  }

  /**
   * Runs a worker on a task, in this process and detached from any request.
   * The task is read first: on one that has ended or does not exist the worker
   * is not started, and one whose client has cancelled it ends without it.
   *
   * What the worker returns completes the task. What it throws ends it:
   *
   * - {@linkcode TaskFailure}, the SDK's `ProtocolError`, or an error with an
   *   integer `code` within -32768..-32000: `failed`;
   * - anything after the client has asked to cancel: `cancelled`;
   * - an error of the store, or of a lifecycle that closes: nothing is written
   *   and the task goes on to exist as it is;
   * - anything else: `completed` with `isError: true`, as the SDK answers.
   *
   * @param taskId The task.
   * @param worker Does the work.
   * @returns Resolves when the worker has ended; never rejects, so that it
   * need not be awaited. Throws are told to `onEvent`, and so is a worker that
   * is not started because `close()` was called.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: the id is no string, or the worker no function.
   *
   * @example
   * ```ts
   * import { MemoryTaskStore, TaskLifecycle } from "@mcp-durable/tasks";
   *
   * const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
   * const { taskId } = await tasks.createTask();
   * await tasks.run(taskId, async (task) => {
   *   await task.progress("counting");
   *   return { content: [{ type: "text", text: "3" }] };
   * });
   * console.log((await tasks.getTask(taskId)).status); // "completed"
   * await tasks.close();
   * ```
   */
  run(taskId: string, worker: TaskWorker): Promise<void> {
    checkTaskId(taskId);
    if (typeof worker !== "function") {
      throw new InvalidArgumentError(
        `Cannot run a worker: the value is ${
          show(worker)
        }, a function is needed`,
      );
    }
    if (this.#phase !== "open") {
      const error = new LifecycleClosedError("run a worker");
      this.#emit({ type: "worker_error", taskId, error, outcome: "none" });
      return Promise.resolve();
    }
    const task = this.handle(taskId);
    const look = async () => {
      const head = await this.#live.observe(taskId);
      if (!head) throw new TaskNotFoundError(taskId);
      refuseTerminal(head);
    };
    const run = runWorker(task, worker, this.#emit, look);
    this.#runs.set(run, this.#live.hold(taskId));
    return run.finally(() => this.#runs.delete(run));
  }

  /**
   * Answers `tasks/get`: a pure read (rule I3).
   *
   * @param taskId The task.
   * @param access In whose name.
   * @returns The whole task.
   * @throws {TaskNotFoundError} `ERR_TASK_NOT_FOUND`: unknown, expired, or not this caller's.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an argument is wrong.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: the store failed.
   * @throws {LifecycleClosedError} `ERR_LIFECYCLE_CLOSED`: after `close()` was called.
   */
  async getTask(taskId: string, access?: TaskAccess): Promise<GetTaskResult> {
    const owner = this.#startReading(taskId, access);
    const found = await this.#writer.read(taskId);
    const record = refuseForeign(found, taskId, owner);
    this.#live.glimpse(record);
    return toGetTaskResult(record);
  }

  /**
   * Tells which request became a task, as what a client expects in the result
   * depends on it. A pure read.
   *
   * @param taskId The task.
   * @param access In whose name.
   * @returns The method, such as `tools/call`.
   * @throws {TaskNotFoundError} `ERR_TASK_NOT_FOUND`: unknown, expired, or not this caller's.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an argument is wrong.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: the store failed.
   * @throws {LifecycleClosedError} `ERR_LIFECYCLE_CLOSED`: after `close()` was called.
   */
  async methodOf(taskId: string, access?: TaskAccess): Promise<string> {
    const owner = this.#startReading(taskId, access);
    const head = await this.#writer.readHead(taskId);
    return refuseForeign(head, taskId, owner).method ?? DEFAULT_METHOD;
  }

  /**
   * Answers `tasks/update`: takes the answers to requests that are open, and
   * ignores all other keys. A repeated answer, a part of the answers, and an
   * update of a task that waits for nothing are acknowledged.
   *
   * @param taskId The task.
   * @param inputResponses The client's answers by key.
   * @param access In whose name.
   * @returns The acknowledgement.
   * @throws {InvalidInputResponseError} `ERR_INVALID_INPUT_RESPONSE`: some
   * answers do not fit their request; the others were taken.
   * @throws {TaskNotFoundError} `ERR_TASK_NOT_FOUND`: unknown, expired, or not this caller's.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an argument is wrong.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: the store failed.
   * @throws {LifecycleClosedError} `ERR_LIFECYCLE_CLOSED`: after `close()` was called.
   */
  async updateTask(
    taskId: string,
    inputResponses: unknown,
    access?: TaskAccess,
  ): Promise<UpdateTaskResult> {
    this.#start("update a task");
    checkTaskId(taskId);
    const owner = ownerOf(access);
    const responses = checkResponses(inputResponses);
    const { limits, checkFormAnswers } = this.#options;
    let applied: AppliedAnswers | undefined;
    const problems = await this.#writer.change(
      taskId,
      "update a task",
      (record) => {
        refuseForeign(record, taskId, owner);
        const { patch, problems } = applied = applyAnswers(record, responses, {
          limits,
          checkAnswers: checkFormAnswers,
        });
        return { patch, result: () => problems };
      },
    ).catch((error) => {
      // A store may take less than it says.
      if (!applied || !isTaskEntryTooLargeError(error)) throw error;
      const problem = "the task has no room for it";
      return new Map([
        ...applied.problems,
        ...applied.taken.map((key) => [key, problem] as const),
      ]);
    });
    if (problems.size > 0) {
      throw new InvalidInputResponseError(taskId, problems);
    }
    return { resultType: "complete" };
  }

  /**
   * Answers `tasks/cancel`: keeps the client's wish (rule I14) and tells the
   * worker. The status does not change by itself: the worker ends the task, in
   * whatever state. A task that has ended, or is cancelled twice, is
   * acknowledged.
   *
   * @param taskId The task.
   * @param access In whose name.
   * @returns The acknowledgement.
   * @throws {TaskNotFoundError} `ERR_TASK_NOT_FOUND`: unknown, expired, or not this caller's.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an argument is wrong.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: the store failed.
   * @throws {LifecycleClosedError} `ERR_LIFECYCLE_CLOSED`: after `close()` was called.
   */
  async cancelTask(
    taskId: string,
    access?: TaskAccess,
  ): Promise<CancelTaskResult> {
    this.#start("cancel a task");
    checkTaskId(taskId);
    const owner = ownerOf(access);
    await this.#writer.changeByHead(taskId, "cancel a task", (head) => {
      refuseForeign(head, taskId, owner);
      const heard = head.cancelRequestedAt !== undefined ||
        isTerminalStatus(head.status);
      const { now, times } = this.#options;
      const at = times.write(now());
      return {
        patch: heard ? undefined : { cancelRequestedAt: at },
        silent: true,
        result: () => {},
      };
    });
    return { resultType: "complete" };
  }

  /**
   * Listens to a task. The listener hears of each change that a client can
   * see, after its commit, asynchronously and in order, as `getTask` would
   * show it. Of changes that other processes make it may miss some, but never
   * the end. It ends by itself after the terminal state (which it also hears of
   * if the task had already ended), at the end of the TTL, and on `close()`.
   *
   * @param taskId The task.
   * @param listener Hears of changes; what it throws goes to `onEvent`.
   * @param options How.
   * @returns Ends the subscription.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an argument is wrong.
   * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: there are too many listeners.
   * @throws {LifecycleClosedError} `ERR_LIFECYCLE_CLOSED`: after `close()` was called.
   *
   * @example
   * ```ts
   * import { MemoryTaskStore, TaskLifecycle } from "@mcp-durable/tasks";
   *
   * const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
   * const { taskId } = await tasks.createTask();
   * const ended = new Promise<string>((resolve) =>
   *   tasks.onTaskChanged(taskId, (task) => {
   *     if (task.status === "completed") resolve(task.taskId);
   *   })
   * );
   * await tasks.handle(taskId).complete({ content: [] });
   * console.log(await ended === taskId); // true
   * await tasks.close();
   * ```
   */
  onTaskChanged(
    taskId: string,
    listener: TaskListener,
    options: ListenOptions = {},
  ): () => void {
    this.#start("listen to a task");
    checkTaskId(taskId);
    if (typeof listener !== "function") {
      throw new InvalidArgumentError(
        `Cannot listen to a task: the listener is ${
          show(listener)
        }, a function is needed`,
      );
    }
    checkOptions("listen to a task", options, LISTEN_NAMES);
    const { onEnd } = options;
    if (onEnd !== undefined && typeof onEnd !== "function") {
      throw new InvalidArgumentError(
        `Cannot listen to a task: onEnd is ${
          show(onEnd)
        }, a function is needed`,
      );
    }
    return this.#live.subscribe(taskId, listener, { onEnd });
  }

  /**
   * Ends the lifecycle and its store. No task is created or read any more,
   * signals abort and waiting calls reject with
   * {@linkcode LifecycleClosedError}; workers that `run()` started may write
   * until they end or the grace is over. Idempotent.
   *
   * @param options The options.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: the grace is no number of milliseconds.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: the store could not be closed.
   */
  // deno-lint-ignore require-await -- a refusal has to be a rejection
  async close(options: CloseOptions = {}): Promise<void> {
    checkOptions("close", options, CLOSE_NAMES);
    const { graceMs = 5_000 } = options;
    if (typeof graceMs !== "number" || !(graceMs >= 0)) {
      throw new InvalidArgumentError(
        `Cannot close: graceMs is ${
          show(graceMs)
        }, milliseconds from 0 are needed`,
      );
    }
    return this.#closing ??= this.#close(graceMs);
  }

  async #close(graceMs: number): Promise<void> {
    this.#phase = "closing";
    this.#sweeper?.stop();
    this.#live.close();
    // A task that somebody else has ended is forgotten, its worker may go on.
    for (const live of this.#runs.values()) live.close();
    await within(graceMs, this.#ended());
    this.#phase = "closed";
    try {
      await this.#options.store.close();
    } catch (error) {
      throw storeError("close the store", error);
    }
  }

  /** Resolves when no worker runs and no write is queued. */
  async #ended(): Promise<void> {
    while (this.#runs.size > 0) await Promise.all(this.#runs.keys());
    await this.#queues.idle();
  }

  /** Checks a read, and says in whose name it is. */
  #startReading(
    taskId: string,
    access: TaskAccess | undefined,
  ): string | undefined {
    this.#start("read a task");
    checkTaskId(taskId);
    return ownerOf(access);
  }

  /** Every verb passes here first. */
  #start(operation: string): void {
    if (this.#phase !== "open") throw new LifecycleClosedError(operation);
    this.#startSweeping();
  }

  #startSweeping(): void {
    const { sweepIntervalMs } = this.#options;
    if (sweepIntervalMs === null) return;
    this.#sweeper ??= startLoop(() => this.#sweep(), sweepIntervalMs);
  }

  async #sweep(): Promise<void> {
    const { store, now } = this.#options;
    try {
      const deleted = await store.sweep(now());
      if (deleted > 0) this.#emit({ type: "sweep", deleted });
    } catch (cause) {
      if (this.#phase === "closed") return;
      const operation = "sweep expired tasks";
      const error = storeError(operation, cause);
      this.#emit({ type: "error", operation, error });
    }
  }
}

function checkTaskId(taskId: unknown): void {
  if (typeof taskId !== "string") {
    throw new InvalidArgumentError(
      `Cannot find a task: the id is ${show(taskId)}, a string is needed`,
    );
  }
}

function checkResponses(
  inputResponses: unknown,
): Readonly<Record<string, unknown>> {
  if (
    typeof inputResponses !== "object" || inputResponses === null ||
    Array.isArray(inputResponses)
  ) {
    throw new InvalidArgumentError(
      `Cannot update a task: inputResponses is ${
        show(inputResponses)
      }, an object of answers by key is needed`,
    );
  }
  return inputResponses as Readonly<Record<string, unknown>>;
}

/** Waits for a promise, but no longer than so many milliseconds. */
async function within(ms: number, promise: Promise<void>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = startTimer(resolve, ms, { keepAlive: true });
  await Promise.race([promise, over]);
  timer.stop();
}
