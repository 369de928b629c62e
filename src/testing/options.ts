/** How a run of the kit can be changed. */

import { InvalidArgumentError, show } from "../errors.ts";
import {
  checkFunction,
  checkPositiveInteger,
  unusable,
} from "../model/limits.ts";
import { checkOptions, type NamesOf } from "../model/option_names.ts";
import { CASES } from "./cases.ts";
import type { TaskStoreFactory } from "./fixture.ts";

/** The options of a run. */
export interface ConformanceOptions {
  /**
   * Where random runs start: the same seed gives the same steps.
   *
   * @default 1
   */
  readonly seed?: number;
  /**
   * How long a case may take, in milliseconds. A store that hangs fails then,
   * under the name of the case.
   *
   * @default 20_000
   */
  readonly caseTimeoutMs?: number;
  /**
   * The ids of the checks to run; the others are reported as skipped.
   *
   * @default all
   */
  readonly only?: readonly string[];
}

const NAMES: NamesOf<ConformanceOptions> = {
  seed: true,
  caseTimeoutMs: true,
  only: true,
};

/** All options, checked. */
export interface ResolvedConformanceOptions {
  readonly name: string;
  readonly seed: number;
  readonly caseTimeoutMs: number;
  readonly only: ReadonlySet<string> | undefined;
}

/**
 * Completes and checks options.
 *
 * @param name The name of the store.
 * @param factory What makes it.
 * @param options What the caller says.
 * @returns All options.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: one of them, or another argument, is none.
 */
export function resolveConformanceOptions(
  name: string,
  factory: TaskStoreFactory,
  options: ConformanceOptions,
): ResolvedConformanceOptions {
  checkOptions("check a store", options, NAMES);
  const { seed = 1, caseTimeoutMs = 20_000, only } = options;
  if (typeof name !== "string" || name === "") {
    throw new InvalidArgumentError(
      `Cannot check a store: its name is ${
        show(name)
      }, a string with something in it is needed`,
    );
  }
  checkFunction("factory", factory);
  if (!Number.isSafeInteger(seed) || seed < 0 || seed >= 2 ** 32) {
    throw new InvalidArgumentError(
      `Cannot use seed: the value is ${show(seed)}, a whole number from 0 to ${
        2 ** 32 - 1
      } is needed`,
    );
  }
  checkPositiveInteger("caseTimeoutMs", caseTimeoutMs);
  if (only !== undefined && !Array.isArray(only)) {
    throw unusable("only", only, "an array of ids of checks");
  }
  for (const id of only ?? []) {
    if (CASES.some((one) => one.id === id)) continue;
    throw new InvalidArgumentError(
      `Cannot run only ${show(id)}: there is no check of that id; there are ${
        CASES.map((one) => one.id).join(", ")
      }`,
    );
  }
  return { name, seed, caseTimeoutMs, only: only && new Set(only) };
}
