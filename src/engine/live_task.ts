/** What this process holds of one task: a signal, waiters, listeners, a deadline. */

import {
  LifecycleClosedError,
  TaskAlreadyTerminalError,
  TaskCancelled,
  TaskNotFoundError,
} from "../errors.ts";
import { headOf, type TaskHead, type TaskRecord } from "../model/record.ts";
import { isTerminalStatus, type TaskStatus } from "../model/status.ts";
import { toGetTaskResult } from "../model/wire.ts";
import type { Subscription } from "./listeners.ts";
import type { Waiter } from "./waiters.ts";

/** How a record came before our eyes. */
export interface Sight {
  /** This process has just written it. */
  readonly committed: boolean;
  /** The write changed what a client sees. */
  readonly visible: boolean;
  /** All of it is there; else its head, and the payloads that the write set. */
  readonly whole: boolean;
}

/** A record that was read. */
export const READ: Sight = { committed: false, visible: false, whole: true };

/** A head that was read. */
export const READ_HEAD: Sight = { ...READ, whole: false };

const WRITES: readonly Sight[] = [false, true].flatMap((visible) =>
  [false, true].map((whole) => ({ committed: true, visible, whole }))
);

/**
 * How this process sees what it has just written.
 *
 * @param visible Whether a client sees the change.
 * @param whole Whether all of the record is there.
 * @returns The sight.
 */
export function sightOfWrite(visible: boolean, whole: boolean): Sight {
  return WRITES[(visible ? 2 : 0) + (whole ? 1 : 0)];
}

/** Most tasks have nobody who waits or listens: it is for all of them. */
const NOBODY: readonly never[] = [];

/**
 * One task in this process. Records come in as they are seen, in any order and
 * as often as one likes; what follows from them happens once.
 */
export class LiveTask {
  /** The task. */
  readonly taskId: string;
  /** Calls that wait for answers. */
  waiters: readonly Waiter[] = NOBODY;
  /** Listeners on changes. */
  subscriptions: readonly Subscription[] = NOBODY;
  /** Whether a handle was made, so that the signal has to be kept. */
  held = false;
  /** How many of its waiters are in the totals. */
  countedWaiters = 0;
  /** How many of its listeners are in the totals. */
  countedListeners = 0;

  /** Keys whose answers a waiter in this process got. */
  #deliveredKeys: Set<string> | undefined;
  /** Made when somebody asks for the signal: most handles are never asked. */
  #controller: AbortController | undefined;
  #stopped: { readonly reason: unknown } | undefined;
  #seen: TaskView | undefined;
  /** A commit of this process that listeners are still to hear of. */
  #owes = false;

  /** @param taskId The task. */
  constructor(taskId: string) {
    this.taskId = taskId;
  }

  /** Aborts at a cancel, at the end of the TTL, on close, and when another process ended the task. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#stopped) this.#controller.abort(this.#stopped.reason);
    }
    return this.#controller.signal;
  }

  /**
   * Adds a call that waits for answers.
   *
   * @param waiter The call.
   */
  addWaiter(waiter: Waiter): void {
    if (this.waiters.length === 0) this.waiters = [];
    (this.waiters as Waiter[]).push(waiter);
  }

  /**
   * Adds a listener.
   *
   * @param subscription The listener.
   */
  subscribe(subscription: Subscription): void {
    if (this.subscriptions.length === 0) this.subscriptions = [];
    (this.subscriptions as Subscription[]).push(subscription);
  }

  /**
   * Takes a listener away.
   *
   * @param subscription The listener.
   */
  unsubscribe(subscription: Subscription): void {
    const at = this.subscriptions.indexOf(subscription);
    if (at >= 0) (this.subscriptions as Subscription[]).splice(at, 1);
  }

  /** The newest head that was seen; `undefined` before the first. */
  get head(): TaskHead | undefined {
    return this.#seen?.head;
  }

  /** Its version; 0 before the first. */
  get version(): number {
    return this.#seen?.head.version ?? 0;
  }

  /**
   * Whether a record says what is not known yet.
   *
   * @param record The record, or its head.
   * @returns Whether to show it.
   */
  isNews(record: TaskHead): boolean {
    return record.version > this.version ||
      record.version === this.version && this.#isPartial;
  }

  /**
   * Whether more than the head of a record is needed to draw its consequences.
   *
   * @param record The head, with the payloads that a write set.
   * @param sight How it was seen.
   * @returns Whether the record has to be read.
   */
  lacks(record: TaskRecord, sight: Sight): boolean {
    if (sight.whole) return false;
    const { status, version } = record;
    const isHeard = this.subscriptions.length > 0;
    if (sight.committed) {
      return isHeard && sight.visible && status === "input_required";
    }
    if (version === this.version) return this.wantsRecord;
    if (version < this.version) return false;
    return isHeard && !isEmpty(status) ||
      this.waiters.length > 0 && !isTerminalStatus(status);
  }

  /** Whether somebody listens, and it is not known what there is to be told of. */
  get wantsRecord(): boolean {
    return this.subscriptions.length > 0 && this.#isPartial;
  }

  /** Whether the newest version that was seen is not known as a whole. */
  get #isPartial(): boolean {
    return this.#owes ||
      this.#seen !== undefined && this.#seen.openKeys === undefined;
  }

  /** Whether nobody is interested any more. */
  get idle(): boolean {
    return !this.held && this.waiters.length === 0 &&
      this.subscriptions.length === 0;
  }

  /**
   * Whether a key's answer belongs to a waiter of this process.
   *
   * @param key The key.
   * @returns Whether one waits for it, or has got it.
   */
  isSpokenFor(key: string): boolean {
    return this.#deliveredKeys?.has(key) ||
      this.waiters.some(({ keys }) => keys.includes(key));
  }

  /**
   * Draws the consequences of a record that does not {@linkcode lacks | lack}
   * anything; of one that does, listeners hear when it was read.
   *
   * @param record The record, or its head.
   * @param sight How it was seen.
   * @returns Whether the task has ended.
   */
  see(record: TaskRecord, sight: Sight): boolean {
    this.#offer(record);
    const terminal = isTerminalStatus(record.status);
    if (
      record.cancelRequestedAt !== undefined || record.status === "cancelled"
    ) {
      this.#stop(() => new TaskCancelled(this.taskId));
    } else if (terminal) {
      const reason = () =>
        new TaskAlreadyTerminalError(this.taskId, record.status);
      if (sight.committed) this.#rejectWaiters(reason);
      else this.#stop(reason);
    }
    this.#tell(record, sight, terminal);
    return terminal;
  }

  /** The task does not exist any more. */
  end(): void {
    this.#stop(() => new TaskNotFoundError(this.taskId));
    this.#endSubscriptions();
  }

  /** The lifecycle closes. */
  close(): void {
    this.#stop(() =>
      new LifecycleClosedError(`go on with task ${this.taskId}`)
    );
    this.#endSubscriptions();
  }

  #offer(record: TaskRecord): void {
    if (this.waiters.length === 0) return;
    this.waiters = this.waiters.filter((waiter) => {
      if (!waiter.offer(record)) return true;
      this.#deliveredKeys ??= new Set();
      for (const key of waiter.keys) this.#deliveredKeys.add(key);
      return false;
    });
  }

  #tell(record: TaskRecord, sight: Sight, terminal: boolean): void {
    const before = this.#seen;
    const lacking = this.lacks(record, sight);
    const news = this.isNews(record);
    const newer = record.version > this.version;
    if (news) this.#seen = viewOf(record, sight, before);
    const changed = sight.committed ? sight.visible : news && this.#owes ||
      newer && (before ? differ(before, this.#seen!) : terminal);
    if (changed) {
      this.#owes = lacking;
      if (lacking) return;
      if (this.subscriptions.length === 0) return;
      const task = toGetTaskResult(record);
      for (const subscription of this.subscriptions) subscription.tell(task);
    }
    if (terminal) this.#endSubscriptions();
  }

  /** The first reason counts. */
  #stop(makeReason: () => unknown): void {
    if (this.#stopped) return this.#rejectWaiters(makeReason);
    const reason = makeReason();
    this.#stopped = { reason };
    this.#controller?.abort(reason);
    this.#rejectWaiters(() => reason);
  }

  #rejectWaiters(reason: () => unknown): void {
    if (this.waiters.length === 0) return;
    const error = reason();
    for (const waiter of this.waiters) waiter.reject(error);
    this.waiters = NOBODY;
  }

  #endSubscriptions(): void {
    for (const subscription of this.subscriptions) subscription.end();
    this.subscriptions = NOBODY;
  }
}

/** Enough of a record to tell whether a client would see a difference. */
interface TaskView {
  readonly head: TaskHead;
  /** The keys of the open requests; `undefined` where only the head was seen. */
  readonly openKeys: string | undefined;
}

function viewOf(
  record: TaskRecord,
  sight: Sight,
  before: TaskView | undefined,
): TaskView {
  const { status, version } = record;
  return {
    head: sight.whole ? headOf(record) : record,
    openKeys: status !== "input_required"
      ? ""
      : sight.whole
      ? JSON.stringify(Object.keys(record.inputRequests ?? {}))
      // What is written by the head alone leaves the requests as they are.
      : sight.committed && before?.head.version === version - 1
      ? before.openKeys
      : undefined,
  };
}

/** Whether a client would see a difference. */
function differ(before: TaskView, after: TaskView): boolean {
  const { head: one } = before;
  const { head: other } = after;
  return one.status !== other.status ||
    one.statusMessage !== other.statusMessage ||
    one.lastUpdatedAt !== other.lastUpdatedAt ||
    one.ttlMs !== other.ttlMs ||
    one.pollIntervalMs !== other.pollIntervalMs ||
    (before.openKeys ?? after.openKeys) !== after.openKeys;
}

/** Whether a task in this state shows nothing but its head. */
function isEmpty(status: TaskStatus): boolean {
  return status === "working" || status === "cancelled";
}
