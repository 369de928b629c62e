/** The conformance kit on the store in a Durable Object, inside a real one. */
import { DurableObjectTaskStore } from "../../cloudflare.ts";
import { describeShippedStore } from "../support/shipped_store.ts";
import {
  inDurableObject,
  type ObjectContext,
} from "../support/workerd_bindings.ts";

let count = 0;
let ctx: ObjectContext;

describeShippedStore("DurableObjectTaskStore", () => {
  const prefix = `kit ${++count}/`;
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const open = () => new DurableObjectTaskStore(ctx.storage, { prefix, now });
  return {
    store: open(),
    reopen: open,
    secondInstance: open,
    advanceTime: (ms) => void (ahead += ms),
  };
}, {
  claims: [
    "durable",
    "shared",
    "compareAndSwap",
    "latestReads",
    "maxRecordBytes",
  ],
  checks: 79,
  within: (body) =>
    inDurableObject((given) => {
      ctx = given;
      return body();
    }),
});
