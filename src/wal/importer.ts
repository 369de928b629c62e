/** The seam for records that come from elsewhere. */

import type { TaskRecord } from "../model/record.ts";

/** What an importer may do to the store. */
export interface ImportTarget {
  /** The directory, whose lock is held. */
  readonly dir: string;
  /**
   * Puts whole records, each in place of whatever has its id.
   *
   * @param records The records.
   * @returns Resolves when they are on the disk itself, whatever `fsync` says.
   */
  put(records: readonly TaskRecord[]): Promise<void>;
  /**
   * Deletes tasks, if they are there.
   *
   * @param taskIds Their ids.
   * @returns Resolves when that is on the disk itself.
   */
  delete(taskIds: readonly string[]): Promise<void>;
}

/** Takes records over from elsewhere. */
export interface Importer {
  /**
   * Is called once, when the store's own log is read and before any method gets
   * to it. What it takes over here is there from the first read on. It may keep
   * the target, and go on until it is stopped.
   *
   * @param target The store.
   */
  start(target: ImportTarget): Promise<void>;
  /** Ends it. The store closes after that. */
  stop(): Promise<void>;
}
