import { DenoKvTaskStore, type DenoKvTaskStoreOptions } from "../../deno_kv.ts";
import type { TaskStoreFactory } from "../../testing.ts";
import { makeKvFile, openTestKv } from "../support/deno_kv.ts";
import { describeShippedStore } from "../support/shipped_store.ts";

/** Each instance has a handle of its own. */
function onFile(options: DenoKvTaskStoreOptions): TaskStoreFactory {
  return async () => {
    const file = makeKvFile();
    let skewMs = 0;
    const now = () => Date.now() + skewMs;
    const open = async () =>
      new DenoKvTaskStore(await file.open(), { now, ...options });
    return {
      store: await open(),
      reopen: open,
      secondInstance: open,
      advanceTime(ms) {
        skewMs += ms;
      },
      dispose: () => file.remove(),
    };
  };
}

/** All instances share the one handle that there can be. */
function inMemory(options: DenoKvTaskStoreOptions): TaskStoreFactory {
  return async () => {
    const kv = await openTestKv(":memory:");
    let skewMs = 0;
    const now = () => Date.now() + skewMs;
    const open = () =>
      new DenoKvTaskStore(kv, { now, durable: false, ...options });
    return {
      store: open(),
      secondInstance: open,
      advanceTime(ms) {
        skewMs += ms;
      },
      dispose: () => kv.close(),
    };
  };
}

describeShippedStore("DenoKvTaskStore on a file", onFile({}), {
  claims: [
    "compareAndSwap",
    "durable",
    "shared",
    "latestReads",
    "maxRecordBytes",
  ],
  checks: 79,
});

describeShippedStore(
  "DenoKvTaskStore in memory",
  inMemory({ prefix: ["tests", "é"], maxRecordBytes: 90_001 }),
  {
    claims: ["compareAndSwap", "shared", "latestReads", "maxRecordBytes"],
    checks: 69,
  },
);
