/** What `tests/support/workerd_bindings.ts` gives the other files here. */
import assert from "node:assert/strict";
import { describe, it } from "../support/runner.ts";
import {
  durableObject,
  inDurableObject,
  kvNamespace,
} from "../support/workerd_bindings.ts";

describe("durableObject()", () => {
  it("runs bodies inside one object, whose storage keeps what they put", async () => {
    const object = durableObject();
    await object.run((ctx) => ctx.storage.put({ a: new Uint8Array([7]) }));
    const got = await object.run((ctx) => ctx.storage.get(["a", "b"]));
    assert.deepEqual(got, new Map([["a", new Uint8Array([7])]]));
    assert.equal(
      await inDurableObject(async (ctx) => (await ctx.storage.list({})).size),
      0,
    );
  });

  it("gives back what a body throws as it is", async () => {
    const error = new TypeError("mine");
    await assert.rejects(
      inDurableObject(() => Promise.reject(error)),
      (thrown) => thrown === error,
    );
  });

  it("reset() takes what was in memory, and leaves what is in storage", async () => {
    const object = durableObject();
    const first = await object.run(async (ctx) => {
      await ctx.storage.put({ kept: 1 });
      return ctx;
    });
    await object.reset();
    await object.run(async (ctx) => {
      assert.notEqual(ctx, first);
      assert.deepEqual(await ctx.storage.list({}), new Map([["kept", 1]]));
    });
  });

  it("onAlarm() runs when the object's alarm goes off", async () => {
    const object = durableObject();
    const rang = Promise.withResolvers<number | null>();
    object.onAlarm(async ({ storage }) =>
      rang.resolve(await storage.getAlarm())
    );
    await object.run(({ storage }) => storage.setAlarm(Date.now() + 20));
    assert.equal(await rang.promise, null);
  });
});

describe("kvNamespace()", () => {
  it("gives a namespace, and another prefix each time", async () => {
    const { kv, prefix } = kvNamespace();
    assert.notEqual(kvNamespace().prefix, prefix);
    await kv.put(`${prefix}a`, "b", { metadata: { m: 1 } });
    assert.deepEqual(
      (({ value, metadata }) => ({ value, metadata }))(
        await kv.getWithMetadata(`${prefix}a`),
      ),
      { value: "b", metadata: { m: 1 } },
    );
    const { keys } = await kv.list({ prefix });
    assert.deepEqual(keys.map(({ name }) => name), [`${prefix}a`]);
  });
});
