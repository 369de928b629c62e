/**
 * Small checks that make up the shapes of the protocol's messages. Objects are
 * open: members that a shape does not name are left alone. A check never
 * throws and costs nothing for what is right: the path is put together on the
 * way back from what is wrong.
 */

import { show } from "../errors.ts";
import { formatPath, type JsonObject, type JsonValue } from "./json.ts";

/** What is wrong with a value, and where in it. */
export interface Mismatch {
  /** Names and indexes that lead to the place, from the outside. */
  readonly path: readonly (string | number)[];
  /** What was found there and what is needed, to be read after the path. */
  readonly text: string;
}

/** Checks a value; `undefined` stands for a member that is absent. */
export type Check = (value: JsonValue | undefined) => Mismatch | undefined;

/**
 * Says what is wrong in one line.
 *
 * @param mismatch What is wrong.
 * @param what What the value is called if all of it is wrong.
 * @returns For example `params.url is missing; an http or https URL is needed`.
 */
export function describeMismatch(mismatch: Mismatch, what: string): string {
  return `${
    mismatch.path.length === 0 ? what : formatPath(mismatch.path)
  } ${mismatch.text}`;
}

/**
 * Makes the mismatch of a value that is not what is needed.
 *
 * @param value What was found.
 * @param needed What is needed, with its verb: `a string is needed`.
 * @returns The mismatch, at the place of the value itself.
 */
export function mismatch(
  value: JsonValue | undefined,
  needed: string,
): Mismatch {
  return {
    path: [],
    text: `is ${value === undefined ? "missing" : show(value)}; ${needed}`,
  };
}

/**
 * Moves a mismatch into the object or array that holds the value.
 *
 * @param key The name or index of the value there.
 * @param inner The mismatch of the value, if there is one.
 * @returns The same, seen from the holder.
 */
export function within(
  key: string | number,
  inner: Mismatch | undefined,
): Mismatch | undefined {
  return inner && { path: [key, ...inner.path], text: inner.text };
}

/**
 * Reads an own member: a key such as `toString` that is absent is absent.
 *
 * @param object The object.
 * @param key The name.
 * @returns The value, or `undefined`.
 */
export function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/**
 * Tells whether a value is an object of plain JSON.
 *
 * @param value The value.
 * @returns Whether it is neither a scalar nor an array.
 */
export function isJsonObject(
  value: JsonValue | undefined,
): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A check made of a predicate.
 *
 * @param needed What is needed, with its verb.
 * @param test The predicate.
 * @returns The check.
 */
export function matching(
  needed: string,
  test: (value: JsonValue | undefined) => boolean,
): Check {
  return (value) => test(value) ? undefined : mismatch(value, needed);
}

/**
 * A check of strings.
 *
 * @param needed What is needed, with its verb.
 * @param test What a string has to be.
 * @returns The check.
 */
export function text(needed: string, test: (text: string) => boolean): Check {
  return matching(needed, (value) => typeof value === "string" && test(value));
}

/** Any string. */
export const string: Check = text("a string is needed", () => true);

/** `true` or `false`. */
export const boolean: Check = matching(
  "true or false is needed",
  (value) => typeof value === "boolean",
);

/** Any number. */
export const number: Check = matching(
  "a number is needed",
  (value) => typeof value === "number",
);

/** A number without a fraction, that JavaScript holds exactly. */
export const integer: Check = matching(
  "a whole number is needed",
  Number.isSafeInteger,
);

/** A size: 0, 1, 2… */
export const count: Check = matching(
  "a whole number from 0 is needed",
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
);

/** A weight between 0 and 1. */
export const weight: Check = matching(
  "a number from 0 to 1 is needed",
  (value) => typeof value === "number" && value >= 0 && value <= 1,
);

/** Any object. */
export const anyObject: Check = matching("an object is needed", isJsonObject);

/** Any JSON value, or none. */
export const anything: Check = () => undefined;

/**
 * One of some strings.
 *
 * @param choices The strings.
 * @returns The check.
 */
export function oneOf(...choices: readonly string[]): Check {
  return text(
    `${alternatives(choices)} is needed`,
    (text) => choices.includes(text),
  );
}

/**
 * A member that may be absent.
 *
 * @param check What it is if it is there.
 * @returns The check.
 */
export function optional(check: Check): Check {
  return (value) => value === undefined ? undefined : check(value);
}

/**
 * An array.
 *
 * @param item What each of its items is.
 * @returns The check.
 */
export function listOf(item: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return mismatch(value, "an array is needed");
    for (let i = 0; i < value.length; i++) {
      const wrong = item(value[i]);
      if (wrong) return within(i, wrong);
    }
    return undefined;
  };
}

/**
 * One item, or an array of items.
 *
 * @param item What each item is.
 * @returns The check.
 */
export function oneOrList(item: Check): Check {
  const list = listOf(item);
  return (value) => Array.isArray(value) ? list(value) : item(value);
}

/**
 * An object with some members, and any others.
 *
 * @param members What each named member is.
 * @returns The check.
 */
export function objectOf(members: Readonly<Record<string, Check>>): Check {
  const named = Object.entries(members);
  return (value) => {
    if (!isJsonObject(value)) return mismatch(value, "an object is needed");
    for (const [key, check] of named) {
      const wrong = check(own(value, key));
      if (wrong) return within(key, wrong);
    }
    return undefined;
  };
}

/**
 * An object whose members, whatever their names, are all of one kind.
 *
 * @param member What each member is.
 * @returns The check.
 */
export function recordOf(member: Check): Check {
  return (value) => {
    if (!isJsonObject(value)) return mismatch(value, "an object is needed");
    for (const key of Object.keys(value)) {
      const wrong = member(value[key]);
      if (wrong) return within(key, wrong);
    }
    return undefined;
  };
}

/**
 * An object of one of several kinds, told apart by one of its members.
 *
 * @param tag The member.
 * @param kinds The check for each value of the member.
 * @param fallback The kind of an object without the member, where there is one.
 * @returns The check.
 */
export function variants(
  tag: string,
  kinds: Readonly<Record<string, Check>>,
  fallback?: Check,
): Check {
  const checks = new Map(Object.entries(kinds));
  const needed = `${alternatives([...checks.keys()])} is needed`;
  return (value) => {
    if (!isJsonObject(value)) return mismatch(value, "an object is needed");
    const kind = own(value, tag);
    const check = kind === undefined ? fallback : checks.get(kind as string);
    return check ? check(value) : within(tag, mismatch(kind, needed));
  };
}

/**
 * Several checks of one value; the first that fails speaks.
 *
 * @param checks The checks, in order.
 * @returns The check.
 */
export function allOf(...checks: readonly Check[]): Check {
  return (value) => {
    for (const check of checks) {
      const wrong = check(value);
      if (wrong) return wrong;
    }
    return undefined;
  };
}

/**
 * Names alternatives, the first few of them.
 *
 * @param choices The alternatives.
 * @returns For example `"auto", "required" or "none"`.
 */
export function alternatives(choices: readonly string[]): string {
  const shown = choices.slice(0, 8).map(show);
  if (choices.length > shown.length) {
    return `one of ${choices.length} values (${shown.join(", ")}…)`;
  }
  const last = shown.pop();
  return shown.length === 0 ? `${last}` : `${shown.join(", ")} or ${last}`;
}
