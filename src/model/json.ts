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

/** An object of plain JSON. */
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
 * nothing with the value, `-0` becomes `0`, and no recursion is involved, so
 * that a hundred thousand levels are refused like the first one over the limit.
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
  if (Array.isArray(value)) return value.map(copyJson) as T;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    setOwn(copy, key, copyJson((value as Record<string, unknown>)[key]));
  }
  return copy as T;
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
      throw new NotJsonError(path(), "undefined");
    default:
      throw new NotJsonError(path(), `a ${typeof value}`);
  }
}

/** The keys of a plain object, or `undefined` for an array. */
function containerKeys(
  value: object,
  path: () => string,
): readonly string[] | undefined {
  const isArray = Array.isArray(value);
  if (isArray ? !isPlainArray(value) : !isPlain(value)) {
    throw new NotJsonError(path(), `an instance of ${className(value)}`);
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
