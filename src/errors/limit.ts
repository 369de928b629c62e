/** Errors about what is too much. */

import { show } from "./show.ts";
import { hasErrorCode } from "./table.ts";
import { TaskError } from "./task_error.ts";

/** A stated limit was reached (rule I13). Nothing was changed. */
export class LimitExceededError extends TaskError {
  /** The stable code. */
  readonly code = "ERR_LIMIT_EXCEEDED" as const;
  /** The name of the option that sets the limit. */
  readonly limit: string;
  /** The limit in force. */
  readonly maximum: number;

  /**
   * Makes the error.
   *
   * @param limit The name of the option that sets the limit.
   * @param maximum The limit in force.
   * @param problem What went over it.
   */
  constructor(limit: string, maximum: number, problem: string) {
    super(`${problem}: ${limit} is ${maximum}`);
    this.limit = limit;
    this.maximum = maximum;
  }
}

/**
 * A record larger than the store or the engine takes. Nothing was stored and
 * the task is unchanged, so a smaller `complete()` works.
 */
export class TaskEntryTooLargeError extends TaskError {
  /** The stable code. */
  readonly code = "ERR_ENTRY_TOO_LARGE" as const;
  /** The task. */
  readonly taskId: string;
  /** Bytes that were asked for. */
  readonly bytes: number;
  /** Bytes that are allowed. */
  readonly maxBytes: number;

  /**
   * Makes the error.
   *
   * @param taskId The task.
   * @param bytes Bytes that were asked for.
   * @param maxBytes Bytes that are allowed.
   */
  constructor(taskId: string, bytes: number, maxBytes: number) {
    super(
      `Cannot store task ${
        show(taskId)
      }: it takes ${bytes} bytes, at most ${maxBytes} are allowed`,
    );
    this.taskId = taskId;
    this.bytes = bytes;
    this.maxBytes = maxBytes;
  }
}

/**
 * Tells whether a value is a {@linkcode LimitExceededError}.
 *
 * @param error The value that was caught.
 * @returns Whether its code is `ERR_LIMIT_EXCEEDED`.
 */
export function isLimitExceededError(
  error: unknown,
): error is LimitExceededError {
  return hasErrorCode(error, "ERR_LIMIT_EXCEEDED");
}

/**
 * Tells whether a value is a {@linkcode TaskEntryTooLargeError}.
 *
 * @param error The value that was caught.
 * @returns Whether its code is `ERR_ENTRY_TOO_LARGE`.
 */
export function isTaskEntryTooLargeError(
  error: unknown,
): error is TaskEntryTooLargeError {
  return hasErrorCode(error, "ERR_ENTRY_TOO_LARGE");
}
