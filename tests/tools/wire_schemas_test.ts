/** `tools/wire/schemas.ts`. */
import assert from "node:assert/strict";
import { drift, shapesOf } from "../../tools/wire/schemas.ts";
import { describe, it } from "../support/runner.ts";

describe("shapesOf()", () => {
  it("describes schemas and strings, by name", () => {
    assert.deepEqual(
      shapesOf(
        { isA: () => true, BSchema: { b: 1 }, ID: "x", options: {} },
        (schema) => ["described", schema],
      ),
      { BSchema: ["described", { b: 1 }], ID: "x" },
    );
  });
});

describe("drift()", () => {
  const recorded = {
    version: "0.2.2",
    digest: "aa",
    shapes: { A: { type: "string" }, B: 1 },
  };

  it("finds nothing in what is the same", () => {
    assert.deepEqual(drift(recorded, structuredClone(recorded)), []);
  });

  it("names what has changed, come or gone, the version and the code", () => {
    assert.deepEqual(
      drift(recorded, {
        version: "0.3.0",
        digest: "bb",
        shapes: { A: { type: "number" }, C: 2 },
      }),
      [
        'A was {"type":"string"} and is {"type":"number"}',
        "B was 1 and is nothing",
        "C was nothing and is 2",
        "the version was 0.2.2 and is 0.3.0",
        "the code has changed",
      ],
    );
  });
});
