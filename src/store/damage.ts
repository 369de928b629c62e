/** What a sweep tells of records that it cannot read. */

/** A record that a sweep could not read. It was left as it is, and all others were swept. */
export interface StoreDamage {
  /** Where it is in the database. */
  readonly key: string;
  /** What is wrong: it is damaged, or a later release has written it. */
  readonly reason: string;
}

/** So many places are remembered; beyond, one may be told of again. */
const MAX_PLACES = 10_000;

/** Tells of each place once. */
export class DamageReports {
  readonly #onDamage: (damage: StoreDamage) => void;
  readonly #told: Set<string> = new Set();

  /** @param onDamage The host's listener. What it throws changes nothing. */
  constructor(onDamage: (damage: StoreDamage) => void) {
    this.#onDamage = onDamage;
  }

  /**
   * Tells of a place, if that was not done before.
   *
   * @param key Where it is.
   * @param error What came of reading it.
   */
  tell(key: string, error: unknown): void {
    if (this.#told.has(key)) return;
    if (this.#told.size >= MAX_PLACES) this.#told.clear();
    this.#told.add(key);
    const reason = error instanceof Error ? error.message : String(error);
    try {
      this.#onDamage({ key, reason });
    } catch {
      // An observer changes no outcome.
    }
  }
}
