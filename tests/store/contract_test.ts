import { MemoryTaskStore } from "../../mod.ts";
import { describeShippedStore } from "../support/shipped_store.ts";

describeShippedStore(
  "MemoryTaskStore",
  () => {
    let skewMs = 0;
    return {
      store: new MemoryTaskStore({ now: () => Date.now() + skewMs }),
      advanceTime(ms) {
        skewMs += ms;
      },
    };
  },
  {
    claims: ["compareAndSwap", "exclusive", "head", "commit", "watch"],
    checks: 74,
  },
);
