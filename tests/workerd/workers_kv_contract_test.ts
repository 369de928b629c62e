/** The kit on the store on Workers KV, on a real namespace in workerd, which neither throttles nor lags. */

import { runtimeClock } from "../../src/cloudflare/workers_kv_clock.ts";
import { KV_MEMORY_LIMITS } from "../../src/cloudflare/workers_kv_memory.ts";
import { resolveWorkersKvOptions } from "../../src/cloudflare/workers_kv_options.ts";
import type { WorkersKvBinding } from "../../src/cloudflare/workers_kv_shape.ts";
import { KvTaskStore } from "../../src/cloudflare/workers_kv_store.ts";
import type { TaskStoreFactory } from "../../testing.ts";
import { describeShippedStore } from "../support/shipped_store.ts";
import { kvNamespace } from "../support/workerd_bindings.ts";

const factory: TaskStoreFactory = () => {
  const { kv, prefix } = kvNamespace();
  let skewMs = 0;
  const clock = { ...runtimeClock, now: () => runtimeClock.now() + skewMs };
  const open = (maxRecordBytes?: number) =>
    new KvTaskStore(
      kv as unknown as WorkersKvBinding,
      resolveWorkersKvOptions({
        acceptEventualStore: true,
        prefix,
        maxRecordBytes,
        minWriteIntervalMs: 0,
        now: () => Date.now() + skewMs,
      }),
      clock,
      KV_MEMORY_LIMITS,
    );
  return {
    store: open(),
    secondInstance: () => open(),
    reopen: () => open(),
    reopenLower: (maxRecordBytes) => open(maxRecordBytes),
    advanceTime(ms) {
      skewMs += ms;
    },
  };
};

describeShippedStore("WorkersKvTaskStore", factory, {
  claims: ["durable", "eventualReads", "maxRecordBytes"],
  checks: 69,
});
