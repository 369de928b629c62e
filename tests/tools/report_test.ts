/** `tools/test/report.ts`: what is told of a failure at the end of a long log. */
import assert from "node:assert/strict";
import { parseJUnit, shorten } from "../../tools/test/report.ts";
import { describe, it } from "../support/runner.ts";

function report(failure: string): string {
  return `<?xml version="1.0"?>
<testsuites><testsuite name="s">
  <testcase name="a &gt; b" time="1">${failure}</testcase>
  <testcase name="c"/>
</testsuite></testsuites>`;
}

describe("parseJUnit()", () => {
  it("takes the error of a failed case from the text of its failure", () => {
    const xml = report(
      `<failure message="short">\nError: 1 &lt; 2\n    at x_test.ts:3\n</failure>`,
    );
    assert.deepEqual(parseJUnit(xml), [
      {
        name: "a > b",
        outcome: "failed",
        error: "Error: 1 < 2\n    at x_test.ts:3",
      },
      { name: "c", outcome: "passed" },
    ]);
  });

  it("takes the error from the message where there is no text", () => {
    for (
      const failure of [
        `<failure message="no &quot;luck&quot;"/>`,
        `<error message="no &quot;luck&quot;">\n</error>`,
      ]
    ) {
      assert.equal(parseJUnit(report(failure))[0].error, `no "luck"`);
    }
  });
});

describe("shorten()", () => {
  const lines = Array.from({ length: 40 }, (_, at) => `line ${at}`);

  it("leaves a short error as it is", () => {
    const short = lines.slice(0, 16).join("\n");
    assert.equal(shorten(short), short);
  });

  it("keeps the first lines, and the one that names the test file", () => {
    const place = "    at Object.run (file:///tests/model/json_test.ts:17:3)";
    const error = [...lines, "    at support.ts:1:1", place, place].join("\n");
    assert.deepEqual(shorten(error).split("\n"), [
      ...lines.slice(0, 16),
      "…",
      place,
    ]);
  });

  it("does not name the test file twice", () => {
    const place = "    at Object.run (file:///tests/model/json_test.ts:17:3)";
    const error = [place, ...lines, place].join("\n");
    assert.deepEqual(shorten(error).split("\n"), [
      place,
      ...lines.slice(0, 15),
      "…",
    ]);
  });

  it("cuts a long line", () => {
    assert.equal(shorten("x".repeat(100_000)).length, 300);
  });
});
