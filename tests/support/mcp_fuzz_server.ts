/**
 * An MCP server over HTTP as a process of its own, which tells of all that must
 * not happen: `mcp_fuzz_server.ts memory` or `mcp_fuzz_server.ts wal DIR`. For
 * each line on its standard input it writes a {@linkcode FuzzReport}.
 */

import process from "node:process";
import { createInterface } from "node:readline";
import { MemoryTaskStore } from "../../mod.ts";
import { WalTaskStore } from "../../wal.ts";
import { startListenHost } from "./mcp_listen.ts";
import { registerTools } from "./mcp_tools.ts";
import { runtime } from "./runner.ts";

/** What the server tells of itself. */
export interface FuzzReport {
  /** What it was asked with. */
  readonly question: string;
  /** The bytes on the heap after a garbage collection. */
  readonly heapBytes: number;
  /** Rejections and exceptions that nobody handled. */
  readonly unhandled: readonly string[];
  /** What the adapter told the host, and hid from the client. */
  readonly hidden: readonly string[];
  /** How many listen to a task. */
  readonly listeners: number;
}

const unhandled: string[] = [];
for (const event of ["unhandledRejection", "uncaughtException"]) {
  process.on(event, (error) => unhandled.push(`${event}: ${describe(error)}`));
}

const hidden: string[] = [];
const onError = (error: unknown) => void hidden.push(describe(error));

const [kind, dir] = process.argv.slice(2);
const host = await startListenHost({
  store: kind === "wal" ? new WalTaskStore({ dir }) : new MemoryTaskStore(),
  tools({ registerTool }, mcp) {
    // It outlives the others: what it says has to be read, however slow the machine is.
    registerTool("good", {
      task: { support: "required", ttlMs: 600_000 },
    }, () => ({ content: [{ type: "text", text: "good" }] }));
    registerTools({
      // So that no task lives longer than the lifecycle's own TTL.
      registerTool: (name, config, worker) =>
        registerTool(name, {
          ...config,
          task: { support: config.task?.support },
        }, worker),
    }, mcp);
  },
  attach: { onError },
  notifications: { onError },
  // So short that the memory of what the frames create comes back in time.
  lifecycle: {
    defaultTtlMs: 1_500,
    defaultPollIntervalMs: 20,
    sweepIntervalMs: 250,
  },
});
console.log(host.url.href);

for await (const question of createInterface({ input: process.stdin })) {
  await collectGarbage();
  const report: FuzzReport = {
    question,
    heapBytes: await heapBytes(),
    unhandled,
    hidden,
    listeners: host.listeners(),
  };
  console.log(JSON.stringify(report));
}
await host.close();

function describe(error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : `${error}`;
}

async function collectGarbage(): Promise<void> {
  const { gc, Bun } = globalThis as unknown as {
    gc?: () => void;
    Bun?: { gc(sync: boolean): void };
  };
  // What one round frees lets another free more, finalizers for example.
  for (let round = 0; round < 3; round++) {
    if (Bun) Bun.gc(true);
    else gc!();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function heapBytes(): Promise<number> {
  if (runtime !== "bun") return process.memoryUsage().heapUsed;
  const name = "bun:jsc"; // What `memoryUsage()` tells on Bun stands still.
  const { heapStats } = await import(name);
  return heapStats().heapSize;
}
