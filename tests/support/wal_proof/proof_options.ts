/** How the proofs open a store: with segments so small that everything happens often. */

import {
  type ResolvedWalOptions,
  resolveWalOptions,
} from "../../../src/wal/options.ts";
import type { Heard } from "./player.ts";

/** What differs between proofs. */
export interface ProofOptions {
  /** The directory. */
  readonly dir: string;
  /** The option of the store. */
  readonly fsync: boolean;
}

/**
 * Completes the options of a store on a {@linkcode SimDisk}. Of the directory
 * there is its lock alone on the real disk.
 *
 * @param options What differs.
 * @param heard Takes what the host is told.
 * @returns All options.
 */
export function proofOptions(
  { dir, fsync }: ProofOptions,
  heard: Heard,
): ResolvedWalOptions {
  return resolveWalOptions({
    dir,
    fsync,
    compactEvery: 12,
    lockTimeoutMs: 0,
    now: () => {
      throw new Error("the proofs bring their own time");
    },
    onCompactionError: heard.compactionError,
  });
}

/**
 * Completes the options of a store on a real disk.
 *
 * @param options What differs.
 * @returns All options.
 */
export function smallOptions(options: ProofOptions): ResolvedWalOptions {
  return resolveWalOptions({ ...options, compactEvery: 100 });
}
