/** The one alarm of an object, shared by the store in it and its host. */
import assert from "node:assert/strict";
import {
  type DurableObjectAlarmInfo,
  DurableObjectTaskStore,
  type StoreDamage,
} from "../../cloudflare.ts";
import { hasErrorCode } from "../../src/errors.ts";
import { watchStorage } from "../support/durable_object_storage.ts";
import { aPatch, aRecord, CREATED_MS } from "../support/records.ts";
import { rejects } from "../support/rejects.ts";
import { describe, it as register } from "../support/runner.ts";
import {
  durableObject,
  inDurableObject,
  type ObjectContext,
  type TestDurableObject,
} from "../support/workerd_bindings.ts";

const MINUTE = 60_000;
/** How long after a full minute the store sweeps. */
const OFFSET = 741;
const HOUR = 60 * MINUTE;

/** A clock that goes on from a time. */
function clockFrom(time: number): () => number {
  const start = Date.now();
  return () => time + Date.now() - start;
}

/** A store whose clock shows when the records are created. */
function storeIn({ storage }: ObjectContext, now = clockFrom(CREATED_MS)) {
  return new DurableObjectTaskStore(storage, { now });
}

/** Waits for the next alarm of an object, and what its handler does. */
function nextRing(
  object: TestDurableObject,
  handler: (
    ctx: ObjectContext,
    info: DurableObjectAlarmInfo,
  ) => Promise<unknown>,
): Promise<void> {
  return new Promise((resolve, reject) =>
    object.onAlarm(async (ctx, info) => {
      await handler(ctx, info).then(() => resolve(), reject);
    })
  );
}

/** When the case began. */
let begun = 0;

/** Registers a case. */
function it(name: string, body: () => void | Promise<void>): void {
  register(name, () => {
    begun = Date.now();
    return body();
  });
}

/**
 * Asserts that a time is near another, which was reckoned from now: it may be
 * as much earlier as the case has taken up to now.
 */
function assertNear(actual: number | null, expected: number): void {
  const early = Date.now() - begun;
  assert.ok(
    actual !== null && actual > expected - early - 2_000 &&
      actual < expected + 2_000,
    `${actual} is not near ${expected}`,
  );
}

describe("the alarm of a DurableObjectTaskStore", () => {
  it("rings when something has expired, and sweeps", async () => {
    const object = durableObject();
    // 40 ms before what has expired until the full minute is due.
    const now = clockFrom(CREATED_MS + OFFSET - 40);
    let deleted: number | undefined;
    const rang = nextRing(object, async (ctx) => {
      deleted = await storeIn(ctx, now).alarm();
    });
    await object.run((ctx) =>
      storeIn(ctx, now).create(
        aRecord("a", {
          createdAt: new Date(CREATED_MS - 5_000).toISOString(),
          ttlMs: 4_000,
        }),
      )
    );
    await rang;
    assert.equal(deleted, 1);
    await object.run(async ({ storage }) => {
      assert.equal(await storage.getAlarm(), null);
      assert.equal((await storage.list({})).size, 0);
    });
  });

  it("is set once for all that expires within a minute", () =>
    inDurableObject(async ({ storage }) => {
      let set = 0;
      const store = new DurableObjectTaskStore(
        watchStorage(storage, ({ method }) => {
          if (method === "setAlarm") set++;
        }),
        { now: clockFrom(CREATED_MS) },
      );
      for (let i = 0; i < 50; i++) {
        await store.create(aRecord(`t${i}`, { ttlMs: HOUR - i }));
      }
      assert.equal(set, 1);
      assertNear(await storage.getAlarm(), Date.now() + HOUR + OFFSET);
      await store.create(aRecord("never"));
      await store.create(aRecord("later", { ttlMs: 3 * HOUR }));
      assert.equal(set, 1);
      await store.create(aRecord("sooner", { ttlMs: 5 * MINUTE }));
      assertNear(await storage.getAlarm(), Date.now() + 5 * MINUTE + OFFSET);
      await store.commit("later", aPatch({ ttlMs: MINUTE }), 1);
      assertNear(await storage.getAlarm(), Date.now() + MINUTE + OFFSET);
      assert.equal(set, 3);
    }));

  it("is set a little after a full minute, where a host is unlikely to set its own", () =>
    inDurableObject(async ({ storage }) => {
      const now = () => CREATED_MS + 400;
      const store = new DurableObjectTaskStore(storage, { now });
      const before = Date.now();
      await store.create(aRecord("a", { ttlMs: 2 * MINUTE - 90 }));
      const at = await storage.getAlarm() as number;
      const wait = 2 * MINUTE + OFFSET - 400;
      assert.ok(at >= before + wait && at <= Date.now() + wait, `${at}`);
    }));

  it("alarm() sets it for what expires next, and never for what does not", () =>
    inDurableObject(async (ctx) => {
      const early = storeIn(ctx);
      await early.create(aRecord("a", { ttlMs: 2 * MINUTE }));
      await early.create(aRecord("b", { ttlMs: 9 * MINUTE }));
      await early.create(aRecord("c"));
      const late = storeIn(ctx, clockFrom(CREATED_MS + 3 * MINUTE));
      assert.equal(await late.alarm(), 1);
      assertNear(
        await ctx.storage.getAlarm(),
        Date.now() + 6 * MINUTE + OFFSET,
      );
      const later = storeIn(ctx, clockFrom(CREATED_MS + 9 * MINUTE));
      assert.equal(await later.alarm(), 1);
      assert.equal(await ctx.storage.getAlarm(), null);
      assert.equal((await later.get("c"))?.version, 1);
    }));

  it("is set for 30 days ahead at most, whatever a TTL says", () =>
    inDurableObject(async (ctx) => {
      const days = 24 * HOUR;
      await storeIn(ctx).create(aRecord("a", { ttlMs: 2 ** 52 }));
      assertNear(await ctx.storage.getAlarm(), Date.now() + 30 * days);
      const after = storeIn(ctx, clockFrom(CREATED_MS + 30 * days));
      assert.equal(await after.alarm(), 0);
      assertNear(await ctx.storage.getAlarm(), Date.now() + 30 * days);
    }));

  it("leaves an earlier alarm of the host, and follows it", async () => {
    const object = durableObject();
    const due: string[] = [];
    const rang = nextRing(object, async (ctx, info) => {
      await storeIn(ctx).alarm(() => void due.push("host"), info);
    });
    await object.run(async (ctx) => {
      const at = Date.now() + 30;
      await ctx.storage.setAlarm(at);
      await storeIn(ctx).create(aRecord("a", { ttlMs: HOUR }));
      assert.equal(await ctx.storage.getAlarm(), at);
    });
    await rang;
    assert.deepEqual(due, ["host"]);
    await object.run(async ({ storage }) =>
      assertNear(await storage.getAlarm(), Date.now() + HOUR + OFFSET)
    );
  });

  it("goes before a later alarm of the host, which then gets its turn", async () => {
    const object = durableObject();
    const now = clockFrom(CREATED_MS + OFFSET - 30);
    const hosts = Date.now() + 4_000;
    const seen: unknown[] = [];
    const done = Promise.withResolvers<void>();
    object.onAlarm(async (ctx, info) => {
      const store = storeIn(ctx, now);
      seen.push("ring");
      await store.alarm(() => void seen.push("host"), info);
      seen.push(await ctx.storage.getAlarm(), await store.getAlarm());
      if (seen.includes("host")) done.resolve();
    });
    await object.run(async (ctx) => {
      await ctx.storage.setAlarm(hosts);
      const createdAt = new Date(CREATED_MS - 9).toISOString();
      const store = storeIn(ctx, now);
      await store.create(aRecord("a", { createdAt, ttlMs: 5 }));
      assert.ok(await ctx.storage.getAlarm() as number < hosts);
      assert.equal(await store.getAlarm(), hosts);
    });
    await done.promise;
    assert.deepEqual(seen, ["ring", hosts, hosts, "ring", "host", null, null]);
  });

  it("is told apart by what the platform says, where the host has set a later one over it", async () => {
    const object = durableObject();
    const now = clockFrom(CREATED_MS + OFFSET - 5_000);
    const due: string[] = [];
    const rang = nextRing(object, async (ctx, info) => {
      await storeIn(ctx, now).alarm(() => void due.push("host"), info);
    });
    await object.run(async (ctx) => {
      await storeIn(ctx, now).create(aRecord("a", { ttlMs: 2 * MINUTE }));
      await ctx.storage.setAlarm(Date.now() + 30);
    });
    await rang;
    assert.deepEqual(due, ["host"]);
  });

  it("setAlarm(), getAlarm() and deleteAlarm() are the host's view of it", () =>
    inDurableObject(async (ctx) => {
      const { storage } = ctx;
      const store = storeIn(ctx);
      assert.equal(await store.getAlarm(), null);
      await store.create(aRecord("a", { ttlMs: HOUR }));
      const own = await storage.getAlarm();
      assert.equal(await store.getAlarm(), null);
      const later = Date.now() + 2 * HOUR;
      await store.setAlarm(later);
      assertNear(await storage.getAlarm(), own!);
      assert.equal(await store.getAlarm(), later);
      const sooner = Date.now() + 7 * MINUTE;
      await store.setAlarm(sooner);
      assert.equal(await storage.getAlarm(), sooner);
      assert.equal(await store.getAlarm(), sooner);
      await store.create(aRecord("b", { ttlMs: MINUTE }));
      assert.equal(await store.getAlarm(), sooner);
      assertNear(await storage.getAlarm(), Date.now() + MINUTE + OFFSET);
      await store.deleteAlarm();
      assert.equal(await store.getAlarm(), null);
      assertNear(await storage.getAlarm(), Date.now() + MINUTE + OFFSET);
    }));

  it("setAlarm() refuses times that the platform does not take", () =>
    inDurableObject(async (ctx) => {
      const store = storeIn(ctx);
      const latest = Date.UTC(2189, 0, 1) - 1;
      for (
        const time of [
          0,
          -5,
          1.5,
          NaN,
          Infinity,
          "soon",
          latest + 1,
        ] as number[]
      ) {
        await rejects(store.setAlarm(time), "ERR_INVALID_ARGUMENT");
      }
      assert.equal(await store.getAlarm(), null);
      await store.setAlarm(latest);
      assert.equal(await ctx.storage.getAlarm(), latest);
    }));

  it("alarm() calls the host again where it threw, and keeps what the host sets meanwhile", async () => {
    const object = durableObject();
    const next = Date.now() + HOUR;
    let calls = 0;
    const rang = nextRing(object, async (ctx, info) => {
      const store = storeIn(ctx);
      const throwing = store.alarm(() => {
        calls++;
        throw new Error("not now");
      }, info);
      await assert.rejects(throwing, /not now/);
      await store.alarm(async () => {
        calls++;
        await store.setAlarm(next);
      }, info);
    });
    await object.run((ctx) => storeIn(ctx).setAlarm(Date.now() + 20));
    await rang;
    assert.equal(calls, 2);
    await object.run(async (ctx) => {
      assert.equal(await storeIn(ctx).getAlarm(), next);
      assert.equal(await ctx.storage.getAlarm(), next);
    });
  });

  it("is not set any more for a host whose time has come, as on the platform itself", async () => {
    const object = durableObject();
    const next = Date.now() + HOUR;
    const seen: unknown[] = [];
    const rang = nextRing(object, async (ctx, info) => {
      const store = storeIn(ctx);
      await store.alarm(async () => {
        seen.push(await ctx.storage.getAlarm(), await store.getAlarm());
        // Neither is the past set again by a task that is created meanwhile.
        await store.create(aRecord("b", { ttlMs: 2 * MINUTE }));
        seen.push(await store.getAlarm());
        if (await store.getAlarm() === null) await store.setAlarm(next);
        seen.push(await store.getAlarm());
      }, info);
    });
    await object.run(async (ctx) => {
      const store = storeIn(ctx);
      await store.create(aRecord("a", { ttlMs: 2 * MINUTE }));
      await store.setAlarm(Date.now() + 20);
    });
    await rang;
    assert.deepEqual(seen, [null, null, null, next]);
    await object.run(async (ctx) =>
      assert.equal(await storeIn(ctx).getAlarm(), next)
    );
  });

  it("is the store's own where it was set anew while it rang, and the host's time stays", async () => {
    const object = durableObject();
    const hosts = Date.now() + HOUR;
    const now = clockFrom(CREATED_MS + OFFSET - 30);
    let calls = 0;
    const rang = nextRing(object, async (ctx, info) => {
      const store = storeIn(ctx, now);
      await store.create(aRecord("b", { ttlMs: 2 * MINUTE }));
      const ringing = store.alarm(() => void calls++, info);
      await store.create(aRecord("c", { ttlMs: MINUTE }));
      await ringing;
    });
    await object.run(async (ctx) => {
      const store = storeIn(ctx, now);
      await store.setAlarm(hosts);
      const createdAt = new Date(CREATED_MS - 9).toISOString();
      await store.create(aRecord("a", { createdAt, ttlMs: 5 }));
    });
    await rang;
    assert.equal(calls, 0);
    await object.run(async (ctx) => {
      assert.equal(await storeIn(ctx).getAlarm(), hosts);
      assertNear(await ctx.storage.getAlarm(), Date.now() + MINUTE);
    });
  });

  it("alarm() keeps what the host has set on the platform itself while it rings", async () => {
    const object = durableObject();
    const next = Date.now() + HOUR;
    const rang = nextRing(object, async (ctx, info) => {
      await ctx.storage.setAlarm(next);
      await storeIn(ctx).alarm(() => {}, info);
    });
    await object.run(async (ctx) => {
      await storeIn(ctx).create(aRecord("a", { ttlMs: 2 * HOUR }));
      await ctx.storage.setAlarm(Date.now() + 20);
    });
    await rang;
    await object.run(async (ctx) =>
      assert.equal(await ctx.storage.getAlarm(), next)
    );
  });

  it("rings again for a host that sets the very time that rings, also after it took it away", async () => {
    for (const takeAway of [false, true]) {
      const object = durableObject();
      const time = Date.now() + 20;
      let calls = 0;
      const done = Promise.withResolvers<void>();
      object.onAlarm(async (ctx, info) => {
        const store = storeIn(ctx);
        const ringing = store.alarm(async () => {
          if (++calls === 2) return done.resolve();
          if (takeAway) await store.deleteAlarm();
          await store.setAlarm(time);
          assert.equal(await store.getAlarm(), time);
        }, info);
        await ringing.catch(done.reject);
        if (calls === 1) assert.equal(await store.getAlarm(), time);
      });
      await object.run((ctx) => storeIn(ctx).setAlarm(time));
      await done.promise;
    }
  });

  it("rings again for a host that throws, also where it had set it on the platform itself and a task was created since", async () => {
    const object = durableObject();
    let calls = 0;
    const done = Promise.withResolvers<void>();
    object.onAlarm(async (ctx, info) => {
      const store = storeIn(ctx);
      await store.alarm(async () => {
        if (++calls === 2) return done.resolve();
        // The alarm is set anew for it, so the platform does not try again.
        await store.create(aRecord("b", { ttlMs: HOUR }));
        throw new Error("not now");
      }, info);
    });
    await object.run((ctx) => ctx.storage.setAlarm(Date.now() + 20));
    await done.promise;
    await object.run(async (ctx) => {
      assert.equal(await storeIn(ctx).getAlarm(), null);
      assertNear(await ctx.storage.getAlarm(), Date.now() + HOUR + OFFSET);
    });
  });

  it("alarm() twice at once keeps what the host sets in either, and loses no task", async () => {
    for (const second of [false, true]) {
      const object = durableObject();
      const next = Date.now() + HOUR;
      let calls = 0;
      const rang = nextRing(object, async (ctx, info) => {
        const store = storeIn(ctx);
        const ring = (sets: boolean) =>
          store.alarm(async () => {
            calls++;
            if (sets) await store.setAlarm(next);
          }, info);
        await Promise.all([ring(!second), ring(second)]);
        assert.equal(await store.getAlarm(), next);
        await store.deleteAlarm();
        assertNear(
          await ctx.storage.getAlarm(),
          Date.now() + 2 * HOUR + OFFSET,
        );
      });
      await object.run(async (ctx) => {
        const store = storeIn(ctx);
        await store.setAlarm(Date.now() + 20);
        await store.create(aRecord("a", { ttlMs: 2 * HOUR }));
      });
      await rang;
      assert.equal(calls, 2);
    }
  });

  it("reaches the host where the sweep fails", () =>
    inDurableObject(async (ctx) => {
      await storeIn(ctx).setAlarm(Date.now());
      let fails = false;
      const store = new DurableObjectTaskStore(
        watchStorage(ctx.storage, ({ method }) => {
          if (fails && method === "list") throw new Error("no list");
        }),
      );
      fails = true;
      let calls = 0;
      await rejects(store.alarm(() => void calls++), "ERR_STORE_FAILED");
      assert.equal(calls, 1);
    }));

  it("does not ring for records that cannot be read, and is not held up by them", () =>
    inDurableObject(async (ctx) => {
      const { storage } = ctx;
      const early = storeIn(ctx);
      for (let i = 0; i < 70; i++) {
        await early.create(aRecord(`bad${i}`, { ttlMs: MINUTE + i }));
      }
      await early.create(aRecord("due", { ttlMs: 2 * MINUTE }));
      await early.create(aRecord("next", { ttlMs: 9 * MINUTE }));
      const entries = [...(await storage.list({})).keys()]
        .filter((key) => /=bad\d+\/entry$/.test(key));
      assert.equal(entries.length, 70);
      for (const entry of entries) {
        await storage.put({ [entry]: { format: 2 } });
      }
      await early.setAlarm(Date.now());
      const damage: StoreDamage[] = [];
      const late = new DurableObjectTaskStore(storage, {
        now: clockFrom(CREATED_MS + 3 * MINUTE),
        onDamage: (found) => void damage.push(found),
      });
      let calls = 0;
      for (const deleted of [1, 0]) {
        assert.equal(await late.alarm(() => void calls++), deleted);
        assertNear(await storage.getAlarm(), Date.now() + 6 * MINUTE + OFFSET);
      }
      assert.equal(calls, 1);
      assert.deepEqual(damage.map(({ key }) => key).sort(), entries.sort());
      assert.match(damage[0].reason, /format 2, .* reads 1/);
      // Nor for a task that comes later; but for one that has expired before.
      await late.create(aRecord("soon", { ttlMs: 5 * MINUTE }));
      assertNear(await storage.getAlarm(), Date.now() + 2 * MINUTE + OFFSET);
      await late.create(aRecord("gone", { ttlMs: 1_000 }));
      assertNear(await storage.getAlarm(), Date.now());
      assert.equal(await late.alarm(), 1);
      assertNear(await storage.getAlarm(), Date.now() + 2 * MINUTE + OFFSET);
      assert.equal(damage.length, 70);
    }));

  it("may be lost: reads are right without it, and the next task brings it back", () =>
    inDurableObject(async (ctx) => {
      const { storage } = ctx;
      const store = storeIn(ctx);
      await store.create(aRecord("a", { ttlMs: 3 * MINUTE }));
      await storage.deleteAlarm();
      const at = CREATED_MS + 3 * MINUTE;
      assert.equal((await store.get("a", at - 1))?.version, 1);
      assert.equal(await store.get("a", at), undefined);
      assert.equal(await store.head("a", at), undefined);
      await rejects(store.commit("a", {}, 1, at), "ERR_TASK_NOT_FOUND");
      assert.equal(await storage.getAlarm(), null);
      await store.create(aRecord("b", { ttlMs: HOUR }));
      assertNear(await storage.getAlarm(), Date.now() + 3 * MINUTE + OFFSET);
    }));

  it("is left alone where the options say so; the host's alarm works, and sweeps", async () => {
    const object = durableObject();
    const due: string[] = [];
    const storeOf = ({ storage }: ObjectContext) =>
      new DurableObjectTaskStore(storage, {
        alarm: false,
        now: clockFrom(CREATED_MS + 10_000),
      });
    let deleted: number | undefined;
    const rang = nextRing(object, async (ctx, info) => {
      deleted = await storeOf(ctx).alarm(() => void due.push("host"), info);
    });
    await object.run(async (ctx) => {
      const store = storeOf(ctx);
      await store.create(aRecord("a", { ttlMs: 5_000 }));
      await store.create(aRecord("b", { ttlMs: HOUR }));
      assert.equal(await ctx.storage.getAlarm(), null);
      await store.setAlarm(Date.now() + 20);
    });
    await rang;
    assert.equal(deleted, 1);
    assert.deepEqual(due, ["host"]);
    await object.run(async ({ storage }) =>
      assert.equal(await storage.getAlarm(), null)
    );
  });

  it("is shared with a store of another prefix too", async () => {
    const object = durableObject();
    const due: string[] = [];
    const stores = ({ storage }: ObjectContext) =>
      ["a/", "b/"].map((prefix) =>
        new DurableObjectTaskStore(storage, {
          prefix,
          now: clockFrom(CREATED_MS),
        })
      );
    const rang = nextRing(object, async (ctx, info) => {
      const [a, b] = stores(ctx);
      await a.alarm(() => void due.push("host"), info);
      await b.alarm(() => {}, info);
    });
    await object.run(async (ctx) => {
      const [a, b] = stores(ctx);
      await a.create(aRecord("one", { ttlMs: 2 * HOUR }));
      await b.create(aRecord("one", { ttlMs: HOUR }));
      assertNear(await ctx.storage.getAlarm(), Date.now() + HOUR + OFFSET);
      await ctx.storage.setAlarm(Date.now() + 20);
    });
    await rang;
    assert.deepEqual(due, ["host"]);
    await object.run(async ({ storage }) =>
      assertNear(await storage.getAlarm(), Date.now() + HOUR + OFFSET)
    );
  });

  it("is not mistaken for that of a store whose prefix goes on", () =>
    inDurableObject(async ({ storage }) => {
      const open = (prefix: string) =>
        new DurableObjectTaskStore(storage, {
          prefix,
          now: clockFrom(CREATED_MS),
        });
      const others = ["a/expiry/", "a/task/", "a/alarm"].map(open);
      for (const other of others) {
        await other.create(aRecord("one", { ttlMs: 3 * HOUR }));
      }
      const store = open("a/");
      await store.create(aRecord("one", { ttlMs: MINUTE }));
      assert.equal(await store.sweep(CREATED_MS + 2 * HOUR), 1);
      await store.setAlarm(Date.now() + 4 * HOUR);
      assert.equal(await store.sweep(CREATED_MS + 9 * HOUR), 0);
      for (const other of others) {
        assert.equal(await other.sweep(CREATED_MS + 9 * HOUR), 1);
      }
    }));

  it("is refused by the platform in a class without alarm(): nothing is kept, and the cause says why", async () => {
    await durableObject("WITHOUT_ALARM").run(async ({ storage }) => {
      const store = new DurableObjectTaskStore(storage);
      const record = aRecord("a", { ttlMs: HOUR });
      await assert.rejects(store.create(record), (error: Error) => {
        assert.ok(hasErrorCode(error, "ERR_STORE_FAILED"));
        assert.match(String(error.cause), /must have an alarm\(\) handler/);
        return true;
      });
      assert.equal((await storage.list({})).size, 0);
      const without = new DurableObjectTaskStore(storage, { alarm: false });
      await without.create(record);
      assert.deepEqual(await without.get("a", CREATED_MS), record);
    });
  });

  it("alarm() refuses what is no function", () =>
    inDurableObject((ctx) =>
      rejects(
        storeIn(ctx).alarm({} as unknown as () => void),
        "ERR_INVALID_ARGUMENT",
      )
    ));
});
