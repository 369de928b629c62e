import assert from "node:assert/strict";
import { brief } from "../../src/testing/brief.ts";
import { difference } from "../../src/testing/expect.ts";
import { nested } from "../../src/testing/cases/values.ts";
import { describe, it } from "../support/runner.ts";

describe("difference()", () => {
  it("finds none between equal values", () => {
    const value = () =>
      JSON.parse(`{ "a": [1, { "__proto__": 2 }], "": null }`);
    assert.equal(difference(value(), value()), undefined);
    assert.equal(difference(-0, 0), undefined);
    assert.equal(difference(undefined, undefined), undefined);
    assert.equal(difference(nested(1_500), nested(1_500)), undefined);
    assert.equal(
      difference(Object.assign(Object.create(null), { a: 1 }), { a: 1 }),
      undefined,
    );
  });

  it("names the first place that differs", () => {
    for (
      const [actual, expected, wanted, came] of [
        [{ a: [1, 2] }, { a: [1, 3] }, "a[1]: 3", "a[1]: 2"],
        [{ a: undefined }, {}, "nothing at a", "a: undefined"],
        [{}, { a: 1 }, "a: 1", "nothing at a"],
        [[], {}, "{}", "[]"],
        [[1], [1, 2], "[1]: 2", "nothing at [1]"],
        [null, undefined, "undefined", "null"],
        [{ a: "1" }, { a: 1 }, "a: 1", 'a: "1"'],
        [
          { [Symbol("s")]: 1 },
          {},
          'nothing at ["Symbol(s)"]',
          '["Symbol(s)"]: 1',
        ],
        [
          "x".repeat(100),
          "x".repeat(99),
          'a string of 99 code units with "" at 99',
          'a string of 100 code units with "x" at 99',
        ],
      ]
    ) {
      assert.deepEqual(difference(actual, expected), {
        expected: wanted,
        came,
      });
    }
  });
});

describe("brief()", () => {
  it("writes values as source code does", () => {
    assert.equal(
      brief({ a: [1, -0, null, undefined], "b c": "\ud800", d: 1n }),
      '{ a: [1, -0, null, undefined], "b c": "\\ud800", d: 1n }',
    );
    assert.equal(brief(new Map()), "Map {}");
  });

  it("is short whatever the value is", () => {
    for (
      const value of [
        "x".repeat(1e6),
        Array(1e5).fill("abc"),
        Object.fromEntries(Array.from({ length: 1e4 }, (_, i) => [`k${i}`, i])),
        nested(5_000),
        Array(20).fill({ a: Array(20).fill({ b: "c".repeat(100) }) }),
      ]
    ) assert.ok(brief(value).length < 500, brief(value));
  });

  it("does not call getters, and does not follow a cycle", () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    Object.defineProperty(cycle, "trap", {
      enumerable: true,
      get: () => assert.fail("called"),
    });
    assert.match(brief(cycle), /trap: a getter/);
  });
});
