/** What was thrown: which of it is an outcome of the work, and what it says. */

import {
  hasErrorCode,
  isTaskFailure,
  JSON_RPC_CODES,
  type JsonRpcError,
  type TaskErrorCode,
} from "../errors.ts";

/** The codes of errors that say nothing of the work: the task waits to be taken up again. */
const NOT_OUTCOMES: readonly TaskErrorCode[] = [
  "ERR_STORE_FAILED",
  "ERR_STORE_CLOSED",
  "ERR_STORE_LOCKED",
  "ERR_STORE_DAMAGED",
  "ERR_LIFECYCLE_CLOSED",
];

/** The codes of errors that do so if they are about the worker's own task. */
const NOT_OUTCOMES_OF_ITS_OWN: readonly TaskErrorCode[] = [
  "ERR_CONCURRENT_UPDATE",
  "ERR_TASK_NOT_FOUND",
  "ERR_TASK_TERMINAL",
];

/** How far a chain of causes is followed. */
const MAX_CAUSES = 8;

/**
 * Whether an error says nothing of the work, itself or by its cause: what the
 * store or a lifecycle that closes threw.
 *
 * @param error What was thrown.
 * @param taskId The task that the work is for.
 * @returns Whether it is no outcome of the work.
 */
export function isNoOutcome(error: unknown, taskId: string): boolean {
  return readOr(false, () => {
    let current = error;
    for (let depth = 0; depth < MAX_CAUSES; depth++) {
      if (NOT_OUTCOMES.some((code) => hasErrorCode(current, code))) return true;
      if (
        NOT_OUTCOMES_OF_ITS_OWN.some((code) => hasErrorCode(current, code)) &&
        (current as { taskId?: unknown }).taskId === taskId
      ) return true;
      if (!(current instanceof Error)) return false;
      current = current.cause;
    }
    return false;
  });
}

/**
 * The JSON-RPC error that a throw stands for.
 *
 * @param error What was thrown.
 * @returns The error; `undefined` for an ordinary throw.
 */
export function asJsonRpcError(error: unknown): JsonRpcError | undefined {
  return readOr(undefined, () => {
    if (isTaskFailure(error)) {
      const { error: carried } = error as { readonly error: unknown };
      return isJsonRpcError(carried) ? carried : {
        code: JSON_RPC_CODES.internalError,
        message: messageOf(error),
      };
    }
    if (typeof error !== "object" || error === null) return undefined;
    const { name, code, message, data } = error as Record<string, unknown>;
    if (!Number.isSafeInteger(code)) return undefined;
    const inRange = (code as number) >= -32768 && (code as number) <= -32000;
    if (name !== "ProtocolError" && !inRange) return undefined;
    return {
      code: code as number,
      message: typeof message === "string" ? message : "",
      ...(data !== undefined && { data }),
    };
  });
}

function isJsonRpcError(value: unknown): value is JsonRpcError {
  if (typeof value !== "object" || value === null) return false;
  const { code, message } = value as Record<string, unknown>;
  return Number.isSafeInteger(code) && typeof message === "string";
}

/**
 * Reads what was thrown: a proxy or a getter may throw in its turn.
 *
 * @param otherwise What to give then.
 * @param read Reads.
 * @returns What it reads.
 */
export function readOr<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/**
 * The text of a throw.
 *
 * @param error What was thrown, whatever it is.
 * @returns The text.
 */
export function messageOf(error: unknown): string {
  return readOr(
    "Unknown error",
    () => String(error instanceof Error ? error.message : error),
  );
}
