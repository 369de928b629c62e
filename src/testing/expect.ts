/** The words in which cases say what they expect. */

import { hasErrorCode, type TaskErrorCode } from "../errors.ts";
import { formatPath } from "../model/json.ts";
import { brief, describeError } from "./brief.ts";
import { briefRecord } from "./brief_record.ts";
import { Unmet } from "./failure.ts";

type Path = readonly (string | number)[];

/**
 * Finds the first place where a value is not what it should be. `-0` and `0`
 * are the same, since a store may keep either; a member that is `undefined` is
 * not the same as none.
 *
 * @param actual The value.
 * @param expected Plain JSON.
 * @returns What should have been there and what came; `undefined` if all is right.
 */
export function difference(
  actual: unknown,
  expected: unknown,
  path: Path = [],
): { readonly expected: string; readonly came: string } | undefined {
  const at = path.length > 0 ? `${formatPath(path)}: ` : "";
  const wrong = {
    expected: at + briefRecord(expected),
    came: at + briefRecord(actual),
  };
  if (typeof expected !== "object" || expected === null) {
    if (actual === expected) return undefined;
    if (typeof actual !== "string" || typeof expected !== "string") {
      return wrong;
    }
    return differentText(actual, expected, at) ?? wrong;
  }
  if (typeof actual !== "object" || actual === null) return wrong;
  if (Array.isArray(actual) !== Array.isArray(expected)) return wrong;
  const actuals = actual as Record<string, unknown>;
  const wanted = expected as Record<string, unknown>;
  const names = new Set([
    ...Object.keys(wanted),
    ...Reflect.ownKeys(actual).filter((key) =>
      !(key === "length" && Array.isArray(actual))
    ),
  ]);
  for (const name of names) {
    const step = Array.isArray(expected) ? Number(name) : String(name);
    if (!Object.hasOwn(wanted, name)) {
      return {
        expected: `nothing at ${formatPath([...path, step])}`,
        came: `${formatPath([...path, step])}: ${
          brief(actuals[name as string])
        }`,
      };
    }
    if (!Object.hasOwn(actual, name)) {
      return {
        expected: `${formatPath([...path, step])}: ${
          brief(wanted[name as string])
        }`,
        came: `nothing at ${formatPath([...path, step])}`,
      };
    }
    const deeper = difference(
      actuals[name as string],
      wanted[name as string],
      [...path, step],
    );
    if (deeper) return deeper;
  }
  return undefined;
}

/** Long strings show the place where they differ. */
function differentText(actual: string, expected: string, at: string) {
  if (Math.max(actual.length, expected.length) <= 60) return undefined;
  let i = 0;
  while (i < actual.length && actual[i] === expected[i]) i++;
  const from = (text: string) => brief(text.slice(i, i + 20));
  const length = (text: string) => `a string of ${text.length} code units`;
  return {
    expected: `${at}${length(expected)} with ${from(expected)} at ${i}`,
    came: `${at}${length(actual)} with ${from(actual)} at ${i}`,
  };
}

/**
 * Expects a value.
 *
 * @param what Where it comes from, such as `get("a")`.
 * @param actual The value.
 * @param expected Plain JSON, or `undefined`.
 */
export function expectEqual(
  what: string,
  actual: unknown,
  expected: unknown,
): void {
  const wrong = difference(actual, expected);
  if (wrong) throw new Unmet(`${what} gives ${wrong.expected}`, wrong.came);
}

/**
 * Expects something to hold.
 *
 * @param holds Whether it does.
 * @param expected What should have been.
 * @param came What was instead.
 */
export function expect(
  holds: boolean,
  expected: string,
  came: string,
): asserts holds {
  if (!holds) throw new Unmet(expected, came);
}

/**
 * Makes a call that has to return a promise, also where it refuses.
 *
 * @param what The call.
 * @param call Makes it.
 * @returns What it returned.
 */
export function expectPromise<T>(
  what: string,
  call: () => Promise<T>,
): Promise<T> {
  let returned: Promise<T> | undefined;
  try {
    returned = call();
  } catch (error) {
    throw new Unmet(
      `${what} returns a promise`,
      `it threw ${describeError(error)}`,
      { thrown: error },
    );
  }
  expect(
    typeof returned?.then === "function",
    `${what} returns a promise`,
    brief(returned),
  );
  return returned;
}

/**
 * Expects a call to be refused.
 *
 * @param what The call.
 * @param promise What it returned.
 * @param code The code of the refusal.
 */
export async function expectRefused(
  what: string,
  promise: Promise<unknown>,
  code: TaskErrorCode,
): Promise<void> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    if (hasErrorCode(error, code)) return;
    throw new Unmet(
      `${what} rejects with ${code}`,
      `it rejected with ${describeError(error)}`,
      { thrown: error },
    );
  }
  throw new Unmet(
    `${what} rejects with ${code}`,
    `it resolved with ${briefRecord(value)}`,
  );
}

/**
 * Expects of calls at the same time that exactly one is granted, and that all
 * others are refused with a code.
 *
 * @param what The calls.
 * @param calls What they returned.
 * @param code The code of the refusals.
 * @returns The place of the one that won.
 */
export async function expectOneWins(
  what: string,
  calls: readonly Promise<unknown>[],
  code: TaskErrorCode,
): Promise<number> {
  const outcomes = await Promise.allSettled(calls);
  const winners: number[] = [];
  for (const [i, outcome] of outcomes.entries()) {
    if (outcome.status === "fulfilled") winners.push(i);
    else if (!hasErrorCode(outcome.reason, code)) {
      throw new Unmet(
        `of ${what} one resolves, and the others reject with ${code}`,
        `number ${i + 1} rejected with ${describeError(outcome.reason)}`,
        { thrown: outcome.reason },
      );
    }
  }
  expect(
    winners.length === 1,
    `of ${what} exactly one resolves`,
    winners.length === 0
      ? "none did"
      : `${winners.length} did (numbers ${
        winners.slice(0, 5).map((i) => i + 1).join(", ")
      }${winners.length > 5 ? "…" : ""})`,
  );
  return winners[0];
}
