/** The store over a log, on whatever disk: the inside of `WalTaskStore`. */

import { StoreClosedError } from "../errors.ts";
import { setOwn } from "../model/json.ts";
import type { TaskHead, TaskPatch, TaskRecord } from "../model/record.ts";
import type { TaskStore, TaskStoreTraits } from "../store/contract.ts";
import { CompactionRuns } from "./compaction_runs.ts";
import { copyTask } from "./copy_task.ts";
import type { Damage } from "./damage.ts";
import type { Disk } from "./disk.ts";
import { appendDeletion } from "./entries.ts";
import {
  copyHead,
  divideRecord,
  dropPayloads,
  encodePatch,
  isPayload,
} from "./fields.ts";
import type { WalHealth } from "./health.ts";
import { nextTurn } from "./log.ts";
import type { ResolvedWalOptions } from "./options.ts";
import { openParts, type StoreParts } from "./open_store.ts";
import type { Takeover } from "./takeover.ts";
import { openTakeover } from "./takeover_store.ts";
import type { TaskState } from "./task_state.ts";
import { Writer } from "./writer.ts";

/** Deletions that a sweep appends at a time. */
const SWEEP_SLICE = 500;

/** A {@linkcode TaskStore} over a log. It starts to open at once, and every method waits for that. */
export class LogTaskStore implements TaskStore {
  readonly traits: TaskStoreTraits;
  readonly #options: ResolvedWalOptions;
  readonly #abortOpening = new AbortController();
  readonly #opening: Promise<StoreParts>;
  #opened: StoreParts | undefined;
  /** As soon as it opens. */
  #writer: Writer | undefined;
  #compactions: CompactionRuns | undefined;
  #takeover: Takeover | undefined;
  readonly #sweeps = new Set<Promise<number>>();
  #closing: Promise<void> | undefined;

  constructor(options: ResolvedWalOptions, disk: Disk) {
    this.#options = options;
    this.traits = Object.freeze({
      durable: true,
      writers: "exclusive",
      compareAndSwap: true,
      maxRecordBytes: options.maxEntryBytes,
    });
    this.#opening = this.#open(disk);
    this.#opening.catch(() => {}); // Every method gives the error.
  }

  /** Resolves when the store is open. */
  async ready(): Promise<void> {
    await this.#opening;
  }

  create(record: TaskRecord): Promise<void> {
    return this.#write("create a task", () => {
      // Before anything is awaited: the caller may change its object then.
      const whole = divideRecord(record);
      const taskId = flat(record.taskId);
      const { version } = record;
      return (writer) => writer.create(taskId, version, whole);
    });
  }

  get(taskId: string, now?: number): Promise<TaskRecord | undefined> {
    return this.#read(taskId, now, true);
  }

  head(taskId: string, now?: number): Promise<TaskHead | undefined> {
    return this.#read(taskId, now, false);
  }

  update(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<TaskRecord> {
    return this.#write("update a task", () => {
      const encoded = encodePatch(patch);
      return (writer) =>
        writer.update(taskId, encoded, expectedVersion, this.#time(now));
    });
  }

  commit(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<number> {
    return this.#write("update a task", () => {
      const encoded = encodePatch(patch);
      return (writer) =>
        writer.commit(taskId, encoded, expectedVersion, this.#time(now));
    });
  }

  sweep(now?: number): Promise<number> {
    return this.#call("sweep", (parts) => {
      const sweep = this.#sweep(parts, this.#time(now));
      // close() waits for its later slices too.
      this.#sweeps.add(sweep);
      const ended = () => this.#sweeps.delete(sweep);
      sweep.then(ended, ended);
      return sweep;
    });
  }

  async compact(): Promise<void> {
    this.#refuseIfClosed("compact");
    if (!this.#opened) await this.#opening;
    await this.#compactions!.compactAll();
  }

  /** Tells how the store is. */
  async health(): Promise<WalHealth> {
    this.#refuseIfClosed("tell its health");
    const { log, records, damages } = this.#opened ?? await this.#opening;
    return {
      writable: log.refusal === undefined,
      ...(log.refusal && { reason: log.refusal.cause }),
      tasks: records.size,
      segments: log.segments.length,
      diskBytes: log.bytes,
      aliveBytes: records.aliveBytes,
      damage: damages.all.map((damage) => damage.report()),
    };
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #open(disk: Disk): Promise<StoreParts> {
    const options = this.#options;
    const parts = await openParts(options, disk, this.#abortOpening.signal);
    try {
      const writer = new Writer(parts, options.maxEntryBytes);
      this.#writer = writer;
      const compactions = new CompactionRuns(options, parts, {
        copy: (taskId) =>
          copyTask(parts, taskId, (change) => writer.stage(change)),
      });
      this.#compactions = compactions;
      parts.log.onCommit = () => compactions.startIfDue();
      this.#takeover = await openTakeover(parts, options);
    } catch (error) {
      await this.#compactions?.stop();
      await parts.close();
      throw error;
    }
    this.#opened = parts;
    parts.damages.observe((damage) => this.#tell(damage));
    return parts;
  }

  async #close(): Promise<void> {
    this.#abortOpening.abort(new StoreClosedError("open the store"));
    let parts: StoreParts;
    try {
      parts = await this.#opening;
    } catch {
      return; // What never opened has nothing to close.
    }
    try {
      await this.#takeover?.close();
      await this.#compactions!.stop();
      await Promise.allSettled(this.#sweeps);
    } finally {
      await parts.close();
    }
  }

  #read(
    taskId: string,
    now: number | undefined,
    withPayloads: boolean,
  ): Promise<TaskRecord | undefined> {
    return this.#call("read a task", (parts) => {
      const state = this.#readable(parts, taskId, now);
      if (!state) return undefined;
      return parts.reading(taskId, () => {
        const fields = parts.reader.fields(taskId, state);
        const record = copyHead(fields);
        if (!withPayloads) dropPayloads(record);
        for (const ref of fields.parts) {
          if (!withPayloads && isPayload(ref.key)) continue;
          setOwn(record, ref.key, parts.reader.value(ref));
        }
        return record as unknown as TaskRecord;
      });
    });
  }

  /** Runs a method when the store is open. */
  #call<T>(
    operation: string,
    run: (parts: StoreParts) => T | Promise<T>,
  ): Promise<T> {
    try {
      this.#refuseIfClosed(operation);
      const parts = this.#opened;
      return parts ? Promise.resolve(run(parts)) : this.#opening.then(run);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Runs a method that writes: what it takes of its arguments now, the rest when
   * the store is open, and no compaction holds it up.
   */
  #write<T>(
    operation: string,
    take: () => (writer: Writer) => Promise<T>,
  ): Promise<T> {
    try {
      this.#refuseIfClosed(operation);
      const run = take();
      return this.#opened
        ? this.#writer!.whenFree(run)
        : this.#opening.then(() => this.#writer!.whenFree(run));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #sweep(parts: StoreParts, now: number): Promise<number> {
    const { records, log } = parts;
    let count = 0;
    for (;;) {
      const taskIds = records.takeExpired(now, SWEEP_SLICE);
      for (const taskId of taskIds) {
        const before = records.appended(taskId)!;
        appendDeletion(log, taskId, before);
        const gone = { state: undefined, fields: undefined, texts: undefined };
        this.#writer!.stage({ taskId, before, ...gone });
      }
      // "None" also says that what another sweep deletes is gone for good.
      if (taskIds.length > 0 || records.hasStaged) await parts.settled();
      count += taskIds.length;
      if (taskIds.length < SWEEP_SLICE) return count;
      await nextTurn();
    }
  }

  #readable(
    { records, damages }: StoreParts,
    taskId: string,
    now: number | undefined,
  ): TaskState | undefined {
    const state = records.committed(taskId);
    if (!state || this.#time(now) >= state.expiresAt) return undefined;
    if (state.isDamaged) throw damages.errorOf(taskId);
    return state;
  }

  #tell(damage: Damage): void {
    try {
      this.#options.onDamage(damage.report());
    } catch {
      // An observer changes no outcome.
    }
  }

  #time(now: number | undefined): number {
    return now ?? this.#options.now();
  }

  #refuseIfClosed(operation: string): void {
    if (this.#closing) throw new StoreClosedError(operation);
  }
}

/** A string that was put together of others keeps them all: a key should be one piece. */
function flat(taskId: string): string {
  Number(taskId);
  return taskId;
}
