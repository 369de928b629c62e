/** The inside of `WalTaskStore`, with segments of any length and on any disk. */

import { type Disk, realDisk } from "../../src/wal/disk.ts";
import {
  resolveWalOptions,
  type WalTaskStoreOptions,
} from "../../src/wal/options.ts";
import { LogTaskStore } from "../../src/wal/store.ts";

/**
 * Opens a store.
 *
 * @param dir Its directory.
 * @param segmentBytes After how many bytes a segment ends.
 * @param options Its other options.
 * @param disk Its disk.
 * @returns The store, open.
 */
export async function openLogStore(
  dir: string,
  segmentBytes: number,
  options: Omit<WalTaskStoreOptions, "dir"> = {},
  disk: Disk = realDisk,
): Promise<LogTaskStore> {
  const resolved = resolveWalOptions({ dir, ...options });
  const store = new LogTaskStore({ ...resolved, segmentBytes }, disk);
  await store.ready();
  return store;
}
