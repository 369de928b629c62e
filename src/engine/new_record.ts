/** The record that a task begins as. */

import {
  InvalidArgumentError,
  show,
  TaskEntryTooLargeError,
} from "../errors.ts";
import { bytesTooMany } from "../model/input_round.ts";
import {
  checkPositiveInteger,
  checkText,
  checkTtl,
  type TaskLimits,
} from "../model/limits.ts";
import { checkOptions, type NamesOf } from "../model/option_names.ts";
import type { TaskRecord } from "../model/record.ts";
import { checkStatusMessage } from "./handle_arguments.ts";
import type { ResolvedOptions } from "./options.ts";

/** The request that becomes a task where nobody says otherwise. */
export const DEFAULT_METHOD = "tools/call";

/** What a task starts with. */
export interface CreateTaskInit {
  /**
   * Milliseconds from now after which the task no longer exists; `null` for
   * ever.
   *
   * @default options.defaultTtlMs
   */
  readonly ttlMs?: number | null;
  /**
   * How often the client should poll, in milliseconds; `null` to send nothing.
   *
   * @default options.defaultPollIntervalMs
   */
  readonly pollIntervalMs?: number | null;
  /**
   * What the client reads first.
   *
   * @default nothing
   */
  readonly statusMessage?: string;
  /**
   * Whom the task is bound to (rule I16).
   *
   * @default nobody
   */
  readonly owner?: string;
  /**
   * The request that becomes this task.
   *
   * @default "tools/call"
   */
  readonly method?: string;
}

const NAMES: NamesOf<CreateTaskInit> = {
  ttlMs: true,
  pollIntervalMs: true,
  statusMessage: true,
  owner: true,
  method: true,
};

/**
 * Makes the record of a new task.
 *
 * @param init What the task starts with.
 * @param options The options of the engine.
 * @returns The record.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an argument is wrong.
 * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: a text or the TTL is too long.
 * @throws {TaskEntryTooLargeError} `ERR_ENTRY_TOO_LARGE`: it would have no room for its end.
 */
export function newRecord(
  init: CreateTaskInit,
  options: ResolvedOptions,
): TaskRecord {
  checkOptions("create a task", init, NAMES);
  const { limits, defaultTtlMs, defaultPollIntervalMs, now, times } = options;
  const { ttlMs = defaultTtlMs, pollIntervalMs = defaultPollIntervalMs } = init;
  const { statusMessage, owner, method = DEFAULT_METHOD } = init;
  checkTtl("ttlMs", ttlMs, limits.maxTtlMs);
  if (pollIntervalMs !== null) {
    checkPositiveInteger("pollIntervalMs", pollIntervalMs);
  }
  if (statusMessage !== undefined) checkStatusMessage(statusMessage, limits);
  if (owner !== undefined) checkName("owner", owner, limits);
  checkName("method", method, limits);
  const taskId = options.generateTaskId();
  if (typeof taskId !== "string" || taskId === "") {
    throw new InvalidArgumentError(
      `Cannot use generateTaskId(): it gave ${
        show(taskId)
      }, an unguessable string is needed`,
    );
  }
  const at = times.write(now());
  const record: { -readonly [Name in keyof TaskRecord]: TaskRecord[Name] } = {
    taskId,
    status: "working",
    createdAt: at,
    lastUpdatedAt: at,
    ttlMs,
    method,
    version: 1,
  };
  if (pollIntervalMs !== null) record.pollIntervalMs = pollIntervalMs;
  if (statusMessage !== undefined) record.statusMessage = statusMessage;
  if (owner !== undefined) record.owner = owner;
  const bytes = bytesTooMany(record, limits);
  if (bytes > 0) {
    throw new TaskEntryTooLargeError(taskId, bytes, limits.maxRecordBytes);
  }
  return record;
}

function checkName(name: string, value: unknown, limits: TaskLimits): void {
  checkText(name, value, "maxNameLength", limits.maxNameLength);
}
