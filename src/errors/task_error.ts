/** What the errors of this library have in common. */

import type { TaskErrorCode } from "./table.ts";

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
