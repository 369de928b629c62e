/** What mcp-durable-tasks does with its log: an old process, in this one. */

import type { TaskRecord } from "../../mod.ts";
import type { ProcessLogValue } from "../../src/wal/process_log.ts";
import { ProcessWal } from "./process_wal.ts";

/** An old process. */
export class OldProcess {
  /** Its log. */
  readonly wal: ProcessWal<ProcessLogValue>;
  /** Its tasks. */
  readonly tasks: Map<string, TaskRecord> = new Map();

  /** @param dir Its directory. */
  constructor(dir: string) {
    this.wal = new ProcessWal(dir, 64 * 1024 * 1024);
    for (const { value } of this.wal.replay()) {
      if (value.t === "put") this.tasks.set(value.record.taskId, value.record);
      else this.tasks.delete(value.taskId);
    }
  }

  /** Creates a task, or takes it to its next state. */
  put(record: TaskRecord): void {
    this.wal.append({ t: "put", record });
    this.tasks.set(record.taskId, record);
  }

  /** Deletes a task. */
  delete(taskId: string): void {
    this.wal.append({ t: "del", taskId });
    this.tasks.delete(taskId);
  }

  /** Appends every task once more, and drops what was there before. Where the log has lost its name, the last step fails. */
  compact(): void {
    this.beginCompact()?.();
  }

  /** Does all of it but the last step. */
  beginCompact(): (() => void) | undefined {
    const values = [...this.tasks.values()].map((record) => ({
      t: "put" as const,
      record,
    }));
    const [first] = this.wal.appendMany(values);
    this.wal.checkpoint(
      first === undefined ? this.wal.stats().lastSeq : first - 1,
    );
    try {
      return this.wal.beginCompact();
    } catch {
      return undefined; // The library reports it, and goes on.
    }
  }
}
