import assert from "node:assert/strict";
import { MemoryTaskStore, type TaskStore } from "../../mod.ts";
import {
  checkTaskStore,
  conformanceChecks,
  type ConformanceOptions,
  type ConformanceReport,
  formatConformanceReport,
  type TaskStoreFactory,
  type TaskStoreFixture,
  type TaskStoreTraits,
} from "../../testing.ts";
import { hasErrorCode } from "../../src/errors.ts";
import { BROKEN_STORES } from "../support/broken_stores/mod.ts";
import {
  Database,
  factoryOf,
  SHARED,
  SoundStore,
} from "../support/broken_stores/sound_store.ts";
import { describe, it } from "../support/runner.ts";

/** Checks with few, quick cases: one of each kind of need. */
const FEW = [
  "race-two",
  "clock-goes-on",
  "reopen-rules",
  "shared-race-two",
  "exclusive-refused",
  "size-over-create",
];

/** A fixture with some of its seams. */
function withSeams(
  traits: TaskStoreTraits,
  ...seams: ("reopen" | "secondInstance" | "advanceTime")[]
): () => TaskStoreFixture {
  return () => {
    const fixture = factoryOf(SoundStore, traits)() as TaskStoreFixture;
    const { store } = fixture;
    return {
      store,
      ...Object.fromEntries(seams.map((seam) => [seam, fixture[seam]])),
    };
  };
}

const statuses = (report: ConformanceReport, ids: readonly string[] = FEW) =>
  ids.map((id) => report.results.find((one) => one.id === id)?.status);

const failureOf = (report: ConformanceReport, id: string) => {
  const found = report.results.find((one) => one.id === id);
  assert.ok(found?.failure, `${id} has ${found?.status}`);
  return found.failure;
};

describe("conformanceChecks", () => {
  it("is frozen, and each of them too", () => {
    assert.ok(Object.isFrozen(conformanceChecks));
    for (const one of conformanceChecks) {
      assert.ok(Object.isFrozen(one) && Object.isFrozen(one.claims));
    }
  });

  it("has unique ids, and a check for every clause", () => {
    const ids = new Set(conformanceChecks.map(({ id }) => id));
    assert.equal(ids.size, conformanceChecks.length);
    const clauses = new Set(conformanceChecks.map(({ clause }) => clause));
    const expected = Array.from({ length: 30 }, (_, i) => `S${i + 1}`);
    assert.deepEqual([...clauses].sort(), ["F1", ...expected].sort());
  });
});

describe("checkTaskStore()", () => {
  it("holds a store without traits to all that needs no claim", async () => {
    const report = await checkTaskStore("plain", withSeams({}), { only: FEW });
    assert.deepEqual(statuses(report), [
      "passed",
      "skipped",
      "notClaimed",
      "notClaimed",
      "notClaimed",
      "notClaimed",
    ]);
    assert.ok(report.ok);
    assert.match(
      report.results.find(({ id }) => id === "clock-goes-on")?.reason ?? "",
      /gives no advanceTime\(\)/,
    );
  });

  it("holds a store with traits to what they claim", async () => {
    const report = await checkTaskStore(
      "shared",
      withSeams(SHARED, "reopen", "secondInstance", "advanceTime"),
      { only: FEW },
    );
    assert.deepEqual(statuses(report), [
      "passed",
      "passed",
      "passed",
      "passed",
      "notClaimed",
      "passed",
    ]);
  });

  it("lets a store opt out of compare-and-swap by its name", async () => {
    const report = await checkTaskStore(
      "no compare-and-swap",
      withSeams({ compareAndSwap: false }),
      { only: ["race-two", "sweep-race", "update-stale"] },
    );
    assert.deepEqual(
      statuses(report, ["race-two", "sweep-race", "update-stale"]),
      ["notClaimed", "notClaimed", "passed"],
    );
  });

  it("lets a store say that its reads are eventual, and then asks for that", async () => {
    const ids = [
      "reopen-duplicate",
      "shared-sees",
      "eventual-own-writes",
      "eventual-never-back",
    ];
    const report = await checkTaskStore(
      "eventual",
      withSeams(
        { durable: true, reads: "eventual" },
        "reopen",
        "secondInstance",
      ),
      { only: ids },
    );
    assert.deepEqual(statuses(report, ids), [
      "notClaimed",
      "notClaimed",
      "passed",
      "failed",
    ]);
    const reasons = report.results.map(({ reason }) => reason);
    assert.ok(reasons.includes('the store declares reads: "eventual"'));
    assert.ok(
      reasons.includes(
        'the store\'s traits do not declare writers: "shared", and the store declares reads: "eventual"',
      ),
    );
    assert.match(
      failureOf(report, "eventual-never-back").expected,
      /advanceTime\(\).*reads: "eventual"/,
    );
    assert.match(
      formatConformanceReport(report),
      /its traits: durable: true, reads: "eventual"/,
    );
  });

  it("fails a claim whose seam is missing", async () => {
    const report = await checkTaskStore("seamless", withSeams(SHARED), {
      only: FEW,
    });
    assert.deepEqual(statuses(report), [
      "passed",
      "skipped",
      "failed",
      "failed",
      "notClaimed",
      "passed",
    ]);
    assert.equal(report.ok, false);
    const { expected, came } = failureOf(report, "reopen-rules");
    assert.match(expected, /reopen\(\).*durable: true/);
    assert.match(came, /gives no reopen\(\)/);
  });

  it("fails a factory that gives the same instance twice", async () => {
    const store = new MemoryTaskStore();
    const report = await checkTaskStore("same", () => store, {
      only: ["create-keeps", "get-unknown"],
    });
    assert.deepEqual(statuses(report, ["create-keeps", "get-unknown"]), [
      "passed",
      "failed",
    ]);
    assert.match(
      failureOf(report, "get-unknown").came,
      /one that it had given before/,
    );
  });

  it("fails a reopen() and a secondInstance() that give the same instance", async () => {
    const factory = () => {
      const store = new SoundStore(new Database(), SHARED);
      return { store, reopen: () => store, secondInstance: () => store };
    };
    const ids = ["reopen-fields", "shared-sees"];
    const report = await checkTaskStore("same", factory, { only: ids });
    assert.deepEqual(statuses(report, ids), ["failed", "failed"]);
    assert.match(failureOf(report, ids[1]).came, /had given before/);
  });

  it("fails what is no store, and a factory that fails", async () => {
    for (
      const [made, came] of [
        [undefined, /undefined/],
        [{ store: { create() {} } }, /it gave \{ create: a function \}/],
      ] as const
    ) {
      const report = await checkTaskStore(
        "none",
        () => made as unknown as TaskStore,
        { only: ["ids"] },
      );
      assert.match(failureOf(report, "ids").came, came);
    }
    const report = await checkTaskStore(
      "none",
      () => Promise.reject(new RangeError("no database")),
      { only: ["ids"] },
    );
    const { expected, came, stack } = failureOf(report, "ids");
    assert.equal(expected, "the factory gives a store");
    assert.match(came, /RangeError.*no database/);
    assert.match(stack ?? "", /check_test|RangeError/);
  });

  it("fails a store that hangs, under the name of the case, in time", async () => {
    const real = globalThis.setTimeout;
    let endTime = () => {};
    globalThis.setTimeout = ((late: () => void, ms: number) => {
      if (ms === 77_001) endTime = late;
      return real(late, ms);
    }) as typeof real;
    class Hanging extends SoundStore {
      override sweep(): Promise<number> {
        // The time of the case is over as soon as it hangs.
        real(endTime, 0);
        return new Promise(() => {});
      }
    }
    let report;
    try {
      report = await checkTaskStore("hanging", factoryOf(Hanging, {}), {
        only: ["sweep-counts", "create-keeps"],
        caseTimeoutMs: 77_001,
      });
    } finally {
      globalThis.setTimeout = real;
    }
    assert.deepEqual(statuses(report, ["create-keeps", "sweep-counts"]), [
      "passed",
      "failed",
    ]);
    const { expected, came } = failureOf(report, "sweep-counts");
    assert.match(expected, /within 77001 ms/);
    assert.match(
      came,
      /^after 1 steps, 1 call has not settled: store\.sweep\(createdAt\)$/,
    );
  });

  it("fails a factory that hangs", async () => {
    const report = await checkTaskStore(
      "hanging",
      () => new Promise<TaskStore>(() => {}),
      { only: ["ids"], caseTimeoutMs: 40 },
    );
    assert.match(failureOf(report, "ids").expected, /the factory .* in time/);
  });

  it("closes every instance, and then disposes, also after a failure", async () => {
    const log: string[] = [];
    class Logging extends SoundStore {
      override close(): Promise<void> {
        log.push("close");
        return super.close();
      }
      override get(): Promise<undefined> {
        return Promise.resolve(undefined);
      }
    }
    const factory = () => ({
      ...factoryOf(Logging, SHARED)() as TaskStoreFixture,
      dispose: () => void log.push("dispose"),
    });
    await checkTaskStore("logging", factory, { only: ["shared-sees"] });
    assert.deepEqual(log.slice(-3), ["close", "close", "dispose"]);
  });

  it("fails a case whose dispose() fails", async () => {
    const report = await checkTaskStore("untidy", () => ({
      store: new MemoryTaskStore(),
      dispose: () => Promise.reject(new Error("cannot remove it")),
    }), { only: ["get-unknown"] });
    const { expected, came } = failureOf(report, "get-unknown");
    assert.match(expected, /dispose\(\) resolves/);
    assert.match(came, /cannot remove it/);
  });

  it("tells the shortest run that it finds of a random failure, and its seed", async () => {
    const { factory } = BROKEN_STORES.find(({ fault }) =>
      fault === "update() passes over what is undefined"
    )!;
    const report = await checkTaskStore("forgetful", factory, {
      only: ["random"],
      seed: 77,
    });
    const { steps, again } = failureOf(report, "random");
    assert.equal(
      again,
      'checkTaskStore("forgetful", factory, { only: ["random"], seed: 77 })',
    );
    assert.ok(steps.length <= 6, steps.join("\n"));
    assert.match(steps[0], /^1\. store\.create\(/);
    assert.ok(steps.some((step) => /update\(.*undefined/.test(step)));
    const repeated = await checkTaskStore("forgetful", factory, {
      only: ["random"],
      seed: 77,
    });
    assert.deepEqual(failureOf(repeated, "random").steps, steps);
  });

  it("reports as JSON and as text", async () => {
    const { factory } = BROKEN_STORES.find(({ fault }) =>
      fault === "update() counts by two"
    )!;
    const only = ["update-version", "reopen-rules", "get-unknown"];
    const report = await checkTaskStore("by two", factory, { only, seed: 5 });
    assert.deepEqual(JSON.parse(JSON.stringify(report)), report);
    assert.deepEqual(
      report.results.map(({ id }) => id),
      conformanceChecks.map(({ id }) => id),
    );
    const { passed, failed, skipped, notClaimed } = report.counts;
    assert.deepEqual({ passed, failed, notClaimed }, {
      passed: 1,
      failed: 2,
      notClaimed: 0,
    });
    assert.equal(skipped, conformanceChecks.length - 3);
    const text = formatConformanceReport(report);
    for (
      const part of [
        /^by two: does not conform \(1 passed, 2 failed, \d+ skipped, 0 not claimed; seed 5\)/,
        /its traits: durable: true, writers: "shared"/,
        /FAILED S13 update\(\) adds exactly 1 .* \[update-version\]/,
        /clause {4}S13: update\(\) adds exactly 1/,
        /expected {2}update\(\) of version 998 returns version 999\n/,
        /came {6}version 1000\n/,
        /steps {5}1\. store\.create\(/,
        /again {5}checkTaskStore\("by two"/,
        new RegExp(`skipped\n  ${skipped} more, which are not in .only.\n`),
        /passed\n {2}S10 .* \[get-unknown\]/,
      ]
    ) assert.match(text, part);
  });

  it("refuses arguments and options that are none, before it runs a check", async () => {
    let made = 0;
    const factory = () => {
      made++;
      return new MemoryTaskStore();
    };
    const wrong: readonly [unknown, unknown, unknown, RegExp][] = [
      ["", factory, {}, /its name is ""/],
      ["x", factory, { seed: -1 }, /seed: the value is -1/],
      ["x", factory, { seed: 1.5 }, /seed: the value is 1.5/],
      ["x", factory, { caseTimeoutMs: 0 }, /caseTimeoutMs: the value is 0/],
      ["x", factory, { only: ["no such check"] }, /only "no such check"/],
      ["x", factory, { only: "ids" }, /only: .* an array of ids/],
      ["x", factory, null, /the options are null, an object/],
      ["x", factory, { timeoutMs: 5 }, /no option "timeoutMs"; there are/],
      ["x", undefined, {}, /factory: the value is undefined, a function/],
      ["x", new MemoryTaskStore(), {}, /factory: .* a function is needed/],
    ];
    for (const [name, given, options, message] of wrong) {
      await assert.rejects(
        checkTaskStore(
          name as string,
          given as TaskStoreFactory,
          options as ConformanceOptions,
        ),
        (error: Error) => {
          assert.ok(hasErrorCode(error, "ERR_INVALID_ARGUMENT"));
          assert.match(error.message, message);
          return true;
        },
      );
    }
    assert.equal(made, 0);
  });

  it("lowers the limit of a store whose factory can, and tells where it cannot", async () => {
    const only = ["size-lowered-change"];
    const without = await checkTaskStore("fixed", withSeams(SHARED), { only });
    assert.deepEqual(statuses(without, only), ["notClaimed"]);
    assert.equal(
      without.results.find(({ id }) => id === only[0])?.reason,
      "the factory gives no reopenLower(): its limit of records is never lowered",
    );
    const deaf = () => {
      const fixture = factoryOf(SoundStore, SHARED)() as TaskStoreFixture;
      return { ...fixture, reopenLower: () => fixture.reopen!() };
    };
    const report = await checkTaskStore("deaf", deaf, { only });
    const { expected, came } = failureOf(report, only[0]);
    assert.match(expected, /reopenLower\(65536\) gives .* is 65536/);
    assert.equal(came, "it is 90000");
  });
});
