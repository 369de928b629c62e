/** Workers that wait for answers. */

import type { InputResponses } from "../model/input_response.ts";
import { answersTo } from "../model/input_round.ts";
import type { TaskRecord } from "../model/record.ts";

/** One call of `requestInput()` that waits. It settles exactly once. */
export interface Waiter {
  /** The keys that it asked under. */
  readonly keys: readonly string[];
  /** Its answers; never an unhandled rejection. */
  readonly answers: Promise<InputResponses>;
  /** Gives it its answers if they are all there. */
  offer(record: TaskRecord): boolean;
  /** Ends it without answers. */
  reject(reason: unknown): void;
}

/**
 * Makes a waiter.
 *
 * @param keys The keys that it asked under.
 * @returns The waiter.
 */
export function createWaiter(keys: readonly string[]): Waiter {
  const { promise, resolve, reject } = Promise.withResolvers<InputResponses>();
  promise.catch(() => {});
  return {
    keys,
    answers: promise,
    offer(record) {
      const answers = answersTo(record, keys);
      if (answers) resolve(answers);
      return answers !== undefined;
    },
    reject,
  };
}
