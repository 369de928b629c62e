/** How the proofs open a store: with segments so small that everything happens often. */

import {
  type ResolvedWalOptions,
  resolveWalOptions,
} from "../../../src/wal/options.ts";

/** What the host of a store is told beside the answers. */
export interface Heard {
  /** For `onCompactionError`. */
  readonly compactionError: (error: unknown) => void;
  /** What `onDamage` got. */
  readonly damages: { readonly file: string; readonly offset: number }[];
}

/** Bytes of a segment of a store that runs for long. */
export const BOUND_SEGMENT_BYTES: number = 32 * 1024;

/** What differs between proofs. */
export interface ProofOptions {
  /** The directory. */
  readonly dir: string;
  /** The option of the store. */
  readonly fsync: boolean;
  /** The option of the store; by default a small number. */
  readonly compactEvery?: number | null;
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
  { dir, fsync, compactEvery = 12 }: ProofOptions,
  heard: Heard,
): ResolvedWalOptions {
  const options = resolveWalOptions({
    dir,
    fsync,
    compactEvery,
    lockTimeoutMs: 0,
    now: () => {
      throw new Error("the proofs bring their own time");
    },
    onDamage: (damage) => heard.damages.push(damage),
    onCompactionError: heard.compactionError,
  });
  return { ...options, segmentBytes: 1_200 };
}

/**
 * Completes the options of a store on a real disk.
 *
 * @param options What differs.
 * @returns All options.
 */
export function smallOptions(options: ProofOptions): ResolvedWalOptions {
  const resolved = resolveWalOptions({ ...options, compactEvery: 100 });
  return { ...resolved, segmentBytes: 16 * 1024 };
}

/**
 * Completes the options of a store that runs for long.
 *
 * @param options What differs.
 * @param onCompactionError Is told of failed compactions.
 * @returns All options.
 */
export function boundOptions(
  { dir, fsync }: ProofOptions,
  onCompactionError: (error: unknown) => void,
): ResolvedWalOptions {
  const options = resolveWalOptions({ dir, fsync, onCompactionError });
  return { ...options, segmentBytes: BOUND_SEGMENT_BYTES };
}
