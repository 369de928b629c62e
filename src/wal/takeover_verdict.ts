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
