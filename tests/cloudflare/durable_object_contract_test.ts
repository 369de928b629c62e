/** The conformance kit on the store in a Durable Object without SQLite. */
import {
  DurableObjectTaskStore,
  type DurableObjectTaskStoreOptions,
} from "../../cloudflare.ts";
import { describeShippedStore } from "../support/shipped_store.ts";
import { simulatedStorage } from "../support/simulated_storage.ts";

describeShippedStore("DurableObjectTaskStore without SQLite", () => {
  const storage = simulatedStorage();
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const open = (options: DurableObjectTaskStoreOptions = {}) =>
    new DurableObjectTaskStore(storage, { now, ...options });
  return {
    store: open(),
    reopen: () => open(),
    reopenLower: (maxRecordBytes) => open({ maxRecordBytes }),
    secondInstance: () => open(),
    advanceTime: (ms) => void (ahead += ms),
  };
}, {
  claims: [
    "durable",
    "shared",
    "compareAndSwap",
    "latestReads",
    "maxRecordBytes",
    "head",
    "commit",
  ],
  checks: 97,
});
