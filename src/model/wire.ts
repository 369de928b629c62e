/** What a client sees of a task, made from the record by an allow-list. */

import type { JsonRpcError } from "../errors.ts";
import type { InputRequests } from "./input_request.ts";
import type { JsonObject } from "./json.ts";
import type { PayloadField, TaskHead, TaskRecord } from "./record.ts";
import type { TaskStatus } from "./status.ts";

/** What every task shows, whatever its state. */
export interface Task {
  /** All that a client needs to find the task again. */
  readonly taskId: string;
  /** The state. */
  readonly status: TaskStatus;
  /** The last progress, or why the task ended so; absent where there is none. */
  readonly statusMessage?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601; never goes back. */
  readonly lastUpdatedAt: string;
  /** Milliseconds from `createdAt` after which the task no longer exists; `null` for ever. */
  readonly ttlMs: number | null;
  /** How often to poll, in milliseconds; absent where the server has no opinion. */
  readonly pollIntervalMs?: number;
}

/** A task that is being worked on. */
export interface WorkingTask extends Task {
  /** The state. */
  readonly status: "working";
}

/** A task that waits for its client. */
export interface InputRequiredTask extends Task {
  /** The state. */
  readonly status: "input_required";
  /** Every open request by its key, and only those. */
  readonly inputRequests: InputRequests;
}

/** A task with a result. */
export interface CompletedTask extends Task {
  /** The state. */
  readonly status: "completed";
  /** What the request itself would have given. */
  readonly result: JsonObject;
}

/** A task that ended in a JSON-RPC error. */
export interface FailedTask extends Task {
  /** The state. */
  readonly status: "failed";
  /** The error. */
  readonly error: JsonRpcError;
}

/** A task that was given up at its client's wish. */
export interface CancelledTask extends Task {
  /** The state. */
  readonly status: "cancelled";
}

/** A whole task, told apart by `status`. */
export type DetailedTask =
  | WorkingTask
  | InputRequiredTask
  | CompletedTask
  | FailedTask
  | CancelledTask;

/** What tells a finished answer from a task. */
export interface CompleteResult {
  /** The kind of the answer. */
  readonly resultType: "complete";
}

/** The answer to `tools/call` that says: this became a task. */
export interface CreateTaskResult extends Task {
  /** The kind of the answer. */
  readonly resultType: "task";
}

/** The answer to `tasks/get`. */
export type GetTaskResult = DetailedTask & CompleteResult;

/** The answer to `tasks/update`: taken. */
export type UpdateTaskResult = CompleteResult;

/** The answer to `tasks/cancel`: heard. */
export type CancelTaskResult = CompleteResult;

/**
 * Shows a task as the answer to the request that created it: flat, without
 * payloads.
 *
 * @param record The record.
 * @returns The answer.
 */
export function toCreateTaskResult(record: TaskRecord): CreateTaskResult {
  return describe("task", record);
}

/**
 * Shows a whole task as `tasks/get` does.
 *
 * @param record The record; payloads are not copied.
 * @returns The answer.
 */
export function toGetTaskResult(record: TaskRecord): GetTaskResult {
  const task:
    & Described<"complete">
    & {
      -readonly [Name in PayloadField]?: TaskRecord[Name];
    } = describe("complete", record);
  switch (record.status) {
    case "input_required":
      task.inputRequests = record.inputRequests ?? {};
      break;
    case "completed":
      task.result = record.result ?? {};
      break;
    case "failed":
      task.error = record.error ?? { code: -32603, message: "Internal error" };
  }
  return task as GetTaskResult;
}

/** What every task shows, to be added to. */
type Described<ResultType extends string> =
  & { resultType: ResultType }
  & { -readonly [Name in keyof Task]: Task[Name] };

function describe<ResultType extends string>(
  resultType: ResultType,
  record: TaskHead,
): Described<ResultType> {
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt, ttlMs } =
    record;
  const task: Described<ResultType> = statusMessage === undefined
    ? { resultType, taskId, status, createdAt, lastUpdatedAt, ttlMs }
    : {
      resultType,
      taskId,
      status,
      statusMessage,
      createdAt,
      lastUpdatedAt,
      ttlMs,
    };
  const { pollIntervalMs } = record;
  if (pollIntervalMs !== undefined) task.pollIntervalMs = pollIntervalMs;
  return task;
}
