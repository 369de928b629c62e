/** Errors about a task, and how it ends. */

import { show } from "./show.ts";
import { hasErrorCode } from "./table.ts";
import { TaskError } from "./task_error.ts";

/**
 * The task does not exist for this caller: unknown, expired, or bound to
 * another owner (rule I16). The message is the same for all three.
 */
export class TaskNotFoundError extends TaskError {
  /** The stable code. */
  readonly code = "ERR_TASK_NOT_FOUND" as const;
  /** The id that was asked for. */
  readonly taskId: string;

  /**
   * Makes the error.
   *
   * @param taskId The id that was asked for.
   */
  constructor(taskId: string) {
    super(
      `Cannot find task ${
        show(taskId)
      }: it is unknown or has expired; call the tool again`,
    );
    this.taskId = taskId;
  }
}

/** A write to a task that has ended (rule I2). The outcome that stands is unchanged. */
export class TaskAlreadyTerminalError extends TaskError {
  /** The stable code. */
  readonly code = "ERR_TASK_TERMINAL" as const;
  /** The task. */
  readonly taskId: string;
  /** The status that stands. */
  readonly status: string;

  /**
   * Makes the error.
   *
   * @param taskId The task.
   * @param status The status that stands.
   */
  constructor(taskId: string, status: string) {
    super(
      `Cannot change task ${
        show(taskId)
      }: it is already ${status}, and that is final`,
    );
    this.taskId = taskId;
    this.status = status;
  }
}

/** The reason on an aborted {@linkcode TaskHandle.signal} when the client cancelled the task. */
export class TaskCancelled extends TaskError {
  /** The stable code. */
  readonly code = "ERR_TASK_CANCELLED" as const;
  /** The task. */
  readonly taskId: string;

  /**
   * Makes the error.
   *
   * @param taskId The task.
   */
  constructor(taskId: string) {
    super(
      `Task ${
        show(taskId)
      } was cancelled by its client; stop the work and call cancelled()`,
    );
    this.taskId = taskId;
  }
}

/** A JSON-RPC error object: what a task that is `failed` carries. */
export interface JsonRpcError {
  /** An integer; -32768 to -32000 are the protocol's own. */
  readonly code: number;
  /** A short description, for the client. */
  readonly message: string;
  /** Any plain JSON that helps. */
  readonly data?: unknown;
}

/**
 * What a worker throws to end its task as `failed` with a JSON-RPC error. Any
 * other throw is an ordinary tool error: `completed` with `isError: true`.
 *
 * @example
 * ```ts
 * import { TaskFailure } from "@mcp-durable/tasks";
 *
 * const failure = new TaskFailure({ code: -32602, message: "no such folder" });
 * console.log(failure.error.code); // -32602
 * ```
 */
export class TaskFailure extends TaskError {
  /** The stable code. */
  readonly code = "ERR_TASK_FAILURE" as const;
  /** The error that the client reads. */
  readonly error: JsonRpcError;

  /**
   * Makes the error.
   *
   * @param error The error that the client reads.
   * @param options The cause, which the client never sees.
   */
  constructor(error: JsonRpcError, options?: ErrorOptions) {
    super(error.message, options);
    this.error = error;
  }
}

/** A compare-and-swap that lost: the stored version is not the expected one (rule I9). */
export class ConcurrentUpdateError extends TaskError {
  /** The stable code. */
  readonly code = "ERR_CONCURRENT_UPDATE" as const;
  /** The task. */
  readonly taskId: string;
  /** The version that the writer expected. */
  readonly expectedVersion: number;

  /**
   * Makes the error.
   *
   * @param taskId The task.
   * @param expectedVersion The version that the writer expected.
   * @param actualVersion The version that is stored, where known.
   */
  constructor(taskId: string, expectedVersion: number, actualVersion?: number) {
    super(
      `Cannot update task ${
        show(taskId)
      }: version ${expectedVersion} was expected, ${
        actualVersion === undefined
          ? "another is stored"
          : `${actualVersion} is stored`
      }`,
    );
    this.taskId = taskId;
    this.expectedVersion = expectedVersion;
  }
}

/** A `create` with an id that exists. The record that is there is untouched. */
export class DuplicateTaskIdError extends TaskError {
  /** The stable code. */
  readonly code = "ERR_DUPLICATE_TASK_ID" as const;
  /** The id. */
  readonly taskId: string;

  /**
   * Makes the error.
   *
   * @param taskId The id.
   */
  constructor(taskId: string) {
    super(
      `Cannot create task ${
        show(taskId)
      }: the id exists; each task needs a new one`,
    );
    this.taskId = taskId;
  }
}

/**
 * Tells whether a value is a {@linkcode TaskNotFoundError}.
 *
 * @param error The value that was caught.
 * @returns Whether its code is `ERR_TASK_NOT_FOUND`.
 */
export function isTaskNotFoundError(
  error: unknown,
): error is TaskNotFoundError {
  return hasErrorCode(error, "ERR_TASK_NOT_FOUND");
}

/**
 * Tells whether a value is a {@linkcode TaskAlreadyTerminalError}.
 *
 * @param error The value that was caught.
 * @returns Whether its code is `ERR_TASK_TERMINAL`.
 */
export function isTaskAlreadyTerminalError(
  error: unknown,
): error is TaskAlreadyTerminalError {
  return hasErrorCode(error, "ERR_TASK_TERMINAL");
}

/**
 * Tells whether a value is a {@linkcode TaskCancelled}.
 *
 * @param error The value that was caught, or the reason of a signal.
 * @returns Whether its code is `ERR_TASK_CANCELLED`.
 */
export function isTaskCancelled(error: unknown): error is TaskCancelled {
  return hasErrorCode(error, "ERR_TASK_CANCELLED");
}

/**
 * Tells whether a value is a {@linkcode TaskFailure}.
 *
 * @param error The value that was caught.
 * @returns Whether its code is `ERR_TASK_FAILURE`.
 */
export function isTaskFailure(error: unknown): error is TaskFailure {
  return hasErrorCode(error, "ERR_TASK_FAILURE");
}

/**
 * Tells whether a value is a {@linkcode ConcurrentUpdateError}.
 *
 * @param error The value that was caught.
 * @returns Whether its code is `ERR_CONCURRENT_UPDATE`.
 */
export function isConcurrentUpdateError(
  error: unknown,
): error is ConcurrentUpdateError {
  return hasErrorCode(error, "ERR_CONCURRENT_UPDATE");
}

/**
 * Tells whether a value is a {@linkcode DuplicateTaskIdError}.
 *
 * @param error The value that was caught.
 * @returns Whether its code is `ERR_DUPLICATE_TASK_ID`.
 */
export function isDuplicateTaskIdError(
  error: unknown,
): error is DuplicateTaskIdError {
  return hasErrorCode(error, "ERR_DUPLICATE_TASK_ID");
}
