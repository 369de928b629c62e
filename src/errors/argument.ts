/** Errors about what a caller passed. */

import { hasErrorCode } from "./table.ts";

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
    hasErrorCode(error, "ERR_NOT_JSON") ||
    hasErrorCode(error, "ERR_INVALID_INPUT_REQUEST");
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
