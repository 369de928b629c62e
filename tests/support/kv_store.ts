/** The store on Workers KV over a simulated one. */

import assert from "node:assert/strict";
import { KV_MEMORY_LIMITS } from "../../src/cloudflare/workers_kv_memory.ts";
import type { KvMemoryLimits } from "../../src/cloudflare/workers_kv_memory.ts";
import { resolveWorkersKvOptions } from "../../src/cloudflare/workers_kv_options.ts";
import { KvTaskStore } from "../../src/cloudflare/workers_kv_store.ts";
import type { WorkersKvBinding } from "../../src/cloudflare/workers_kv_shape.ts";
import { hasErrorCode, type TaskErrorCode } from "../../src/errors.ts";
import { CREATED_MS } from "./records.ts";
import type { StoreDamage } from "../../src/store/damage.ts";
import type { SimulatedKv } from "./simulated_kv.ts";

/** What the keys of these stores begin with. */
export const PREFIX = "test/";

/**
 * The time by which the tasks are dated: it passes as that of the namespace does.
 *
 * @param kv The namespace.
 */
export function dateOf(kv: SimulatedKv): number {
  return CREATED_MS + kv.clock.now() - kv.clock.start;
}

/**
 * Opens an instance.
 *
 * @param kv The namespace.
 * @param options What differs.
 */
export function openKvStore(
  kv: SimulatedKv,
  options: {
    readonly prefix?: string;
    readonly maxRecordBytes?: number;
    readonly limits?: Partial<KvMemoryLimits>;
    readonly binding?: WorkersKvBinding;
    readonly now?: () => number;
    readonly onDamage?: (damage: StoreDamage) => void;
  } = {},
): KvTaskStore {
  const {
    prefix = PREFIX,
    maxRecordBytes = 2_000_000,
    limits,
    binding,
    now,
    onDamage,
  } = options;
  return new KvTaskStore(
    binding ?? kv.bind(),
    resolveWorkersKvOptions({
      acceptEventualStore: true,
      prefix,
      maxRecordBytes,
      now: now ?? (() => dateOf(kv)),
      onDamage,
    }),
    kv.clock,
    { ...KV_MEMORY_LIMITS, ...limits },
  );
}

/** The record under a key, without any cache. */
export function stored(
  kv: SimulatedKv,
  taskId: string,
): Record<string, unknown> | undefined {
  const value = kv.peek(`${PREFIX}=${taskId}`)?.value;
  return value === undefined ? undefined : JSON.parse(value);
}

/**
 * Asserts that a promise is rejected with a code.
 *
 * @param promise The promise.
 * @param code The code.
 * @returns The error.
 */
export async function failureOf(
  promise: Promise<unknown>,
  code: TaskErrorCode,
): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    assert.ok(hasErrorCode(error, code), String(error));
    return error as Error;
  }
  assert.fail(`it is not rejected with ${code}`);
}
