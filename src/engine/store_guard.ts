/** The border to the store: an error that is not ours becomes one that is. */

import { StoreFailedError, TASK_ERRORS } from "../errors.ts";

/**
 * Calls the store.
 *
 * @param operation What is being done, for the message.
 * @param call The call.
 * @returns What the store gives.
 * @throws {StoreFailedError} `ERR_STORE_FAILED`: the store threw something
 * that the contract does not name; it is the cause.
 */
export async function guardStore<T>(
  operation: string,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const code = (error as { code?: unknown } | null | undefined)?.code;
    if (typeof code === "string" && Object.hasOwn(TASK_ERRORS, code)) {
      throw error;
    }
    throw new StoreFailedError(operation, { cause: error });
  }
}
