/** The options of the write-ahead-log store, and their check. */

import { resolve } from "node:path";
import {
  checkBoolean,
  checkFunction,
  checkMilliseconds,
  checkPositiveInteger,
  DEFAULT_MAX_ENTRY_BYTES,
  unusable,
} from "../model/limits.ts";
import { checkOptions, type NamesOf } from "../model/option_names.ts";
import type { WalDamage } from "./damage.ts";
import type { WalTakeoverEvent } from "./takeover_target.ts";

const DEFAULT_LOCK_TIMEOUT_MS = 5_000;
/** Engines differ in how long a string may be; all of them take this. */
const LARGEST_ENTRY_BYTES = 256 * 1024 * 1024;
/** The longest delay of a timer. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** The options of a {@linkcode WalTaskStore}. */
export interface WalTaskStoreOptions {
  /**
   * The directory. It is made if it is missing, for the owner alone. One store
   * at a time has it open.
   */
  readonly dir: string;
  /** A store has a directory or a log; see {@linkcode ProcessLogTaskStoreOptions}. */
  readonly log?: undefined;
  /**
   * Whether an operation resolves only when it is on the disk itself, and so
   * survives a power loss. Without it, an operation resolves when the system
   * has it, and survives whatever happens to the process.
   *
   * @default false
   */
  readonly fsync?: boolean;
  /**
   * The largest record, in bytes of its JSON; at most 256 MiB. A lower limit
   * than before hinders nothing but the growth of records that are over it, by
   * more than 1 KiB a change.
   *
   * @default DEFAULT_MAX_ENTRY_BYTES
   */
  readonly maxEntryBytes?: number;
  /**
   * Compacts also after so many entries since the last whole compaction; `null`:
   * only when `compact()` is called.
   *
   * @default only when twice the bytes of what is alive, and one segment more, are on the disk
   */
  readonly compactEvery?: number | null;
  /**
   * How long to wait for another store to close the directory, in milliseconds:
   * a new release may start before the old one has ended. 0 tries once.
   *
   * @default 5_000
   */
  readonly lockTimeoutMs?: number;
  /**
   * The clock for calls that bring no time of their own, in milliseconds since
   * the epoch.
   *
   * @default Date.now
   */
  readonly now?: () => number;
  /**
   * Is told of bytes in the log that fail their check, when the store opens or
   * later, and which tasks they have taken. All other tasks are served.
   *
   * @param damage What was found.
   * @default nobody is told; `health()` says it too
   */
  readonly onDamage?: (damage: WalDamage) => void;
  /**
   * Is told what becomes of a directory that mcp-durable-tasks wrote: its tasks
   * are taken over when the store opens, and what an old process still appends
   * is taken over as well.
   *
   * @param event What has happened.
   * @default nobody is told
   */
  readonly onTakeover?: (event: WalTakeoverEvent) => void;
  /**
   * Is told when an automatic compaction has failed. Nothing is lost, the store
   * works, and tries again when the log has grown.
   *
   * @param error What went wrong.
   * @default nobody is told
   */
  readonly onCompactionError?: (error: unknown) => void;
}

const NAMES: NamesOf<WalTaskStoreOptions> = {
  dir: true,
  log: true,
  fsync: true,
  maxEntryBytes: true,
  compactEvery: true,
  lockTimeoutMs: true,
  now: true,
  onDamage: true,
  onTakeover: true,
  onCompactionError: true,
};

/** All options, checked. */
export type ResolvedWalOptions = Readonly<{
  /** The directory, from the root. */
  dir: string;
  fsync: boolean;
  maxEntryBytes: number;
  /** `undefined`: by size. */
  compactEvery: number | null | undefined;
  lockTimeoutMs: number;
  now: () => number;
  onDamage: (damage: WalDamage) => void;
  onTakeover: (event: WalTakeoverEvent) => void;
  onCompactionError: (error: unknown) => void;
  /** Bytes after which a segment ends; `undefined`: by what is alive. For tests. */
  segmentBytes?: number;
}>;

/**
 * Completes and checks options.
 *
 * @param options What the host says.
 * @returns All options.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: one of them is none.
 */
export function resolveWalOptions(
  options: WalTaskStoreOptions,
): ResolvedWalOptions {
  checkOptions("make a WalTaskStore", options, NAMES);
  const {
    dir,
    fsync = false,
    maxEntryBytes = DEFAULT_MAX_ENTRY_BYTES,
    compactEvery,
    lockTimeoutMs = DEFAULT_LOCK_TIMEOUT_MS,
    now = Date.now,
    onDamage = () => {},
    onTakeover = () => {},
    onCompactionError = () => {},
  } = options;
  if (typeof dir !== "string" || dir === "" || dir.includes("\0")) {
    throw unusable("dir", dir, "the path of a directory");
  }
  checkBoolean("fsync", fsync);
  checkPositiveInteger("maxEntryBytes", maxEntryBytes);
  if (maxEntryBytes > LARGEST_ENTRY_BYTES) {
    throw unusable(
      "maxEntryBytes",
      maxEntryBytes,
      `at most ${LARGEST_ENTRY_BYTES}`,
    );
  }
  if (compactEvery !== undefined && compactEvery !== null) {
    checkPositiveInteger("compactEvery", compactEvery);
  }
  checkMilliseconds("lockTimeoutMs", lockTimeoutMs, LONGEST_TIMEOUT_MS);
  checkFunction("now", now);
  checkFunction("onDamage", onDamage);
  checkFunction("onTakeover", onTakeover);
  checkFunction("onCompactionError", onCompactionError);
  return {
    dir: resolve(dir),
    fsync,
    maxEntryBytes,
    compactEvery,
    lockTimeoutMs,
    now,
    onDamage,
    onTakeover,
    onCompactionError,
  };
}
