/** The options of the engine: what they mean, their defaults, and their checks. */

import { InvalidArgumentError, show } from "../errors.ts";
import {
  checkBoolean,
  checkFunction,
  checkPositiveInteger,
  checkTtl,
  resolveLimits,
  type TaskLimits,
} from "../model/limits.ts";
import { TimeWriter } from "../model/iso_time.ts";
import { checkOptions, type NamesOf } from "../model/option_names.ts";
import type { TaskStore } from "../store/contract.ts";
import type { TaskEvent } from "./events.ts";

/** The options of a {@linkcode TaskLifecycle}. */
export interface TaskLifecycleOptions {
  /** Where tasks are kept. */
  readonly store: TaskStore;
  /**
   * The TTL of a task that is created without one, in milliseconds; `null` for
   * ever.
   *
   * @default 3_600_000
   */
  readonly defaultTtlMs?: number | null;
  /**
   * The poll interval of a task that is created without one, in milliseconds;
   * `null` to send none.
   *
   * @default 1_000
   */
  readonly defaultPollIntervalMs?: number | null;
  /**
   * The pause between two sweeps of expired tasks, in milliseconds; `null`
   * for none.
   *
   * @default 60_000
   */
  readonly sweepIntervalMs?: number | null;
  /**
   * The pause between two looks at the tasks that this instance has workers or
   * listeners on, in milliseconds, to learn what other instances wrote; `null`
   * for none, where there are no others.
   *
   * @default 1_000
   */
  readonly observeIntervalMs?: number | null;
  /**
   * Whether accepted form answers are checked against their `requestedSchema`.
   *
   * @default true
   */
  readonly checkFormAnswers?: boolean;
  /**
   * Limits that differ from the defaults.
   *
   * @default {}
   */
  readonly limits?: Partial<TaskLimits>;
  /**
   * The one clock (rule I12), in milliseconds since the epoch.
   *
   * @default Date.now
   */
  readonly now?: () => number;
  /**
   * Makes an id; it must be as hard to guess as the default (rule I6).
   *
   * @default crypto.randomUUID
   */
  readonly generateTaskId?: () => string;
  /**
   * The operator's eye: unexpected errors with their cause, throws of workers,
   * sweeps. It cannot change an outcome, whatever it does.
   *
   * @default nothing
   */
  readonly onEvent?: (event: TaskEvent) => void;
}

/** Options that are complete and checked. */
export interface ResolvedOptions {
  readonly store: TaskStore;
  readonly defaultTtlMs: number | null;
  readonly defaultPollIntervalMs: number | null;
  readonly sweepIntervalMs: number | null;
  readonly observeIntervalMs: number | null;
  readonly checkFormAnswers: boolean;
  readonly limits: TaskLimits;
  readonly now: () => number;
  /** Writes times. */
  readonly times: TimeWriter;
  readonly generateTaskId: () => string;
  readonly onEvent: ((event: TaskEvent) => void) | undefined;
}

const NAMES: NamesOf<TaskLifecycleOptions> = {
  store: true,
  defaultTtlMs: true,
  defaultPollIntervalMs: true,
  sweepIntervalMs: true,
  observeIntervalMs: true,
  checkFormAnswers: true,
  limits: true,
  now: true,
  generateTaskId: true,
  onEvent: true,
};

const STORE_METHODS = ["create", "get", "update", "sweep", "close"] as const;

/**
 * Completes and checks the options. Nothing is called and no clock is read.
 *
 * @param options What the host passed.
 * @returns All options.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: one of them is wrong.
 * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: the default TTL is over `limits.maxTtlMs`.
 */
export function resolveOptions(options: TaskLifecycleOptions): ResolvedOptions {
  checkOptions("make a TaskLifecycle", options, NAMES);
  const { store } = options;
  for (const method of STORE_METHODS) {
    if (typeof store?.[method] !== "function") {
      throw new InvalidArgumentError(
        `Cannot make a TaskLifecycle: store is ${show(store)}${
          typeof store === "object" && store ? ` without ${method}()` : ""
        }, a TaskStore is needed`,
      );
    }
  }
  const { checkFormAnswers = true } = options;
  checkBoolean("checkFormAnswers", checkFormAnswers);
  const limits = resolveLimits(options.limits, store.traits?.maxRecordBytes);
  return {
    store,
    defaultTtlMs: options.defaultTtlMs === undefined
      ? limits.maxTtlMs === null
        ? 3_600_000
        : Math.min(3_600_000, limits.maxTtlMs)
      : checkTtl("defaultTtlMs", options.defaultTtlMs, limits.maxTtlMs),
    defaultPollIntervalMs: interval(options, "defaultPollIntervalMs", 1_000),
    sweepIntervalMs: interval(options, "sweepIntervalMs", 60_000),
    observeIntervalMs: interval(options, "observeIntervalMs", 1_000),
    checkFormAnswers,
    limits,
    now: wholeMilliseconds(checkFunction("now", options.now ?? Date.now)),
    times: new TimeWriter(),
    generateTaskId: checkFunction(
      "generateTaskId",
      options.generateTaskId ?? (() => crypto.randomUUID()),
    ),
    onEvent: options.onEvent === undefined
      ? undefined
      : checkFunction("onEvent", options.onEvent),
  };
}

function interval(
  options: TaskLifecycleOptions,
  name: "defaultPollIntervalMs" | "sweepIntervalMs" | "observeIntervalMs",
  otherwise: number,
): number | null {
  const value = options[name];
  if (value === undefined) return otherwise;
  return value === null ? null : checkPositiveInteger(name, value);
}

/** The last millisecond that a date can be, and the first with a minus. */
const LAST_DATE_MS = 8.64e15;

/** A clock that a host made may be finer than a date can be, or broken. */
function wholeMilliseconds(now: () => number): () => number {
  return () => {
    const time = now();
    if (typeof time !== "number" || !(Math.abs(time) <= LAST_DATE_MS)) {
      throw new InvalidArgumentError(
        `Cannot use now(): it gave ${
          show(time)
        }, milliseconds since the epoch are needed`,
      );
    }
    return Math.floor(time);
  };
}
