/**
 * The states of all tasks, twice: committed, which readers see, and appended,
 * which a create or an update is judged by. They differ in what is on its way to
 * the disk.
 */

import { ExpiryQueue } from "./expiry_queue.ts";
import type { Fields, PartRef, TaskState } from "./task_state.ts";

/** What becomes of a task, on its way to the disk. */
export interface StagedChange {
  /** The task. */
  readonly taskId: string;
  /** The appended state before it; `undefined`: there was none. */
  readonly before: TaskState | undefined;
  /** Its state; `undefined`: it is deleted. */
  readonly state: TaskState | undefined;
  /** What the state holds: it cannot be read from the disk yet. */
  readonly fields: Fields | undefined;
  /** Parts that cannot be read from where they will be. */
  readonly texts: UnwrittenParts | undefined;
}

/** By part: its JSON, or where the same bytes are as long as it is not written. */
export type UnwrittenParts = ReadonlyMap<PartRef, string | PartRef>;

/** All tasks of a store. */
export class Records {
  readonly #committed: Map<string, TaskState>;
  readonly #staged = new Map<string, StagedChange>();
  #expiry = new ExpiryQueue();
  #aliveBytes = 0;

  /** @param committed What the log holds. */
  constructor(committed: Map<string, TaskState>) {
    this.#committed = committed;
    for (const [taskId, state] of committed) {
      this.#aliveBytes += state.aliveBytes;
      state.segment.bases++;
      this.#expiry.push(taskId, state.expiresAt);
    }
  }

  /** Bytes that entries with all committed records take. */
  get aliveBytes(): number {
    return this.#aliveBytes;
  }

  /** How many tasks there are. */
  get size(): number {
    return this.#committed.size;
  }

  /** Whether anything is on its way to the disk. */
  get hasStaged(): boolean {
    return this.#staged.size > 0;
  }

  /** All committed states. */
  committedStates(): Iterable<[taskId: string, state: TaskState]> {
    return this.#committed;
  }

  /** What a reader sees. */
  committed(taskId: string): TaskState | undefined {
    return this.#committed.get(taskId);
  }

  /** What a writer is judged by. */
  appended(taskId: string): TaskState | undefined {
    const change = this.#staged.get(taskId);
    return change ? change.state : this.#committed.get(taskId);
  }

  /** What a writer is judged by, as long as it is not on the disk. */
  staged(taskId: string): StagedChange | undefined {
    return this.#staged.get(taskId);
  }

  /** Takes a change into the appended state. */
  stage(change: StagedChange): void {
    this.#staged.set(change.taskId, change);
    this.#expectNew(change);
  }

  /** Takes a staged change into the committed state. All that was staged before it has been. */
  commit(change: StagedChange): void {
    const { taskId } = change;
    this.#take(change);
    if (this.#staged.get(taskId) === change) this.#staged.delete(taskId);
  }

  /** Takes a change that is on the disk already into both states. Nothing is staged. */
  commitAtOnce(change: StagedChange): void {
    this.#take(change);
    this.#expectNew(change);
  }

  #take({ taskId, before, state }: StagedChange): void {
    if (before) {
      this.#aliveBytes -= before.aliveBytes;
      before.segment.bases--;
    }
    if (state) {
      this.#aliveBytes += state.aliveBytes;
      state.segment.bases++;
      this.#committed.set(taskId, state);
    } else this.#committed.delete(taskId);
  }

  #expectNew({ taskId, before, state }: StagedChange): void {
    if (state && before?.expiresAt !== state.expiresAt) {
      this.#expect(taskId, state.expiresAt);
    }
  }

  /** Takes the appended state back to the committed one. */
  rollBack(): void {
    for (const taskId of this.#staged.keys()) {
      const state = this.#committed.get(taskId);
      // It may have been taken out of the queue for what is now void.
      if (state) this.#expect(taskId, state.expiresAt);
    }
    this.#staged.clear();
  }

  /**
   * Takes ids whose time has come out of the queue. Who takes one deletes it, or
   * rolls back.
   *
   * @param now The time.
   * @param most How many ids at most.
   * @returns Ids whose appended state is expired.
   */
  takeExpired(now: number, most: number): string[] {
    const taken = new Set<string>();
    while (taken.size < most && this.#expiry.firstTime() <= now) {
      const time = this.#expiry.firstTime();
      const taskId = this.#expiry.pop();
      const state = this.appended(taskId);
      if (state?.expiresAt === time) taken.add(taskId);
    }
    return [...taken];
  }

  #expect(taskId: string, time: number): void {
    this.#expiry.push(taskId, time);
    const tasks = this.#committed.size + this.#staged.size;
    if (this.#expiry.length <= 2 * tasks + 1_000) return;
    // Most of it is no longer true.
    this.#expiry = new ExpiryQueue();
    for (const [taskId, state] of this.#committed) {
      this.#expiry.push(taskId, state.expiresAt);
    }
    for (const { taskId, state } of this.#staged.values()) {
      if (state) this.#expiry.push(taskId, state.expiresAt);
    }
  }
}
