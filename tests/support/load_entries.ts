/** Loads every entry and makes a lifecycle: a process that does just this has nothing to wait for. */
import { MemoryTaskStore, TaskLifecycle } from "../../mod.ts";
import "../../cloudflare.ts";
import "../../deno_kv.ts";
import "../../mcp.ts";
import "../../testing.ts";
import "../../wal.ts";

new TaskLifecycle({ store: new MemoryTaskStore(), sweepIntervalMs: 90_000 });
