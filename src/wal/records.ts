/**
 * The records in memory, in two states: committed, which readers see, and
 * appended, which a create or an update is judged by. They differ in what is
 * on its way to the disk.
 */

import { PUT_BYTES, putBody, type StoredRecord } from "./entry.ts";
import { FRAME_BYTES } from "./frame.ts";
import type { LiveEntries } from "./log.ts";

/** A record that is put or deleted, on its way to the disk. */
export interface StagedChange {
  /** The record. */
  readonly taskId: string;
  /** What it becomes; `undefined`: it is deleted. */
  readonly stored: StoredRecord | undefined;
}

/** All records of a store. */
export class Records {
  readonly #committed: Map<string, StoredRecord>;
  readonly #appended = new Map<string, StagedChange>();
  #liveBytes = 0;

  /** @param committed What the log holds. */
  constructor(committed: Map<string, StoredRecord>) {
    this.#committed = committed;
    for (const stored of committed.values()) {
      this.#liveBytes += entryBytes(stored);
    }
  }

  /** Bytes that a log of the committed records alone takes. */
  get liveBytes(): number {
    return this.#liveBytes;
  }

  /** Whether anything is on its way to the disk. */
  get hasStaged(): boolean {
    return this.#appended.size > 0;
  }

  /** What a reader sees. */
  committed(taskId: string): StoredRecord | undefined {
    return this.#committed.get(taskId);
  }

  /** What a writer is judged by. */
  appended(taskId: string): StoredRecord | undefined {
    const change = this.#appended.get(taskId);
    return change ? change.stored : this.#committed.get(taskId);
  }

  /** Every id that a writer finds, with its record. */
  *allAppended(): Iterable<[taskId: string, stored: StoredRecord]> {
    for (const [taskId, stored] of this.#committed) {
      if (!this.#appended.has(taskId)) yield [taskId, stored];
    }
    for (const { taskId, stored } of this.#appended.values()) {
      if (stored) yield [taskId, stored];
    }
  }

  /** Takes a change into the appended state. */
  stage(change: StagedChange): void {
    this.#appended.set(change.taskId, change);
  }

  /** Takes a staged change into the committed state. */
  commit(change: StagedChange): void {
    const { taskId, stored } = change;
    const before = this.#committed.get(taskId);
    if (before) this.#liveBytes -= entryBytes(before);
    if (stored) {
      this.#liveBytes += entryBytes(stored);
      this.#committed.set(taskId, stored);
    } else this.#committed.delete(taskId);
    if (this.#appended.get(taskId) === change) this.#appended.delete(taskId);
  }

  /** Takes the appended state back to the committed one. */
  rollBack(): void {
    this.#appended.clear();
  }

  /** The committed records as entries of a log. */
  live(): LiveEntries {
    const committed = this.#committed;
    return {
      count: committed.size,
      bodies: (function* () {
        for (const { text } of committed.values()) yield putBody(text);
      })(),
    };
  }
}

function entryBytes(stored: StoredRecord): number {
  return stored.bytes + PUT_BYTES + FRAME_BYTES;
}
