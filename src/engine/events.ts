/** What an operator sees, and how it is told so that it cannot change an outcome. */

/** How a worker's throw ended its task; `none`: nothing was written. */
export type WorkerOutcome = "completed" | "failed" | "cancelled" | "none";

/** Something that an operator may want to know. */
export type TaskEvent =
  | {
    /** An unexpected error, with its cause. */
    readonly type: "error";
    /** What was being done. */
    readonly operation: string;
    /** The task, where it is about one. */
    readonly taskId?: string;
    /** What was thrown. */
    readonly error: unknown;
  }
  | {
    /** A worker threw. */
    readonly type: "worker_error";
    /** Its task. */
    readonly taskId: string;
    /** What was thrown. */
    readonly error: unknown;
    /** How the task ended for it. */
    readonly outcome: WorkerOutcome;
  }
  | {
    /** Expired tasks were deleted. */
    readonly type: "sweep";
    /** How many. */
    readonly deleted: number;
  };

/** Tells the operator. */
export type Emit = (event: TaskEvent) => void;

/**
 * Makes a host's listener one that never throws.
 *
 * @param onEvent The host's listener.
 * @returns The same, safe to call anywhere.
 */
export function safeEmit(onEvent: Emit | undefined): Emit {
  return (event) => {
    try {
      onEvent?.(event);
    } catch {
      // The operator's eye must not change what it sees.
    }
  };
}
