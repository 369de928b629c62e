import assert from "node:assert/strict";
import { SCENARIOS } from "../../tools/conformance/scenarios.ts";
import { type Check, judge } from "../../tools/conformance/suite.ts";
import { table } from "../../tools/conformance/table.ts";
import { describe, it } from "../support/runner.ts";

const three = { name: "tasks-three", checks: 3 };
const skipped = { name: "tasks-skipped", checks: 1, skipped: true } as const;

function checks(...statuses: string[]): Check[] {
  return statuses.map((status, index) => ({ id: `check-${index}`, status }));
}

describe("judge()", () => {
  it("takes success for good, and nothing else", () => {
    assert.deepEqual(judge(three, checks("SUCCESS", "SUCCESS", "SUCCESS")), {
      counts: { passed: 3, failed: 0, skipped: 0 },
      problems: [],
    });
    for (const status of ["FAILURE", "WARNING", "INFO", "SKIPPED", "NEW"]) {
      const one = { id: "odd", status, errorMessage: "it is odd" };
      assert.deepEqual(judge(three, [...checks("SUCCESS", "SUCCESS"), one]), {
        counts: { passed: 2, failed: 1, skipped: 0 },
        problems: [`odd: ${status} it is odd`],
      });
    }
  });

  it("fails where checks are missing or are more than known", () => {
    const { counts, problems } = judge(three, checks("SUCCESS"));
    assert.deepEqual(counts, { passed: 1, failed: 2, skipped: 0 });
    assert.deepEqual(problems, ["1 checks instead of 3"]);
    const more = judge(three, checks(...Array(4).fill("SUCCESS")));
    assert.equal(more.counts.failed, 1);
    assert.equal(judge(three, []).counts.failed, 3);
  });

  it("shows as skipped only what the suite always skips", () => {
    assert.deepEqual(judge(skipped, checks("SKIPPED")).counts, {
      passed: 0,
      failed: 0,
      skipped: 1,
    });
    assert.equal(judge(skipped, checks("SUCCESS")).counts.failed, 1);
  });
});

describe("table()", () => {
  it("has a line for each scenario, and the sum", () => {
    const good = SCENARIOS.map((scenario) =>
      judge(
        scenario,
        checks(
          ...Array(scenario.checks).fill(
            scenario.skipped ? "SKIPPED" : "SUCCESS",
          ),
        ),
      )
    );
    const bad = [judge(SCENARIOS[0], []), ...good.slice(1)];
    const lines = table(
      ["left", "right"],
      new Map([["left", good], [
        "right",
        bad,
      ]]),
    ).split("\n");
    assert.equal(lines.length, SCENARIOS.length + 2);
    assert.match(lines[0], /^checks passed +left +right$/);
    assert.match(lines[1], /^tasks-lifecycle +9 +0, 9 FAILED$/);
    assert.match(lines.at(-2)!, /skipped +skipped$/);
    assert.match(lines.at(-1)!, /^all +44 +35, 9 FAILED$/);
  });
});
