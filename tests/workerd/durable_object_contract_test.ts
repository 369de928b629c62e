/** The conformance kit on the store in a Durable Object, in real ones. */
import assert from "node:assert/strict";
import {
  DurableObjectTaskStore,
  type DurableObjectTaskStoreOptions,
} from "../../cloudflare.ts";
import { copyJson } from "../../src/model/json.ts";
import { checkTaskStore, formatConformanceReport } from "../../testing.ts";
import type { TaskStore } from "../../mod.ts";
import { describe, it } from "../support/runner.ts";
import { describeShippedStore } from "../support/shipped_store.ts";
import {
  durableObject,
  inDurableObject,
  type ObjectContext,
} from "../support/workerd_bindings.ts";

const CHECKS = 97;
let count = 0;
let storage: ObjectContext["storage"];

describeShippedStore("DurableObjectTaskStore", () => {
  const prefix = `kit ${++count}/`;
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const open = (options: DurableObjectTaskStoreOptions = {}) =>
    new DurableObjectTaskStore(storage, { prefix, now, ...options });
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
  checks: CHECKS,
  within: (body) =>
    inDurableObject((ctx) => {
      storage = ctx.storage;
      return body();
    }),
});

describe("DurableObjectTaskStore called from outside its object", () => {
  it("keeps the contract when each call is an event, and each opening a reset", async () => {
    const { traits } = await inDurableObject(({ storage }) =>
      new DurableObjectTaskStore(storage)
    );
    const report = await checkTaskStore("events", () => {
      const object = durableObject();
      let ahead = 0;
      const open = (options: DurableObjectTaskStoreOptions = {}) => {
        const stores = new WeakMap<ObjectContext, DurableObjectTaskStore>();
        const storeIn = (ctx: ObjectContext) => {
          let store = stores.get(ctx);
          if (!store) {
            const now = () => Date.now() + ahead;
            store = new DurableObjectTaskStore(ctx.storage, {
              now,
              ...options,
            });
            stores.set(ctx, store);
          }
          return store;
        };
        return {
          traits: { ...traits, ...options },
          create(record) {
            const copy = copyJson(record);
            return object.run((ctx) => storeIn(ctx).create(copy));
          },
          get: (taskId, now) =>
            object.run((ctx) => storeIn(ctx).get(taskId, now)),
          update(taskId, patch, version, now) {
            const copy = copyJson(patch);
            return object.run((ctx) =>
              storeIn(ctx).update(taskId, copy, version, now)
            );
          },
          head: (taskId, now) =>
            object.run((ctx) => storeIn(ctx).head(taskId, now)),
          commit(taskId, patch, version, now) {
            const copy = copyJson(patch);
            return object.run((ctx) =>
              storeIn(ctx).commit(taskId, copy, version, now)
            );
          },
          sweep: (now) => object.run((ctx) => storeIn(ctx).sweep(now)),
          close: () => object.run((ctx) => storeIn(ctx).close()),
        } satisfies TaskStore;
      };
      return {
        store: open(),
        async reopen() {
          await object.reset();
          return open();
        },
        async reopenLower(maxRecordBytes) {
          await object.reset();
          return open({ maxRecordBytes });
        },
        secondInstance: () => open(),
        advanceTime: (ms) => void (ahead += ms),
      };
    });
    assert.ok(report.ok, formatConformanceReport(report));
    assert.equal(report.counts.passed, CHECKS);
  });
});
