/**
 * Who is right about a task that both libraries have. Pure.
 *
 * The rule: **our record counts as untouched as long as it is, to the last
 * field, a state that the other library wrote.** An untouched record follows
 * the other library, whose last entry for an id wins; a record that we have
 * changed stays as it is, and a state of theirs that is news then is a
 * conflict, to be reported. A task that we do not have is taken, unless we had this
 * very state of it: then it has expired since.
 */

/** What we have of a task. */
export interface OurState {
  /** The version of our record. */
  readonly version: number;
  /** Whether our record is a state that the other library wrote. */
  readonly isUntouched: boolean;
}

/** What the other library has of a task, by its last entry. */
export interface TheirState {
  /** The version of their record. */
  readonly version: number;
  /** Whether it is, to the last field, our record. */
  readonly isOurs: boolean;
  /** Whether it was taken over before: then it is no news. */
  readonly isKnown: boolean;
}

/**
 * What to do:
 * - `keep` nothing;
 * - `create` their record;
 * - `replace` our record by theirs, whose version is higher;
 * - `recreate`: delete our record, then create theirs;
 * - `delete` our record;
 * - `conflict`: keep our record, and report theirs.
 */
export type Verdict =
  | "keep"
  | "create"
  | "replace"
  | "recreate"
  | "delete"
  | "conflict";

/**
 * Decides.
 *
 * @param ours What we have; absent: nothing.
 * @param theirs What they have; absent: they have deleted it.
 * @returns What to do.
 */
export function judge(
  ours: OurState | undefined,
  theirs: TheirState | undefined,
): Verdict {
  if (!ours) return theirs && !theirs.isKnown ? "create" : "keep";
  if (!theirs) return ours.isUntouched ? "delete" : "keep";
  if (theirs.isOurs) return "keep";
  if (!ours.isUntouched) return theirs.isKnown ? "keep" : "conflict";
  return theirs.version > ours.version ? "replace" : "recreate";
}

/**
 * Tells whether two values are the same JSON, in whatever order their keys
 * are. It does not recurse: a record may be nested deeply.
 *
 * @param left Plain JSON.
 * @param right Plain JSON.
 * @returns Whether they are equal.
 */
export function isSameJson(left: unknown, right: unknown): boolean {
  const pairs: [unknown, unknown][] = [[left, right]];
  for (let pair = pairs.pop(); pair; pair = pairs.pop()) {
    const [a, b] = pair;
    if (a === b) continue;
    if (
      typeof a !== "object" || typeof b !== "object" || a === null ||
      b === null || Array.isArray(a) !== Array.isArray(b)
    ) return false;
    const keys = Object.keys(a);
    if (keys.length !== Object.keys(b).length) return false;
    for (const key of keys) {
      if (!Object.hasOwn(b, key)) return false;
      pairs.push([
        (a as Record<string, unknown>)[key],
        (b as Record<string, unknown>)[key],
      ]);
    }
  }
  return true;
}
