/** The states of a task, and which of them are final (rule I2). */

/** The state of a task. */
export type TaskStatus =
  | "working"
  | "input_required"
  | "completed"
  | "failed"
  | "cancelled";

/** A state that a task never leaves. */
export type TerminalTaskStatus = "completed" | "failed" | "cancelled";

/**
 * Tells whether a status is final (rule I2).
 *
 * @param status The status.
 * @returns Whether it is `completed`, `failed` or `cancelled`.
 *
 * @example
 * ```ts
 * import { isTerminalStatus } from "@mcp-durable/tasks";
 *
 * console.log(isTerminalStatus("input_required")); // false
 * console.log(isTerminalStatus("failed")); // true
 * ```
 */
export function isTerminalStatus(
  status: TaskStatus,
): status is TerminalTaskStatus {
  return status === "completed" || status === "failed" ||
    status === "cancelled";
}
