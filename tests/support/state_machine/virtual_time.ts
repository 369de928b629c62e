/**
 * A clock and timers that move only when a test says so. The wall clock may
 * jump without the timers, as a real one does when it is set.
 */

interface Pending {
  readonly due: number;
  readonly call: () => void;
}

type Timers = Pick<
  typeof globalThis,
  "setTimeout" | "clearTimeout" | "setInterval"
>;

/** A turn of the event loop, where the runtime has a quick one. */
const immediate = (globalThis as {
  setImmediate?: (call: () => void) => unknown;
}).setImmediate;

/**
 * Resolves when nothing that needs no more than promises is left to do. Where
 * there is no turn to wait for, it is so many steps that no chain is as long.
 */
export async function drain(): Promise<void> {
  if (immediate) return await new Promise((resolve) => void immediate(resolve));
  for (let tick = 0; tick < 64; tick++) await undefined;
}

/** The real timer, for the turn of the event loop that finds unhandled rejections. */
const realSetTimeout = globalThis.setTimeout;

/** Time for one run of a property. */
export class VirtualTime {
  /** What the engine's clock says, in milliseconds since the epoch. */
  wall: number;
  #elapsed = 0;
  readonly #timers = new Map<object, Pending>();
  #real: Timers | undefined;

  constructor(wall: number) {
    this.wall = wall;
  }

  /** How many timers run. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Puts these timers in the place of the real ones. */
  install(): void {
    const { setTimeout, clearTimeout, setInterval } = globalThis;
    this.#real = { setTimeout, clearTimeout, setInterval };
    const start = (call: () => void, delayMs = 0) => {
      const id = { ref: () => id, unref: () => id, hasRef: () => false };
      const due = this.#elapsed + Math.max(delayMs, 0);
      this.#timers.set(id, { due, call });
      return id;
    };
    Object.assign(globalThis, {
      setTimeout: start,
      clearTimeout: (id: object) => void this.#timers.delete(id),
      setInterval: () => {
        throw new Error("setInterval cannot be followed: chain setTimeout");
      },
    });
  }

  /** Puts the real timers back. */
  uninstall(): void {
    if (this.#real) Object.assign(globalThis, this.#real);
    this.#real = undefined;
  }

  /**
   * Lets time pass, timer by timer.
   *
   * @param ms How long.
   * @param settle Runs after each timer, until all that it started has ended.
   * @param moveWall Whether the wall clock goes along.
   */
  async advance(
    ms: number,
    settle: () => Promise<void>,
    moveWall = true,
  ): Promise<void> {
    const end = this.#elapsed + ms;
    for (;;) {
      let first: [object, Pending] | undefined;
      for (const entry of this.#timers) {
        if (entry[1].due <= end && (!first || entry[1].due < first[1].due)) {
          first = entry;
        }
      }
      const next = Math.max(first ? first[1].due : end, this.#elapsed);
      if (moveWall) this.wall += next - this.#elapsed;
      this.#elapsed = next;
      if (!first) return;
      this.#timers.delete(first[0]);
      first[1].call();
      await settle();
    }
  }
}

/** One turn of the real event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => void realSetTimeout(resolve, 0));
}
