/** A store that takes over, without a log: it keeps what it has through every crash. */

import type { TaskRecord } from "../../mod.ts";
import type {
  ForeignChange,
  TakeoverTarget,
} from "../../src/wal/takeover_target.ts";

/** The store. */
export class MapTarget implements TakeoverTarget {
  /** What it has; NaN: the task is damaged. */
  readonly tasks: Map<string, TaskRecord | typeof NaN> = new Map();
  /** Is called before each change of a `take()`. A crash is what it throws. */
  beforeChange: () => void | Promise<void> = () => {};

  /** Is called at the end of a `take()`. */
  afterTake: () => void = () => {};

  version(taskId: string): number | undefined {
    const task = this.tasks.get(taskId);
    return typeof task === "number" ? NaN : task?.version;
  }

  read(taskId: string): TaskRecord | undefined {
    const task = this.tasks.get(taskId);
    return typeof task === "number" ? undefined : task;
  }

  async take(
    changes: readonly ForeignChange[],
  ): Promise<readonly ForeignChange[]> {
    const refused: ForeignChange[] = [];
    for (const change of changes) {
      await this.beforeChange();
      const { taskId, expected, record, doubt } = change;
      if (this.version(taskId) !== expected) refused.push(change);
      else if (doubt) this.tasks.set(taskId, NaN);
      else if (record) this.tasks.set(taskId, structuredClone(record));
      else this.tasks.delete(taskId);
    }
    this.afterTake();
    return refused;
  }
}
