/** The border to the store: an error that is not ours becomes one that is. */

import { StoreFailedError, TASK_ERRORS } from "../errors.ts";

/**
 * Says what a call to the store failed with.
 *
 * @param operation What was being done, for the message.
 * @param error What the store threw.
 * @returns The same, where the contract names it; else an `ERR_STORE_FAILED`
 * whose cause it is.
 */
export function storeError(operation: string, error: unknown): unknown {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" && Object.hasOwn(TASK_ERRORS, code)
    ? error
    : new StoreFailedError(operation, { cause: error });
}
