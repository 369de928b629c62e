/** Runs a worker on a task, and tells a throw that is an outcome from one that is not. */

import {
  isLimitExceededError,
  isNotJsonError,
  isTaskAlreadyTerminalError,
  isTaskCancelled,
  isTaskEntryTooLargeError,
  JSON_RPC_CODES,
  type JsonRpcError,
} from "../errors.ts";
import { type JsonObject, truncate } from "../model/json.ts";
import { Ends } from "./ends.ts";
import type { Emit, WorkerOutcome } from "./events.ts";
import type { TaskHandle } from "./handle.ts";
import { asJsonRpcError, isNoOutcome, messageOf, readOr } from "./thrown.ts";

/**
 * Does the work of a task. What it returns completes the task, unless it has
 * ended the task itself, which it need not await; what it throws ends the task
 * too.
 */
export type TaskWorker = (
  task: TaskHandle,
) => JsonObject | void | Promise<JsonObject | void>;

/** Code units that are kept of a message which does not fit into its task. */
const SHORT_TEXT_LENGTH = 256;

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
  const ends = new Ends();
  const watched: TaskHandle = {
    ...task,
    complete: (result) => ends.track(() => task.complete(result)),
    fail: (error) => ends.track(() => task.fail(error)),
    cancelled: (message) => ends.track(() => task.cancelled(message)),
  };
  let started = false;
  let result: JsonObject | void = undefined;
  try {
    await look();
    // Who cancelled does not want it any more, also after a restart (rule I14).
    task.signal.throwIfAborted();
    started = true;
    result = await worker(watched);
    await ends.conclude(result);
    if (!ends.ended) await task.complete(result ?? {});
  } catch (error) {
    const endedElsewhere = started && result === undefined && readOr(
      false,
      () => isTaskAlreadyTerminalError(error) && error.taskId === taskId,
    );
    if (!endedElsewhere) {
      await ends.settle();
      const outcome = ends.ended
        ? "none"
        : await conclude(task, error, emit, look);
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
