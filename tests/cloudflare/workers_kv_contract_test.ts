/** The kit on the store on Workers KV, over a KV that throttles and lags as production does. */

import { KV_MEMORY_LIMITS } from "../../src/cloudflare/workers_kv_memory.ts";
import { resolveWorkersKvOptions } from "../../src/cloudflare/workers_kv_options.ts";
import { KvTaskStore } from "../../src/cloudflare/workers_kv_store.ts";
import type { TaskStoreFactory } from "../../testing.ts";
import { describeShippedStore } from "../support/shipped_store.ts";
import { SimulatedKv } from "../support/simulated_kv.ts";

const factory: TaskStoreFactory = () => {
  const kv = new SimulatedKv();
  let skewMs = 0;
  const open = (maxRecordBytes = 300_000) =>
    new KvTaskStore(
      kv.bind(),
      resolveWorkersKvOptions({
        acceptEventualStore: true,
        prefix: "kit/",
        maxRecordBytes,
        now: () => Date.now() + skewMs,
      }),
      kv.clock,
      KV_MEMORY_LIMITS,
    );
  return {
    store: open(),
    secondInstance: () => open(),
    async reopen() {
      await kv.clock.advance(61_000);
      return open();
    },
    async reopenLower(maxRecordBytes) {
      await kv.clock.advance(61_000);
      return open(maxRecordBytes);
    },
    async advanceTime(ms) {
      skewMs += ms;
      await kv.clock.advance(ms);
    },
  };
};

describeShippedStore("WorkersKvTaskStore over a simulated KV", factory, {
  claims: ["durable", "eventualReads", "maxRecordBytes"],
  checks: 69,
});
