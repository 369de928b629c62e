/** Errors about what a client is asked, and what it answers. */

import { InvalidArgumentError } from "./argument.ts";
import { show } from "./show.ts";
import { hasErrorCode } from "./table.ts";
import { TaskError } from "./task_error.ts";

/** An input key that this task has used before (rule I5). Nothing was asked. */
export class DuplicateInputKeyError extends TaskError {
  /** The stable code. */
  readonly code = "ERR_DUPLICATE_INPUT_KEY" as const;
  /** The task. */
  readonly taskId: string;
  /** The key. */
  readonly key: string;

  /**
   * Makes the error.
   *
   * @param taskId The task.
   * @param key The key.
   */
  constructor(taskId: string, key: string) {
    super(
      `Cannot request input under key ${show(key)} of task ${
        show(taskId)
      }: the key was used before, and a key names one request for the life of a task`,
    );
    this.taskId = taskId;
    this.key = key;
  }
}

/** An input request that the protocol does not have. Nothing was asked. */
export class InvalidInputRequestError extends InvalidArgumentError {
  /** The stable code. */
  override readonly code = "ERR_INVALID_INPUT_REQUEST" as const;
  /** The key of the request. */
  readonly key: string;

  /**
   * Makes the error.
   *
   * @param key The key of the request.
   * @param problem What is wrong, and what would be right.
   */
  constructor(key: string, problem: string) {
    super(`Cannot request input under key ${show(key)}: ${problem}`);
    this.key = key;
  }
}

/**
 * Answers of a client that do not fit their requests. The other answers of the
 * same update were taken; the named keys are still open.
 */
export class InvalidInputResponseError extends TaskError {
  /** The stable code. */
  readonly code = "ERR_INVALID_INPUT_RESPONSE" as const;
  /** The task. */
  readonly taskId: string;
  /** What is wrong, for each refused key. */
  readonly problems: ReadonlyMap<string, string>;

  /**
   * Makes the error.
   *
   * @param taskId The task.
   * @param problems What is wrong, for each refused key.
   */
  constructor(taskId: string, problems: ReadonlyMap<string, string>) {
    super(
      `Cannot take ${
        problems.size === 1 ? "an answer" : `${problems.size} answers`
      } for task ${show(taskId)}: ${
        [...problems].map(([key, problem]) => `${show(key)}: ${problem}`)
          .join("; ")
      }`,
    );
    this.taskId = taskId;
    this.problems = problems;
  }
}

/** The client of this call cannot be asked for this kind of input. Nothing was asked. */
export class InputUnavailableError extends TaskError {
  /** The stable code. */
  readonly code = "ERR_INPUT_UNAVAILABLE" as const;
}

/**
 * The answer to a call that is no task cannot be given yet: the client is
 * asked, and calls again. Also the reason on the signal of that call's worker.
 */
export class InputPendingError extends TaskError {
  /** The stable code. */
  readonly code = "ERR_INPUT_PENDING" as const;

  /** Makes the error. */
  constructor() {
    super(
      "Cannot go on: the client is being asked and will call again with its answers; let this error pass, the worker then runs again from its start",
    );
  }
}

/**
 * Tells whether a value is a {@linkcode DuplicateInputKeyError}.
 *
 * @param error The value that was caught.
 * @returns Whether its code is `ERR_DUPLICATE_INPUT_KEY`.
 */
export function isDuplicateInputKeyError(
  error: unknown,
): error is DuplicateInputKeyError {
  return hasErrorCode(error, "ERR_DUPLICATE_INPUT_KEY");
}

/**
 * Tells whether a value is an {@linkcode InvalidInputRequestError}.
 *
 * @param error The value that was caught.
 * @returns Whether its code is `ERR_INVALID_INPUT_REQUEST`.
 */
export function isInvalidInputRequestError(
  error: unknown,
): error is InvalidInputRequestError {
  return hasErrorCode(error, "ERR_INVALID_INPUT_REQUEST");
}

/**
 * Tells whether a value is an {@linkcode InvalidInputResponseError}.
 *
 * @param error The value that was caught.
 * @returns Whether its code is `ERR_INVALID_INPUT_RESPONSE`.
 */
export function isInvalidInputResponseError(
  error: unknown,
): error is InvalidInputResponseError {
  return hasErrorCode(error, "ERR_INVALID_INPUT_RESPONSE");
}

/**
 * Tells whether a value is an {@linkcode InputUnavailableError}.
 *
 * @param error The value that was caught.
 * @returns Whether its code is `ERR_INPUT_UNAVAILABLE`.
 */
export function isInputUnavailableError(
  error: unknown,
): error is InputUnavailableError {
  return hasErrorCode(error, "ERR_INPUT_UNAVAILABLE");
}

/**
 * Tells whether a value is an {@linkcode InputPendingError}.
 *
 * @param error The value that was caught, or the reason of a signal.
 * @returns Whether its code is `ERR_INPUT_PENDING`.
 */
export function isInputPendingError(
  error: unknown,
): error is InputPendingError {
  return hasErrorCode(error, "ERR_INPUT_PENDING");
}
