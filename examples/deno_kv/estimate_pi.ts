/** The tool: work that takes long, in slices that are each kept. */

import { z } from "zod";
import type { TaskHandle } from "@mcp-durable/tasks";
import type { TaskToolCall, ToolResult } from "@mcp-durable/tasks/mcp";
import type { Jobs } from "./jobs.ts";

/** How many points are drawn before the state is kept. */
const SLICE = 10_000;

/** How long a slice takes, so that there is something to wait for. */
const PACE_MS = 100;

/** What the tool is, for the servers that offer it and for the jobs that are taken up. */
export const ESTIMATE_PI = {
  description: "Estimates pi by points that are drawn at random",
  inputSchema: z.object({ slices: z.number().int().min(1).max(10_000) }),
  outputSchema: z.object({ pi: z.number(), drawn: z.number() }),
  task: { support: "required", ttlMs: 3_600_000, pollIntervalMs: 250 },
} as const;

/**
 * Estimates, from the beginning or from where another instance got to.
 *
 * @param args The arguments of the tool.
 * @param task The task.
 * @param call The call that became the task.
 * @param jobs Where it is kept how far the work is.
 * @returns The result of the tool.
 */
export async function estimatePi(
  { slices }: z.output<typeof ESTIMATE_PI.inputSchema>,
  task: TaskHandle,
  call: TaskToolCall,
  jobs: Jobs,
): Promise<ToolResult> {
  const points = slices * SLICE;
  let job = await jobs.take(task.taskId, call);
  while (job && job.drawn < points) {
    await new Promise((resolve) => setTimeout(resolve, PACE_MS));
    task.signal.throwIfAborted();
    const drawn = job.drawn + SLICE;
    const inside = job.inside + pointsInside(SLICE);
    job = await jobs.keep({ ...job, drawn, inside });
    if (job) await task.progress(`${drawn} of ${points} points`);
  }
  if (!job) return await endOf(task);
  const pi = 4 * job.inside / job.drawn;
  return {
    content: [{ type: "text", text: `pi is about ${pi}` }],
    structuredContent: { pi, drawn: job.drawn },
  };
}

/** Waits until the task has ended: another instance has taken its job, and brings it to an end. */
function endOf({ signal }: TaskHandle): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

function pointsInside(count: number): number {
  let inside = 0;
  for (let i = 0; i < count; i++) {
    if (Math.hypot(Math.random(), Math.random()) < 1) inside++;
  }
  return inside;
}
