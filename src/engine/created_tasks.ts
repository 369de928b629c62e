/** Tasks that this process has just created, and nobody has changed since. */

import type { TaskRecord } from "../model/record.ts";

/** So many are kept at least, and twice as many at most. */
const KEPT = 128;

/** Spares a look at the record of a task whose work begins right after its creation, as it mostly does. */
export class CreatedTasks {
  #young: Map<string, TaskRecord> = new Map();
  #old: Map<string, TaskRecord> = new Map();

  /**
   * Keeps a record that was created.
   *
   * @param record The record. It never changes.
   */
  add(record: TaskRecord): void {
    if (this.#young.size === KEPT) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(record.taskId, record);
  }

  /**
   * Tells how a task was created.
   *
   * @param taskId The task.
   * @returns Its record; `undefined` if it is not known that nothing has changed.
   */
  get(taskId: string): TaskRecord | undefined {
    return this.#young.get(taskId) ?? this.#old.get(taskId);
  }

  /**
   * Says that a task was seen again: it may have changed.
   *
   * @param taskId The task.
   */
  forget(taskId: string): void {
    this.#young.delete(taskId);
    this.#old.delete(taskId);
  }
}
