import type { TaskLifecycle } from "../../mod.ts";

/**
 * Counts the listeners on the tasks of a lifecycle, from now on.
 *
 * @param tasks The lifecycle.
 * @returns Tells how many there are that nobody has unsubscribed.
 */
export function countListeners(tasks: TaskLifecycle): () => number {
  let listeners = 0;
  const subscribe = tasks.onTaskChanged.bind(tasks);
  tasks.onTaskChanged = (taskId, listener, options) => {
    const unsubscribe = subscribe(taskId, listener, options);
    let on = true;
    listeners++;
    return () => {
      if (on) listeners--;
      on = false;
      unsubscribe();
    };
  };
  return () => listeners;
}
