/** The options of the store on Workers KV, and their check. */

import { InvalidArgumentError, show } from "../errors.ts";
import { utf8Bytes } from "../model/json.ts";
import {
  checkFunction,
  checkIntegerFrom,
  checkMilliseconds,
  DEFAULT_MAX_ENTRY_BYTES,
  unusable,
} from "../model/limits.ts";
import { checkOptions, type NamesOf } from "../model/option_names.ts";
import type { StoreDamage } from "../store/damage.ts";
import type { WorkersKvBinding } from "./workers_kv_shape.ts";

const DEFAULT_PREFIX = "mcp-durable-tasks/";
/** A key has 512 bytes, and the rest of it up to 129. */
const LARGEST_PREFIX_BYTES = 256;
/** Every store takes this much. */
const SMALLEST_RECORD_BYTES = 64 * 1024;
/** What a value may have. */
const LARGEST_RECORD_BYTES = 25 * 1024 * 1024;
const DEFAULT_WRITE_INTERVAL_MS = 1_000;
const LONGEST_WRITE_INTERVAL_MS = 60_000;

/** The options of a {@linkcode WorkersKvTaskStore}. */
export interface WorkersKvTaskStoreOptions {
  /**
   * Says that you have read what the store cannot do, and take it: reads may be
   * stale for a minute, and of two writers at once one is lost without a word.
   */
  readonly acceptEventualStore: true;
  /**
   * What all keys of the store begin with; 1 to 256 bytes. Other keys of the
   * namespace begin otherwise.
   *
   * @default "mcp-durable-tasks/"
   */
  readonly prefix?: string;
  /**
   * The largest record, in bytes of its JSON; from 64 KiB to 25 MiB. A lower
   * limit than before hinders nothing but the growth of records that are over
   * it, by more than 1 KiB a change.
   *
   * @default DEFAULT_MAX_ENTRY_BYTES
   */
  readonly maxRecordBytes?: number;
  /**
   * How long a key rests between two writes, in milliseconds; up to a minute.
   * Production takes one write a second, and refuses more. 0 is for a namespace
   * that refuses nothing, such as a local one.
   *
   * @default 1_000
   */
  readonly minWriteIntervalMs?: number;
  /**
   * The clock for calls that bring no time of their own, in milliseconds since
   * the epoch.
   *
   * @default Date.now
   */
  readonly now?: () => number;
  /**
   * Is told, once for each, of keys of the store that a sweep cannot read: they
   * were written by other means, or by a later release. They stay as they are,
   * and all others are served and swept.
   *
   * @param damage What was found.
   * @default nobody is told
   */
  readonly onDamage?: (damage: StoreDamage) => void;
}

const NAMES: NamesOf<WorkersKvTaskStoreOptions> = {
  acceptEventualStore: true,
  prefix: true,
  maxRecordBytes: true,
  minWriteIntervalMs: true,
  now: true,
  onDamage: true,
};

/** All options, checked. */
export type ResolvedWorkersKvOptions = Omit<
  Required<WorkersKvTaskStoreOptions>,
  "acceptEventualStore"
>;

/**
 * Completes and checks options.
 *
 * @param options What the host says.
 * @returns All options.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: one of them is none, or the store was not asked for by name.
 */
export function resolveWorkersKvOptions(
  options: WorkersKvTaskStoreOptions,
): ResolvedWorkersKvOptions {
  const given: Partial<WorkersKvTaskStoreOptions> = options ?? {};
  const {
    prefix = DEFAULT_PREFIX,
    maxRecordBytes = DEFAULT_MAX_ENTRY_BYTES,
    minWriteIntervalMs = DEFAULT_WRITE_INTERVAL_MS,
    now = Date.now,
    onDamage = () => {},
  } = given;
  checkOptions("make a WorkersKvTaskStore", given, NAMES);
  if (given.acceptEventualStore !== true) {
    throw new InvalidArgumentError(
      `Cannot use Workers KV: acceptEventualStore is ${
        show(given.acceptEventualStore)
      }, true is needed. KV has no compare-and-swap, and its reads may be stale for a minute: an answer or a cancel from another place may come late, and of two writers at once one is lost. With one writer, such as one Durable Object or one cron, pass { acceptEventualStore: true }; else take DurableObjectTaskStore`,
    );
  }
  if (
    typeof prefix !== "string" || prefix === "" || !prefix.isWellFormed() ||
    utf8Bytes(prefix) > LARGEST_PREFIX_BYTES
  ) {
    throw unusable(
      "prefix",
      prefix,
      `a well-formed string of 1 to ${LARGEST_PREFIX_BYTES} bytes`,
    );
  }
  checkIntegerFrom(
    "maxRecordBytes",
    maxRecordBytes,
    SMALLEST_RECORD_BYTES,
    LARGEST_RECORD_BYTES,
  );
  checkMilliseconds(
    "minWriteIntervalMs",
    minWriteIntervalMs,
    LONGEST_WRITE_INTERVAL_MS,
  );
  checkFunction("now", now);
  checkFunction("onDamage", onDamage);
  return { prefix, maxRecordBytes, minWriteIntervalMs, now, onDamage };
}

/**
 * Checks that a value can be the namespace.
 *
 * @param kv The value.
 * @returns The value.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is something else.
 */
export function checkNamespace(kv: WorkersKvBinding): WorkersKvBinding {
  for (const method of ["getWithMetadata", "put", "delete", "list"] as const) {
    if (typeof kv?.[method] === "function") continue;
    throw unusable(
      "kv",
      kv,
      "a Workers KV namespace, such as env.TASKS with a binding of kv_namespaces,",
    );
  }
  return kv;
}
