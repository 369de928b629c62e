/** Changes of tasks: judged, appended, and taken into the states. */

import {
  ConcurrentUpdateError,
  DuplicateTaskIdError,
  TaskEntryTooLargeError,
  TaskNotFoundError,
} from "../errors.ts";
import { copyJson, setOwn } from "../model/json.ts";
import type { TaskRecord } from "../model/record.ts";
import { isTooLarge } from "../store/record_size.ts";
import { appendChange, type Appended, appendPut, putOf } from "./entries.ts";
import {
  applyPatch,
  type EncodedPatch,
  type NewPart,
  recordBytesOf,
  type RecordChange,
  type WholeRecord,
} from "./fields.ts";
import type { StoreParts } from "./open_store.ts";
import type { StagedChange, UnwrittenParts } from "./records.ts";
import type { Fields, PartRef, TaskState } from "./task_state.ts";

/** Writes to a store that is open. What it refuses it throws, before anything has changed. */
export class Writer {
  readonly #parts: StoreParts;
  readonly #maxEntryBytes: number;

  /**
   * @param parts The store.
   * @param maxEntryBytes The largest record, in bytes.
   */
  constructor(parts: StoreParts, maxEntryBytes: number) {
    this.#parts = parts;
    this.#maxEntryBytes = maxEntryBytes;
  }

  /**
   * Runs a write when no compaction holds writes up.
   *
   * @param write The write.
   * @returns What it gives.
   */
  whenFree<T>(write: (writer: Writer) => Promise<T>): Promise<T> {
    const { held } = this.#parts.log;
    return held ? held.then(() => write(this)) : write(this);
  }

  /**
   * Creates a task.
   *
   * @param taskId The id.
   * @param version The version of its record.
   * @param whole What the record holds.
   * @returns Resolves when it is safe.
   */
  create(taskId: string, version: number, whole: WholeRecord): Promise<void> {
    const { records, log } = this.#parts;
    if (records.appended(taskId)) throw new DuplicateTaskIdError(taskId);
    this.#refuseIfTooLarge(taskId, whole.recordBytes);
    const appended = appendPut(log, putOf(taskId, version, whole));
    const texts = textsOf(appended.fields, whole.parts, undefined);
    return this.#settled(taskId, undefined, appended, texts, undefined);
  }

  /**
   * Changes a task.
   *
   * @param taskId The id.
   * @param patch The change.
   * @param expectedVersion The version that it changes.
   * @param now The time.
   * @returns Its new version, when that is safe.
   */
  commit(
    taskId: string,
    patch: EncodedPatch,
    expectedVersion: number,
    now: number,
  ): Promise<number> {
    const before = this.#writable(taskId, expectedVersion, now);
    const change = this.#change(taskId, before, patch);
    return this.#append(taskId, before, change, before.version + 1);
  }

  /**
   * Changes a task, and reads it.
   *
   * @param taskId The id.
   * @param patch The change.
   * @param expectedVersion The version that it changes.
   * @param now The time.
   * @returns Its record as it is then, when that is safe.
   */
  update(
    taskId: string,
    patch: EncodedPatch,
    expectedVersion: number,
    now: number,
  ): Promise<TaskRecord> {
    const before = this.#writable(taskId, expectedVersion, now);
    const change = this.#change(taskId, before, patch);
    const record = this.#recordAfter(taskId, change);
    return this.#append(taskId, before, change, record);
  }

  /**
   * Takes in what was appended and makes no caller wait.
   *
   * @param change What becomes of a task.
   */
  stage(change: StagedChange): void {
    const { records, log, damages } = this.#parts;
    records.stage(change);
    log.settle((error) => {
      if (error) return records.rollBack();
      records.commit(change);
      if (!change.state?.isDamaged) damages.release(change.taskId);
    });
  }

  #writable(taskId: string, expectedVersion: number, now: number): TaskState {
    const { records, damages } = this.#parts;
    const state = records.appended(taskId);
    if (!state || now >= state.expiresAt) throw new TaskNotFoundError(taskId);
    if (state.isDamaged) throw damages.errorOf(taskId);
    if (state.version === expectedVersion) return state;
    throw new ConcurrentUpdateError(taskId, expectedVersion, state.version);
  }

  #change(
    taskId: string,
    before: TaskState,
    patch: EncodedPatch,
  ): RecordChange {
    const { records, reader } = this.#parts;
    const fields = records.staged(taskId)?.fields ??
      this.#parts.reading(taskId, () => reader.fields(taskId, before));
    const change = applyPatch(fields, before.expiresAt, patch);
    this.#refuseIfTooLarge(
      taskId,
      change.recordBytes,
      () => recordBytesOf(fields),
    );
    return change;
  }

  /** Puts the whole record together as it is after a change. */
  #recordAfter(taskId: string, change: RecordChange): TaskRecord {
    const { records, reader } = this.#parts;
    const record = copyJson<Record<string, unknown>>(change.head);
    const texts = records.staged(taskId)?.texts;
    for (const ref of change.kept) {
      const value = this.#parts.reading(
        taskId,
        () => reader.appendedValue(ref, texts),
      );
      setOwn(record, ref.key, value);
    }
    for (const { key, text } of change.parts) {
      setOwn<unknown>(record, key, JSON.parse(text));
    }
    return record as unknown as TaskRecord;
  }

  /** Appends a change; at the end of a task a whole record, which memory has no more to do with. */
  #append<T>(
    taskId: string,
    before: TaskState,
    change: RecordChange,
    outcome: T,
  ): Promise<T> {
    const { log, records } = this.#parts;
    const unwritten = records.staged(taskId)?.texts;
    const { born, version } = before;
    const appended = change.ended && change.kept.length === 0
      ? appendPut(log, { ...change, taskId, born, version: version + 1 })
      : appendChange(log, taskId, before, change);
    const texts = textsOf(appended.fields, change.parts, unwritten);
    return this.#settled(taskId, before, appended, texts, outcome);
  }

  /** Resolves when what was appended is safe, with its outcome. */
  #settled<T>(
    taskId: string,
    before: TaskState | undefined,
    { state, fields }: Appended,
    texts: UnwrittenParts | undefined,
    outcome: T,
  ): Promise<T> {
    const { records, log } = this.#parts;
    const change: StagedChange = { taskId, before, state, fields, texts };
    if (log.writeAtOnce()) {
      records.commitAtOnce(change);
      this.#keep(taskId, state, fields, texts);
      return Promise.resolve(outcome);
    }
    records.stage(change);
    return new Promise((resolve, reject) => {
      log.settle((error) => {
        if (error) {
          // All that is staged fails together, so all of it goes.
          records.rollBack();
          reject(error);
          return;
        }
        records.commit(change);
        this.#keep(taskId, state, fields, texts);
        resolve(outcome);
      });
    });
  }

  /** Keeps at hand what may be read next. */
  #keep(
    taskId: string,
    state: TaskState,
    fields: Fields,
    texts: UnwrittenParts | undefined,
  ): void {
    const { damages, reader } = this.#parts;
    // It may have come through while the version before it was found damaged.
    if (!state.isDamaged) damages.release(taskId);
    // What has changed since lies over the state, and is at hand anyway.
    if (!state.overlay) reader.keepFields(state, fields);
    texts?.forEach((text, ref) => {
      if (typeof text === "string") reader.keepText(ref, text);
    });
  }

  #refuseIfTooLarge(
    taskId: string,
    bytes: number,
    bytesBefore?: () => number,
  ): void {
    if (!isTooLarge(bytes, this.#maxEntryBytes, bytesBefore)) return;
    throw new TaskEntryTooLargeError(taskId, bytes, this.#maxEntryBytes);
  }
}

/** The parts of a record that cannot be read from where they will be. */
function textsOf(
  { parts }: Fields,
  added: readonly NewPart[],
  unwritten: UnwrittenParts | undefined,
): UnwrittenParts | undefined {
  if (added.length === 0 && !unwritten) return undefined;
  const texts = new Map<PartRef, string | PartRef>();
  const kept = parts.length - added.length;
  parts.forEach((ref, index) => {
    const text = index < kept ? unwritten?.get(ref) : added[index - kept].text;
    if (text !== undefined) texts.set(ref, text);
  });
  return texts;
}
