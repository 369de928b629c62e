/**
 * A store of tasks in a Deno KV: on Deno Deploy, or in a file that several
 * processes of one machine share, on Deno, Node and Bun.
 *
 * Deno has its KV where `deno.json` says `"unstable": ["kv"]`, or with
 * `--unstable-kv`; on Node and Bun it is the package `@deno/kv`. The store
 * takes the open handle and imports neither.
 *
 * @example
 * ```ts
 * import { DenoKvTaskStore } from "@mcp-durable/tasks/deno-kv";
 *
 * const kv = await Deno.openKv(":memory:");
 * const store = new DenoKvTaskStore(kv, { durable: false });
 * console.log(await store.get("unknown")); // undefined
 * await store.close();
 * kv.close();
 * ```
 *
 * @module
 */

export { DEFAULT_MAX_ENTRY_BYTES } from "./src/model/limits.ts";
export { DenoKvTaskStore } from "./src/deno_kv/deno_kv_task_store.ts";
export type { DenoKvTaskStoreOptions } from "./src/deno_kv/options.ts";
export type {
  DenoKv,
  DenoKvAtomic,
  DenoKvCheck,
  DenoKvCommit,
  DenoKvEntry,
  DenoKvKey,
  DenoKvRange,
  DenoKvStream,
} from "./src/deno_kv/shape.ts";
export type { StoreDamage } from "./src/store/damage.ts";
export type { TaskStore, TaskStoreTraits } from "./src/store/contract.ts";
