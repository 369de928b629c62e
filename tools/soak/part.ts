/** What a part of the soak gets, and what it gives. */

/** How a part runs. */
export interface SoakContext {
  /** An empty folder for it alone. */
  readonly dir: string;
  /** Determines every random choice. */
  readonly seed: number;
  /** How long it goes on with random cases. */
  readonly minutes: number;
  /** Prints a line. */
  readonly say: (line: string) => void;
}

/** A part: it resolves with what must not have happened. */
export type Part = (context: SoakContext) => Promise<string[]>;

/** Stops a part that has found enough. */
export const MOST_VIOLATIONS = 50;

/**
 * Makes a folder of its own for each case.
 *
 * @param dir The folder of the part.
 * @returns Gives a path that was not given before.
 */
export function foldersIn(dir: string): () => string {
  let count = 0;
  return () => `${dir}/${++count}`;
}
