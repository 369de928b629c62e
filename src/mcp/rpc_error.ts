/** How an error becomes the answer to a client, and what of it the host sees. */

import {
  hasErrorCode,
  isLimitExceededError,
  TASK_ERRORS,
  type TaskErrorCode,
} from "../errors.ts";
import { RPC_CODES } from "./protocol.ts";

/** Where an unexpected error happened. */
export interface TaskRequestInfo {
  /** The method of the request. */
  readonly method: string;
  /** The task, where the request names one. */
  readonly taskId?: string;
  /** The tool, where the request calls one. */
  readonly tool?: string;
}

/** Hears of the errors that clients are told nothing about. */
export type TaskErrorListener = (
  error: unknown,
  where: TaskRequestInfo,
) => void;

/**
 * An error that the SDK answers a request with: it takes `code`, `message` and
 * `data` from whatever is thrown.
 */
export class RpcError extends Error {
  /** The JSON-RPC code. */
  readonly code: number;
  /** What else the client learns. */
  readonly data?: unknown;

  /**
   * @param code The JSON-RPC code.
   * @param message What the client reads.
   * @param data What else the client learns.
   */
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = "RpcError";
    this.code = code;
    if (data !== undefined) this.data = data;
  }
}

/** Limits on what the host says: no client can keep to them. */
const HOST_LIMITS: readonly string[] = ["maxNameLength", "maxTtlMs"];

/**
 * Decides what a client learns of an error: the message, where the client
 * caused it; nothing, where the host did, which is told instead. An argument
 * that is wrong is the host's, such as an owner (also one that is too long) or
 * a clock: what clients send is checked before it becomes one.
 *
 * @param error What was thrown.
 * @param where Where it happened.
 * @param onError Hears of what the client is not told.
 * @returns The answer.
 */
export function toRpcError(
  error: unknown,
  where: TaskRequestInfo,
  onError: TaskErrorListener | undefined,
): RpcError {
  if (error instanceof RpcError) return error;
  if (isLimitExceededError(error) && HOST_LIMITS.includes(error.limit)) {
    return hiddenError(error, where, onError);
  }
  for (const [code, { rpcCode }] of Object.entries(TASK_ERRORS)) {
    if (
      rpcCode === RPC_CODES.invalidParams && code !== "ERR_INVALID_ARGUMENT" &&
      hasErrorCode(error, code as TaskErrorCode)
    ) {
      return new RpcError(rpcCode, (error as Error).message);
    }
  }
  return hiddenError(error, where, onError);
}

/**
 * Makes the answer that says nothing, and tells the host.
 *
 * @param error What was thrown.
 * @param where Where it happened.
 * @param onError Hears of it.
 * @returns The answer.
 */
export function hiddenError(
  error: unknown,
  where: TaskRequestInfo,
  onError: TaskErrorListener | undefined,
): RpcError {
  try {
    onError?.(error, where);
  } catch {
    // A listener that throws must not change the answer.
  }
  return new RpcError(RPC_CODES.internalError, "Internal error");
}
