/** Listeners on the committed changes of a task. */

import { copyJson } from "../model/json.ts";
import type { GetTaskResult } from "../model/wire.ts";
import type { Emit } from "./events.ts";

/** Hears of each committed change of a task, as `tasks/get` would show it. */
export type TaskListener = (task: GetTaskResult) => void;

/** How to listen to a task. */
export interface ListenOptions {
  /**
   * Called once when the subscription has ended by itself, after the last
   * change was heard: the task has ended or does not exist any more, or the
   * lifecycle closes. Not called for a subscription that its owner ended.
   *
   * @default nothing
   */
  readonly onEnd?: () => void;
}

/** A listener that is subscribed. */
export interface Subscription {
  /** Tells it of a change, later and in order; whatever it throws hurts nobody. */
  tell(task: GetTaskResult): void;
  /** Ends it once what it was told has been delivered. */
  end(): void;
  /** Ends it at once. */
  cancel(): void;
}

/**
 * Makes a subscription.
 *
 * @param taskId The task.
 * @param listener The host's listener.
 * @param options How.
 * @param emit Where its errors go.
 * @returns The subscription.
 */
export function createSubscription(
  taskId: string,
  listener: TaskListener,
  options: ListenOptions,
  emit: Emit,
): Subscription {
  let cancelled = false;
  let ended = false;
  const report = (error: unknown) =>
    emit({ type: "error", operation: "onTaskChanged listener", taskId, error });
  const later = (call: () => unknown) =>
    queueMicrotask(() => {
      if (cancelled) return;
      try {
        Promise.resolve(call()).catch(report);
      } catch (error) {
        report(error);
      }
    });
  return {
    tell(task) {
      if (ended) return;
      const snapshot = copyJson(task);
      later(() => listener(snapshot));
    },
    end() {
      if (ended) return;
      ended = true;
      later(() => options.onEnd?.());
    },
    cancel() {
      ended = true;
      cancelled = true;
    },
  };
}
