/**
 * The seed of what is random in a test: `FC_SEED` where that is set, as in
 * `.ci/run`, so that chance has no part in whether a change passes; elsewhere a
 * new one each time.
 */

interface Settings {
  /** Set by the entry on workerd, which has no environment. */
  readonly FC_SEED?: string;
  readonly process?: {
    readonly env?: Readonly<Record<string, string | undefined>>;
  };
}

const { FC_SEED, process } = globalThis as Settings;
const text = FC_SEED ?? process?.env?.FC_SEED;

/** The seed that is set. */
export const SET_SEED: number | undefined = text ? Number(text) : undefined;

/** A seed. */
export function newSeed(): number {
  return SET_SEED ?? Math.floor(Math.random() * 2 ** 32);
}
