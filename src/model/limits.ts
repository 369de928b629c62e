/** What may grow, how far, and who says so (rule I13). */

import { InvalidArgumentError, LimitExceededError, show } from "../errors.ts";
import { checkOptions, type NamesOf } from "./option_names.ts";

/** The largest record that is taken where nobody says otherwise: 8 MiB. */
export const DEFAULT_MAX_ENTRY_BYTES: number = 8 * 1024 * 1024;

/**
 * The stated limits of a {@linkcode TaskLifecycle}. What goes over one is
 * refused with `ERR_LIMIT_EXCEEDED` (a record that is too large with
 * `ERR_ENTRY_TOO_LARGE`), and nothing is changed.
 */
export interface TaskLimits {
  /**
   * Levels of nesting in a result, an error, a request or an answer; a scalar
   * has none, `{}` has one. At most 1,000.
   *
   * @default 128
   */
  readonly maxDepth: number;
  /**
   * Bytes of a record's JSON, checked whenever a result, an error, a request
   * or an answer is added to it.
   *
   * @default what the store says (`traits.maxRecordBytes`), else 8 MiB
   */
  readonly maxRecordBytes: number;
  /**
   * UTF-16 code units of a status message.
   *
   * @default 4_096
   */
  readonly maxStatusMessageLength: number;
  /**
   * Input keys over the whole life of a task.
   *
   * @default 1_000
   */
  readonly maxInputKeys: number;
  /**
   * UTF-16 code units of an input key.
   *
   * @default 256
   */
  readonly maxInputKeyLength: number;
  /**
   * UTF-16 code units of an owner or a method.
   *
   * @default 1_024
   */
  readonly maxNameLength: number;
  /**
   * The longest TTL that a task may get, in milliseconds; `null` for no limit.
   *
   * @default null
   */
  readonly maxTtlMs: number | null;
  /**
   * Calls of `requestInput()` that wait at the same time, over all tasks.
   *
   * @default 10_000
   */
  readonly maxWaiters: number;
  /**
   * Listeners of `onTaskChanged()` at the same time, over all tasks.
   *
   * @default 10_000
   */
  readonly maxListeners: number;
  /**
   * Tasks that this instance has created and whose TTL, as it was then, has
   * not passed; `null` for no limit.
   *
   * @default null
   */
  readonly maxTasks: number | null;
  /**
   * The same for each owner; tasks without an owner count as one owner's.
   *
   * @default null
   */
  readonly maxTasksPerOwner: number | null;
}

/** The limits where nobody says otherwise. */
export const DEFAULT_LIMITS: TaskLimits = {
  maxDepth: 128,
  maxRecordBytes: DEFAULT_MAX_ENTRY_BYTES,
  maxStatusMessageLength: 4_096,
  maxInputKeys: 1_000,
  maxInputKeyLength: 256,
  maxNameLength: 1_024,
  maxTtlMs: null,
  maxWaiters: 10_000,
  maxListeners: 10_000,
  maxTasks: null,
  maxTasksPerOwner: null,
};

const NAMES: NamesOf<TaskLimits> = {
  maxDepth: true,
  maxRecordBytes: true,
  maxStatusMessageLength: true,
  maxInputKeys: true,
  maxInputKeyLength: true,
  maxNameLength: true,
  maxTtlMs: true,
  maxWaiters: true,
  maxListeners: true,
  maxTasks: true,
  maxTasksPerOwner: true,
};

/** Beyond this, engines differ in what `JSON.stringify` can take. */
const LARGEST_DEPTH = 1_000;

/** The limits that `null` turns off. */
const OPTIONAL = new Set<string>(["maxTtlMs", "maxTasks", "maxTasksPerOwner"]);

/**
 * Completes and checks limits.
 *
 * @param given What the host says.
 * @param storeMaxRecordBytes What the store says of itself.
 * @returns All limits.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: one of them is none.
 */
export function resolveLimits(
  given: Partial<TaskLimits> | undefined,
  storeMaxRecordBytes: number | undefined,
): TaskLimits {
  const limits: Record<string, number | null> = { ...DEFAULT_LIMITS };
  if (storeMaxRecordBytes !== undefined) {
    limits.maxRecordBytes = checkPositiveInteger(
      "store.traits.maxRecordBytes",
      storeMaxRecordBytes,
    );
  }
  if (given === undefined) return limits as unknown as TaskLimits;
  checkOptions("set limits", given, NAMES, "limit");
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (value === null && OPTIONAL.has(name)) limits[name] = null;
    else limits[name] = checkPositiveInteger(`limits.${name}`, value);
  }
  if (limits.maxDepth! > LARGEST_DEPTH) {
    throw new InvalidArgumentError(
      `Cannot set limits.maxDepth: the value is ${limits.maxDepth}, at most ${LARGEST_DEPTH} is possible`,
    );
  }
  return limits as unknown as TaskLimits;
}

/**
 * Makes the error for a value that cannot be used.
 *
 * @param name The name of the argument or option.
 * @param value The value.
 * @param needed What would be right: `a function`.
 * @returns The error.
 */
export function unusable(
  name: string,
  value: unknown,
  needed: string,
): InvalidArgumentError {
  return new InvalidArgumentError(
    `Cannot use ${name}: the value is ${show(value)}, ${needed} is needed`,
  );
}

/**
 * Checks that a value is a whole number above zero.
 *
 * @param name The name of the argument or option.
 * @param value The value.
 * @returns The value.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is not.
 */
export function checkPositiveInteger(name: string, value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) <= 0) {
    throw unusable(name, value, "a whole number above 0");
  }
  return value as number;
}

/**
 * Checks that a value is a whole number of a range.
 *
 * @param name The name of the argument or option.
 * @param value The value.
 * @param least The least that it may be, above 0.
 * @param most The most that it may be.
 * @returns The value.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is not.
 */
export function checkIntegerFrom(
  name: string,
  value: unknown,
  least: number,
  most: number,
): number {
  const number = checkPositiveInteger(name, value);
  if (number >= least && number <= most) return number;
  throw unusable(name, value, `${least} to ${most}`);
}

/**
 * Checks that a value is a function.
 *
 * @param name The name of the argument or option.
 * @param value The value.
 * @returns The value.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is not.
 */
export function checkFunction<F>(name: string, value: F): F {
  if (typeof value !== "function") throw unusable(name, value, "a function");
  return value;
}

/**
 * Checks that a value is `true` or `false`.
 *
 * @param name The name of the option.
 * @param value The value.
 * @returns The value.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is not.
 */
export function checkBoolean(name: string, value: unknown): boolean {
  if (typeof value !== "boolean") throw unusable(name, value, "true or false");
  return value;
}

/**
 * Checks that a value is a time in whole milliseconds.
 *
 * @param name The name of the option.
 * @param value The value.
 * @param longestMs The longest that it may be.
 * @returns The value.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is not.
 */
export function checkMilliseconds(
  name: string,
  value: unknown,
  longestMs: number,
): number {
  const ms = value as number;
  if (!Number.isSafeInteger(value) || ms < 0 || ms > longestMs) {
    throw unusable(name, value, `a whole number from 0 to ${longestMs}`);
  }
  return ms;
}

/**
 * Checks that a value is a text of at most so many UTF-16 code units.
 *
 * @param name The name of the argument.
 * @param value The value.
 * @param limit The name of the limit.
 * @param maxLength The limit.
 * @returns The value.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is no string.
 * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: it is too long.
 */
export function checkText(
  name: string,
  value: unknown,
  limit: string,
  maxLength: number,
): string {
  if (typeof value !== "string") throw unusable(name, value, "a string");
  if (value.length > maxLength) {
    throw new LimitExceededError(
      limit,
      maxLength,
      `Cannot use ${name}: it has ${value.length} characters`,
    );
  }
  return value;
}

/**
 * Checks a TTL.
 *
 * @param name The name of the argument or option.
 * @param value The value.
 * @param maxTtlMs The limit, or `null`.
 * @returns The value.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is neither `null` nor a whole number above 0.
 * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: it is longer than the limit.
 */
export function checkTtl(
  name: string,
  value: unknown,
  maxTtlMs: number | null,
): number | null {
  const ttlMs = value === null ? null : checkPositiveInteger(name, value);
  if (maxTtlMs !== null && (ttlMs === null || ttlMs > maxTtlMs)) {
    throw new LimitExceededError(
      "maxTtlMs",
      maxTtlMs,
      `Cannot use ${name}: the value is ${ttlMs}`,
    );
  }
  return ttlMs;
}
