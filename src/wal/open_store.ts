/** Opens a directory: the lock, the log, and all that the store works with. */

import { dirname, join } from "node:path";
import {
  hasErrorCode,
  showPath,
  type StoreDamagedError,
  StoreFailedError,
} from "../errors.ts";
import { Damage, Damages } from "./damage.ts";
import { type Disk, isForbidden } from "./disk.ts";
import { appendOldest } from "./entries.ts";
import { acquireLock, type HeldLock } from "./lock.ts";
import { Log } from "./log.ts";
import { readLog } from "./open_log.ts";
import type { ResolvedWalOptions } from "./options.ts";
import { ReadDamage, Reader } from "./reader.ts";
import { Records } from "./records.ts";
import { type Segment, SegmentFiles } from "./segment.ts";
import type { TaskState } from "./task_state.ts";

/** The file whose lock says who has the directory. */
export const LOCK_FILE = "lock.db";

const LEAST_SEGMENT_BYTES = 4 * 1024 * 1024;
const MOST_SEGMENT_BYTES = 64 * 1024 * 1024;

/** What an open store holds. */
export class StoreParts {
  readonly log: Log;
  readonly records: Records;
  readonly reader: Reader;
  readonly damages: Damages;
  readonly files: SegmentFiles;
  readonly disk: Disk;
  /** Tells after how many bytes a segment ends. */
  readonly segmentBytes: () => number;
  readonly #lock: HeldLock;

  constructor(
    parts: {
      readonly log: Log;
      readonly records: Records;
      readonly reader: Reader;
      readonly damages: Damages;
      readonly files: SegmentFiles;
      readonly disk: Disk;
      readonly segmentBytes: () => number;
      readonly lock: HeldLock;
    },
  ) {
    this.log = parts.log;
    this.records = parts.records;
    this.reader = parts.reader;
    this.damages = parts.damages;
    this.files = parts.files;
    this.disk = parts.disk;
    this.segmentBytes = parts.segmentBytes;
    this.#lock = parts.lock;
  }

  /**
   * Resolves when all that was appended is safe.
   */
  settled(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.log.settle((error) => error ? reject(error) : resolve());
    });
  }

  /**
   * Runs what reads the disk: a task whose bytes fail their check is damaged
   * from then on.
   *
   * @param taskId The id.
   * @param read Reads.
   * @returns What it gives.
   */
  reading<T>(taskId: string, read: () => T): T {
    try {
      return read();
    } catch (cause) {
      if (cause instanceof ReadDamage) {
        const error = this.lose(taskId, cause);
        this.damages.tell();
        throw error;
      }
      throw new StoreFailedError("read a task", { cause });
    }
  }

  /**
   * Takes note that the state of a task cannot be read. What has been appended
   * since, and does not need what is lost, stays as it is.
   *
   * @param taskId The id.
   * @param cause What is wrong.
   * @returns The error with which the task answers from now on. {@linkcode Damages.tell}
   * tells the host.
   */
  lose(taskId: string, cause: ReadDamage): StoreDamagedError {
    const { segment, offset, bytes, message } = cause;
    const { path: file } = segment;
    const reason = message;
    const damage = this.damages.addWithin(
      new Damage({ segment, file, offset, bytes, reason }),
      offset > 0, // At its beginning is the file as a whole.
    );
    this.damages.take(taskId, damage);
    const { records } = this;
    for (const state of [records.committed(taskId), records.appended(taskId)]) {
      if (!state || !this.#standsOn(taskId, state, cause)) continue;
      state.isDamaged = true;
      state.overlay = undefined;
    }
    // Compaction tries again before the file goes.
    this.damages.copyAside(damage).catch(() => {});
    return this.damages.errorOf(taskId);
  }

  /** Whether a state needs the bytes that fail their check. */
  #standsOn(taskId: string, state: TaskState, cause: ReadDamage): boolean {
    const isThere = (place: { segment: Segment; offset: number }) =>
      place.segment === cause.segment && place.offset >= cause.offset &&
      place.offset < cause.offset + cause.bytes;
    if (isThere(state) && !state.overlay?.fields) return true;
    const staged = this.records.staged(taskId);
    try {
      const fields = staged?.state === state && staged.fields ||
        this.reader.fields(taskId, state);
      return fields.parts.some(isThere);
    } catch {
      return true; // It cannot be read at all.
    }
  }

  /** Waits for what is being written, and gives all of it back. */
  async close(): Promise<void> {
    try {
      await this.log.close();
      await this.damages.idle();
      closeAll(this.log.segments, this.files);
    } finally {
      this.#lock.release();
    }
  }
}

/**
 * Opens a directory.
 *
 * @param options The options.
 * @param disk The file system.
 * @param signal Ends the waiting for the lock.
 * @returns All that the store works with.
 */
export async function openParts(
  options: ResolvedWalOptions,
  disk: Disk,
  signal: AbortSignal,
): Promise<StoreParts> {
  const { dir, fsync, lockTimeoutMs: timeoutMs } = options;
  let lock: HeldLock | undefined;
  const files = new SegmentFiles(disk);
  let segments: readonly Segment[] = [];
  try {
    const changed = disk.makeDir(dir);
    const file = join(dir, LOCK_FILE);
    const held = await acquireLock({ file, dir, timeoutMs, signal, disk });
    lock = held;
    if (fsync) await syncNames(dir, changed, disk);
    const reader = new Reader(files);
    const damages = new Damages(dir, disk);
    const { found, states } = await readLog(dir, disk, reader, damages);
    segments = found.segments;
    if (fsync) await disk.syncDir(dir);
    const records = new Records(states);
    const segmentBytes = () =>
      options.segmentBytes ??
        Math.min(
          MOST_SEGMENT_BYTES,
          Math.max(LEAST_SEGMENT_BYTES, records.aliveBytes / 32),
        );
    const log = new Log(
      { dir, fsync, disk, segmentBytes, isOwner: () => held.isHeld() },
      files,
      found,
    );
    const parts = new StoreParts({
      log,
      records,
      reader,
      damages,
      files,
      disk,
      segmentBytes,
      lock,
    });
    if (!log.active) {
      // What cannot be written to is found out now.
      appendOldest(log, log.segments[0]?.number ?? 1);
      await parts.settled();
    }
    for (const damage of damages.all) {
      try {
        await damages.copyAside(damage);
      } catch {
        // Compaction tries again before the file goes.
      }
    }
    return parts;
  } catch (cause) {
    try {
      files.closeAll();
      closeAll(segments, files);
    } catch {
      // Why it does not open is worth more than why it does not close.
    }
    lock?.release();
    if (
      hasErrorCode(cause, "ERR_STORE_LOCKED") ||
      hasErrorCode(cause, "ERR_STORE_CLOSED") ||
      hasErrorCode(cause, "ERR_STORE_FAILED")
    ) throw cause;
    throw new StoreFailedError(`open ${showPath(dir)}`, { cause });
  }
}

/**
 * Flushes the names of the folders. An opening that failed may have made them,
 * so the one above the directory is flushed each time, where that is allowed.
 */
async function syncNames(
  dir: string,
  changed: readonly string[],
  disk: Disk,
): Promise<void> {
  for (const path of changed) await disk.syncDir(path);
  const parent = dirname(dir);
  if (changed.includes(parent)) return;
  try {
    await disk.syncDir(parent);
  } catch (error) {
    if (!isForbidden(error)) throw error;
  }
}

function closeAll(segments: readonly Segment[], files: SegmentFiles): void {
  let failed: { readonly cause: unknown } | undefined;
  for (const segment of segments) {
    try {
      files.close(segment);
    } catch (cause) {
      failed = { cause };
    }
  }
  if (failed) throw new StoreFailedError("close the log", failed);
}
