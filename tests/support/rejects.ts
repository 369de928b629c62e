/** Rejections, told apart by their stable codes. */

import assert from "node:assert/strict";
import { hasErrorCode, type TaskErrorCode } from "../../src/errors.ts";

/**
 * Asserts that a promise is rejected with a code.
 *
 * @param promise The promise.
 * @param code The code.
 */
export async function rejects(
  promise: Promise<unknown>,
  code: TaskErrorCode,
): Promise<void> {
  await assert.rejects(
    promise,
    (error) => hasErrorCode(error, code) || assert.fail(String(error)),
  );
}
