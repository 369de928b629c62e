/** What is told of tasks on one stream: each as it is, then each of its changes. */

import { isLifecycleClosedError, isTaskNotFoundError } from "../errors.ts";
import { isTerminalStatus } from "../model/status.ts";
import type { GetTaskResult } from "../model/wire.ts";
import type { ListenHost } from "./listen_options.ts";
import { MAX_WAITING_FRAMES } from "./listen_queue.ts";
import { type Granted, LISTEN_METHOD } from "./listen_request.ts";
import { SUBSCRIPTION_ID_KEY } from "./protocol.ts";
import { completeTask } from "./result.ts";
import type { RequestId } from "./shapes.ts";

/** A `notifications/tasks`. */
export interface TaskNotification {
  /** The version of JSON-RPC. */
  readonly jsonrpc: "2.0";
  /** The method. */
  readonly method: "notifications/tasks";
  /** The whole task, and the id of the subscription. */
  readonly params: object;
}

/** Where a stream goes. */
export interface TaskSink {
  /** Sends a notification. */
  send(notification: TaskNotification): void;
  /** Resolves when the reader has read what was sent. */
  whenRead(): Promise<void>;
  /** Nothing more will be sent: the tasks have ended, or the lifecycle was closed. */
  done(): void;
  /** Nothing more will be sent, though there would be more to say. */
  lost(): void;
}

/** Tells one client of some tasks. */
export class TaskStream {
  readonly #host: ListenHost;
  readonly #granted: Granted;
  readonly #subscriptionId: RequestId;
  readonly #sink: TaskSink;
  /** The tasks that have not ended, and what ends listening to each. */
  readonly #open: Map<string, () => void> = new Map();
  #introduced = false;
  #stopped = false;

  /**
   * @param host What all streams share.
   * @param granted What the client may listen to.
   * @param subscriptionId The id of its request.
   * @param sink Where to send.
   */
  constructor(
    host: ListenHost,
    granted: Granted,
    subscriptionId: RequestId,
    sink: TaskSink,
  ) {
    this.#host = host;
    this.#granted = granted;
    this.#subscriptionId = subscriptionId;
    this.#sink = sink;
  }

  /** Starts, after the acknowledgement was sent. */
  start(): void {
    void this.#introduce();
  }

  /** Ends it: nothing more is sent, and nobody is listened to. */
  stop(): void {
    this.#stopped = true;
    for (const unsubscribe of this.#open.values()) unsubscribe();
    this.#open.clear();
  }

  /** Sends each task, at the speed of the reader: however many there are, it does not fall behind. */
  async #introduce(): Promise<void> {
    for (const [taskId, method] of this.#granted.tasks) {
      await this.#sink.whenRead();
      if (this.#stopped) return;
      try {
        await this.#follow(taskId, method);
      } catch (error) {
        this.#forget(taskId);
        if (this.#stopped) return;
        if (isLifecycleClosedError(error)) return this.#done();
        if (isTaskNotFoundError(error)) continue;
        this.#report(error, taskId);
        return this.#lost();
      }
    }
    this.#introduced = true;
    this.#doneIfAllEnded();
  }

  /**
   * Sends a task and then its changes. It is read while changes are already
   * heard of, so that none falls between; what the read shows is then found
   * among them, and not sent again.
   */
  async #follow(taskId: string, method: string): Promise<void> {
    const { tasks } = this.#host;
    const { access } = this.#granted;
    const early: GetTaskResult[] = [];
    let hear = (task: GetTaskResult) => {
      early.push(task);
      if (early.length > MAX_WAITING_FRAMES) this.#lost();
    };
    const onEnd = () => {
      this.#forget(taskId);
      this.#doneIfAllEnded();
    };
    const unsubscribe = tasks.onTaskChanged(
      taskId,
      (task) => hear(task),
      { onEnd },
    );
    this.#open.set(taskId, unsubscribe);
    const snapshot = await tasks.getTask(taskId, access);
    if (this.#stopped) return;

    const shown = viewOf(snapshot);
    const at = early.findLastIndex((task) => viewOf(task) === shown);
    // A read may show a change before its own writer gets to tell of it.
    let toldOf = early.length > 0;
    hear = (task) => {
      const again = !toldOf && viewOf(task) === shown;
      toldOf = true;
      if (!again) this.#send(task, method);
    };
    this.#send(snapshot, method);
    for (const task of early.slice(at + 1)) this.#send(task, method);
  }

  #send(task: GetTaskResult, method: string): void {
    if (this.#stopped) return;
    const { resultType: _, ...params } = completeTask(task, method);
    this.#sink.send({
      jsonrpc: "2.0",
      method: "notifications/tasks",
      params: {
        ...params,
        _meta: { [SUBSCRIPTION_ID_KEY]: this.#subscriptionId },
      },
    });
    if (isTerminalStatus(task.status)) this.#forget(task.taskId);
    this.#doneIfAllEnded();
  }

  #forget(taskId: string): void {
    this.#open.get(taskId)?.();
    this.#open.delete(taskId);
  }

  #doneIfAllEnded(): void {
    if (this.#introduced && this.#open.size === 0) this.#done();
  }

  #done(): void {
    if (this.#stopped) return;
    this.stop();
    this.#sink.done();
  }

  #lost(): void {
    if (this.#stopped) return;
    this.stop();
    this.#sink.lost();
  }

  #report(error: unknown, taskId: string): void {
    try {
      this.#host.onError?.(error, { method: LISTEN_METHOD, taskId });
    } catch {
      // A listener that throws must not end the stream.
    }
  }
}

/**
 * Enough of a task to tell two of its versions apart. The payloads are not
 * needed: they come with the last status, and a key of an input request names
 * one request for ever. Nor could they be compared: a store may keep the
 * members of an object in another order.
 */
function viewOf(task: GetTaskResult): string {
  const keys = task.status === "input_required"
    ? Object.keys(task.inputRequests).sort()
    : [];
  return JSON.stringify([
    task.status,
    task.statusMessage ?? null,
    task.lastUpdatedAt,
    task.ttlMs,
    task.pollIntervalMs ?? null,
    keys,
  ]);
}
