/** Makes the records of the entries of a log, in order. */

import { StoreDamagedError } from "../errors.ts";
import type { TaskRecord } from "../model/record.ts";
import {
  applyChange,
  type LogEntry,
  putText,
  type StoredRecord,
  toStored,
} from "./entry.ts";

/** A record in the middle of a replay: parsed once a change has come. */
type Replayed = StoredRecord | { readonly record: TaskRecord };

/** The records of a log that is being read. */
export class Replay {
  readonly #file: string;
  readonly #records = new Map<string, Replayed>();

  /** @param file The log, for errors. */
  constructor(file: string) {
    this.#file = file;
  }

  /**
   * Takes the next entry.
   *
   * @param body The entry.
   * @param offset Where it is in the file.
   * @throws {StoreDamagedError} `ERR_STORE_DAMAGED`: it does not fit what came before.
   */
  apply(body: string, offset: number): void {
    const entry = this.#parse(body, offset);
    if ("put" in entry) {
      const { put } = entry;
      this.#records.set(put.taskId, toStored(put, putText(body)));
    } else if ("change" in entry) {
      const record = this.#parsed(entry.change);
      if (!record || record.version !== entry.version - 1) {
        throw new StoreDamagedError(
          this.#file,
          offset,
          `an entry makes version ${entry.version} of a task that is ${
            record ? `at version ${record.version}` : "not there"
          }`,
        );
      }
      applyChange(record, entry);
    } else this.#records.delete(entry.delete);
  }

  /**
   * Ends the replay.
   *
   * @returns The records.
   */
  finish(): Map<string, StoredRecord> {
    for (const [taskId, replayed] of this.#records) {
      if (!("record" in replayed)) continue;
      const { record } = replayed;
      this.#records.set(taskId, toStored(record, JSON.stringify(record)));
    }
    return this.#records as Map<string, StoredRecord>;
  }

  #parse(body: string, offset: number): LogEntry {
    let entry: Partial<Record<string, unknown>>;
    try {
      entry = JSON.parse(body) ?? {};
    } catch {
      entry = {};
    }
    const { put, change } = entry;
    if (
      typeof change === "string" || typeof entry.delete === "string" ||
      typeof (put as TaskRecord | undefined)?.taskId === "string"
    ) return entry as unknown as LogEntry;
    throw new StoreDamagedError(
      this.#file,
      offset,
      "an entry is neither a put, a change nor a deletion",
    );
  }

  #parsed(taskId: string): TaskRecord | undefined {
    const replayed = this.#records.get(taskId);
    if (!replayed) return undefined;
    if ("record" in replayed) return replayed.record;
    const record: TaskRecord = JSON.parse(replayed.text);
    this.#records.set(taskId, { record });
    return record;
  }
}
