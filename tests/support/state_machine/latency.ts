/** How long a store takes, in steps that are no time. */

interface Held {
  readonly due: number;
  readonly go: () => void;
}

/**
 * Holds calls back for a given number of steps each, in the order of a list
 * that starts anew at its end. A few that are held long let many pass, which a
 * fair draw at each step hardly ever does.
 */
export class Latency {
  readonly #delays: readonly number[];
  readonly #held: Held[] = [];
  #calls = 0;
  #now = 0;

  constructor(delays: readonly number[]) {
    this.#delays = delays;
  }

  /** How many are held. */
  get held(): number {
    return this.#held.length;
  }

  /** Resolves when it is the caller's turn. */
  turn(): Promise<void> {
    const delay = this.#delays[this.#calls++ % this.#delays.length];
    return new Promise((go) =>
      void this.#held.push({ due: this.#now + delay, go })
    );
  }

  /** Lets the next one go; of those that are due together, the first that came. */
  release(): void {
    const next = this.#held.reduce((a, b) => b.due < a.due ? b : a);
    this.#held.splice(this.#held.indexOf(next), 1);
    this.#now = Math.max(this.#now, next.due) + 1;
    next.go();
  }
}
