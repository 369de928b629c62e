/** The options of the store on Deno KV, and their check. */

import { InvalidArgumentError } from "../errors.ts";
import { utf8Bytes } from "../model/json.ts";
import {
  checkBoolean,
  checkFunction,
  checkIntegerFrom,
  checkMilliseconds,
  DEFAULT_MAX_ENTRY_BYTES,
  unusable,
} from "../model/limits.ts";
import { checkOptions, type NamesOf } from "../model/option_names.ts";
import {
  LARGEST_RECORD_BYTES,
  MAX_PREFIX_BYTES,
  MAX_VALUE_BYTES,
} from "./limits.ts";
import type { StoreDamage } from "../store/damage.ts";
import type { DenoKv } from "./shape.ts";

const DEFAULT_PREFIX: readonly string[] = ["mcp-durable-tasks"];
const DEFAULT_BUSY_TIMEOUT_MS = 10_000;
/** The longest delay of a timer. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** The options of a {@linkcode DenoKvTaskStore}. */
export interface DenoKvTaskStoreOptions {
  /**
   * What the keys of the store begin with: at least one text, at most 200 bytes
   * in all. Nothing else may write under it. Stores with one prefix on one
   * database share their tasks.
   *
   * @default ["mcp-durable-tasks"]
   */
  readonly prefix?: readonly string[];
  /**
   * The largest record, in bytes of its JSON; from 64 KiB to 16 MiB. All
   * instances on one database should have the same. A lower limit than before
   * hinders nothing but the growth of records that are over it, by more than
   * 1 KiB a change.
   *
   * @default DEFAULT_MAX_ENTRY_BYTES
   */
  readonly maxRecordBytes?: number;
  /**
   * Whether the database outlives the process. The store cannot tell: say
   * `false` for one in memory (`:memory:`), so that the traits say it too.
   *
   * @default true
   */
  readonly durable?: boolean;
  /**
   * Whether the store has a `watch()`, so that what other instances change is
   * known at once, and not at the engine's next poll. For Deno Deploy and a KV
   * server: on a file the database tells of its own process alone. While a task
   * is watched that has not ended, its process does not exit by itself, until
   * `close()`. On Deno alone: the watch of `@deno/kv` can block its process.
   *
   * @default false
   */
  readonly watch?: boolean;
  /**
   * For how long an operation is tried again while another process has the
   * database file locked, in milliseconds. 0 tries once.
   *
   * @default 10_000
   */
  readonly busyTimeoutMs?: number;
  /**
   * The clock for calls that bring no time of their own, in milliseconds since
   * the epoch.
   *
   * @default Date.now
   */
  readonly now?: () => number;
  /**
   * Is told, once for each, of records that a sweep cannot read: damaged ones,
   * or those of a later release. They stay as they are, and who asks for one
   * gets `ERR_STORE_FAILED`; all others are served and swept.
   *
   * @param damage What was found.
   * @default nobody is told
   */
  readonly onDamage?: (damage: StoreDamage) => void;
}

const NAMES: NamesOf<DenoKvTaskStoreOptions> = {
  prefix: true,
  maxRecordBytes: true,
  durable: true,
  watch: true,
  busyTimeoutMs: true,
  now: true,
  onDamage: true,
};

/** All options, checked. */
export type ResolvedDenoKvOptions = Readonly<Required<DenoKvTaskStoreOptions>>;

/**
 * Completes and checks options.
 *
 * @param options What the host says.
 * @returns All options.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: one of them is none.
 */
export function resolveDenoKvOptions(
  options: DenoKvTaskStoreOptions,
): ResolvedDenoKvOptions {
  checkOptions("make a DenoKvTaskStore", options, NAMES);
  const {
    prefix = DEFAULT_PREFIX,
    maxRecordBytes = DEFAULT_MAX_ENTRY_BYTES,
    durable = true,
    watch = false,
    busyTimeoutMs = DEFAULT_BUSY_TIMEOUT_MS,
    now = Date.now,
    onDamage = () => {},
  } = options;
  checkIntegerFrom(
    "maxRecordBytes",
    maxRecordBytes,
    MAX_VALUE_BYTES,
    LARGEST_RECORD_BYTES,
  );
  checkBoolean("durable", durable);
  checkBoolean("watch", watch);
  checkMilliseconds("busyTimeoutMs", busyTimeoutMs, LONGEST_TIMEOUT_MS);
  return {
    prefix: checkPrefix(prefix),
    maxRecordBytes,
    durable,
    watch,
    busyTimeoutMs,
    now: checkFunction("now", now),
    onDamage: checkFunction("onDamage", onDamage),
  };
}

/**
 * Checks that a value can be the database.
 *
 * @param kv The value.
 * @returns The value.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is none.
 */
export function checkKv(kv: DenoKv): DenoKv {
  for (const method of ["get", "getMany", "list", "atomic"] as const) {
    if (typeof kv?.[method] === "function") continue;
    throw unusable("kv", kv, "a Deno KV, such as `await Deno.openKv()`,");
  }
  return kv;
}

function checkPrefix(prefix: readonly string[]): readonly string[] {
  if (!Array.isArray(prefix) || prefix.length === 0) {
    throw unusable("prefix", prefix, "an array of at least one text");
  }
  let bytes = 0;
  for (const part of prefix) {
    if (
      typeof part !== "string" || !part.isWellFormed() || part.includes("\0")
    ) {
      throw unusable("prefix", part, "text without NUL and lone surrogates");
    }
    bytes += utf8Bytes(part) + 2;
  }
  if (bytes > MAX_PREFIX_BYTES) {
    throw new InvalidArgumentError(
      `Cannot use prefix: it takes ${bytes} bytes, at most ${MAX_PREFIX_BYTES} are allowed`,
    );
  }
  return [...prefix];
}
