import assert from "node:assert/strict";
import fc from "../support/fast_check.ts";
import { FORMATS } from "../../src/model/formats.ts";
import { describe, it } from "../support/runner.ts";

const cases: Record<string, { good: string[]; bad: string[] }> = {
  "email": {
    good: [
      "ann@example.com",
      "a@b.co",
      "ann.lee+tag@mail.example.co.uk",
      "!#$%&'*+/=?^_`{|}~-@example.com",
      "ann@localhost",
      "ann@xn--bcher-kva.example",
      `${"a".repeat(242)}@example.com`,
      `ann@${"a".repeat(63)}.com`,
    ],
    bad: [
      "",
      "@",
      "ann",
      "ann@",
      "@example.com",
      "ann@@example.com",
      "ann lee@example.com",
      " ann@example.com",
      "ann@example.com ",
      "ann@example.com\n",
      ".ann@example.com",
      "ann.@example.com",
      "ann..lee@example.com",
      "ann@.example.com",
      "ann@example..com",
      "ann@example.com.",
      "ann@-example.com",
      "ann@example-.com",
      "ann@exa_mple.com",
      `ann@${"a".repeat(64)}.com`,
      `${"a".repeat(243)}@example.com`,
      "änn@example.com",
      "Ann <ann@example.com>",
    ],
  },
  "uri": {
    good: [
      "https://example.com",
      "HTTP://example.com:8080/a/b;c?d=e&f#g/h?i",
      "https://ann:pw@example.com/",
      "http://[::1]:80/",
      "mailto:ann@example.com",
      "urn:isbn:0451450523",
      "file:///etc/hosts",
      "tel:+1-816-555-1212",
      "data:,Hello%2C%20World",
      "x-y.z+1:",
    ],
    bad: [
      "",
      "example.com",
      "/a/b",
      "//example.com",
      "?a",
      "1http://example.com",
      "://example.com",
      "https://",
      "https://example.com:port/",
      "https://example.com/a b",
      "https://example.com/%zz",
      "https://example.com/%2",
      "https://example.com/a#b#c",
      "https://example.com/[a]",
      "http://[::1",
      "https://example.com/ü",
      "https://example.com/<a>",
      "https://example.com/a\\b",
      " https://example.com",
      "https://example.com\n",
    ],
  },
  "date": {
    good: [
      "2026-07-28",
      "2024-02-29",
      "2000-02-29",
      "0000-02-29",
      "2023-02-28",
      "2026-04-30",
      "2026-12-31",
      "9999-01-01",
    ],
    bad: [
      "",
      "2023-02-29",
      "1900-02-29",
      "2026-02-30",
      "2026-04-31",
      "2026-06-31",
      "2026-09-31",
      "2026-11-31",
      "2026-01-32",
      "2026-00-10",
      "2026-13-10",
      "2026-10-00",
      "2026-7-28",
      "26-07-28",
      "12026-07-28",
      "2026/07/28",
      "2026-07-28T00:00:00Z",
      " 2026-07-28",
      "2026-07-28\n",
      "٢٠٢٦-07-28",
    ],
  },
  "date-time": {
    good: [
      "2026-07-28T10:20:30Z",
      "2026-07-28t10:20:30z",
      "2024-02-29T00:00:00.000Z",
      "2026-07-28T23:59:59.123456789+23:59",
      "2026-07-28T00:00:00-00:00",
      "2016-12-31T23:59:60Z",
      "2016-12-31T15:59:60.5-08:00",
      "2017-01-01T05:29:60+05:30",
    ],
    bad: [
      "",
      "2026-07-28",
      "10:20:30Z",
      "2026-07-28T10:20:30",
      "2026-07-28 10:20:30Z",
      "2026-07-28T10:20Z",
      "2026-07-28T10:20:30.Z",
      "2026-07-28T24:00:00Z",
      "2026-07-28T10:60:00Z",
      "2026-07-28T10:20:61Z",
      "2026-07-28T10:20:60Z",
      "2016-12-31T23:59:60+01:00",
      "2026-07-28T10:20:30+24:00",
      "2026-07-28T10:20:30+01:60",
      "2026-07-28T10:20:30+0100",
      "2026-07-28T10:20:30+01",
      "2023-02-29T10:20:30Z",
      "2026-07-28T10:20:30Z ",
      "2026-07-28T10:20:30Z\n",
      "2026-07-28TT10:20:30Z",
    ],
  },
};

describe("FORMATS", () => {
  for (const [name, { good, bad }] of Object.entries(cases)) {
    const test = FORMATS.get(name)!;
    for (const text of good) {
      it(`${name} accepts ${JSON.stringify(text.slice(0, 60))}`, () => {
        assert.equal(test(text), true);
      });
    }
    for (const text of bad) {
      it(`${name} refuses ${JSON.stringify(text.slice(0, 60))}`, () => {
        assert.equal(test(text), false);
      });
    }
  }

  it("date accepts the days that the calendar has, and no others", () => {
    const two = fc.integer({ min: 0, max: 40 }).map((n) =>
      `${n}`.padStart(2, "0")
    );
    const year = fc.integer({ min: 1000, max: 9999 });
    fc.assert(
      fc.property(year, two, two, (y, m, d) => {
        const text = `${y}-${m}-${d}`;
        const date = new Date(0);
        date.setUTCFullYear(y, Number(m) - 1, Number(d));
        assert.equal(
          FORMATS.get("date")!(text),
          date.toISOString().slice(0, 10) === text,
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it("date-time accepts every moment that Date writes", () => {
    fc.assert(
      fc.property(
        fc.date({
          min: new Date("0000-01-01T00:00:00Z"),
          max: new Date("9999-12-31T23:59:59.999Z"),
          noInvalidDate: true,
        }),
        (date) => FORMATS.get("date-time")!(date.toISOString()),
      ),
    );
  });

  it("take no longer for what was made to be slow", () => {
    const million = 1_000_000;
    const texts = [
      "a".repeat(million),
      `${"a".repeat(million)}@`,
      `${"a.".repeat(million / 2)}@b`,
      `a@${"b.".repeat(million / 2)}`,
      `a@${"b-".repeat(million / 2)}`,
      "@".repeat(million),
      `${"a@".repeat(million / 2)}!`,
      `${"a".repeat(million)}:`,
      `${"a+".repeat(million / 2)} `,
      `a:${"%20".repeat(million / 3)}%`,
      `https://${"a:".repeat(million / 2)}`,
      `https://${"/".repeat(million)}[`,
      `https://a${"#".repeat(million)}`,
      `https://a/${"?#".repeat(million / 2)} `,
      `x:${"//".repeat(million / 2)}`,
      `2026-07-28T10:20:30.${"1".repeat(million)}`,
      `${"1".repeat(million)}-01-01`,
      `2026-07-28T10:20:30.${"1.".repeat(million / 2)}Z`,
    ];
    for (const [name, test] of FORMATS) {
      for (const text of texts) {
        const before = performance.now();
        test(text);
        const took = performance.now() - before;
        assert.ok(took < 1_000, `${name} ${text.slice(0, 20)}: ${took} ms`);
      }
    }
  });
});
