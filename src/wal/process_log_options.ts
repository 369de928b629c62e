/** The options of the store over somebody else's log, and their check. */

import { InvalidArgumentError, show } from "../errors.ts";
import { checkFunction, checkPositiveInteger } from "../model/limits.ts";
import { checkOptions, type NamesOf } from "../model/option_names.ts";
import { missingLogMethod, type ProcessLog } from "./process_log.ts";

/** Fits, with what the log adds, what process-wal takes unless it is told otherwise: 1 MiB. */
const DEFAULT_MAX_ENTRY_BYTES = 1024 * 1024 - 1024;

/** The options of a `WalTaskStore` over a log that the host has opened. */
export interface ProcessLogTaskStoreOptions {
  /** The log. From now on it is the store's: nothing else appends to it, and the store closes it. */
  readonly log: ProcessLog;
  /** A store has a log or a directory. */
  readonly dir?: undefined;
  /**
   * The largest record, in bytes of its JSON. The log has to take it, with some
   * hundred bytes around it.
   *
   * @default 1_047_552
   */
  readonly maxEntryBytes?: number;
  /**
   * Compacts when so many entries of the log count no longer; `null`: only when
   * `compact()` is called.
   *
   * @default 1_000, or as many as there are tasks if they are more
   */
  readonly compactEvery?: number | null;
  /**
   * The clock for calls that bring no time of their own, in milliseconds since
   * the epoch.
   *
   * @default Date.now
   */
  readonly now?: () => number;
  /**
   * Is told when an automatic compaction has failed. What was acknowledged is
   * in the log, and the store tries again.
   *
   * @param error What went wrong.
   * @default nobody is told
   */
  readonly onCompactionError?: (error: unknown) => void;
}

/** All options, checked. */
export type ResolvedProcessLogOptions = Readonly<{
  log: ProcessLog;
  maxEntryBytes: number;
  /** `undefined`: by what is alive. */
  compactEvery: number | null | undefined;
  now: () => number;
  onCompactionError: (error: unknown) => void;
}>;

const NAMES: NamesOf<ProcessLogTaskStoreOptions> = {
  log: true,
  dir: true,
  maxEntryBytes: true,
  compactEvery: true,
  now: true,
  onCompactionError: true,
};

/** Options of a directory, which a log that is opened already cannot follow. */
const FOREIGN = ["dir", "fsync", "lockTimeoutMs"] as const;

/**
 * Completes and checks options.
 *
 * @param options What the host says.
 * @returns All options.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: one of them is none.
 */
export function resolveProcessLogOptions(
  options: ProcessLogTaskStoreOptions,
): ResolvedProcessLogOptions {
  const {
    log,
    maxEntryBytes = DEFAULT_MAX_ENTRY_BYTES,
    compactEvery,
    now = Date.now,
    onCompactionError = () => {},
  } = options;
  for (const name of FOREIGN) {
    const value = (options as unknown as Record<string, unknown>)[name];
    if (value === undefined) continue;
    throw new InvalidArgumentError(
      `Cannot use ${name} and log together: ${name} is ${
        show(value)
      }, and a log that is open already has its own; leave out one of them`,
    );
  }
  checkOptions("make a WalTaskStore over a log", options, NAMES);
  const missing = missingLogMethod(log);
  if (missing !== undefined) {
    throw new InvalidArgumentError(
      `Cannot use log: the value is ${
        show(log)
      } without a method ${missing}(), a log with the methods of process-wal is needed`,
    );
  }
  checkPositiveInteger("maxEntryBytes", maxEntryBytes);
  if (compactEvery !== undefined && compactEvery !== null) {
    checkPositiveInteger("compactEvery", compactEvery);
  }
  return {
    log,
    maxEntryBytes,
    compactEvery,
    now: checkFunction("now", now),
    onCompactionError: checkFunction("onCompactionError", onCompactionError),
  };
}
