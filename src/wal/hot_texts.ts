/** Texts that were written or read last, so that they are not read again. */

/** What one takes beside its text, more or less. */
const OVERHEAD_LENGTH = 150;

/** A cache with a limit on the length of all that it holds. */
export class HotTexts<T> {
  readonly #most: number;
  /** By place in the log, which never holds anything else; the one used last at the end. */
  readonly #texts = new Map<
    number,
    { readonly value: T; readonly length: number }
  >();
  #length = 0;

  /** @param most UTF-16 code units of all texts. */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Finds what was kept.
   *
   * @param place Where it is in the log.
   * @returns It, if it is still there.
   */
  get(place: number): T | undefined {
    const found = this.#texts.get(place);
    if (!found) return undefined;
    this.#texts.delete(place);
    this.#texts.set(place, found);
    return found.value;
  }

  /**
   * Keeps something.
   *
   * @param place Where it is in the log.
   * @param value What to keep.
   * @param length How long its text is.
   */
  set(place: number, value: T, length: number): void {
    const counted = length + OVERHEAD_LENGTH;
    if (counted > this.#most / 4) return;
    this.delete(place);
    this.#texts.set(place, { value, length: counted });
    this.#length += counted;
    while (this.#length > this.#most) {
      const [oldest] = this.#texts.keys();
      this.delete(oldest);
    }
  }

  /**
   * Forgets something.
   *
   * @param place Where it is in the log.
   */
  delete(place: number): void {
    const found = this.#texts.get(place);
    if (!found) return;
    this.#texts.delete(place);
    this.#length -= found.length;
  }
}
