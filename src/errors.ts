/**
 * Every error of the library, in one place: the room `src/errors/` has one
 * door.
 *
 * Each class has a stable `code`. Match by `code` (or by the predicate), not
 * by `instanceof`: a program may hold two copies of the package. The table
 * {@linkcode TASK_ERRORS} says what each code means on the wire and what to do.
 *
 * @module
 */

export { hasErrorCode, JSON_RPC_CODES, TASK_ERRORS } from "./errors/table.ts";
export type { TaskErrorCode, TaskErrorEntry } from "./errors/table.ts";
export { TaskError } from "./errors/task_error.ts";
export {
  ConcurrentUpdateError,
  DuplicateTaskIdError,
  isConcurrentUpdateError,
  isDuplicateTaskIdError,
  isTaskAlreadyTerminalError,
  isTaskCancelled,
  isTaskFailure,
  isTaskNotFoundError,
  TaskAlreadyTerminalError,
  TaskCancelled,
  TaskFailure,
  TaskNotFoundError,
} from "./errors/task.ts";
export type { JsonRpcError } from "./errors/task.ts";
export {
  InvalidArgumentError,
  isInvalidArgumentError,
  isNotJsonError,
  NotJsonError,
} from "./errors/argument.ts";
export {
  DuplicateInputKeyError,
  InputPendingError,
  InputUnavailableError,
  InvalidInputRequestError,
  InvalidInputResponseError,
  isDuplicateInputKeyError,
  isInputPendingError,
  isInputUnavailableError,
  isInvalidInputRequestError,
  isInvalidInputResponseError,
} from "./errors/input.ts";
export {
  isLimitExceededError,
  isTaskEntryTooLargeError,
  LimitExceededError,
  TaskEntryTooLargeError,
} from "./errors/limit.ts";
export {
  isLifecycleClosedError,
  isStoreClosedError,
  isStoreDamagedError,
  isStoreFailedError,
  isStoreLockedError,
  LifecycleClosedError,
  StoreClosedError,
  StoreDamagedError,
  StoreFailedError,
  StoreLockedError,
} from "./errors/store.ts";
export { show, showPath } from "./errors/show.ts";
