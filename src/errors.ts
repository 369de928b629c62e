/**
 * Every error of the library, in one place.
 *
 * Each class has a stable `code`. Match by `code` (or by the predicate), not
 * by `instanceof`: a program may hold two copies of the package. The table
 * {@linkcode TASK_ERRORS} says what each code means on the wire and what to do.
 *
 * @module
 */

/** The integer codes of JSON-RPC and of MCP that this library answers with. */
export const JSON_RPC_CODES = {
  /** The client's request was wrong. */
  invalidParams: -32602,
  /** Something failed on the server; the client learns no more. */
  internalError: -32603,
} as const;

/** A stable error code of this library. */
export type TaskErrorCode =
  | "ERR_TASK_NOT_FOUND"
  | "ERR_TASK_TERMINAL"
  | "ERR_TASK_CANCELLED"
  | "ERR_TASK_FAILURE"
  | "ERR_CONCURRENT_UPDATE"
  | "ERR_DUPLICATE_TASK_ID"
  | "ERR_DUPLICATE_INPUT_KEY"
  | "ERR_INVALID_ARGUMENT"
  | "ERR_NOT_JSON"
  | "ERR_INVALID_INPUT_REQUEST"
  | "ERR_INVALID_INPUT_RESPONSE"
  | "ERR_INPUT_UNAVAILABLE"
  | "ERR_INPUT_PENDING"
  | "ERR_LIMIT_EXCEEDED"
  | "ERR_ENTRY_TOO_LARGE"
  | "ERR_LIFECYCLE_CLOSED"
  | "ERR_STORE_CLOSED"
  | "ERR_STORE_LOCKED"
  | "ERR_STORE_DAMAGED"
  | "ERR_STORE_FAILED";

/** What one error code means, as the documentation's table shows it. */
export interface TaskErrorEntry {
  /** The name of the class. */
  readonly name: string;
  /**
   * The JSON-RPC code of the answer when a client's `tasks/*` request meets
   * this error: -32602 where the client caused it, -32603 otherwise.
   */
  readonly rpcCode: number;
  /** What to do about it, in a sentence. */
  readonly remedy: string;
}

/** Every error code: its class, its code on the wire, and what to do. */
export const TASK_ERRORS: Readonly<Record<TaskErrorCode, TaskErrorEntry>> = {
  ERR_TASK_NOT_FOUND: {
    name: "TaskNotFoundError",
    rpcCode: JSON_RPC_CODES.invalidParams,
    remedy:
      "The id is unknown, expired or another owner's: stop using it and call the tool again.",
  },
  ERR_TASK_TERMINAL: {
    name: "TaskAlreadyTerminalError",
    rpcCode: JSON_RPC_CODES.internalError,
    remedy:
      "The task has already ended and its outcome stands: write to a task once it is created and at most until its end.",
  },
  ERR_TASK_CANCELLED: {
    name: "TaskCancelled",
    rpcCode: JSON_RPC_CODES.internalError,
    remedy:
      "The client asked for the task to be cancelled: stop the work and call cancelled().",
  },
  ERR_TASK_FAILURE: {
    name: "TaskFailure",
    rpcCode: JSON_RPC_CODES.internalError,
    remedy:
      "A worker throws it to end its task as failed, with the JSON-RPC error that it carries.",
  },
  ERR_CONCURRENT_UPDATE: {
    name: "ConcurrentUpdateError",
    rpcCode: JSON_RPC_CODES.internalError,
    remedy:
      "Somebody else wrote the task first: read it again and decide anew. The engine already does so many times.",
  },
  ERR_DUPLICATE_TASK_ID: {
    name: "DuplicateTaskIdError",
    rpcCode: JSON_RPC_CODES.internalError,
    remedy:
      "generateTaskId() gave an id that exists: return a new unguessable id at each call.",
  },
  ERR_DUPLICATE_INPUT_KEY: {
    name: "DuplicateInputKeyError",
    rpcCode: JSON_RPC_CODES.internalError,
    remedy:
      "An input key names one request for the whole life of a task: ask under a new key.",
  },
  ERR_INVALID_ARGUMENT: {
    name: "InvalidArgumentError",
    rpcCode: JSON_RPC_CODES.invalidParams,
    remedy: "Pass what the message asks for.",
  },
  ERR_NOT_JSON: {
    name: "NotJsonError",
    rpcCode: JSON_RPC_CODES.invalidParams,
    remedy:
      "Pass plain JSON: the message names the place and what JSON would have made of it.",
  },
  ERR_INVALID_INPUT_REQUEST: {
    name: "InvalidInputRequestError",
    rpcCode: JSON_RPC_CODES.internalError,
    remedy:
      "Pass an elicitation/create, sampling/createMessage or roots/list request of revision 2026-07-28.",
  },
  ERR_INVALID_INPUT_RESPONSE: {
    name: "InvalidInputResponseError",
    rpcCode: JSON_RPC_CODES.invalidParams,
    remedy:
      "Answer the named keys again: they are still open, the other answers were taken.",
  },
  ERR_INPUT_UNAVAILABLE: {
    name: "InputUnavailableError",
    rpcCode: JSON_RPC_CODES.internalError,
    remedy:
      "The client cannot be asked this way: take a default, or end with an error that says what is missing.",
  },
  ERR_INPUT_PENDING: {
    name: "InputPendingError",
    rpcCode: JSON_RPC_CODES.internalError,
    remedy:
      "The question is on its way to the client, which calls again with the answer: let the error pass, the worker then runs again from its start.",
  },
  ERR_LIMIT_EXCEEDED: {
    name: "LimitExceededError",
    rpcCode: JSON_RPC_CODES.invalidParams,
    remedy: "Stay under the named limit, or raise it in the options.",
  },
  ERR_ENTRY_TOO_LARGE: {
    name: "TaskEntryTooLargeError",
    rpcCode: JSON_RPC_CODES.internalError,
    remedy:
      "Nothing was stored and the task is unchanged: complete again with a smaller result, or raise the limit.",
  },
  ERR_LIFECYCLE_CLOSED: {
    name: "LifecycleClosedError",
    rpcCode: JSON_RPC_CODES.internalError,
    remedy:
      "The TaskLifecycle was closed: make a new one over a newly opened store.",
  },
  ERR_STORE_CLOSED: {
    name: "StoreClosedError",
    rpcCode: JSON_RPC_CODES.internalError,
    remedy: "The store was closed: open it again.",
  },
  ERR_STORE_LOCKED: {
    name: "StoreLockedError",
    rpcCode: JSON_RPC_CODES.internalError,
    remedy:
      "Another process has the directory open: stop it, use another directory, or use a store made for several processes.",
  },
  ERR_STORE_DAMAGED: {
    name: "StoreDamagedError",
    rpcCode: JSON_RPC_CODES.internalError,
    remedy:
      "Bytes on the disk fail their check, and the state of the task is lost with them: health() of the store says where; restore a copy, or let the task expire.",
  },
  ERR_STORE_FAILED: {
    name: "StoreFailedError",
    rpcCode: JSON_RPC_CODES.internalError,
    remedy:
      "The store could not read or write; the message says why. The write may or may not be there after the next opening.",
  },
};

/**
 * Tells whether a value is an error with the given code, whichever copy of the
 * package made it.
 *
 * @param error The value that was caught.
 * @param code The code to look for.
 * @returns Whether `error.code` is `code`.
 */
export function hasErrorCode(error: unknown, code: TaskErrorCode): boolean {
  return typeof error === "object" && error !== null &&
    (error as { code?: unknown }).code === code;
}

/** The base of all errors of this library but those of bad arguments. */
export abstract class TaskError extends Error {
  /** The stable code to match by. */
  abstract readonly code: TaskErrorCode;

  /**
   * Makes the error.
   *
   * @param message What was wrong, with the value, and what would be right.
   * @param options The cause, where there is one.
   */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

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

/**
 * A bad argument or option: a `TypeError` with a code. Nothing was changed.
 */
export class InvalidArgumentError extends TypeError {
  /** The stable code. */
  readonly code:
    | "ERR_INVALID_ARGUMENT"
    | "ERR_NOT_JSON"
    | "ERR_INVALID_INPUT_REQUEST" = "ERR_INVALID_ARGUMENT";

  /**
   * Makes the error.
   *
   * @param message What was wrong, with the value, and what would be right.
   * @param options The cause, where there is one.
   */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A value that JSON would change or cannot hold (rule I11). Nothing was changed. */
export class NotJsonError extends InvalidArgumentError {
  /** The stable code. */
  override readonly code = "ERR_NOT_JSON" as const;
  /** Where in the value, such as `result.rows[3].when`. */
  readonly path: string;

  /**
   * Makes the error.
   *
   * @param path Where in the value.
   * @param found What was there.
   */
  constructor(path: string, found: string) {
    super(
      `Cannot store ${path}: it is ${found}; plain JSON is null, booleans, finite numbers, strings, arrays without holes and plain objects`,
    );
    this.path = path;
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

/** The {@linkcode TaskLifecycle} was closed, or is being closed. Also the reason on the signals of its workers. */
export class LifecycleClosedError extends TaskError {
  /** The stable code. */
  readonly code = "ERR_LIFECYCLE_CLOSED" as const;

  /**
   * Makes the error.
   *
   * @param operation What was refused.
   */
  constructor(operation: string) {
    super(`Cannot ${operation}: the TaskLifecycle is closed`);
  }
}

/** The store was closed. */
export class StoreClosedError extends TaskError {
  /** The stable code. */
  readonly code = "ERR_STORE_CLOSED" as const;

  /**
   * Makes the error.
   *
   * @param operation What was refused.
   */
  constructor(operation: string) {
    super(`Cannot ${operation}: the store is closed`);
  }
}

/** Another process, or another store of this one, has the directory open. */
export class StoreLockedError extends TaskError {
  /** The stable code. */
  readonly code = "ERR_STORE_LOCKED" as const;
  /** The directory. */
  readonly dir: string;

  /**
   * Makes the error.
   *
   * @param dir The directory.
   * @param options The cause, where there is one.
   */
  constructor(dir: string, options?: ErrorOptions) {
    super(
      `Cannot open ${
        showPath(dir)
      }: another process or another WalTaskStore has it open; a directory has one writer, so stop the other, use another directory, or use a store made for several processes`,
      options,
    );
    this.dir = dir;
  }
}

/**
 * Bytes on the disk fail their check. The tasks whose state they held answer
 * with this, never with an older state; all others are served.
 */
export class StoreDamagedError extends TaskError {
  /** The stable code. */
  readonly code = "ERR_STORE_DAMAGED" as const;
  /** The file. */
  readonly file: string;
  /** Where in the file, in bytes. */
  readonly offset: number;

  /**
   * Makes the error.
   *
   * @param file The file.
   * @param offset Where in the file, in bytes.
   * @param problem What was found there.
   */
  constructor(file: string, offset: number, problem: string) {
    super(`Cannot read ${showPath(file)} at byte ${offset}: ${problem}`);
    this.file = file;
    this.offset = offset;
  }
}

/**
 * The store could not read or write. The message says why, and the `cause` is
 * what was thrown; both are for the host and never reach a client. A store
 * error is never a task's outcome.
 */
export class StoreFailedError extends TaskError {
  /** The stable code. */
  readonly code = "ERR_STORE_FAILED" as const;

  /**
   * Makes the error.
   *
   * @param operation What could not be done.
   * @param options The cause.
   */
  constructor(operation: string, options?: ErrorOptions) {
    const reason = options?.cause === undefined
      ? ""
      : ` (${reasonOf(options.cause)})`;
    super(`Cannot ${operation}: the store failed${reason}`, options);
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
 * Tells whether a value is an {@linkcode InvalidArgumentError} or one of its
 * subclasses.
 *
 * @param error The value that was caught.
 * @returns Whether its code is one of theirs.
 */
export function isInvalidArgumentError(
  error: unknown,
): error is InvalidArgumentError {
  return hasErrorCode(error, "ERR_INVALID_ARGUMENT") ||
    isNotJsonError(error) || isInvalidInputRequestError(error);
}

/**
 * Tells whether a value is a {@linkcode NotJsonError}.
 *
 * @param error The value that was caught.
 * @returns Whether its code is `ERR_NOT_JSON`.
 */
export function isNotJsonError(error: unknown): error is NotJsonError {
  return hasErrorCode(error, "ERR_NOT_JSON");
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

/**
 * Tells whether a value is a {@linkcode LifecycleClosedError}.
 *
 * @param error The value that was caught, or the reason of a signal.
 * @returns Whether its code is `ERR_LIFECYCLE_CLOSED`.
 */
export function isLifecycleClosedError(
  error: unknown,
): error is LifecycleClosedError {
  return hasErrorCode(error, "ERR_LIFECYCLE_CLOSED");
}

/**
 * Tells whether a value is a {@linkcode StoreClosedError}.
 *
 * @param error The value that was caught.
 * @returns Whether its code is `ERR_STORE_CLOSED`.
 */
export function isStoreClosedError(error: unknown): error is StoreClosedError {
  return hasErrorCode(error, "ERR_STORE_CLOSED");
}

/**
 * Tells whether a value is a {@linkcode StoreLockedError}.
 *
 * @param error The value that was caught.
 * @returns Whether its code is `ERR_STORE_LOCKED`.
 */
export function isStoreLockedError(error: unknown): error is StoreLockedError {
  return hasErrorCode(error, "ERR_STORE_LOCKED");
}

/**
 * Tells whether a value is a {@linkcode StoreDamagedError}.
 *
 * @param error The value that was caught.
 * @returns Whether its code is `ERR_STORE_DAMAGED`.
 */
export function isStoreDamagedError(
  error: unknown,
): error is StoreDamagedError {
  return hasErrorCode(error, "ERR_STORE_DAMAGED");
}

/**
 * Tells whether a value is a {@linkcode StoreFailedError}.
 *
 * @param error The value that was caught.
 * @returns Whether its code is `ERR_STORE_FAILED`.
 */
export function isStoreFailedError(error: unknown): error is StoreFailedError {
  return hasErrorCode(error, "ERR_STORE_FAILED");
}

/** How far a chain of causes is told. */
const MAX_CAUSES = 4;

/** Code units that are told of each. */
const MAX_REASON_LENGTH = 400;

/**
 * Says why: a log shows the message of an error, and seldom its cause. An error
 * of this library has told of its own cause already.
 *
 * @param cause What was thrown, whatever it is.
 * @returns Its message and those of its causes, with the codes that they lack.
 */
function reasonOf(cause: unknown): string {
  const reasons: string[] = [];
  let current = cause;
  for (let depth = 0; depth < MAX_CAUSES && current !== undefined; depth++) {
    try {
      const { reason, next } = readCause(current);
      if (!reasons.some((said) => said.includes(reason))) reasons.push(reason);
      current = next;
    } catch {
      break; // A proxy or a getter may throw in its turn.
    }
  }
  return reasons.join(": ") || "an unknown error";
}

function readCause(
  cause: unknown,
): { readonly reason: string; readonly next?: unknown } {
  if (!(cause instanceof Error)) {
    return {
      reason: typeof cause === "string"
        ? cut(cause, MAX_REASON_LENGTH)
        : show(cause),
    };
  }
  const { name, message, cause: next } = cause;
  const { code } = cause as { readonly code?: unknown };
  if (typeof code === "string" && Object.hasOwn(TASK_ERRORS, code)) {
    return { reason: cut(message, MAX_REASON_LENGTH) };
  }
  const label = typeof code === "string" ? code : name;
  const text = cut(message, MAX_REASON_LENGTH);
  if (text === "") return { reason: label, next };
  const isLabelled = label === "Error" || text.includes(label);
  return { reason: isLabelled ? text : `${label}: ${text}`, next };
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/**
 * Shows a value inside an error message: strings quoted, long ones cut, never
 * throwing whatever it is given.
 *
 * @param value The value.
 * @returns A short text.
 */
export function show(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(cut(value, 80));
  }
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return "a function";
  if (value === null || typeof value !== "object") return String(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  return "an object";
}

/**
 * Shows a path inside an error message: whole, since somebody has to find it.
 *
 * @param path The path.
 * @returns It, quoted.
 */
export function showPath(path: string): string {
  return JSON.stringify(path);
}
