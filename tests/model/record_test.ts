import assert from "node:assert/strict";
import fc from "../support/fast_check.ts";
import {
  applyTaskPatch,
  type TaskPatch,
  type TaskRecord,
} from "../../src/model/record.ts";
import { describe, it } from "../support/runner.ts";

const record: TaskRecord = {
  taskId: "t-1",
  status: "working",
  statusMessage: "3 of 9",
  createdAt: "2026-07-28T10:20:30.456Z",
  lastUpdatedAt: "2026-07-28T10:20:31.456Z",
  ttlMs: 5_000,
  usedInputKeys: ["a"],
  version: 4,
};

describe("applyTaskPatch()", () => {
  it("sets what the patch names and keeps the rest", () => {
    assert.deepEqual(
      applyTaskPatch(record, { status: "completed", result: { n: [1] } }),
      { ...record, status: "completed", result: { n: [1] }, version: 5 },
    );
  });

  it("counts the version for an empty patch too", () => {
    assert.deepEqual(applyTaskPatch(record, {}), { ...record, version: 5 });
  });

  it("deletes what is undefined, and keeps what is null", () => {
    const next = applyTaskPatch(record, {
      statusMessage: undefined,
      usedInputKeys: undefined,
      pollIntervalMs: undefined,
      ttlMs: null,
    });
    const { statusMessage: _, usedInputKeys: __, ...rest } = record;
    assert.deepEqual(next, { ...rest, ttlMs: null, version: 5 });
    assert.deepEqual(Object.keys(next), Object.keys(rest));
  });

  it("never changes the id, the creation or the version otherwise", () => {
    for (const value of [undefined, null, "other", 77]) {
      const patch = { taskId: value, createdAt: value, version: value };
      assert.deepEqual(applyTaskPatch(record, patch as TaskPatch), {
        ...record,
        version: 5,
      });
    }
  });

  it("replaces a field whole", () => {
    const before = { ...record, result: { a: 1, b: 2 } };
    assert.deepEqual(
      applyTaskPatch(before, { result: { b: 3 } }).result,
      { b: 3 },
    );
  });

  it("applies enumerable own string keys alone", () => {
    const patch = Object.create({ statusMessage: "inherited" });
    Object.defineProperty(patch, "status", { value: "failed" });
    patch[Symbol("s")] = 1;
    patch.owner = "ann";
    assert.deepEqual(applyTaskPatch(record, patch), {
      ...record,
      owner: "ann",
      version: 5,
    });
  });

  it("keeps fields that it does not know, and sets them", () => {
    const before = { ...record, steps: { one: [1] } };
    const patch = { claim: { holder: "h" } } as TaskPatch;
    assert.deepEqual(applyTaskPatch(before, patch), {
      ...before,
      claim: { holder: "h" },
      version: 5,
    });
  });

  it("takes fields named like members of Object for data", () => {
    const patch = JSON.parse(
      `{"__proto__":{"status":"failed"},"constructor":1,"toString":2,"":3}`,
    );
    const next = applyTaskPatch(record, patch);
    assert.equal(Object.getPrototypeOf(next), Object.prototype);
    assert.equal(next.status, "working");
    assert.deepEqual(
      Object.keys(next).slice(-4),
      ["__proto__", "constructor", "toString", ""],
    );
    const cleared = applyTaskPatch(
      next,
      Object.fromEntries(
        Object.keys(patch).map((key) => [key, undefined]),
      ) as TaskPatch,
    );
    assert.deepEqual(cleared, { ...record, version: 6 });
  });

  it("leaves the record and the patch as they are, and shares nothing", () => {
    const before = structuredClone({ ...record, result: { rows: [{ n: 1 }] } });
    const patch = { inputResponses: { k: { action: "cancel" } } } as const;
    const expected = structuredClone([before, patch]);
    const next = applyTaskPatch(before, patch);
    assert.deepEqual([before, patch], expected);
    (next.result!.rows as unknown as { n: number }[])[0].n = 2;
    (next.usedInputKeys as string[]).push("b");
    (next.inputResponses!.k as { action: string }).action = "accept";
    assert.deepEqual([before, patch], expected);
  });

  it("comes to the same in one patch as in several", () => {
    const patches = fc.array(
      fc.dictionary(
        fc.constantFrom(
          "status",
          "statusMessage",
          "owner",
          "steps",
          "__proto__",
        ),
        fc.option(fc.jsonValue(), { nil: undefined }),
        { noNullPrototype: true },
      ),
      { maxLength: 5 },
    );
    fc.assert(
      fc.property(patches, (list) => {
        const one: Record<string, unknown> = Object.create(null);
        let stepwise = record;
        for (const patch of list) {
          for (const key of Object.keys(patch)) one[key] = patch[key];
          stepwise = applyTaskPatch(stepwise, patch as TaskPatch);
        }
        assert.equal(stepwise.version, record.version + list.length);
        assert.deepEqual(
          { ...applyTaskPatch(record, one as TaskPatch), version: 0 },
          { ...stepwise, version: 0 },
        );
      }),
    );
  });
});
