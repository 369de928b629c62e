/** Errors of a store, and of what is closed. */

import { reasonOf } from "./reason.ts";
import { showPath } from "./show.ts";
import { hasErrorCode } from "./table.ts";
import { TaskError } from "./task_error.ts";

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
