/** The options of the store in a Durable Object, and their check. */

import { InvalidArgumentError, show } from "../errors.ts";
import { utf8Bytes } from "../model/json.ts";
import {
  checkBoolean,
  checkFunction,
  checkIntegerFrom,
  DEFAULT_MAX_ENTRY_BYTES,
  unusable,
} from "../model/limits.ts";
import { checkOptions, type NamesOf } from "../model/option_names.ts";
import type { StoreDamage } from "../store/damage.ts";
import type { DurableObjectStorageBinding } from "./shape.ts";

const DEFAULT_PREFIX = "mcp-durable-tasks/";
/** Leaves room for the rest of a key, which may have 2,048 bytes. */
const LARGEST_PREFIX_BYTES = 512;
/** Every store takes this much. */
const SMALLEST_RECORD_BYTES = 64 * 1024;
/** An object has 128 MB of memory, and a record is in it more than once when it is read. */
const LARGEST_RECORD_BYTES = 16 * 1024 * 1024;

/** The options of a {@linkcode DurableObjectTaskStore}. */
export interface DurableObjectTaskStoreOptions {
  /**
   * What all keys of the store begin with; at most 512 bytes. The keys of the
   * host, and those of another store in the same object, begin otherwise.
   *
   * @default "mcp-durable-tasks/"
   */
  readonly prefix?: string;
  /**
   * Whether the store sets the alarm of the object, so that it sweeps what has
   * expired when nobody calls. The `alarm()` of the class then has to call
   * {@linkcode DurableObjectTaskStore.alarm}. `false` is for a class without
   * `alarm()`, in which the platform refuses to set one.
   *
   * @default true
   */
  readonly alarm?: boolean;
  /**
   * The largest record, in bytes of its JSON; from 64 KiB to 16 MiB. A lower
   * limit than before hinders nothing but the growth of records that are over
   * it, by more than 1 KiB a change.
   *
   * @default DEFAULT_MAX_ENTRY_BYTES
   */
  readonly maxRecordBytes?: number;
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

const NAMES: NamesOf<DurableObjectTaskStoreOptions> = {
  prefix: true,
  alarm: true,
  maxRecordBytes: true,
  now: true,
  onDamage: true,
};

/** All options, checked. */
export type ResolvedDurableObjectOptions = Required<
  DurableObjectTaskStoreOptions
>;

/**
 * Completes and checks options.
 *
 * @param options What the caller says.
 * @returns All options.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: one of them is none.
 */
export function resolveDurableObjectOptions(
  options: DurableObjectTaskStoreOptions,
): ResolvedDurableObjectOptions {
  checkOptions("make a DurableObjectTaskStore", options, NAMES);
  const {
    prefix = DEFAULT_PREFIX,
    alarm = true,
    maxRecordBytes = DEFAULT_MAX_ENTRY_BYTES,
    now = Date.now,
    onDamage = () => {},
  } = options;
  if (
    typeof prefix !== "string" || !prefix.isWellFormed() ||
    utf8Bytes(prefix) > LARGEST_PREFIX_BYTES
  ) {
    throw unusable(
      "prefix",
      prefix,
      `a well-formed string of at most ${LARGEST_PREFIX_BYTES} bytes`,
    );
  }
  checkBoolean("alarm", alarm);
  checkIntegerFrom(
    "maxRecordBytes",
    maxRecordBytes,
    SMALLEST_RECORD_BYTES,
    LARGEST_RECORD_BYTES,
  );
  checkFunction("now", now);
  checkFunction("onDamage", onDamage);
  return { prefix, alarm, maxRecordBytes, now, onDamage };
}

const METHODS = [
  "get",
  "list",
  "put",
  "delete",
  "transaction",
  "getAlarm",
  "setAlarm",
  "deleteAlarm",
] as const;

/**
 * Checks that a value is the storage of a Durable Object.
 *
 * @param value The value.
 * @returns The value.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is something else.
 */
export function checkStorage(
  value: DurableObjectStorageBinding,
): DurableObjectStorageBinding {
  const missing = METHODS.find((method) =>
    typeof value?.[method] !== "function"
  );
  if (missing) {
    throw new InvalidArgumentError(
      `Cannot use storage: the value is ${
        show(value)
      } and has no method ${missing}(), the ctx.storage of a Durable Object is needed`,
    );
  }
  return value;
}
