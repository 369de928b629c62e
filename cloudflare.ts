/**
 * Stores of tasks on Cloudflare Workers, over the bindings that the caller
 * passes. They import nothing and need nothing of the runtime but its globals.
 *
 * {@linkcode DurableObjectTaskStore} is the right choice: it keeps the tasks in
 * a Durable Object, which keeps their work running too.
 * {@linkcode WorkersKvTaskStore} is for those who have a KV namespace and nothing
 * else; read first what it cannot do.
 *
 * @example A Durable Object that serves tasks
 * ```ts
 * import { TaskLifecycle } from "@mcp-durable/tasks";
 * import {
 *   type DurableObjectStorageBinding,
 *   DurableObjectTaskStore,
 * } from "@mcp-durable/tasks/cloudflare";
 *
 * export class Tasks {
 *   readonly #store: DurableObjectTaskStore;
 *   readonly #tasks: TaskLifecycle;
 *
 *   constructor(ctx: { storage: DurableObjectStorageBinding }) {
 *     this.#store = new DurableObjectTaskStore(ctx.storage);
 *     this.#tasks = new TaskLifecycle({ store: this.#store });
 *   }
 *
 *   async alarm(): Promise<void> {
 *     await this.#store.alarm();
 *   }
 *
 *   async fetch(): Promise<Response> {
 *     const { taskId } = await this.#tasks.createTask({ ttlMs: 60_000 });
 *     return Response.json(await this.#tasks.getTask(taskId));
 *   }
 * }
 * ```
 *
 * @module
 */

export { DEFAULT_MAX_ENTRY_BYTES } from "./src/model/limits.ts";
export type {
  DurableObjectAlarmInfo,
  DurableObjectListing,
  DurableObjectReadWrite,
  DurableObjectStorageBinding,
} from "./src/cloudflare/shape.ts";
export type { DurableObjectTaskStoreOptions } from "./src/cloudflare/durable_object_options.ts";
export { DurableObjectTaskStore } from "./src/cloudflare/durable_object_store.ts";
export { WorkersKvTaskStore } from "./src/cloudflare/workers_kv.ts";
export type { WorkersKvTaskStoreOptions } from "./src/cloudflare/workers_kv_options.ts";
export type {
  WorkersKvBinding,
  WorkersKvListing,
  WorkersKvPutOptions,
} from "./src/cloudflare/workers_kv_shape.ts";
export type { StoreDamage } from "./src/store/damage.ts";
export type { TaskStore, TaskStoreTraits } from "./src/store/contract.ts";
