/** How long flushes take of late. */

const REMEMBERED = 9;
/** A process may stand still for so long, in milliseconds. */
const SHORT_MS = 1.5;
/** It may do so for several callers, and again and again. */
const VERY_SHORT_MS = 0.5;

/** The last flushes. */
export class FlushTimes {
  readonly #times: number[] = [];
  #next = 0;

  /** Whether a flush is not worth the way through a pool of threads. */
  get areShort(): boolean {
    return this.#median < SHORT_MS;
  }

  /** Whether the way through the pool takes longer than what else could be done meanwhile is worth. */
  get areVeryShort(): boolean {
    return this.#times.length === REMEMBERED && this.#median < VERY_SHORT_MS;
  }

  get #median(): number {
    if (this.#times.length === 0) return Infinity;
    const sorted = this.#times.toSorted((a, b) => a - b);
    return sorted[sorted.length >> 1];
  }

  /**
   * Takes one.
   *
   * @param ms How long it took, in milliseconds.
   */
  add(ms: number): void {
    this.#times[this.#next] = ms;
    this.#next = (this.#next + 1) % REMEMBERED;
  }
}
