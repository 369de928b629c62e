/** Lets calls of a {@linkcode SimDisk} fail. */

import type { SimCall, SimFault } from "./calls.ts";
import type { Random } from "./script.ts";

const CODES = ["EIO", "ENOSPC", "EMFILE"];

/** Single calls, and some in a row, of one kind or of all. */
export class Faults {
  /** How many calls have met one. */
  count = 0;
  readonly #random: Random;
  /** One call in so many meets a fault; 0: none does. */
  readonly #every: number;
  #left = 0;
  #kind: string | undefined;
  #isOver = false;

  /** @param random Says which. */
  constructor(random: Random) {
    this.#random = random;
    this.#every = [0, 0, 25, 80, 200][random(5)];
  }

  /** From now on nothing fails. */
  end(): void {
    this.#isOver = true;
  }

  /** For {@linkcode CallMeter.fault}. */
  readonly meet = (call: SimCall): SimFault | undefined => {
    const random = this.#random;
    if (isOfOldProcess(call)) return undefined;
    if (this.#every === 0 || this.#isOver) return undefined;
    if (this.#left === 0) {
      if (random(this.#every) > 0) return undefined;
      this.#left = [1, 1, 2, 12][random(4)];
      this.#kind = random(2) ? call.kind : undefined;
    }
    if (this.#kind && call.kind !== this.#kind) return undefined;
    this.#left--;
    this.count++;
    if (call.kind === "write" && random(2)) {
      return { atMost: random(call.bytes + 1) };
    }
    return { throws: CODES[random(CODES.length)] };
  };
}

/** Only it writes to its log. It is not what is proved. */
function isOfOldProcess({ path, kind }: SimCall): boolean {
  return path.endsWith("wal.jsonl") && (kind === "write" || kind === "syncNow");
}
