/** Texts that were written or read last, so that they are not read again. */

/** What one takes beside its text, more or less. */
const OVERHEAD_LENGTH = 150;

/**
 * A cache with a limit on the length of all that it holds. It keeps two
 * generations, and forgets the older as a whole: to look for what was used
 * longest ago would cost more than a read.
 */
export class HotTexts<T> {
  readonly #most: number;
  /** By place in the log, which never holds anything else. */
  #young = new Map<number, T>();
  #old = new Map<number, T>();
  #length = 0;

  /** @param most UTF-16 code units of all texts. */
  constructor(most: number) {
    this.#most = most / 2;
  }

  /**
   * Finds what was kept.
   *
   * @param place Where it is in the log.
   * @param lengthOf Tells how long its text is.
   * @returns It, if it is still there.
   */
  get(place: number, lengthOf: (value: T) => number): T | undefined {
    const young = this.#young.get(place);
    if (young !== undefined) return young;
    const old = this.#old.get(place);
    if (old !== undefined) this.set(place, old, lengthOf(old));
    return old;
  }

  /**
   * Keeps something.
   *
   * @param place Where it is in the log.
   * @param value What to keep.
   * @param length How long its text is.
   * @returns Whether it is kept.
   */
  set(place: number, value: T, length: number): boolean {
    const counted = length + OVERHEAD_LENGTH;
    // It would drive out all else.
    if (counted > this.#most / 2) return false;
    this.#length += counted;
    if (this.#length > this.#most) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#length = counted;
    }
    this.#young.set(place, value);
    return true;
  }
}
