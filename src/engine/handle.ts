/** The write side of a task: what a worker holds. */

import {
  isTaskEntryTooLargeError,
  type JsonRpcError,
  LifecycleClosedError,
  TaskAlreadyTerminalError,
  TaskCancelled,
} from "../errors.ts";
import type { InputRequests } from "../model/input_request.ts";
import type {
  InputResponses,
  InputResponsesTo,
} from "../model/input_response.ts";
import {
  NO_INPUT,
  openRequests,
  parseInputRequests,
  takeAnswers,
} from "../model/input_round.ts";
import { type JsonObject, toPlainJsonObject, truncate } from "../model/json.ts";
import type { TaskHead, TaskPatch } from "../model/record.ts";
import { isTerminalStatus } from "../model/status.ts";
import {
  checkStatusMessage,
  parseError,
  parseProgress,
} from "./handle_arguments.ts";
import type { LiveTasks } from "./live_tasks.ts";
import type { TaskWriter } from "./mutate.ts";
import type { ResolvedOptions } from "./options.ts";
import type { ProgressReports } from "./progress_reports.ts";
import { quiet } from "./quiet.ts";

/** What a progress report may change besides the message. */
export interface ProgressPatch {
  /** How often to poll from now on, in milliseconds. */
  readonly pollIntervalMs?: number;
  /** The new TTL, in milliseconds from `createdAt`; `null` for ever. */
  readonly ttlMs?: number | null;
}

/**
 * A worker's side of a task. Every method waits for the store, and calls on
 * one task take effect in the order in which they were made.
 *
 * All methods that write reject with `ERR_TASK_NOT_FOUND` if the task does not
 * exist or has expired, `ERR_TASK_TERMINAL` if it has ended (rule I2),
 * `ERR_STORE_FAILED` if the store failed and `ERR_LIFECYCLE_CLOSED` after
 * `close()`.
 */
export interface TaskHandle {
  /** The task. */
  readonly taskId: string;
  /**
   * Aborts when the client cancels the task or it ends as cancelled (reason
   * {@linkcode TaskCancelled}), when its TTL ends ({@linkcode TaskNotFoundError}), when another process
   * ended it ({@linkcode TaskAlreadyTerminalError}) and when the lifecycle
   * closes ({@linkcode LifecycleClosedError}). Cooperative: nothing is killed.
   */
  readonly signal: AbortSignal;
  /**
   * Reports progress. It may be left un-awaited: a rejection is then no
   * unhandled one. On a store that takes few writes (its trait
   * `minWriteIntervalMs`), reports that wait for the same write are merged.
   *
   * @param statusMessage What the client reads, at most
   * `limits.maxStatusMessageLength` long.
   * @param patch What else changes.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an argument is wrong.
   * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: the message is too long.
   */
  progress(statusMessage: string, patch?: ProgressPatch): Promise<void>;
  /**
   * Asks the client, and waits for all answers (specification,
   * `input_required`). Rejects with {@linkcode TaskCancelled} when the task is
   * cancelled. A rejection is never an unhandled one.
   *
   * @param requests Requests by key; a key is used once in the life of a task
   * (rule I5).
   * @returns The answers to these keys, and no others, each of the kind that
   * belongs to its request.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: there is no request.
   * @throws {InvalidInputRequestError} `ERR_INVALID_INPUT_REQUEST`: a request is wrong.
   * @throws {NotJsonError} `ERR_NOT_JSON`: a request is not plain JSON.
   * @throws {DuplicateInputKeyError} `ERR_DUPLICATE_INPUT_KEY`: a key was used before.
   * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: too many keys, one that is
   * too long, a request that is too deep, or too many calls that wait.
   * @throws {TaskEntryTooLargeError} `ERR_ENTRY_TOO_LARGE`: the requests do not fit.
   */
  requestInput<const Requests extends InputRequests>(
    requests: Requests,
  ): Promise<InputResponsesTo<Requests>>;
  /**
   * Gives the answers that arrived while no worker was waiting, such as after
   * a restart: each at most once, and to one caller only. It does not wait. A
   * question that an earlier process asked keeps its key: asked again it is
   * `ERR_DUPLICATE_INPUT_KEY`, so where it is still open, call this again
   * after a change ({@linkcode TaskLifecycle.onTaskChanged}).
   *
   * @returns The answers; `undefined` if there are none to give.
   */
  resumeInput(): Promise<InputResponses | undefined>;
  /**
   * Ends the task with a result.
   *
   * @param result A plain JSON object (rule I11).
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is no object.
   * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: it is nested too deeply.
   * @throws {NotJsonError} `ERR_NOT_JSON`: it is not plain JSON.
   * @throws {TaskEntryTooLargeError} `ERR_ENTRY_TOO_LARGE`: it does not fit;
   * the task goes on, so a smaller one may follow.
   */
  complete(result: JsonObject): Promise<void>;
  /**
   * Ends the task with a JSON-RPC error. It always fits: what is too large is
   * shortened. The status message becomes the error's.
   *
   * @param error The error, `{ code, message, data? }` with an integer code; or
   * one that a worker could throw to the same end, such as a
   * {@linkcode TaskFailure} or the SDK's `ProtocolError`.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is no such error.
   * @throws {NotJsonError} `ERR_NOT_JSON`: its data is not plain JSON.
   * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: its data is nested too deeply.
   */
  fail(error: JsonRpcError): Promise<void>;
  /**
   * Ends the task as cancelled: the work has stopped.
   *
   * @param statusMessage What the client reads.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is no string.
   * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: it is too long.
   */
  cancelled(statusMessage?: string): Promise<void>;
}

/** What handles are made from. */
export interface HandleContext {
  readonly options: ResolvedOptions;
  readonly writer: TaskWriter;
  readonly live: LiveTasks;
  /** Absent where the store takes any number of writes. */
  readonly reports: ProgressReports | undefined;
  readonly isClosing: () => boolean;
}

/** Code units of the message that an error which is too large keeps. */
const SHORT_MESSAGE_LENGTH = 256;

/**
 * Makes a handle.
 *
 * @param context The engine's parts.
 * @param taskId The task.
 * @returns The handle; its methods need no `this`.
 */
export function createHandle(
  context: HandleContext,
  taskId: string,
): TaskHandle {
  const { options, writer, live, reports, isClosing } = context;
  const { limits } = options;
  const held = live.hold(taskId);

  const end = (operation: string, outcome: TaskPatch, anySize?: boolean) =>
    writer.changeByHead(taskId, operation, (head) => {
      refuseTerminal(head);
      const patch = { ...outcome, ...NO_INPUT };
      return { patch, anySize, result: nothing };
    });

  const write = (take: () => TaskPatch) =>
    writer.changeByHead(taskId, "report progress", (head) => {
      refuseTerminal(head);
      return { patch: take(), result: nothing };
    });

  // Whoever queues a write looks after its promise, so it may be left un-awaited.
  const progress = (statusMessage: string, patch: ProgressPatch = {}) => {
    try {
      const change = parseProgress(statusMessage, patch, limits);
      return reports
        ? reports.report(taskId, change, write)
        : write(() => change);
    } catch (error) {
      return quiet(Promise.reject(error));
    }
  };

  const requestInput = async <Requests extends InputRequests>(
    requests: Requests,
  ) => {
    const parsed = parseInputRequests(requests, limits);
    const waiter = await live.reserveWaiter(() =>
      writer.change(taskId, "request input", (record) => {
        refuseTerminal(record);
        if (isClosing()) throw new LifecycleClosedError("request input");
        if (record.cancelRequestedAt !== undefined) {
          throw new TaskCancelled(taskId);
        }
        const patch = openRequests(record, parsed, limits);
        return { patch, result: () => live.wait(taskId, Object.keys(parsed)) };
      })
    );
    return await waiter.answers as InputResponsesTo<Requests>;
  };

  const resumeInput = () =>
    writer.change(taskId, "resume input", (record) => {
      refuseTerminal(record);
      const take = takeAnswers(record, (key) => live.isSpokenFor(taskId, key));
      return { patch: take?.patch, silent: true, result: () => take?.answers };
    });

  const complete = async (result: JsonObject) => {
    const { maxDepth } = limits;
    const copy = toPlainJsonObject(result, { what: "result", maxDepth });
    await end("complete a task", { status: "completed", result: copy });
  };

  const fail = async (error: JsonRpcError) => {
    const full = parseError(error, limits.maxDepth);
    const { code } = full;
    const message = truncate(full.message, SHORT_MESSAGE_LENGTH);
    const { maxStatusMessageLength } = limits;
    const short = [
      failure({ code, message }, maxStatusMessageLength),
      { ...failure({ code, message: "" }, 0), statusMessage: undefined },
    ];
    // What a lowered limit leaves no room for, the store may take all the same;
    // and nobody asks for a key any more.
    const last = short.map((outcome) => ({
      ...outcome,
      usedInputKeys: undefined,
    }));
    const outcomes = [
      failure(full, maxStatusMessageLength),
      ...short,
      ...last,
    ];
    for (const [index, outcome] of outcomes.entries()) {
      try {
        return await end("fail a task", outcome, index > short.length);
      } catch (cause) {
        const isLast = index === outcomes.length - 1;
        if (isLast || !isTaskEntryTooLargeError(cause)) throw cause;
      }
    }
  };

  const cancelled = async (statusMessage?: string) => {
    await end("end a task as cancelled", {
      status: "cancelled",
      ...(statusMessage !== undefined &&
        { statusMessage: checkStatusMessage(statusMessage, limits) }),
    });
  };

  return {
    taskId,
    get signal() {
      return held.signal;
    },
    progress,
    requestInput: (requests) => quiet(requestInput(requests)),
    resumeInput,
    complete,
    fail,
    cancelled,
  };
}

function failure(error: JsonRpcError, maxMessageLength: number): TaskPatch {
  return {
    status: "failed",
    error,
    ...(error.message !== "" &&
      { statusMessage: truncate(error.message, maxMessageLength) }),
  };
}

const nothing = () => {};

/**
 * Refuses a task that has ended (rule I2).
 *
 * @param record The task.
 * @throws {TaskAlreadyTerminalError} `ERR_TASK_TERMINAL`: it has.
 */
export function refuseTerminal(record: TaskHead): void {
  if (isTerminalStatus(record.status)) {
    throw new TaskAlreadyTerminalError(record.taskId, record.status);
  }
}
