/** Who may see a task (rule I16). */

import { InvalidArgumentError, show, TaskNotFoundError } from "../errors.ts";
import { checkOptions, type NamesOf } from "../model/option_names.ts";
import type { TaskHead } from "../model/record.ts";

/** In whose name a client's request is answered. */
export interface TaskAccess {
  /**
   * The caller's principal; absent: it has none, and finds only tasks that are
   * bound to nobody.
   */
  readonly owner?: string;
}

/** A misspelt owner would be none at all, and that is a caller too. */
const NAMES: NamesOf<TaskAccess> = { owner: true };

/**
 * Checks an access argument.
 *
 * @param access What the host passed.
 * @returns The owner to look for.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is none.
 */
export function ownerOf(access: TaskAccess | undefined): string | undefined {
  if (access === undefined) return undefined;
  checkOptions("use access", access, NAMES);
  const { owner } = access;
  if (owner !== undefined && typeof owner !== "string") {
    throw new InvalidArgumentError(
      `Cannot use access.owner: the value is ${
        show(owner)
      }, a string is needed`,
    );
  }
  return owner;
}

/**
 * Refuses a caller that the task is not bound to, as if there were no task.
 *
 * @param record The record, or its head; `undefined` if there is none.
 * @param taskId The id that was asked for.
 * @param owner The caller.
 * @returns The record.
 * @throws {TaskNotFoundError} `ERR_TASK_NOT_FOUND`: there is none for this caller.
 */
export function refuseForeign<T extends TaskHead>(
  record: T | undefined,
  taskId: string,
  owner: string | undefined,
): T {
  if (!record || record.owner !== owner) throw new TaskNotFoundError(taskId);
  return record;
}
