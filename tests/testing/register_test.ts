import assert from "node:assert/strict";
import { MemoryTaskStore } from "../../mod.ts";
import {
  conformanceChecks,
  runTaskStoreConformance,
  TaskStoreConformanceError,
} from "../../testing.ts";
import { factoryOf, SoundStore } from "../support/broken_stores/sound_store.ts";
import { describe, it } from "../support/runner.ts";

interface Context {
  readonly name: string;
  reason?: string;
}

/** A runner that keeps what is registered. */
function keepingRunner() {
  const groups: string[] = [];
  const cases: {
    name: string;
    timeoutMs?: number;
    body: (context: Context) => Promise<void>;
  }[] = [];
  return {
    groups,
    cases,
    runner: {
      describe(name: string, body: () => void) {
        groups.push(name);
        body();
      },
      it(
        name: string,
        body: (context: Context) => Promise<void>,
        timeoutMs?: number,
      ) {
        cases.push({ name, body, timeoutMs });
      },
      skip(context: Context, reason: string) {
        context.reason = reason;
        throw new Error("skip ends the case, as vitest's does");
      },
    },
  };
}

describe("runTaskStoreConformance()", () => {
  it("registers every check in one group, at once and without a store", () => {
    const { runner, groups, cases } = keepingRunner();
    let calls = 0;
    runTaskStoreConformance("mine", () => {
      calls++;
      return new MemoryTaskStore();
    }, { runner, caseTimeoutMs: 7_000 });
    assert.deepEqual(groups, ["mine keeps the contract of a task store"]);
    assert.equal(calls, 0);
    assert.deepEqual(
      cases.map(({ name }) => name),
      conformanceChecks.map(({ clause, does, id }) =>
        `${clause} ${does} [${id}]`
      ),
    );
    assert.ok(cases.every(({ timeoutMs = 0 }) => timeoutMs > 14_000));
  });

  it("skips inside of the case, with its context and the reason", async () => {
    const { runner, cases } = keepingRunner();
    runTaskStoreConformance("mine", factoryOf(SoundStore, {}), { runner });
    const run = async (id: string) => {
      const { name, body } = cases.find(({ name }) =>
        name.endsWith(`[${id}]`)
      )!;
      const context: Context = { name };
      try {
        await body(context);
      } catch (error) {
        assert.match(String(error), /skip ends the case/);
      }
      return context.reason;
    };
    assert.equal(await run("race-two"), undefined);
    assert.match(
      await run("reopen-rules") ?? "",
      /^not claimed: the store's traits do not declare durable: true$/,
    );
    const bare = keepingRunner();
    runTaskStoreConformance("mine", () => new MemoryTaskStore(), {
      runner: bare.runner,
    });
    const { body, name } = bare.cases.find(({ name }) =>
      name.includes("clock-goes-on")
    )!;
    const context: Context = { name };
    await assert.rejects(body(context), /skip ends/);
    assert.equal(
      context.reason,
      "skipped: the factory gives no advanceTime()",
    );
  });

  it("throws the whole report of a failure", async () => {
    class Late extends SoundStore {
      protected override isExpired(): boolean {
        return false;
      }
    }
    const { runner, cases } = keepingRunner();
    runTaskStoreConformance("late", factoryOf(Late, {}), { runner });
    const { body, name } = cases.find(({ name }) =>
      name.includes("[expiry-get]")
    )!;
    await assert.rejects(body({ name }), (error) => {
      assert.ok(error instanceof TaskStoreConformanceError);
      assert.equal(error.code, "ERR_STORE_CONFORMANCE");
      assert.match(error.message, /^late: S6 .*\[expiry-get\]\n/);
      assert.match(error.message, /expected {2}get\("a"\) 10 ms after/);
      assert.match(error.failure.came, /taskId: "a"/);
      return true;
    });
  });

  it("fails a factory that gives the same instance in two cases", async () => {
    const store = new MemoryTaskStore();
    const { runner, cases } = keepingRunner();
    runTaskStoreConformance("same", () => store, { runner });
    const [, , , one, other] = cases;
    await one.body({ name: one.name });
    await assert.rejects(other.body({ name: other.name }), /had given before/);
  });
  it("refuses arguments that are none, and registers nothing", () => {
    const { runner, cases } = keepingRunner();
    const factory = () => new MemoryTaskStore();
    const wrong: readonly [unknown, unknown, RegExp][] = [
      [undefined, { runner }, /factory: the value is undefined/],
      [factory, {}, /runner: the value is undefined, an object with describe/],
      [factory, { runner: { ...runner, skip: 1 } }, /runner: /],
      [factory, undefined, /the options are undefined/],
    ];
    for (const [given, options, message] of wrong) {
      assert.throws(
        () =>
          runTaskStoreConformance(
            "mine",
            given as typeof factory,
            options as { runner: typeof runner },
          ),
        { code: "ERR_INVALID_ARGUMENT", message },
      );
    }
    assert.deepEqual(cases, []);
  });
});
