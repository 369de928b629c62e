import assert from "node:assert/strict";
import {
  type WorkersKvBinding,
  WorkersKvTaskStore,
  type WorkersKvTaskStoreOptions,
} from "../../cloudflare.ts";
import { isInvalidArgumentError } from "../../mod.ts";
import { aRecord } from "../support/records.ts";
import { describe, it } from "../support/runner.ts";
import { SimulatedKv, VirtualClock } from "../support/simulated_kv.ts";

const accept = { acceptEventualStore: true } as const;

/** Expects the constructor to refuse. */
function refuses(kv: unknown, options: unknown, problem: RegExp): void {
  assert.throws(
    () =>
      new WorkersKvTaskStore(
        kv as WorkersKvBinding,
        options as WorkersKvTaskStoreOptions,
      ),
    (error: Error) =>
      isInvalidArgumentError(error) && problem.test(error.message),
  );
}

describe("new WorkersKvTaskStore()", () => {
  it("has to be asked for by name, and says why", () => {
    const kv = new SimulatedKv().bind();
    for (
      const options of [
        undefined,
        {},
        { acceptEventualStore: false },
        { acceptEventualStore: "true" },
      ]
    ) {
      refuses(
        kv,
        options,
        /acceptEventualStore is .*true is needed\. .*no compare-and-swap.*stale for a minute.*DurableObjectTaskStore/,
      );
    }
  });

  it("refuses what is no option, and no namespace", () => {
    const kv = new SimulatedKv().bind();
    for (
      const [options, problem] of [
        [{ prefix: "" }, /prefix: the value is "",/],
        [{ prefix: "\ud800" }, /prefix/],
        [{ prefix: "é".repeat(129) }, /1 to 256 bytes/],
        [{ prefix: 5 }, /prefix: the value is 5/],
        [{ maxRecordBytes: 65_535 }, /maxRecordBytes: the value is 65535/],
        [{ maxRecordBytes: 26_214_401 }, /65536 to 26214400/],
        [{ minWriteIntervalMs: -1 }, /minWriteIntervalMs: the value is -1/],
        [{ minWriteIntervalMs: 60_001 }, /0 to 60000/],
        [{ now: 5 }, /now/],
        [
          { maxRecordBytess: 70_000 },
          /WorkersKvTaskStore: there is no option "maxRecordBytess"; did you mean maxRecordBytes\?/,
        ],
        [{ onDamage: "log" }, /onDamage: the value is "log", a function/],
      ] as const
    ) refuses(kv, { ...accept, ...options }, problem);
    for (const value of [undefined, null, {}, { put() {} }]) {
      refuses(value, accept, /Cannot use kv: .*a Workers KV namespace/);
    }
  });

  it("says in its traits what it cannot do", () => {
    const { traits } = new WorkersKvTaskStore(new SimulatedKv().bind(), {
      ...accept,
      maxRecordBytes: 26_214_400,
      minWriteIntervalMs: 1_100,
    });
    assert.deepEqual(traits, {
      durable: true,
      compareAndSwap: false,
      reads: "eventual",
      minWriteIntervalMs: 1_100,
      maxRecordBytes: 26_214_400,
    });
    assert.ok(Object.isFrozen(traits));
  });

  it("does what the contract says, by the clock of the runtime", async () => {
    const clock = new VirtualClock();
    const kv = new SimulatedKv(clock);
    kv.caching = false;
    const store = new WorkersKvTaskStore(kv.bind(), {
      ...accept,
      minWriteIntervalMs: 40,
    });
    const started = performance.now();
    await store.create(aRecord("a"));
    // The namespace has a clock of its own, which takes a write a second.
    await clock.advance(1_000);
    const second = await store.update("a", { statusMessage: "half" }, 1);
    assert.ok(performance.now() - started >= 30);
    assert.deepEqual(await store.get("a"), second);
    assert.equal(await store.sweep(), 0);
    await store.close();
    assert.equal(kv.calls.refused, 0);
  });
});
