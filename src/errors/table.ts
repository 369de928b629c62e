/** Every error code, and what it means. */

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
