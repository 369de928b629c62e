/** The tool: work that takes long, in slices that are each kept. */

import { z } from "zod";
import type { TaskHandle } from "@mcp-durable/tasks";
import type { ToolResult } from "@mcp-durable/tasks/mcp";
import type { Job, Jobs } from "./jobs.ts";

/** How many numbers are looked at before the state is kept. */
const SLICE = 1_000;

/** What the tool is, for the servers that offer it and for the jobs that are taken up. */
export const COUNT_PRIMES = {
  description: "Counts the primes up to a number",
  inputSchema: z.object({
    upTo: z.number().int().min(2).max(10_000_000),
    paceMs: z.number().int().min(0).max(10_000).default(100),
  }),
  outputSchema: z.object({ primes: z.number() }),
  task: { support: "required", ttlMs: 3_600_000, pollIntervalMs: 250 },
} as const;

/**
 * Counts, from the beginning or from where the object before got to.
 *
 * @param args The arguments of the tool.
 * @param task The task.
 * @param job How far it is.
 * @param jobs Where that is kept.
 * @returns The result of the tool.
 */
export async function countPrimes(
  { upTo, paceMs }: z.output<typeof COUNT_PRIMES.inputSchema>,
  task: TaskHandle,
  job: Job,
  jobs: Jobs,
): Promise<ToolResult> {
  while (job.seen < upTo) {
    await new Promise((resolve) => setTimeout(resolve, paceMs));
    task.signal.throwIfAborted();
    const seen = Math.min(job.seen + SLICE, upTo);
    const primes = job.primes + primesBetween(job.seen + 1, seen);
    await jobs.put(job = { ...job, seen, primes });
    await task.progress(`${seen} of ${upTo} numbers, ${primes} primes`);
  }
  return {
    content: [{ type: "text", text: `${job.primes} primes up to ${upTo}` }],
    structuredContent: { primes: job.primes },
  };
}

function primesBetween(from: number, to: number): number {
  let count = 0;
  for (let n = from; n <= to; n++) {
    let divisor = 2;
    while (divisor * divisor <= n && n % divisor !== 0) divisor++;
    if (divisor * divisor > n) count++;
  }
  return count;
}
