/** Promises that a worker may leave un-awaited. */

/**
 * Keeps a rejection from being an unhandled one, which would end the process:
 * a worker need not await its progress or its questions.
 *
 * @param promise The promise.
 * @returns The same promise.
 */
export function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
