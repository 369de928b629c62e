/** The store over a log, on whatever disk: the inside of `WalTaskStore`. */

import {
  ConcurrentUpdateError,
  DuplicateTaskIdError,
  StoreClosedError,
  StoreFailedError,
  TaskEntryTooLargeError,
  TaskNotFoundError,
} from "../errors.ts";
import { copyJson, setOwn } from "../model/json.ts";
import type { TaskHead, TaskPatch, TaskRecord } from "../model/record.ts";
import type { TaskStore, TaskStoreTraits } from "../store/contract.ts";
import { isTooLarge } from "../store/record_size.ts";
import { CompactionRuns } from "./compaction_runs.ts";
import { copyTask } from "./copy_task.ts";
import type { Damage } from "./damage.ts";
import type { Disk } from "./disk.ts";
import {
  appendChange,
  appendDeletion,
  type Appended,
  appendPut,
  putOf,
} from "./entries.ts";
import {
  applyPatch,
  copyHead,
  divideRecord,
  dropPayloads,
  type EncodedPatch,
  encodePatch,
  isPayload,
  type NewPart,
  recordBytesOf,
  type RecordChange,
  type WholeRecord,
} from "./fields.ts";
import type { WalHealth } from "./health.ts";
import { nextTurn } from "./log.ts";
import type { ResolvedWalOptions } from "./options.ts";
import { openParts, type StoreParts } from "./open_store.ts";
import { ReadDamage } from "./reader.ts";
import type { StagedChange, UnwrittenParts } from "./records.ts";
import type { Takeover } from "./takeover.ts";
import { openTakeover } from "./takeover_store.ts";
import type { PartRef, TaskState } from "./task_state.ts";

/** Deletions that a sweep appends at a time. */
const SWEEP_SLICE = 500;

/** A {@linkcode TaskStore} over a log. It starts to open at once, and every method waits for that. */
export class LogTaskStore implements TaskStore {
  readonly traits: TaskStoreTraits;
  readonly #options: ResolvedWalOptions;
  readonly #abortOpening = new AbortController();
  readonly #opening: Promise<StoreParts>;
  #opened: StoreParts | undefined;
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
      return (parts) => this.#create(parts, taskId, version, whole);
    });
  }

  get(taskId: string, now?: number): Promise<TaskRecord | undefined> {
    return this.#call("read a task", () => (parts) => {
      const state = this.#readable(parts, taskId, now);
      if (!state) return undefined;
      return this.#reading(parts, taskId, () => {
        const fields = parts.reader.fields(taskId, state);
        const record = copyHead(fields);
        for (const ref of fields.parts) {
          setOwn<unknown>(
            record,
            ref.key,
            JSON.parse(parts.reader.text(ref)),
          );
        }
        return record as unknown as TaskRecord;
      });
    });
  }

  head(taskId: string, now?: number): Promise<TaskHead | undefined> {
    return this.#call("read a task", () => (parts) => {
      const state = this.#readable(parts, taskId, now);
      if (!state) return undefined;
      return this.#reading(parts, taskId, () => {
        const fields = parts.reader.fields(taskId, state);
        const head = copyHead(fields);
        dropPayloads(head);
        for (const ref of fields.parts) {
          if (isPayload(ref.key)) continue;
          setOwn<unknown>(head, ref.key, JSON.parse(parts.reader.text(ref)));
        }
        return head as unknown as TaskHead;
      });
    });
  }

  update(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<TaskRecord> {
    return this.#write("update a task", () => {
      const encoded = encodePatch(patch);
      return (parts) => {
        const before = this.#writable(parts, taskId, expectedVersion, now);
        const change = this.#change(parts, taskId, before, encoded);
        const record = this.#recordAfter(parts, taskId, change);
        return this.#append(parts, taskId, before, change, record);
      };
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
      return (parts) => {
        const before = this.#writable(parts, taskId, expectedVersion, now);
        const change = this.#change(parts, taskId, before, encoded);
        const version = before.version + 1;
        return this.#append(parts, taskId, before, change, version);
      };
    });
  }

  sweep(now?: number): Promise<number> {
    return this.#call("sweep", () => (parts) => {
      const sweep = this.#sweep(parts, now ?? this.#options.now());
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
      const compactions = new CompactionRuns(options, parts, {
        copy: (taskId) =>
          copyTask(
            parts,
            taskId,
            (taskId, state, fields, texts) =>
              this.#stage(parts, { taskId, state, fields, texts }),
          ),
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

  /** Runs a method: what it takes of its arguments now, the rest when the store is open. */
  #call<T>(
    operation: string,
    take: () => (parts: StoreParts) => T | Promise<T>,
  ): Promise<T> {
    try {
      this.#refuseIfClosed(operation);
      const run = take();
      const parts = this.#opened;
      return parts ? Promise.resolve(run(parts)) : this.#opening.then(run);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Runs a method that writes: it is held up where a compaction would not keep step. */
  #write<T>(
    operation: string,
    take: () => (parts: StoreParts) => Promise<T>,
  ): Promise<T> {
    try {
      this.#refuseIfClosed(operation);
      const run = take();
      const parts = this.#opened;
      return parts
        ? whenFree(parts, run)
        : this.#opening.then((opened) => whenFree(opened, run));
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
        appendDeletion(log, taskId, records.appended(taskId)!);
        this.#stage(parts, {
          taskId,
          state: undefined,
          fields: undefined,
          texts: undefined,
        });
      }
      // "None" also says that what another sweep deletes is gone for good.
      if (taskIds.length > 0 || records.hasStaged) await parts.settled();
      count += taskIds.length;
      if (taskIds.length < SWEEP_SLICE) return count;
      await nextTurn();
    }
  }

  #create(
    parts: StoreParts,
    taskId: string,
    version: number,
    whole: WholeRecord,
  ): Promise<void> {
    if (parts.records.appended(taskId)) throw new DuplicateTaskIdError(taskId);
    this.#refuseIfTooLarge(taskId, whole.recordBytes);
    const appended = appendPut(parts.log, putOf(taskId, version, whole));
    return this.#staged(
      parts,
      taskId,
      appended,
      whole.parts,
      undefined,
      undefined,
    );
  }

  #readable(
    { records, damages }: StoreParts,
    taskId: string,
    now: number | undefined,
  ): TaskState | undefined {
    const state = records.committed(taskId);
    if (!state || this.#isExpired(state, now)) return undefined;
    if (state.isDamaged) throw damages.errorOf(taskId);
    return state;
  }

  #writable(
    { records, damages }: StoreParts,
    taskId: string,
    expectedVersion: number,
    now: number | undefined,
  ): TaskState {
    const state = records.appended(taskId);
    if (!state || this.#isExpired(state, now)) {
      throw new TaskNotFoundError(taskId);
    }
    if (state.isDamaged) throw damages.errorOf(taskId);
    if (state.version === expectedVersion) return state;
    throw new ConcurrentUpdateError(taskId, expectedVersion, state.version);
  }

  #change(
    parts: StoreParts,
    taskId: string,
    before: TaskState,
    patch: EncodedPatch,
  ): RecordChange {
    const fields = this.#reading(
      parts,
      taskId,
      () =>
        parts.records.staged(taskId)?.fields ??
          parts.reader.fields(taskId, before),
    );
    const change = applyPatch(fields, before.expiresAt, patch);
    this.#refuseIfTooLarge(
      taskId,
      change.recordBytes,
      () => recordBytesOf(fields),
    );
    return change;
  }

  /** Puts the whole record together as it is after a change. */
  #recordAfter(
    parts: StoreParts,
    taskId: string,
    change: RecordChange,
  ): TaskRecord {
    const record = copyJson<Record<string, unknown>>(change.head);
    const texts = parts.records.staged(taskId)?.texts;
    for (const ref of change.kept) {
      const text = this.#reading(
        parts,
        taskId,
        () => parts.reader.appendedText(ref, texts),
      );
      setOwn<unknown>(record, ref.key, JSON.parse(text));
    }
    for (const { key, text } of change.parts) {
      setOwn<unknown>(record, key, JSON.parse(text));
    }
    return record as unknown as TaskRecord;
  }

  /** Appends a change; at the end of a task a whole record, which memory has no more to do with. */
  #append<T>(
    parts: StoreParts,
    taskId: string,
    before: TaskState,
    change: RecordChange,
    outcome: T,
  ): Promise<T> {
    const { log, records } = parts;
    const texts = records.staged(taskId)?.texts;
    const { born, version } = before;
    const appended = change.ended && change.kept.length === 0
      ? appendPut(log, { ...change, taskId, born, version: version + 1 })
      : appendChange(log, taskId, before, change);
    return this.#staged(
      parts,
      taskId,
      appended,
      change.parts,
      texts,
      outcome,
    );
  }

  #staged<T>(
    parts: StoreParts,
    taskId: string,
    { state, fields }: Appended,
    newParts: readonly NewPart[],
    unwritten: UnwrittenParts | undefined,
    outcome: T,
  ): Promise<T> {
    let texts: Map<PartRef, string | PartRef> | undefined;
    if (newParts.length > 0 || unwritten) {
      texts = new Map();
      const added = fields.parts.length - newParts.length;
      fields.parts.forEach((ref, index) => {
        const text = index < added
          ? unwritten?.get(ref)
          : newParts[index - added].text;
        if (text !== undefined) texts!.set(ref, text);
      });
    }
    const change: StagedChange = { taskId, state, fields, texts };
    parts.records.stage(change);
    return new Promise((resolve, reject) => {
      parts.log.settle((error) => {
        if (error) {
          // All that is staged fails together, so all of it goes.
          parts.records.rollBack();
          reject(error);
          return;
        }
        parts.records.commit(change);
        // It may have come through while the version before it was found damaged.
        if (!state.isDamaged) parts.damages.release(taskId);
        // Most are changed before they are read; then their text is at hand.
        if (state.ended && !state.overlay) {
          parts.reader.keepFields(state, fields);
        }
        texts?.forEach((text, ref) => {
          if (typeof text === "string") parts.reader.keepText(ref, text);
        });
        resolve(outcome);
      });
    });
  }

  /** Takes in what makes no caller wait. */
  #stage({ records, log, damages }: StoreParts, change: StagedChange): void {
    records.stage(change);
    log.settle((error) => {
      if (error) return records.rollBack();
      records.commit(change);
      if (!change.state?.isDamaged) damages.release(change.taskId);
    });
  }

  /** Runs what reads the disk: a task whose bytes fail their check is damaged from then on. */
  #reading<T>(parts: StoreParts, taskId: string, read: () => T): T {
    try {
      return read();
    } catch (cause) {
      if (cause instanceof ReadDamage) {
        const error = parts.lose(taskId, cause);
        parts.damages.tell();
        throw error;
      }
      throw new StoreFailedError("read a task", { cause });
    }
  }

  #tell(damage: Damage): void {
    try {
      this.#options.onDamage(damage.report());
    } catch {
      // An observer changes no outcome.
    }
  }

  #isExpired(state: TaskState, now: number = this.#options.now()): boolean {
    return now >= state.expiresAt;
  }

  #refuseIfTooLarge(
    taskId: string,
    bytes: number,
    bytesBefore?: () => number,
  ): void {
    const { maxEntryBytes } = this.#options;
    if (!isTooLarge(bytes, maxEntryBytes, bytesBefore)) return;
    throw new TaskEntryTooLargeError(taskId, bytes, maxEntryBytes);
  }

  #refuseIfClosed(operation: string): void {
    if (this.#closing) throw new StoreClosedError(operation);
  }
}

/** Runs a write when no compaction holds writes up. */
function whenFree<T>(
  parts: StoreParts,
  run: (parts: StoreParts) => Promise<T>,
): Promise<T> {
  const { held } = parts.log;
  return held ? held.then(() => run(parts)) : run(parts);
}

/** A string that was put together of others keeps them all: a key should be one piece. */
function flat(taskId: string): string {
  Number(taskId);
  return taskId;
}
