/** Plain JSON: its types, and the one door through which values enter (rule I11). */

import {
  InvalidArgumentError,
  LimitExceededError,
  NotJsonError,
  show,
} from "../errors.ts";

/** A value that JSON encodes and decodes without changing it. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | JsonObject;

/**
 * An object of plain JSON. An `interface` does not fit, for the type checker
 * lets it have more members than it says: name its shape by a `type`.
 */
export interface JsonObject {
  /** Any member. */
  readonly [key: string]: JsonValue;
}

/** What {@linkcode toPlainJson} needs to know of the value it is given. */
export interface PlainJsonOptions {
  /** What the value is, for messages: `result`, `error.data`… */
  readonly what: string;
  /** Levels of nesting that are allowed; a scalar has none, `{}` has one. */
  readonly maxDepth: number;
}

/** A container that is being copied, with what is left to copy of it. */
interface Frame {
  readonly source: Readonly<Record<string | number, unknown>>;
  readonly target: Record<string | number, JsonValue>;
  readonly keys: readonly string[] | undefined;
  readonly length: number;
  next: number;
}

/**
 * Copies a value if it is plain JSON and refuses it otherwise. The copy shares
 * nothing with the value, `-0` becomes `0`, and recursion goes a few levels deep
 * at most, so that a hundred thousand are refused like the first over the limit.
 *
 * @param value The value.
 * @param options What it is and how deep it may be.
 * @returns The copy.
 * @throws {NotJsonError} `ERR_NOT_JSON`: JSON would change the value.
 * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: it is nested too deeply.
 */
export function toPlainJson(
  value: unknown,
  options: PlainJsonOptions,
): JsonValue {
  if (typeof value === "object" && value !== null) {
    const depth = Math.min(options.maxDepth, QUICK_DEPTH);
    const copy = quickCopy(value, depth);
    if (copy) return copy;
  }
  return thoroughCopy(value, options);
}

/** Levels of nesting that are copied by recursion: enough for most, and little stack. */
const QUICK_DEPTH = 64;

/**
 * Copies what is plainly right, which is most, several times as fast as the
 * thorough way. Whatever is not is left to that, which knows what to say of it.
 */
function quickCopy(value: object, depth: number): JsonValue | undefined {
  if (depth === 0) return undefined;
  if (Object.getOwnPropertySymbols(value).length > 0) return undefined;
  const prototype = Object.getPrototypeOf(value);
  if (Array.isArray(value)) {
    if (
      prototype !== Array.prototype ||
      Object.keys(value).length !== value.length
    ) return undefined;
    const copy: JsonValue[] = [...value];
    for (let i = 0; i < copy.length; i++) {
      const item = quickValue(copy[i], depth - 1);
      if (item === undefined) return undefined;
      copy[i] = item;
    }
    return copy;
  }
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  const copy = { ...value } as Record<string, JsonValue>;
  for (const key of Object.keys(copy)) {
    const member = copy[key];
    const kept = quickValue(member, depth - 1);
    if (kept === undefined) return undefined;
    // The copy owns the member, so `__proto__` is a name like any other.
    if (kept !== member || kept === 0) copy[key] = kept;
  }
  return copy;
}

function quickValue(value: unknown, depth: number): JsonValue | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value === 0 ? 0 : value : undefined;
    case "object":
      return value === null ? null : quickCopy(value, depth);
  }
}

function thoroughCopy(value: unknown, options: PlainJsonOptions): JsonValue {
  const { what, maxDepth } = options;
  const open: Frame[] = [];

  /** Where the value is that is being read: put together only if it is wrong. */
  const path = () =>
    formatPath(
      open.map(({ keys, next }) => keys ? keys[next - 1] : next - 1),
      what,
    );

  const enter = (source: object): JsonValue => {
    if (open.some((frame) => frame.source === source)) {
      throw new NotJsonError(path(), "a cycle");
    }
    if (open.length >= maxDepth) {
      throw new LimitExceededError(
        "maxDepth",
        maxDepth,
        `Cannot store ${what}: it is nested too deeply`,
      );
    }
    const keys = containerKeys(source, path);
    const target: JsonValue[] | JsonObject = keys ? {} : [];
    open.push({
      source: source as Record<string | number, unknown>,
      target: target as Record<string | number, JsonValue>,
      keys,
      length: keys ? keys.length : (source as unknown[]).length,
      next: 0,
    });
    return target;
  };

  if (typeof value !== "object" || value === null) return scalar(value, path);
  const copy = enter(value);
  while (open.length > 0) {
    const frame = open[open.length - 1];
    const { source, target, keys, length } = frame;
    let entered = false;
    while (!entered && frame.next < length) {
      const index = frame.next++;
      const key = keys ? keys[index] : index;
      const child = source[key];
      if (child === undefined && !Object.hasOwn(source, key)) {
        throw new NotJsonError(path(), "a hole in an array");
      }
      entered = typeof child === "object" && child !== null;
      setOwn(
        target,
        key,
        entered ? enter(child as object) : scalar(child, path),
      );
    }
    if (!entered) open.pop();
  }
  return copy;
}

/**
 * Writes the way to a place in a value, with what is long cut short.
 *
 * @param keys Names and indexes, from the outside.
 * @param root What the whole value is called; nothing if it goes without saying.
 * @returns For example `result.rows[3].when`.
 */
export function formatPath(
  keys: readonly (string | number)[],
  root = "",
): string {
  const steps = keys.map((key) =>
    typeof key === "number"
      ? `[${key}]`
      : key.length <= 80 && /^[A-Za-z_$][\w$]*$/.test(key)
      ? `.${key}`
      : `[${show(key)}]`
  );
  if (steps.length > 20) steps.splice(10, steps.length - 20, "[…]");
  const path = root + steps.join("");
  return path.startsWith(".") ? path.slice(1) : path;
}

/**
 * The same as {@linkcode toPlainJson} for a value that has to be an object.
 *
 * @param value The value.
 * @param options What it is and how deep it may be.
 * @returns The copy.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is no object.
 * @throws {NotJsonError} `ERR_NOT_JSON`: JSON would change the value.
 * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: it is nested too deeply.
 */
export function toPlainJsonObject(
  value: unknown,
  options: PlainJsonOptions,
): JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new InvalidArgumentError(
      `Cannot store ${options.what}: the value is ${
        show(value)
      }, a plain JSON object is needed`,
    );
  }
  return toPlainJson(value, options) as JsonObject;
}

/**
 * Copies plain JSON. Nothing is checked: what comes here came through
 * {@linkcode toPlainJson} or out of `JSON.parse`.
 *
 * @param value The value.
 * @returns A copy that shares nothing with it.
 */
export function copyJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  // A copy of all members at once is many times as fast as one by one.
  const copy = Array.isArray(value) ? [...value] : { ...value };
  copyMembers(copy as Record<string | number, unknown>);
  return copy as T;
}

function copyMembers(copy: Record<string | number, unknown>): void {
  if (Array.isArray(copy)) {
    for (let i = 0; i < copy.length; i++) {
      const item = copy[i];
      if (typeof item === "object" && item !== null) copy[i] = copyJson(item);
    }
    return;
  }
  for (const key of Object.keys(copy)) {
    const member = copy[key];
    if (typeof member === "object" && member !== null) {
      // The copy owns the member, so `__proto__` is a name like any other.
      copy[key] = copyJson(member);
    }
  }
}

/**
 * Sets an own member, whatever its name: a plain assignment to `__proto__`
 * would change the prototype instead.
 *
 * @param target The object or array.
 * @param key The name.
 * @param value The value.
 */
export function setOwn<T>(
  target: Record<string | number, T>,
  key: string | number,
  value: T,
): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  } else target[key] = value;
}

/**
 * Counts the bytes of a value's JSON in UTF-8.
 *
 * @param value Plain JSON.
 * @returns The number of bytes.
 */
export function jsonBytes(value: unknown): number {
  return utf8Bytes(JSON.stringify(value));
}

/**
 * Tells whether a value's JSON is at most so long, and encodes it only where
 * that is near.
 *
 * @param value Plain JSON.
 * @param maxBytes The number of bytes in UTF-8.
 * @returns Whether it is.
 */
export function fitsJson(value: unknown, maxBytes: number): boolean {
  return roomAfter(value, maxBytes) >= 0 || jsonBytes(value) <= maxBytes;
}

/** The most bytes that a code unit can become: `\\u0000`. */
const UNIT_BYTES = 6;

/** More than any number, boolean or `null` takes, and its comma. */
const SCALAR_BYTES = 26;

/** What is left of some bytes after a value that takes as much as it can. */
function roomAfter(value: unknown, room: number): number {
  if (room < 0) return room;
  if (typeof value === "string") return room - value.length * UNIT_BYTES - 3;
  if (typeof value !== "object" || value === null) return room - SCALAR_BYTES;
  let left = room - 3;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && left >= 0; i++) {
      left = roomAfter(value[i], left);
    }
    return left;
  }
  // Quicker than `Object.keys`; what it may inherit only makes the guess higher.
  for (const key in value) {
    if (left < 0) break;
    left = roomAfter(
      (value as Record<string, unknown>)[key],
      left - key.length * UNIT_BYTES - 3,
    );
  }
  return left;
}

/**
 * Counts the bytes of a string in UTF-8.
 *
 * @param text The string.
 * @returns The number of bytes; a lone surrogate counts as three.
 */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (isPair(text, i)) {
      bytes += 2;
      i++;
    } else bytes += 2;
  }
  return bytes;
}

/**
 * Cuts a text to a number of UTF-16 code units, never inside a character.
 *
 * @param text The text.
 * @param maxLength The most code units to keep, at least 1.
 * @returns The text, or its beginning with an ellipsis as its last character.
 */
export function truncate(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const end = isPair(text, maxLength - 2) ? maxLength - 2 : maxLength - 1;
  return `${text.slice(0, end)}…`;
}

function isPair(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xd800 &&
    (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00;
}

function scalar(value: unknown, path: () => string): JsonValue {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (!Number.isFinite(value)) throw new NotJsonError(path(), `${value}`);
      return value === 0 ? 0 : value;
    case "object":
      return null;
    case "undefined":
      throw new NotJsonError(path(), "undefined (leave it out, or use null)");
    case "bigint":
      throw new NotJsonError(path(), "a bigint (use a string or a number)");
    default:
      throw new NotJsonError(path(), `a ${typeof value}`);
  }
}

/** What to store in the place of common things that are no JSON, by their class. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ["Date", "toISOString()"],
  ["Error", "its message"],
  ["Map", "Object.fromEntries()"],
  ["Promise", "await"],
  ["Set", "an array of its values"],
  ["URL", "its href"],
  ["ZodObject", "z.toJSONSchema()"],
]);

/** The keys of a plain object, or `undefined` for an array. */
function containerKeys(
  value: object,
  path: () => string,
): readonly string[] | undefined {
  const isArray = Array.isArray(value);
  if (isArray ? !isPlainArray(value) : !isPlain(value)) {
    const name = className(value);
    const advice = ADVICE.get(name);
    throw new NotJsonError(
      path(),
      `an instance of ${name}${advice ? ` (use ${advice})` : ""}`,
    );
  }
  if (Object.getOwnPropertySymbols(value).length > 0) {
    throw new NotJsonError(path(), "an object with symbol keys");
  }
  const keys = Object.keys(value);
  if (!isArray) return keys;
  if (keys.length > value.length) {
    throw new NotJsonError(path(), "an array with members of its own");
  }
  return undefined;
}

/** Whether the prototype is that of an array literal, of any realm: itself an array. */
function isPlainArray(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Array.prototype || Array.isArray(prototype);
}

/** Whether the prototype is that of an object literal, of any realm, or none. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  return Object.getPrototypeOf(prototype) === null &&
    Object.hasOwn(prototype, "isPrototypeOf");
}

function className(value: object): string {
  const name = (value as { constructor?: { name?: unknown } }).constructor
    ?.name;
  return typeof name === "string" && name !== "" && name !== "Object"
    ? name
    : "a class, or an object with a prototype of its own";
}
