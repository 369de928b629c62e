import { DenoKvTaskStore, type DenoKvTaskStoreOptions } from "../../deno_kv.ts";
import type { ConformanceClaim, TaskStoreFactory } from "../../testing.ts";
import { makeKvFile, openTestKv } from "../support/deno_kv.ts";
import { runtime, skip } from "../support/runner.ts";
import { describeShippedStore } from "../support/shipped_store.ts";

/** Each instance has a handle of its own. */
function onFile(options: DenoKvTaskStoreOptions): TaskStoreFactory {
  return async () => {
    const file = makeKvFile();
    let skewMs = 0;
    const now = () => Date.now() + skewMs;
    const open = async (lower: DenoKvTaskStoreOptions = {}) =>
      new DenoKvTaskStore(await file.open(), {
        now,
        watch: true,
        ...options,
        ...lower,
      });
    return {
      store: await open(),
      reopen: () => open(),
      reopenLower: (maxRecordBytes) => open({ maxRecordBytes }),
      secondInstance: () => open(),
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
    const open = (lower: DenoKvTaskStoreOptions = {}) =>
      new DenoKvTaskStore(kv, {
        now,
        durable: false,
        watch: true,
        ...options,
        ...lower,
      });
    return {
      store: open(),
      reopenLower: (maxRecordBytes) => open({ maxRecordBytes }),
      secondInstance: () => open(),
      advanceTime(ms) {
        skewMs += ms;
      },
      dispose: () => kv.close(),
    };
  };
}

/** What the store claims wherever it is. It watches nothing but Deno's own KV. */
const CLAIMS: readonly ConformanceClaim[] = [
  "compareAndSwap",
  "shared",
  "latestReads",
  "maxRecordBytes",
  "head",
  "commit",
  ...runtime === "deno" ? ["watch" as const] : [],
];
const WATCH_CHECKS = runtime === "deno" ? 4 : 0;

describeShippedStore("DenoKvTaskStore on a file", onFile({}), {
  claims: [...CLAIMS, "durable"],
  checks: 97 + WATCH_CHECKS,
});

if (runtime === "deno") {
  describeShippedStore(
    "DenoKvTaskStore in memory",
    inMemory({ prefix: ["tests", "é"], maxRecordBytes: 90_001 }),
    { claims: CLAIMS, checks: 86 + WATCH_CHECKS },
  );
} else {
  skip(
    "DenoKvTaskStore in memory",
    "@deno/kv has the same database in memory as on a file",
  );
}
