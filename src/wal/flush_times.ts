/** How long flushes take of late. */

const REMEMBERED = 9;
/** A process may stand still for so long, in milliseconds. */
const SHORT_MS = 1.5;

/** The last flushes. */
export class FlushTimes {
  readonly #times: number[] = [];
  #next = 0;

  /** Whether a flush is not worth the way through a pool of threads. */
  get areShort(): boolean {
    if (this.#times.length === 0) return false;
    const sorted = this.#times.toSorted((a, b) => a - b);
    return sorted[sorted.length >> 1] < SHORT_MS;
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
