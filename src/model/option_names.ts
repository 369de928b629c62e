/** The names of options, so that one which is misspelt is not passed over in silence. */

import { InvalidArgumentError, show } from "../errors.ts";

/** Every name that an options object may have; the type checker sees that none is missing. */
export type NamesOf<Options> = Readonly<Record<keyof Options & string, true>>;

/**
 * Refuses what is no options object, and options that there are not. One that
 * is `undefined` counts as absent.
 *
 * @param operation What the options are for, as in "Cannot create a task".
 * @param options What the host passed.
 * @param names The names that there are.
 * @param kind What they are called.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is none, or has another name.
 */
export function checkOptions<Options extends object>(
  operation: string,
  options: Options,
  names: NamesOf<Options>,
  kind = "option",
): void {
  if (
    typeof options !== "object" || options === null || Array.isArray(options)
  ) {
    const [first] = Object.keys(names);
    throw new InvalidArgumentError(
      `Cannot ${operation}: the ${kind}s are ${
        show(options)
      }, an object such as { ${first} } is needed`,
    );
  }
  for (const name in options) {
    if (Object.hasOwn(names, name) || !Object.hasOwn(options, name)) continue;
    if (options[name] === undefined) continue;
    throw unknownOption(operation, kind, name, Object.keys(names));
  }
}

function unknownOption(
  operation: string,
  kind: string,
  name: string,
  names: readonly string[],
): InvalidArgumentError {
  const nearest = nearestName(name, names);
  const help = nearest === undefined
    ? `there are ${names.join(", ")}`
    : `did you mean ${nearest}?`;
  return new InvalidArgumentError(
    `Cannot ${operation}: there is no ${kind} ${show(name)}; ${help}`,
  );
}

/** Beyond this no name is a misspelt one. */
const LONGEST_NAME = 40;

/**
 * Finds the name that a misspelt one was meant to be: one that is the same but
 * for capitals, or for two letters, or for what is missing at the end.
 *
 * @param name What was written.
 * @param names The names that there are.
 * @returns The nearest; `undefined` if none is near.
 */
export function nearestName(
  name: string,
  names: readonly string[],
): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  const written = name.toLowerCase();
  let nearest: string | undefined;
  let least = Math.min(4, (name.length + 1) / 2);
  for (const candidate of names) {
    const distance = editDistance(written, candidate.toLowerCase());
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest ?? names.find((candidate) => {
    const wanted = candidate.toLowerCase();
    return written.length > 2 &&
      (wanted.startsWith(written) || written.startsWith(wanted));
  });
}

/** How many letters have to be changed, added or left out. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 0; i < from.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const changed = row[j] + (from[i] === to[j] ? 0 : 1);
      next.push(Math.min(changed, row[j + 1] + 1, next[j] + 1));
    }
    row = next;
  }
  return row[to.length];
}
