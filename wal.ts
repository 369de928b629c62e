/**
 * A store of tasks that survives crashes: a write-ahead log in a directory, for
 * one process at a time, on Deno, Node and Bun.
 *
 * @example
 * ```ts
 * import { WalTaskStore } from "@mcp-durable/tasks/wal";
 * import { mkdtempSync, rmSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 *
 * const dir = mkdtempSync(join(tmpdir(), "tasks-"));
 * const store = await WalTaskStore.open({ dir, fsync: true });
 * console.log(await store.get("unknown")); // undefined
 * await store.close();
 * rmSync(dir, { recursive: true });
 * ```
 *
 * @module
 */

export { DEFAULT_MAX_ENTRY_BYTES } from "./src/model/limits.ts";
export type { WalDamage } from "./src/wal/damage.ts";
export type { WalHealth } from "./src/wal/health.ts";
export type { WalTaskStoreOptions } from "./src/wal/options.ts";
export type {
  ProcessLog,
  ProcessLogEntry,
  ProcessLogStats,
  ProcessLogValue,
} from "./src/wal/process_log.ts";
export type { ProcessLogTaskStoreOptions } from "./src/wal/process_log_options.ts";
export type { WalTakeoverEvent } from "./src/wal/takeover_target.ts";
export { WalTaskStore } from "./src/wal/wal_task_store.ts";
export type { TaskStore, TaskStoreTraits } from "./src/store/contract.ts";
