/** What this process holds of one task: a signal, waiters, listeners, a deadline. */

import {
  LifecycleClosedError,
  TaskAlreadyTerminalError,
  TaskCancelled,
  TaskNotFoundError,
} from "../errors.ts";
import type { TaskRecord } from "../model/record.ts";
import { isTerminalStatus } from "../model/status.ts";
import { toGetTaskResult } from "../model/wire.ts";
import type { Subscription } from "./listeners.ts";
import type { Waiter } from "./waiters.ts";

/** How a record came before our eyes. */
export interface Sight {
  /** This process has just written it. */
  readonly committed: boolean;
  /** The write changed what a client sees. */
  readonly visible: boolean;
}

/** A record that was read. */
export const READ: Sight = { committed: false, visible: false };

/**
 * One task in this process. Records come in as they are seen, in any order and
 * as often as one likes; what follows from them happens once.
 */
export class LiveTask {
  /** The task. */
  readonly taskId: string;
  /** Aborts at a cancel, at the end of the TTL, on close, and when another process ended the task. */
  readonly controller: AbortController = new AbortController();
  /** Calls that wait for answers. */
  readonly waiters: Set<Waiter> = new Set();
  /** Listeners on changes. */
  readonly subscriptions: Set<Subscription> = new Set();
  /** Keys whose answers a waiter in this process got. */
  readonly deliveredKeys: Set<string> = new Set();
  /** Whether a handle was made, so that the signal has to be kept. */
  held = false;

  #seen: TaskView | undefined;

  /** @param taskId The task. */
  constructor(taskId: string) {
    this.taskId = taskId;
  }

  /** The newest version that was seen; 0 before the first. */
  get version(): number {
    return this.#seen?.version ?? 0;
  }

  /** Whether nobody is interested any more. */
  get idle(): boolean {
    return !this.held && this.waiters.size === 0 &&
      this.subscriptions.size === 0;
  }

  /**
   * Whether a key's answer belongs to a waiter of this process.
   *
   * @param key The key.
   * @returns Whether one waits for it, or has got it.
   */
  isSpokenFor(key: string): boolean {
    if (this.deliveredKeys.has(key)) return true;
    for (const waiter of this.waiters) {
      if (waiter.keys.includes(key)) return true;
    }
    return false;
  }

  /**
   * Draws the consequences of a record.
   *
   * @param record The record.
   * @param sight How it was seen.
   * @returns Whether the task has ended.
   */
  see(record: TaskRecord, sight: Sight): boolean {
    for (const waiter of this.waiters) {
      if (!waiter.offer(record)) continue;
      for (const key of waiter.keys) this.deliveredKeys.add(key);
      this.waiters.delete(waiter);
    }
    const terminal = isTerminalStatus(record.status);
    if (
      record.cancelRequestedAt !== undefined || record.status === "cancelled"
    ) {
      this.#stop(new TaskCancelled(this.taskId));
    } else if (terminal) {
      const reason = new TaskAlreadyTerminalError(this.taskId, record.status);
      if (sight.committed) this.#rejectWaiters(reason);
      else this.#stop(reason);
    }
    this.#tell(record, sight, terminal);
    return terminal;
  }

  /** The task does not exist any more. */
  end(): void {
    this.#stop(new TaskNotFoundError(this.taskId));
    this.#endSubscriptions();
  }

  /** The lifecycle closes. */
  close(): void {
    this.#stop(new LifecycleClosedError(`go on with task ${this.taskId}`));
    this.#endSubscriptions();
  }

  #tell(record: TaskRecord, sight: Sight, terminal: boolean): void {
    const before = this.#seen;
    const newer = record.version > this.version;
    if (newer) this.#seen = viewOf(record);
    const changed = sight.committed
      ? sight.visible
      : newer && (before ? before.text !== this.#seen?.text : terminal);
    if (changed) {
      const task = toGetTaskResult(record);
      for (const subscription of this.subscriptions) subscription.tell(task);
    }
    if (terminal) this.#endSubscriptions();
  }

  #stop(reason: unknown): void {
    this.controller.abort(reason);
    this.#rejectWaiters(reason);
  }

  #rejectWaiters(reason: unknown): void {
    for (const waiter of this.waiters) waiter.reject(reason);
    this.waiters.clear();
  }

  #endSubscriptions(): void {
    for (const subscription of this.subscriptions) subscription.end();
    this.subscriptions.clear();
  }
}

/** Enough of a record to tell whether a client would see a difference. */
interface TaskView {
  readonly version: number;
  readonly text: string;
}

function viewOf(record: TaskRecord): TaskView {
  return {
    version: record.version,
    text: JSON.stringify([
      record.status,
      record.statusMessage,
      record.lastUpdatedAt,
      record.ttlMs,
      record.pollIntervalMs,
      Object.keys(record.inputRequests ?? {}),
    ]),
  };
}
