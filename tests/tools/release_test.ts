/** `tools/check_release.ts`, and what holds for every workflow. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { checkRelease } from "../../tools/check_release.ts";
import { describe, it } from "../support/runner.ts";

const CHANGELOG = `# Changelog

## [Unreleased]

## [3.1.4] - 2026-11-29

### Added

- Something.

## [3.1.3] - 2026-11-28
`;

describe("checkRelease()", () => {
  it("takes a version with its section", () => {
    assert.deepEqual(checkRelease("v3.1.4", "3.1.4", CHANGELOG), []);
  });

  it("refuses another tag, and a version of which nothing is said", () => {
    assert.deepEqual(checkRelease("3.1.4", "3.1.4", CHANGELOG), [
      "the tag is 3.1.4, and deno.json has version 3.1.4",
    ]);
    assert.deepEqual(checkRelease("v3.1.5", "3.1.5", CHANGELOG), [
      'CHANGELOG.md has no section "## [3.1.5] - " with its date',
    ]);
    assert.deepEqual(checkRelease("v3.1.3", "3.1.3", CHANGELOG), [
      "the section of 3.1.3 in CHANGELOG.md says nothing",
    ]);
  });
});

const FOLDER = new URL("../../.github/workflows/", import.meta.url);

for (const file of readdirSync(FOLDER)) {
  const text = readFileSync(new URL(file, FOLDER), "utf8");

  describe(`the workflow ${file}`, () => {
    it("pins its actions to commits, each with its version", () => {
      for (const [, action] of text.matchAll(/uses: (.*)/g)) {
        assert.match(action!, /^[\w-]+\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/);
      }
    });

    it("may read, and write nothing but what a job says", () => {
      assert.match(text, /^permissions:\n {2}contents: read$/m);
      const more = [...text.matchAll(/^ {6}([\w-]+): write/gm)];
      assert.ok(more.every(([, scope]) => scope === "id-token"), `${more}`);
      assert.doesNotMatch(text, /secrets\./);
    });

    it("publishes a file, and no repository of its name", () => {
      for (const [, what] of text.matchAll(/npm@[\d.]+ publish (\S+)/g)) {
        assert.match(what!, /^\.\//);
      }
    });

    it("has a time limit for each job, and keeps no credentials", () => {
      const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
      assert.equal(
        count(/^ {4}timeout-minutes: \d+$/gm),
        count(/^ {4}runs-on: /gm),
      );
      assert.equal(
        count(/persist-credentials: false/g),
        count(/uses: actions\/checkout@/g),
      );
    });
  });
}
