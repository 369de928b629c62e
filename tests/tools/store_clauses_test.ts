/** The clauses of the store contract: those of its documentation are those of the kit. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { CLAUSES } from "../../src/testing/clauses.ts";
import { describe, it } from "../support/runner.ts";

describe("CLAUSES", () => {
  it("has each clause of src/store/contract.ts, and no other", () => {
    const contract = readFileSync(
      new URL("../../src/store/contract.ts", import.meta.url),
      "utf8",
    );
    const written = [...contract.matchAll(/\*\*(S\d+)[.:]/g)];
    assert.deepEqual(
      written.map(([, id]) => id).sort(),
      Object.keys(CLAUSES).filter((id) => id !== "F1").sort(),
    );
  });
});
