import assert from "node:assert/strict";
import fc from "../support/fast_check.ts";
import { parseTime, TimeWriter } from "../../src/model/iso_time.ts";
import { describe, it } from "../support/runner.ts";

/** Every time that a Date can be, the usual ones more often. */
const anyTime = fc.oneof(
  fc.integer({ min: 0, max: 4_102_444_800_000 }),
  fc.integer({ min: -8.64e15, max: 8.64e15 }),
);

describe("parseTime()", () => {
  it("reads what toISOString() wrote", () => {
    fc.assert(
      fc.property(anyTime, (ms) => {
        assert.equal(parseTime(new Date(ms).toISOString()), ms);
      }),
      { numRuns: 2_000 },
    );
  });

  it("reads each text of the usual length as Date.parse() does", () => {
    const usual = "2026-07-28T10:20:30.456Z";
    const character = fc.constantFrom(..."0123456789-:.TZ+ x");
    const edits = fc.array(fc.tuple(fc.nat(usual.length - 1), character), {
      minLength: 1,
      maxLength: 4,
    });
    let times = 0;
    fc.assert(
      fc.property(edits, (edits) => {
        const characters = [...usual];
        for (const [at, other] of edits) characters[at] = other;
        const text = characters.join("");
        assert.equal(parseTime(text), Date.parse(text), text);
        if (!Number.isNaN(parseTime(text))) times++;
      }),
      { numRuns: 5_000 },
    );
    assert.ok(times > 500, `${times}`);
  });

  it("reads the ends of months, leap days, short years and other forms as Date.parse() does", () => {
    for (
      const text of [
        "2026-02-29T00:00:00.000Z",
        "2024-02-29T23:59:59.999Z",
        "2026-04-31T00:00:00.000Z",
        "2026-12-31T24:00:00.000Z",
        "2026-01-01T24:00:00.000Z",
        "0099-05-05T05:05:05.005Z",
        "0000-01-01T00:00:00.000Z",
        "2026-00-10T00:00:00.000Z",
        "2026-01-00T00:00:00.000Z",
        "2026-07-28T10:20:30Z",
        "2026-07-28",
        "2026-07-28T10:20:30.456+02:00",
        "",
        "never",
      ]
    ) assert.equal(parseTime(text), Date.parse(text), text);
  });
});

describe("TimeWriter", () => {
  it("write() writes as toISOString() does, also the same time again", () => {
    const writer = new TimeWriter();
    fc.assert(
      fc.property(anyTime, fc.boolean(), (ms, again) => {
        const text = new Date(ms).toISOString();
        assert.equal(writer.write(ms), text);
        if (again) assert.equal(writer.write(ms), text);
      }),
    );
    assert.throws(() => writer.write(NaN), RangeError);
    assert.throws(() => writer.write(8.64e15 + 1), RangeError);
  });

  it("writeLater() writes the later of two times", () => {
    const writer = new TimeWriter();
    fc.assert(
      fc.property(anyTime, anyTime, (one, other) => {
        assert.equal(
          writer.writeLater(new Date(one).toISOString(), other),
          new Date(Math.max(one, other)).toISOString(),
        );
      }),
      { numRuns: 2_000 },
    );
    const short = "2026-07-28T10:20:30Z";
    const at = Date.parse(short);
    for (const ms of [at - 1, at, at + 1]) {
      assert.equal(
        writer.writeLater(short, ms),
        new Date(Math.max(at, ms)).toISOString(),
      );
    }
  });
});
