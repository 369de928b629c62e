/**
 * Gives the disk back what is dead. Always the oldest segment goes: what is alive
 * in it is appended anew, then its file is removed. So a deletion in the oldest
 * segment has nothing left to delete, and may go with it.
 */

import { basename } from "node:path";
import { Damage, type Damages } from "./damage.ts";
import { type Disk, type DiskFile, isMissing } from "./disk.ts";
import { appendOldest } from "./entries.ts";
import { type Log, nextTurn } from "./log.ts";
import type { Records } from "./records.ts";
import { retried } from "./retry.ts";
import { type DamageItem, SegmentScan } from "./scan.ts";
import type { Segment, SegmentFiles } from "./segment.ts";

/** A slice of work ends after so many bytes, or so many milliseconds. */
const SLICE_BYTES = 128 * 1024;
const SLICE_MS = 2;

/** What the compactor works on. */
export interface CompactorParts {
  readonly dir: string;
  readonly fsync: boolean;
  readonly disk: Disk;
  readonly log: Log;
  readonly files: SegmentFiles;
  readonly records: Records;
  readonly damages: Damages;
  /**
   * Appends the appended state of a task anew, in one synchronous step.
   *
   * @returns How many bytes; 0: the task is gone.
   */
  readonly copy: (taskId: string) => number | Promise<number>;
  /** Resolves when all that was appended is safe. */
  readonly settled: () => Promise<void>;
}

/** Compacts a log. One call at a time. */
export class Compactor {
  readonly #parts: CompactorParts;
  /** Whether it waits for the system to let a file go: no writer makes that longer. */
  isRefused = false;

  /** @param parts What it works on. */
  constructor(parts: CompactorParts) {
    this.#parts = parts;
  }

  /** Makes an end of the oldest segment, which is not written to. */
  async compactOldest(): Promise<void> {
    const { log, damages } = this.#parts;
    const segment = log.segments[0];
    log.refuseIfLost();
    try {
      if (segment.bases > 0) await this.#copyAlive(segment);
      // What nobody found in it any more.
      if (segment.bases > 0) await this.#copyRest(segment);
    } finally {
      damages.tell();
    }
    if (segment.bases > 0) {
      throw new Error(`${segment.path} is still in use`);
    }
    await damages.secure(segment);
    await this.#remove(segment);
  }

  async #copyAlive(segment: Segment): Promise<void> {
    const { disk, dir } = this.#parts;
    let file: DiskFile;
    try {
      file = disk.openToRead(segment.path);
    } catch (error) {
      const isThere = disk.list(dir).includes(basename(segment.path));
      if (isThere || !isMissing(error)) throw error;
      return this.#noteLost(segment, 0, "the file is missing");
    }
    try {
      const size = Math.min(segment.size, file.size());
      if (size < segment.size) {
        this.#noteLost(segment, size, "the file is cut short");
      }
      const scan = new SegmentScan(file, size, 0, false);
      const slice = new Slice();
      for (;;) {
        const item = scan.step();
        if (!item) {
          await scan.fill();
          continue;
        }
        if (item.type === "end") break;
        if (item.type === "damage") {
          await this.#noteDamage(item, segment);
          continue;
        }
        const { kind, taskId } = item.head;
        slice.bytes += 100;
        if (kind === "p" || kind === "c" || kind === "x") {
          slice.bytes += await this.#copy(taskId, segment);
        }
        if (!slice.isOver) continue;
        await this.#endSlice(slice);
        // The rest is dead, and is not worth reading.
        if (segment.bases === 0) break;
      }
    } finally {
      file.close();
    }
    await this.#parts.settled();
  }

  async #copyRest(segment: Segment): Promise<void> {
    const { records } = this.#parts;
    const rest: string[] = [];
    const slice = new Slice();
    for (const [taskId, state] of records.committedStates()) {
      if (state.segment === segment) rest.push(taskId);
    }
    for (const taskId of rest) {
      slice.bytes += await this.#copy(taskId, segment);
      if (slice.isOver) await this.#endSlice(slice);
    }
    await this.#parts.settled();
  }

  #copy(taskId: string, segment: Segment): number | Promise<number> {
    const state = this.#parts.records.appended(taskId);
    if (state?.segment !== segment) return 0;
    return this.#parts.copy(taskId);
  }

  async #endSlice(slice: Slice): Promise<void> {
    await this.#parts.settled();
    await nextTurn();
    slice.start();
  }

  /** Somebody has removed the file, or cut it: what stood there is lost, and what did not goes on. */
  #noteLost(segment: Segment, offset: number, reason: string): void {
    const bytes = segment.size - offset;
    this.#parts.damages.addWithin(
      new Damage({ segment, file: segment.path, offset, bytes, reason }),
      false,
    );
  }

  async #noteDamage(item: DamageItem, segment: Segment): Promise<void> {
    const { offset, bytes, reason, head, lost } = item;
    const { damages } = this.#parts;
    const damage = damages.addWithin(
      new Damage({ segment, file: segment.path, offset, bytes, reason }),
      head !== undefined && lost === 0,
    );
    await damages.copyAside(damage);
  }

  async #remove(segment: Segment): Promise<void> {
    const { dir, fsync, disk, log, files } = this.#parts;
    const next = log.segments[1] ?? log.active;
    appendOldest(log, next!.number);
    await this.#parts.settled();
    // A power loss takes what is recent, and never what was settled long ago.
    if (!fsync) await log.flush();
    files.close(segment);
    const remove = () => {
      log.refuseIfLost();
      disk.remove(segment.path);
    };
    try {
      await retried(remove, () => {
        this.isRefused = true;
        log.release();
      });
    } finally {
      this.isRefused = false;
    }
    log.removed(segment);
    if (fsync) await disk.syncDir(dir);
  }
}

class Slice {
  bytes = 0;
  #end = 0;

  constructor() {
    this.start();
  }

  get isOver(): boolean {
    return this.bytes > SLICE_BYTES || performance.now() > this.#end;
  }

  start(): void {
    this.bytes = 0;
    this.#end = performance.now() + SLICE_MS;
  }
}
