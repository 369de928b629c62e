/** Runs a worker on a task, and tells a throw that is an outcome from one that is not. */

import {
  hasErrorCode,
  isLimitExceededError,
  isNotJsonError,
  isTaskAlreadyTerminalError,
  isTaskCancelled,
  isTaskEntryTooLargeError,
  isTaskFailure,
  JSON_RPC_CODES,
  type JsonRpcError,
  type TaskErrorCode,
} from "../errors.ts";
import { type JsonObject, truncate } from "../model/json.ts";
import type { Emit, WorkerOutcome } from "./events.ts";
import type { TaskHandle } from "./handle.ts";

/**
 * Does the work of a task. What it returns completes the task, unless it has
 * ended the task itself; what it throws ends the task too.
 */
export type TaskWorker = (
  task: TaskHandle,
) => JsonObject | void | Promise<JsonObject | void>;

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

/** Code units that are kept of a message which does not fit into its task. */
const SHORT_TEXT_LENGTH = 256;

/** How far a chain of causes is followed. */
const MAX_CAUSES = 8;

/**
 * Runs a worker to its end.
 *
 * @param task The handle.
 * @param worker The worker.
 * @param emit Where throws are told.
 * @param look Looks at the record, so that the signal knows of a cancel that
 * was stored elsewhere. Rejects if there is no work to do.
 */
export async function runWorker(
  task: TaskHandle,
  worker: TaskWorker,
  emit: Emit,
  look: () => Promise<void>,
): Promise<void> {
  const { taskId } = task;
  let ended = false;
  const ending = <Args extends unknown[]>(
    end: (...args: Args) => Promise<void>,
  ) =>
  async (...args: Args) => {
    await end(...args);
    ended = true;
  };
  const watched: TaskHandle = {
    ...task,
    complete: ending(task.complete),
    fail: ending(task.fail),
    cancelled: ending(task.cancelled),
  };
  let started = false;
  let result: JsonObject | void = undefined;
  try {
    await look();
    // Who cancelled does not want it any more, also after a restart (rule I14).
    task.signal.throwIfAborted();
    started = true;
    result = await worker(watched);
    if (!ended) await watched.complete(result ?? {});
  } catch (error) {
    const endedElsewhere = started && result === undefined && readOr(
      false,
      () => isTaskAlreadyTerminalError(error) && error.taskId === taskId,
    );
    if (!endedElsewhere) {
      const outcome = ended
        ? "none"
        : await conclude(watched, error, emit, look);
      emit({ type: "worker_error", taskId, error, outcome });
    }
  }
}

/** Ends a task as its worker's throw says. */
async function conclude(
  task: TaskHandle,
  error: unknown,
  emit: Emit,
  look: () => Promise<void>,
): Promise<WorkerOutcome> {
  const { taskId, signal } = task;
  if (isNoOutcome(error, taskId)) return "none";
  // The throw may come before the next look, and the record decides (rule I14).
  if (!signal.aborted) await look().catch(() => {});
  const cancelled = isTaskCancelled(signal.reason);
  if (signal.aborted && !cancelled) return "none";
  try {
    if (cancelled) {
      await task.cancelled();
      return "cancelled";
    }
    const failure = asJsonRpcError(error);
    if (failure) {
      await failWith(task, failure);
      return "failed";
    }
    return await completeWith(task, messageOf(error));
  } catch (cause) {
    emit({ type: "error", operation: "end a task", taskId, error: cause });
    return "none";
  }
}

/** Completes a task with the text of an ordinary throw, with as much of it as fits. */
async function completeWith(
  task: TaskHandle,
  message: string,
): Promise<WorkerOutcome> {
  for (const text of [message, truncate(message, SHORT_TEXT_LENGTH)]) {
    try {
      await task.complete({ content: [{ type: "text", text }], isError: true });
      return "completed";
    } catch (cause) {
      if (!isTaskEntryTooLargeError(cause)) throw cause;
    }
  }
  await task.fail({ code: JSON_RPC_CODES.internalError, message });
  return "failed";
}

/** Fails a task, without the data if that is no JSON. */
async function failWith(task: TaskHandle, error: JsonRpcError): Promise<void> {
  try {
    await task.fail(error);
  } catch (cause) {
    if (!isNotJsonError(cause) && !isLimitExceededError(cause)) throw cause;
    await task.fail({ code: error.code, message: error.message });
  }
}

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

/** Reads what was thrown: a proxy or a getter may throw in its turn. */
function readOr<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** The text of a throw, whatever was thrown. */
function messageOf(error: unknown): string {
  return readOr(
    "Unknown error",
    () => String(error instanceof Error ? error.message : error),
  );
}
