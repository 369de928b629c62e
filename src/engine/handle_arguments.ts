/** What a worker passes to its handle, checked before anything changes. */

import {
  InvalidArgumentError,
  JSON_RPC_CODES,
  type JsonRpcError,
  show,
} from "../errors.ts";
import { toPlainJsonObject } from "../model/json.ts";
import {
  checkPositiveInteger,
  checkText,
  checkTtl,
  type TaskLimits,
} from "../model/limits.ts";
import { checkOptions, type NamesOf } from "../model/option_names.ts";
import type { TaskPatch } from "../model/record.ts";
import type { ProgressPatch } from "./handle.ts";
import { asJsonRpcError, messageOf } from "./thrown.ts";

const PROGRESS_NAMES: NamesOf<ProgressPatch> = {
  pollIntervalMs: true,
  ttlMs: true,
};

/**
 * Checks a status message.
 *
 * @param statusMessage What the worker passed.
 * @param limits The limits in force.
 * @returns The message.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is no string.
 * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: it is too long.
 */
export function checkStatusMessage(
  statusMessage: unknown,
  limits: TaskLimits,
): string {
  return checkText(
    "statusMessage",
    statusMessage,
    "maxStatusMessageLength",
    limits.maxStatusMessageLength,
  );
}

/**
 * Makes a change of a progress report.
 *
 * @param statusMessage The message.
 * @param patch What else changes.
 * @param limits The limits in force.
 * @returns The change, `lastUpdatedAt` aside.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an argument is wrong.
 * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: the message or the TTL is too long.
 */
export function parseProgress(
  statusMessage: unknown,
  patch: ProgressPatch,
  limits: TaskLimits,
): TaskPatch {
  const message = checkStatusMessage(statusMessage, limits);
  checkOptions("report progress", patch, PROGRESS_NAMES);
  const { pollIntervalMs, ttlMs } = patch;
  return {
    statusMessage: message,
    ...(pollIntervalMs !== undefined && {
      pollIntervalMs: checkPositiveInteger("pollIntervalMs", pollIntervalMs),
    }),
    ...(ttlMs !== undefined &&
      { ttlMs: checkTtl("ttlMs", ttlMs, limits.maxTtlMs) }),
  };
}

/**
 * Checks and copies the error that a task ends with.
 *
 * @param error What the worker passed.
 * @param maxDepth Levels of nesting that are allowed.
 * @returns The copy.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is no such error.
 * @throws {NotJsonError} `ERR_NOT_JSON`: it is not plain JSON.
 * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: it is nested too deeply.
 */
export function parseError(error: unknown, maxDepth: number): JsonRpcError {
  // What is thrown as a JSON-RPC error may be passed as one too.
  const given = error instanceof Error ? asJsonRpcError(error) : error;
  if (typeof given !== "object" || given === null) {
    throw new InvalidArgumentError(
      `Cannot fail a task: the error is ${
        describe(error)
      }, a JSON-RPC error such as { code: ${JSON_RPC_CODES.internalError}, message: "no such folder" } is needed; a tool that failed completes its task, with a result with isError`,
    );
  }
  const copy = toPlainJsonObject(given, { what: "error", maxDepth });
  const { code, message } = copy;
  if (!Number.isSafeInteger(code) || typeof message !== "string") {
    throw new InvalidArgumentError(
      `Cannot fail a task: the error has code ${show(code)} and message ${
        show(message)
      }; an integer code (such as ${JSON_RPC_CODES.internalError}) and a string are needed`,
    );
  }
  return { ...copy, code: code as number, message };
}

function describe(error: unknown): string {
  return error instanceof Error
    ? `an Error that says ${show(messageOf(error))}`
    : show(error);
}
