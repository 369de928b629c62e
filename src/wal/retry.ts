/** Steps that a virus scanner or an indexer may hinder for a moment. */

import { setTimeout } from "node:timers";

const REFUSALS = new Set(["EPERM", "EBUSY", "EACCES"]);
const DELAYS_MS = [20, 100, 400];

/**
 * Does something with a file. A refusal is tried again three times, with growing
 * delays.
 *
 * @param step What to do.
 * @param refused Is called when it is refused.
 */
export async function retried(
  step: () => void,
  refused: () => void = () => {},
): Promise<void> {
  for (const delay of DELAYS_MS) {
    try {
      return step();
    } catch (error) {
      if (!REFUSALS.has((error as { code?: string }).code ?? "")) throw error;
      refused();
    }
    await new Promise((resolve) => setTimeout(resolve, delay));
  }
  step();
}
