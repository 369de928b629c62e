/** What a store says of its own state. */

import type { WalDamage } from "./damage.ts";

/** The state of a `WalTaskStore`. */
export interface WalHealth {
  /** Whether it takes writes. */
  readonly writable: boolean;
  /** Why it takes none, for the host; absent while it does. */
  readonly reason?: unknown;
  /** How many tasks it holds, those that damage has taken included. */
  readonly tasks: number;
  /** The files of the log. */
  readonly segments: number;
  /** Bytes of them all. */
  readonly diskBytes: number;
  /** Bytes of them that a compaction would keep, more or less. */
  readonly aliveBytes: number;
  /** What fails its check, since the store was opened. */
  readonly damage: readonly WalDamage[];
}
