/** When the tasks end that this process holds something of. */

import { expiresAt } from "../model/expiry.ts";
import type { TaskRecord } from "../model/record.ts";
import type { Emit } from "./events.ts";
import type { LiveTask } from "./live_task.ts";
import { startTimer, type Timer } from "./timers.ts";

/**
 * A deadline looks at the clock at least this often, so that a clock that was
 * set is noticed.
 */
const CHECK_MS = 60_000;

/** The pause before a store is asked again that could not be read at a deadline. */
const RETRY_MS = 1_000;

/** When a live task ends, and the timer that looks. */
interface Deadline {
  /** What it follows from: the creation of a task never changes. */
  readonly ttlMs: number;
  readonly timer: Timer;
}

/** What deadlines need of the table of live tasks. */
export interface DeadlineTasks {
  /** Whether a live task is still in the table. */
  has(live: LiveTask): boolean;
  /** Reads a task and shows it; tells whether it could be read. */
  look(taskId: string): Promise<boolean>;
}

/** The deadlines of live tasks. */
export class Deadlines {
  readonly #clock: () => number;
  readonly #tasks: DeadlineTasks;
  readonly #emit: Emit;
  readonly #running: Map<LiveTask, Deadline> = new Map();

  /**
   * @param clock The one clock.
   * @param tasks The live tasks.
   * @param emit Where errors go.
   */
  constructor(clock: () => number, tasks: DeadlineTasks, emit: Emit) {
    this.#clock = clock;
    this.#tasks = tasks;
    this.#emit = emit;
  }

  /**
   * Looks at a task when its TTL ends.
   *
   * @param live The task.
   * @param record The newest that is known of it.
   */
  watch(live: LiveTask, record: TaskRecord): void {
    const { ttlMs } = record;
    const deadline = this.#running.get(live);
    if (deadline && deadline.ttlMs === ttlMs) return;
    this.stop(live);
    if (ttlMs === null) return;
    const at = expiresAt(record);
    const wait = (ms: number) => {
      this.#running.set(live, { ttlMs, timer: startTimer(check, ms) });
    };
    const check = () => {
      const leftMs = at - this.#now(live.taskId);
      if (leftMs > 0) wait(Math.min(leftMs, CHECK_MS));
      else void over();
    };
    const over = async () => {
      this.#running.delete(live);
      if (await this.#tasks.look(live.taskId)) return;
      if (this.#tasks.has(live) && !this.#running.has(live)) wait(RETRY_MS);
    };
    check();
  }

  /**
   * Forgets the deadline of a task.
   *
   * @param live The task.
   */
  stop(live: LiveTask): void {
    this.#running.get(live)?.timer.stop();
    this.#running.delete(live);
  }

  /** The time; a clock that is broken just now has to be asked again, not to bring the process down. */
  #now(taskId: string): number {
    try {
      return this.#clock();
    } catch (error) {
      this.#emit({ type: "error", operation: "read the clock", taskId, error });
      return -Infinity;
    }
  }
}
