/** The store over a log, on whatever disk: the inside of `WalTaskStore`. */

import { join } from "node:path";
import {
  ConcurrentUpdateError,
  DuplicateTaskIdError,
  hasErrorCode,
  show,
  StoreClosedError,
  StoreFailedError,
  TaskEntryTooLargeError,
  TaskNotFoundError,
} from "../errors.ts";
import type { TaskPatch, TaskRecord } from "../model/record.ts";
import type { TaskStore, TaskStoreTraits } from "../store/contract.ts";
import { CompactionPolicy } from "./compaction_policy.ts";
import type { Disk } from "./disk.ts";
import {
  applyChange,
  changeBody,
  deleteBody,
  putBody,
  type StoredRecord,
  toChange,
  toStored,
} from "./entry.ts";
import { FileLog } from "./file_log.ts";
import { acquireLock, type HeldLock } from "./lock.ts";
import type { Log } from "./log.ts";
import { LOG_FILE, openLogFile } from "./log_file.ts";
import type { ResolvedWalOptions } from "./options.ts";
import { Records, type StagedChange } from "./records.ts";
import { Replay } from "./replay.ts";

/** The file whose lock says who has the directory. */
export const LOCK_FILE = "lock.db";

/** What an open store holds. */
interface Opened {
  readonly lock: HeldLock;
  readonly log: Log;
  readonly records: Records;
}

/** A {@linkcode TaskStore} over a log. It starts to open at once, and every method waits for that. */
export class LogTaskStore implements TaskStore {
  readonly traits: TaskStoreTraits;
  readonly #options: ResolvedWalOptions;
  readonly #policy: CompactionPolicy;
  readonly #abortOpening = new AbortController();
  readonly #opening: Promise<Opened>;
  #opened: Opened | undefined;
  #compacting = false;
  #closing: Promise<void> | undefined;

  constructor(options: ResolvedWalOptions, disk: Disk) {
    this.#options = options;
    this.traits = Object.freeze({
      durable: true,
      writers: "exclusive",
      compareAndSwap: true,
      maxRecordBytes: options.maxEntryBytes,
    });
    this.#policy = new CompactionPolicy(options.compactEvery);
    this.#opening = openParts(options, disk, this.#abortOpening.signal);
    this.#opening.then(
      (opened) => this.#opened = opened,
      () => {}, // Every method gives the error.
    );
  }

  /** Resolves when the store is open. */
  async ready(): Promise<void> {
    await this.#opening;
  }

  async create(record: TaskRecord): Promise<void> {
    this.#refuseIfClosed("create a task");
    // Before anything is awaited: the caller may change its object then.
    const text = JSON.stringify(record);
    const { taskId } = record;
    const stored = toStored(record, text);
    const { records } = this.#opened ?? await this.#opening;
    if (records.appended(taskId)) throw new DuplicateTaskIdError(taskId);
    this.#refuseIfTooLarge(taskId, stored.bytes, 0);
    await this.#append([putBody(text)], [{ taskId, stored }]);
  }

  async get(taskId: string, now?: number): Promise<TaskRecord | undefined> {
    this.#refuseIfClosed("read a task");
    const { records } = this.#opened ?? await this.#opening;
    const stored = records.committed(taskId);
    if (!stored || this.#isExpired(stored, now)) return undefined;
    return JSON.parse(stored.text);
  }

  async update(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<TaskRecord> {
    this.#refuseIfClosed("update a task");
    const change = toChange(patch);
    const { records } = this.#opened ?? await this.#opening;
    const before = records.appended(taskId);
    if (!before || this.#isExpired(before, now)) {
      throw new TaskNotFoundError(taskId);
    }
    if (before.version !== expectedVersion) {
      throw new ConcurrentUpdateError(taskId, expectedVersion, before.version);
    }
    const record: TaskRecord = JSON.parse(before.text);
    applyChange(record, change);
    const stored = toStored(record, JSON.stringify(record));
    this.#refuseIfTooLarge(taskId, stored.bytes, before.bytes);
    await this.#append(
      [changeBody(taskId, record.version, change)],
      [{ taskId, stored }],
    );
    return record;
  }

  async sweep(now?: number): Promise<number> {
    this.#refuseIfClosed("sweep");
    const { records } = this.#opened ?? await this.#opening;
    const time = now ?? this.#options.now();
    const expired: string[] = [];
    for (const [taskId, stored] of records.allAppended()) {
      if (this.#isExpired(stored, time)) expired.push(taskId);
    }
    // "None" also says that what another sweep deletes is gone for good, so it
    // waits for that one's flush.
    if (expired.length === 0 && !records.hasStaged) return 0;
    await this.#append(
      expired.map(deleteBody),
      expired.map((taskId) => ({ taskId, stored: undefined })),
    );
    return expired.length;
  }

  async compact(): Promise<void> {
    this.#refuseIfClosed("compact");
    const opened = this.#opened ?? await this.#opening;
    await this.#compact(opened);
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    this.#abortOpening.abort(new StoreClosedError("open the store"));
    let opened: Opened;
    try {
      opened = await this.#opening;
    } catch {
      return; // What never opened has nothing to close.
    }
    try {
      await opened.log.close();
    } finally {
      opened.lock.release();
    }
  }

  /** Stages changes, and commits them when their entries are safe. */
  #append(
    bodies: readonly string[],
    changes: readonly StagedChange[],
  ): Promise<void> {
    const opened = this.#opened!;
    const { records, log } = opened;
    for (const change of changes) records.stage(change);
    return new Promise((resolve, reject) => {
      log.append(bodies, (error) => {
        if (error) {
          // All that is staged fails together, so all of it goes.
          records.rollBack();
          reject(error);
          return;
        }
        for (const change of changes) records.commit(change);
        resolve();
        this.#compactIfDue(opened);
      });
    });
  }

  #compactIfDue(opened: Opened): void {
    if (
      this.#compacting || this.#closing ||
      !this.#policy.isDue(opened.log, opened.records.liveBytes)
    ) return;
    this.#compacting = true;
    this.#compact(opened).catch((error) => {
      this.#policy.failed(opened.log);
      try {
        this.#options.onCompactionError(error);
      } catch {
        // An observer changes no outcome.
      }
    }).finally(() => this.#compacting = false);
  }

  async #compact({ log, records }: Opened): Promise<void> {
    await log.compact(() => records.live());
    this.#policy.succeeded();
  }

  #isExpired(stored: StoredRecord, now: number = this.#options.now()): boolean {
    return now >= stored.expiresAt;
  }

  #refuseIfTooLarge(taskId: string, bytes: number, bytesBefore: number): void {
    const { maxEntryBytes } = this.#options;
    // A record from the time of a higher limit may still shrink.
    if (bytes <= maxEntryBytes || bytes < bytesBefore) return;
    throw new TaskEntryTooLargeError(taskId, bytes, maxEntryBytes);
  }

  #refuseIfClosed(operation: string): void {
    if (this.#closing) throw new StoreClosedError(operation);
  }
}

async function openParts(
  options: ResolvedWalOptions,
  disk: Disk,
  signal: AbortSignal,
): Promise<Opened> {
  const { dir, fsync, lockTimeoutMs: timeoutMs } = options;
  let lock: HeldLock | undefined;
  try {
    const changed = disk.makeDir(dir);
    const file = join(dir, LOCK_FILE);
    lock = await acquireLock({ file, dir, timeoutMs, signal, disk });
    if (fsync) { for (const path of changed) await disk.syncDir(path); }
    const replay = new Replay(join(dir, LOG_FILE));
    const opened = await openLogFile(
      { dir, fsync, disk },
      (body, offset) => replay.apply(body, offset),
    );
    const log = new FileLog({ dir, fsync, disk }, opened);
    return { lock, log, records: new Records(replay.finish()) };
  } catch (cause) {
    lock?.release();
    if (
      hasErrorCode(cause, "ERR_STORE_LOCKED") ||
      hasErrorCode(cause, "ERR_STORE_DAMAGED") ||
      hasErrorCode(cause, "ERR_STORE_CLOSED") ||
      hasErrorCode(cause, "ERR_STORE_FAILED")
    ) throw cause;
    throw new StoreFailedError(`open ${show(dir)}`, { cause });
  }
}
