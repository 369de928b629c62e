import assert from "node:assert/strict";
import fc from "../support/fast_check.ts";
import {
  copyJson,
  fitsJson,
  formatPath,
  jsonBytes,
  setOwn,
  toPlainJson,
  toPlainJsonObject,
  truncate,
  utf8Bytes,
} from "../../src/model/json.ts";
import { describe, it } from "../support/runner.ts";

const options = { what: "result", maxDepth: 7 };

const copy = (value: unknown) => toPlainJson(value, options);

/** `levels` arrays in each other, or objects, or both in turn. */
function nested(levels: number, kind: "array" | "object" | "both"): unknown {
  let value: unknown = 5;
  for (let level = levels; level > 0; level--) {
    const isArray = kind === "array" || (kind === "both" && level % 2 === 0);
    value = isArray ? [value] : { a: value };
  }
  return value;
}

/** An object literal as it comes from another realm, such as an iframe. */
function foreign(members: object): object {
  const prototype = Object.create(
    null,
    Object.getOwnPropertyDescriptors(Object.prototype),
  );
  return Object.assign(Object.create(prototype), members);
}

/** An array literal as it comes from another realm. */
function foreignArray(...items: unknown[]): unknown[] {
  return Object.setPrototypeOf(items, Object.setPrototypeOf([], foreign({})));
}

class Money {
  amount = 3;
}

class Rows extends Array {}

const cycle: Record<string, unknown> = { a: [{}] };
(cycle.a as { back?: unknown }[])[0].back = cycle;

const ring: unknown[] = [];
ring.push(1, ring);

const NOTHING = "undefined (leave it out, or use null)";

const refused: Record<string, [value: unknown, path: string, found: string]> = {
  "undefined": [undefined, "result", NOTHING],
  "undefined in an object": [{ a: undefined }, "result.a", NOTHING],
  "undefined in an array": [[1, undefined], "result[1]", NOTHING],
  "a hole": [{ a: [1, , 3] }, "result.a[1]", "a hole in an array"],
  "a hole at the end": [Array(2), "result[0]", "a hole in an array"],
  "NaN": [{ a: NaN }, "result.a", "NaN"],
  "Infinity": [[Infinity], "result[0]", "Infinity"],
  "-Infinity": [-Infinity, "result", "-Infinity"],
  "a bigint": [{ n: 1n }, "result.n", "a bigint (use a string or a number)"],
  "a symbol": [[Symbol("s")], "result[0]", "a symbol"],
  "a function": [{ f() {} }, "result.f", "a function"],
  "a toJSON method": [
    { toJSON: () => 1 },
    "result.toJSON",
    "a function",
  ],
  "a Map": [
    { a: { b: new Map() } },
    "result.a.b",
    "an instance of Map (use Object.fromEntries())",
  ],
  "a Set": [
    new Set([1]),
    "result",
    "an instance of Set (use an array of its values)",
  ],
  "a Date": [
    [new Date(0)],
    "result[0]",
    "an instance of Date (use toISOString())",
  ],
  "a RegExp": [{ r: /x/ }, "result.r", "an instance of RegExp"],
  "an Error": [
    { e: new Error("x") },
    "result.e",
    "an instance of Error (use its message)",
  ],
  "a Promise": [
    Promise.resolve(),
    "result",
    "an instance of Promise (use await)",
  ],
  "bytes": [
    { data: new Uint8Array(3) },
    "result.data",
    "an instance of Uint8Array",
  ],
  "a string object": [Object("s"), "result", "an instance of String"],
  "a number object": [[Object(1)], "result[0]", "an instance of Number"],
  "an instance of a class": [
    { price: new Money() },
    "result.price",
    "an instance of Money",
  ],
  "an array of a class": [Rows.of(1), "result", "an instance of Rows"],
  "an object with an object for a prototype": [
    Object.create({ a: 1 }),
    "result",
    "an instance of a class, or an object with a prototype of its own",
  ],
  "a cycle": [cycle, "result.a[0].back", "a cycle"],
  "a cycle of an array": [ring, "result[1]", "a cycle"],
  "symbol keys": [
    { a: 1, [Symbol("s")]: 2 },
    "result",
    "an object with symbol keys",
  ],
  "symbol keys that are hidden": [
    Object.defineProperty({}, Symbol("s"), { value: 1 }),
    "result",
    "an object with symbol keys",
  ],
  "symbol keys of an array": [
    Object.assign([1], { [Symbol("s")]: 2 }),
    "result",
    "an object with symbol keys",
  ],
  "an array with a member of its own": [
    [Object.assign([1], { total: 1 })],
    "result[0]",
    "an array with members of its own",
  ],
  "a match of a regular expression": [
    /a/.exec("a"),
    "result",
    "an array with members of its own",
  ],
};

describe("toPlainJson()", () => {
  for (const [name, [value, path, found]] of Object.entries(refused)) {
    it(`refuses ${name}`, () => {
      assert.throws(() => copy(value), {
        name: "NotJsonError",
        code: "ERR_NOT_JSON",
        path,
        message:
          `Cannot store ${path}: it is ${found}; plain JSON is null, booleans, finite numbers, strings, arrays without holes and plain objects`,
      });
    });
  }

  it("gives scalars as they are", () => {
    const scalars = [null, true, false, 0, 1, -2.5, 5e-324, 1.7e308, "", "x"];
    for (const value of scalars) assert.equal(copy(value), value);
  });

  it("gives a copy that shares nothing with the value", () => {
    const value = { a: [{ b: [] }], c: {} };
    const result = copy(value) as typeof value;
    assert.deepEqual(result, value);
    value.a[0].b.push(1 as never);
    value.a.push({ b: [] });
    (value.c as { d?: number }).d = 1;
    assert.deepEqual(result, { a: [{ b: [] }], c: {} });
  });

  it("leaves the value as it is", () => {
    const value = Object.freeze({ a: Object.freeze([-0]) });
    assert.deepEqual(copy(value), { a: [0] });
    assert.ok(Object.is(value.a[0], -0));
  });

  it("turns -0 into 0", () => {
    const result = copy([-0, { z: -0 }]) as [number, { z: number }];
    assert.ok(Object.is(result[0], 0));
    assert.ok(Object.is(result[1].z, 0));
    assert.ok(Object.is(copy(-0), 0));
  });

  it("gives what JSON would, whatever the JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const result = toPlainJson(value, { what: "it", maxDepth: 50 });
        assert.deepEqual(result, JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("gives the same of a value that is deep inside others", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        let deep: unknown = value;
        for (let level = 0; level < 70; level++) deep = [deep];
        let result: unknown = toPlainJson(deep, { what: "it", maxDepth: 200 });
        for (let level = 0; level < 70; level++) {
          result = (result as unknown[])[0];
        }
        assert.deepEqual(result, JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("refuses what JSON would change, whatever the value", () => {
    let refusals = 0;
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
      withNullPrototype: true,
      withBoxedValues: true,
    });
    fc.assert(
      fc.property(anything, (value) => {
        let result: unknown;
        try {
          result = toPlainJson(value, { what: "it", maxDepth: 50 });
        } catch (error) {
          assert.equal((error as { code: string }).code, "ERR_NOT_JSON");
          refusals++;
          return;
        }
        assert.equal(JSON.stringify(result), JSON.stringify(value));
        assert.deepEqual(result, JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 2_000 },
    );
    assert.ok(refusals > 100 && refusals < 1_900, `${refusals}`);
  });

  it("keeps keys named like members of Object, as data", () => {
    const text =
      `{"__proto__":{"polluted":true},"constructor":{"prototype":{"x":1}},` +
      `"toString":"a","hasOwnProperty":1,"":[{"__proto__":null}]}`;
    const result = copy(JSON.parse(text)) as Record<string, unknown>;
    assert.equal(JSON.stringify(result), text);
    assert.equal(Object.getPrototypeOf(result), Object.prototype);
    assert.ok(Object.hasOwn(result, "__proto__"));
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });

  it("keeps the order of keys", () => {
    const text = `{"1":0,"2":0,"z":0,"a":0,"__proto__":0,"m":0}`;
    assert.equal(JSON.stringify(copy(JSON.parse(text))), text);
  });

  it("takes objects without a prototype and of other realms", () => {
    const bare = Object.assign(Object.create(null), { a: 1 });
    const result = copy([bare, foreign({ b: foreignArray(2) })]);
    assert.deepEqual(result, [{ a: 1 }, { b: [2] }]);
    const [first, second] = result as { b?: unknown }[];
    assert.equal(Object.getPrototypeOf(first), Object.prototype);
    assert.equal(Object.getPrototypeOf(second), Object.prototype);
    assert.equal(Object.getPrototypeOf(second.b), Array.prototype);
  });

  it("takes one object in several places, and copies it for each", () => {
    const shared = { a: 1 };
    const result = copy({ x: shared, y: [shared, shared] }) as {
      x: unknown;
      y: unknown[];
    };
    assert.deepEqual(result, { x: { a: 1 }, y: [{ a: 1 }, { a: 1 }] });
    assert.notEqual(result.x, result.y[0]);
    assert.notEqual(result.y[0], result.y[1]);
  });

  it("keeps lone surrogates, in texts and keys", () => {
    const value = { "\ud83d": "a\udc00b", "é": "\ud800" };
    assert.deepEqual(copy(value), value);
    assert.deepEqual(JSON.parse(JSON.stringify(copy(value))), value);
  });

  it("ignores what JSON does not see", () => {
    const value = Object.defineProperty({ a: 1 }, "hidden", { value: 2 });
    assert.deepEqual(Object.getOwnPropertyNames(copy(value)), ["a"]);
  });

  it("reads a getter once", () => {
    let reads = 0;
    const value = {
      get a() {
        return ++reads;
      },
    };
    assert.deepEqual(copy(value), { a: 1 });
    assert.equal(reads, 1);
  });

  for (const kind of ["array", "object", "both"] as const) {
    it(`takes nesting up to the limit and no further (${kind})`, () => {
      assert.deepEqual(copy(nested(7, kind)), nested(7, kind));
      for (const levels of [8, 9, 100_000]) {
        assert.throws(() => copy(nested(levels, kind)), {
          name: "LimitExceededError",
          code: "ERR_LIMIT_EXCEEDED",
          limit: "maxDepth",
          maximum: 7,
          message:
            "Cannot store result: it is nested too deeply: maxDepth is 7",
        });
      }
    });
  }

  it("counts levels along each way, not over all of them", () => {
    const wide = Array.from({ length: 100 }, () => nested(6, "both"));
    assert.deepEqual(copy(wide), wide);
  });

  it("takes a thousand levels where that is the limit", () => {
    const value = nested(1_000, "both");
    const result = toPlainJson(value, { what: "it", maxDepth: 1_000 });
    assert.equal(JSON.stringify(result), JSON.stringify(value));
  });

  it("names places whose keys are no identifiers", () => {
    assert.throws(() => copy({ "a b": [{ "": 1n }] }), {
      path: 'result["a b"][0][""]',
    });
  });
});

describe("toPlainJsonObject()", () => {
  it("takes objects alone", () => {
    assert.deepEqual(toPlainJsonObject({ a: [-0] }, options), { a: [0] });
    for (
      const [value, shown] of [
        [null, "null"],
        [[1, 2], "an array of 2"],
        ["x", '"x"'],
        [undefined, "undefined"],
        [3n, "3n"],
      ]
    ) {
      assert.throws(() => toPlainJsonObject(value, options), {
        name: "InvalidArgumentError",
        code: "ERR_INVALID_ARGUMENT",
        message:
          `Cannot store result: the value is ${shown}, a plain JSON object is needed`,
      });
    }
    assert.throws(() => toPlainJsonObject(new Map(), options), {
      code: "ERR_NOT_JSON",
    });
  });
});

describe("formatPath()", () => {
  it("writes names, indexes and other keys", () => {
    assert.equal(formatPath([]), "");
    assert.equal(formatPath([], "result"), "result");
    assert.equal(formatPath(["a", 0, "$b_1", "c-d"]), 'a[0].$b_1["c-d"]');
    assert.equal(formatPath([3, "a"], "rows"), "rows[3].a");
    assert.equal(formatPath(["", "x"]), '[""].x');
  });

  it("cuts what is long", () => {
    assert.equal(formatPath(["k".repeat(80)]), "k".repeat(80));
    assert.equal(
      formatPath(["k".repeat(81)]),
      `["${"k".repeat(80)}…"]`,
    );
    const most = Array.from({ length: 20 }, (_, index) => index);
    assert.doesNotMatch(formatPath(most), /…/);
    const keys = Array.from({ length: 1_000 }, (_, index) => index);
    assert.equal(
      formatPath(keys, "it"),
      "it[0][1][2][3][4][5][6][7][8][9][…]" +
        "[990][991][992][993][994][995][996][997][998][999]",
    );
  });
});

describe("copyJson()", () => {
  it("copies JSON and shares nothing with it", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const result = copyJson(value);
        assert.deepEqual(result, value);
        if (typeof value === "object" && value !== null) {
          assert.notEqual(result, value);
        }
      }),
    );
    const inner = { a: [{}] };
    assert.notEqual(copyJson(inner).a[0], inner.a[0]);
  });

  it("keeps keys named like members of Object, as data", () => {
    const text = `{"__proto__":{"a":1},"constructor":2,"":3}`;
    assert.equal(JSON.stringify(copyJson(JSON.parse(text))), text);
  });
});

describe("setOwn()", () => {
  it("sets a member of any name", () => {
    const target: Record<string, unknown> = {};
    for (const key of ["__proto__", "constructor", "", "a"]) {
      setOwn(target, key, { of: key });
    }
    assert.deepEqual(Object.keys(target), [
      "__proto__",
      "constructor",
      "",
      "a",
    ]);
    assert.equal(Object.getPrototypeOf(target), Object.prototype);
    setOwn(target, "__proto__", 7);
    assert.equal(target["__proto__"], 7);
  });
});

/** Texts with characters of every length, and halves of characters. */
const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom("a", "\0", "\x7f", "\x80", "é", "\u07ff", "\u0800"),
    fc.constantFrom("語", "\uffff", "😀", "\u{10ffff}", "\ud83d", "\ude00"),
  ),
});

describe("utf8Bytes()", () => {
  it("counts what TextEncoder writes", () => {
    const encoder = new TextEncoder();
    fc.assert(
      fc.property(fc.oneof(anyText, fc.string({ unit: "binary" })), (text) => {
        assert.equal(utf8Bytes(text), encoder.encode(text).length);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("jsonBytes()", () => {
  it("counts the bytes of a value's JSON", () => {
    fc.assert(
      fc.property(fc.dictionary(anyText, anyText), (value) => {
        assert.equal(
          jsonBytes(value),
          new TextEncoder().encode(JSON.stringify(value)).length,
        );
      }),
    );
    assert.equal(jsonBytes({ a: "é" }), 10);
  });
});

describe("fitsJson()", () => {
  it("is true up to the bytes of a value's JSON, and false beyond", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const bytes = jsonBytes(value);
        for (const more of [0, 1, 100, 10_000]) {
          assert.equal(fitsJson(value, bytes + more), true);
        }
        assert.equal(fitsJson(value, bytes - 1), false);
      }),
    );
    // What takes the most bytes for its length.
    for (const value of ["\u0000".repeat(50), ["\ud800"], -1.7e-300, [[[]]]]) {
      assert.equal(fitsJson(value, jsonBytes(value) - 1), false);
    }
  });
});

describe("truncate()", () => {
  it("leaves a text that is short enough", () => {
    assert.equal(truncate("abcde", 5), "abcde");
    assert.equal(truncate("", 1), "");
  });

  it("ends a text that is too long with an ellipsis", () => {
    assert.equal(truncate("abcdef", 5), "abcd…");
    assert.equal(truncate("abcdef", 1), "…");
  });

  it("never cuts a character in two", () => {
    assert.equal(truncate("ab😀cd", 4), "ab…");
    assert.equal(truncate("ab😀cd", 5), "ab😀…");
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", minLength: 1 }),
        fc.integer({ min: 1, max: 12 }),
        (text, maxLength) => {
          const result = truncate(text, maxLength);
          assert.ok(result.length <= maxLength || text.length <= maxLength);
          assert.ok(result.length >= Math.min(text.length, maxLength) - 1);
          assert.doesNotMatch(result, /\p{Surrogate}/u);
          if (result !== text) assert.ok(text.startsWith(result.slice(0, -1)));
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
