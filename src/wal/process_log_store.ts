/** The store over somebody else's log: the inside of `new WalTaskStore({ log })`. */

import { setImmediate } from "node:timers";
import {
  ConcurrentUpdateError,
  DuplicateTaskIdError,
  hasErrorCode,
  StoreClosedError,
  StoreFailedError,
  TaskEntryTooLargeError,
  TaskNotFoundError,
} from "../errors.ts";
import { isExpired } from "../model/expiry.ts";
import { copyJson, utf8Bytes } from "../model/json.ts";
import {
  applyTaskPatch,
  headOf,
  type TaskHead,
  type TaskPatch,
  type TaskRecord,
} from "../model/record.ts";
import type { TaskStore, TaskStoreTraits } from "../store/contract.ts";
import { isTooLarge } from "../store/record_size.ts";
import type { WalHealth } from "./health.ts";
import {
  type ProcessLog,
  type ProcessLogValue,
  toProcessLogValue,
} from "./process_log.ts";
import type { ResolvedProcessLogOptions } from "./process_log_options.ts";

/** Entries that may count no longer before a small log is compacted. */
const FEWEST_DEAD_ENTRIES = 1_000;
/** Bytes of records after which a compaction lets others have their turn. */
const SLICE_BYTES = 1024 * 1024;

/** A record as it is kept: replaced by a change, and never changed itself. */
interface Kept {
  readonly record: TaskRecord;
  /** Bytes of its JSON. */
  readonly bytes: number;
}

/**
 * A {@linkcode TaskStore} that holds its records in memory and writes each
 * change, as a whole record, to a log before it acknowledges it. It is as
 * durable as the log, and it is for the log to keep other writers out.
 */
export class ProcessLogTaskStore implements TaskStore {
  readonly traits: TaskStoreTraits;
  readonly #options: ResolvedProcessLogOptions;
  readonly #log: ProcessLog;
  readonly #kept: Map<string, Kept> = new Map();
  /** Why the log could not be read: every method gives it. */
  readonly #unreadable: StoreFailedError | undefined;
  #compacting: Promise<void> | undefined;
  /** How many entries may count no longer before the next try, since a compaction has failed. */
  #patience = 0;
  #closing: Promise<void> | undefined;

  constructor(options: ResolvedProcessLogOptions) {
    this.#options = options;
    this.#log = options.log;
    this.traits = Object.freeze({
      durable: true,
      compareAndSwap: true,
      maxRecordBytes: options.maxEntryBytes,
    });
    try {
      this.#replay();
    } catch (cause) {
      this.#unreadable = hasErrorCode(cause, "ERR_STORE_FAILED")
        ? cause as StoreFailedError
        : new StoreFailedError("read the log", { cause });
    }
  }

  /** Rejects if the log could not be read. */
  // deno-lint-ignore require-await -- a refusal has to be a rejection
  async ready(): Promise<void> {
    this.#refuseIfUnusable("open the store");
  }

  // deno-lint-ignore require-await -- a refusal has to be a rejection
  async create(record: TaskRecord): Promise<void> {
    this.#refuseIfUnusable("create a task");
    if (this.#kept.has(record.taskId)) {
      throw new DuplicateTaskIdError(record.taskId);
    }
    this.#put(record, 0);
  }

  // deno-lint-ignore require-await -- a refusal has to be a rejection
  async get(taskId: string, now?: number): Promise<TaskRecord | undefined> {
    this.#refuseIfUnusable("read a task");
    const record = this.#live(taskId, now)?.record;
    return record && copyJson(record);
  }

  // deno-lint-ignore require-await -- a refusal has to be a rejection
  async head(taskId: string, now?: number): Promise<TaskHead | undefined> {
    this.#refuseIfUnusable("read a task");
    const record = this.#live(taskId, now)?.record;
    return record && copyJson(headOf(record));
  }

  // deno-lint-ignore require-await -- a refusal has to be a rejection
  async update(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<TaskRecord> {
    return copyJson(this.#change(taskId, patch, expectedVersion, now));
  }

  // deno-lint-ignore require-await -- a refusal has to be a rejection
  async commit(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<number> {
    return this.#change(taskId, patch, expectedVersion, now).version;
  }

  // deno-lint-ignore require-await -- a refusal has to be a rejection
  async sweep(now: number = this.#options.now()): Promise<number> {
    this.#refuseIfUnusable("sweep");
    const expired: string[] = [];
    for (const [taskId, { record }] of this.#kept) {
      if (isExpired(record, now)) expired.push(taskId);
    }
    if (expired.length === 0) return 0;
    try {
      this.#log.appendMany(expired.map((taskId) => ({ t: "del", taskId })));
    } catch (cause) {
      throw new StoreFailedError("write to the log", { cause });
    }
    for (const taskId of expired) this.#kept.delete(taskId);
    this.#compactIfDue();
    return expired.length;
  }

  // deno-lint-ignore require-await -- a refusal has to be a rejection
  async compact(): Promise<void> {
    this.#refuseIfUnusable("compact");
    return this.#compacting ??= this.#compact().finally(() =>
      this.#compacting = undefined
    );
  }

  // deno-lint-ignore require-await -- a refusal has to be a rejection
  async health(): Promise<WalHealth> {
    this.#refuseIfUnusable("tell its health");
    let aliveBytes = 0;
    for (const { bytes } of this.#kept.values()) aliveBytes += bytes;
    const state = { tasks: this.#kept.size, segments: 1, aliveBytes };
    try {
      const { bytes: diskBytes = aliveBytes } = this.#log.stats();
      return { writable: true, ...state, diskBytes, damage: [] };
    } catch (reason) {
      // A log that has failed once says so to every call.
      return {
        writable: false,
        reason,
        ...state,
        diskBytes: aliveBytes,
        damage: [],
      };
    }
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    // It ends at its next slice; whoever asked for it hears why.
    await this.#compacting?.catch(() => {});
    try {
      this.#log.close();
    } catch (cause) {
      throw new StoreFailedError("close the log", { cause });
    }
  }

  #replay(): void {
    for (const { seq, value } of this.#log.replay()) {
      const entry = toProcessLogValue(value);
      if (!entry) {
        throw new StoreFailedError(
          `read the log: entry ${seq} is neither a put of a task nor a deletion`,
        );
      }
      if (entry.t === "put") {
        const bytes = utf8Bytes(JSON.stringify(entry.record));
        this.#kept.set(entry.record.taskId, { record: entry.record, bytes });
      } else this.#kept.delete(entry.taskId);
    }
  }

  #change(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now: number | undefined,
  ): TaskRecord {
    this.#refuseIfUnusable("update a task");
    const before = this.#live(taskId, now);
    if (!before) throw new TaskNotFoundError(taskId);
    const { version } = before.record;
    if (version !== expectedVersion) {
      throw new ConcurrentUpdateError(taskId, expectedVersion, version);
    }
    const record = this.#put(
      applyTaskPatch(before.record, patch),
      before.bytes,
    );
    this.#compactIfDue();
    return record;
  }

  /** Writes a record, and keeps it as the log will give it back. */
  #put(given: TaskRecord, bytesBefore: number): TaskRecord {
    const { taskId } = given;
    const text = JSON.stringify(given);
    const bytes = utf8Bytes(text);
    const { maxEntryBytes } = this.#options;
    if (isTooLarge(bytes, maxEntryBytes, () => bytesBefore)) {
      throw new TaskEntryTooLargeError(taskId, bytes, maxEntryBytes);
    }
    const record: TaskRecord = JSON.parse(text);
    try {
      this.#log.append({ t: "put", record });
    } catch (cause) {
      if (hasErrorCode(cause, "ERR_ENTRY_TOO_LARGE")) {
        // The log does not say what it takes, but it is less than this.
        const most = Math.min(maxEntryBytes, bytes - 1);
        throw new TaskEntryTooLargeError(taskId, bytes, most);
      }
      throw new StoreFailedError("write to the log", { cause });
    }
    this.#kept.set(taskId, { record, bytes });
    return record;
  }

  #compactIfDue(): void {
    if (this.#options.compactEvery === null) return;
    // The change is in the log: what fails here is no failure of it.
    const compacted = Promise.resolve().then(() => {
      if (this.#compacting || this.#closing) return;
      const dead = this.#deadEntries();
      if (dead >= this.#mostDead() && dead >= this.#patience) {
        return this.compact();
      }
    });
    compacted.catch((error) => {
      try {
        if (!this.#closing) this.#options.onCompactionError(error);
      } catch {
        // An observer changes no outcome.
      }
    });
  }

  #mostDead(): number {
    return this.#options.compactEvery ??
      Math.max(FEWEST_DEAD_ENTRIES, this.#kept.size);
  }

  #deadEntries(): number {
    return this.#log.stats().pendingEntries - this.#kept.size;
  }

  /**
   * Appends what is alive once more, in slices, and drops what was there
   * before. What is changed meanwhile is appended behind its copy, so the last
   * put of each id is its state at every moment.
   */
  async #compact(): Promise<void> {
    try {
      const before = this.#log.stats().lastSeq;
      let slice: ProcessLogValue[] = [];
      let bytes = 0;
      const write = () => {
        if (slice.length > 0) this.#log.appendMany(slice);
        slice = [];
        bytes = 0;
      };
      for (const taskId of [...this.#kept.keys()]) {
        const kept = this.#kept.get(taskId);
        if (!kept) continue;
        slice.push({ t: "put", record: kept.record });
        bytes += kept.bytes;
        if (bytes < SLICE_BYTES) continue;
        write();
        await new Promise<void>((resolve) => setImmediate(resolve));
        if (this.#closing) throw new StoreClosedError("compact");
      }
      write();
      this.#log.checkpoint(before);
      this.#log.compact();
      this.#patience = 0;
    } catch (cause) {
      if (hasErrorCode(cause, "ERR_STORE_CLOSED")) throw cause;
      try {
        // Not again with each change: a log on a full disk would be hammered.
        this.#patience = this.#deadEntries() + this.#mostDead();
      } catch {
        // The log is of no use any more, as the next call will find.
      }
      throw new StoreFailedError("compact the log", { cause });
    }
  }

  #live(taskId: string, now: number = this.#options.now()): Kept | undefined {
    const kept = this.#kept.get(taskId);
    return kept && !isExpired(kept.record, now) ? kept : undefined;
  }

  #refuseIfUnusable(operation: string): void {
    if (this.#closing) throw new StoreClosedError(operation);
    if (this.#unreadable) throw this.#unreadable;
  }
}
