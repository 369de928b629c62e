import assert from "node:assert/strict";
import { DEFAULT_LIMITS, type TaskLimits } from "../../mod.ts";
import {
  checkFunction,
  checkPositiveInteger,
  checkText,
  checkTtl,
  resolveLimits,
} from "../../src/model/limits.ts";
import { describe, it } from "../support/runner.ts";
import { throws } from "../support/engine_world.ts";

const names = Object.keys(DEFAULT_LIMITS) as (keyof TaskLimits)[];
const optional = ["maxTtlMs", "maxTasks", "maxTasksPerOwner"];

describe("resolveLimits()", () => {
  it("has the documented limits where nobody says otherwise", () => {
    const limits = {
      maxDepth: 128,
      maxRecordBytes: 8_388_608,
      maxStatusMessageLength: 4_096,
      maxInputKeys: 1_000,
      maxInputKeyLength: 256,
      maxNameLength: 1_024,
      maxTtlMs: null,
      maxWaiters: 10_000,
      maxListeners: 10_000,
      maxTasks: null,
      maxTasksPerOwner: null,
    };
    assert.deepEqual(resolveLimits(undefined, undefined), limits);
    assert.deepEqual(resolveLimits({}, undefined), limits);
  });

  for (const name of names) {
    it(`takes ${name}, and leaves the others`, () => {
      assert.deepEqual(resolveLimits({ [name]: 77 }, undefined), {
        ...DEFAULT_LIMITS,
        [name]: 77,
      });
      assert.deepEqual(
        resolveLimits({ [name]: undefined }, undefined),
        DEFAULT_LIMITS,
      );
    });

    for (const value of [0, -1, 1.5, NaN, Infinity, "9", true, {}]) {
      it(`refuses ${name}: ${String(value)}`, () => {
        throws(
          () => resolveLimits({ [name]: value }, undefined),
          "ERR_INVALID_ARGUMENT",
          new RegExp(`^Cannot use limits.${name}: the value is .+ is needed$`),
        );
      });
    }

    const isOptional = optional.includes(name);
    it(`${isOptional ? "takes" : "refuses"} ${name}: null`, () => {
      const call = () => resolveLimits({ [name]: null }, undefined);
      if (isOptional) assert.equal(call()[name], null);
      else throws(call, "ERR_INVALID_ARGUMENT", /the value is null/);
    });
  }

  it("takes what the store says of its records, unless the host says otherwise", () => {
    assert.equal(resolveLimits({}, 5_000).maxRecordBytes, 5_000);
    assert.equal(
      resolveLimits({ maxRecordBytes: 6_000 }, 5_000).maxRecordBytes,
      6_000,
    );
  });

  for (const value of [0, NaN, -1, "big"]) {
    it(`refuses a store that says ${value} of its records`, () => {
      throws(
        () => resolveLimits({}, value as number),
        "ERR_INVALID_ARGUMENT",
        /^Cannot use store.traits.maxRecordBytes: the value is /,
      );
    });
  }

  it("refuses a misspelt name, and says which was meant", () => {
    throws(
      () => resolveLimits({ maxDept: 5 } as Partial<TaskLimits>, undefined),
      "ERR_INVALID_ARGUMENT",
      /^Cannot set limits: there is no limit "maxDept"; did you mean maxDepth\?$/,
    );
  });

  it("refuses a name that is none, and lists those that are", () => {
    for (const name of ["depthOfAll", "toString", "__proto__"]) {
      throws(
        () => resolveLimits(JSON.parse(`{"${name}": 5}`), undefined),
        "ERR_INVALID_ARGUMENT",
        new RegExp(`"${name}".+there are maxDepth, .+maxTasksPerOwner`),
      );
    }
  });

  it("takes a depth of 1,000 and no more, so that JSON.stringify can take it", () => {
    assert.equal(resolveLimits({ maxDepth: 1_000 }, undefined).maxDepth, 1_000);
    throws(
      () => resolveLimits({ maxDepth: 1_001 }, undefined),
      "ERR_INVALID_ARGUMENT",
      /the value is 1001, at most 1000 is possible/,
    );
  });
});

describe("the checks", () => {
  it("checkPositiveInteger() takes 1 and 2^53 - 1 and gives them back", () => {
    assert.equal(checkPositiveInteger("n", 1), 1);
    assert.equal(checkPositiveInteger("n", 2 ** 53 - 1), 2 ** 53 - 1);
    throws(
      () => checkPositiveInteger("n", 2 ** 53),
      "ERR_INVALID_ARGUMENT",
      /^Cannot use n: the value is 9007199254740992, a whole number above 0 is needed$/,
    );
  });

  it("checkTtl() takes null unless there is a longest TTL", () => {
    assert.equal(checkTtl("ttlMs", null, null), null);
    assert.equal(checkTtl("ttlMs", 55, 55), 55);
    throws(() => checkTtl("ttlMs", 56, 55), "ERR_LIMIT_EXCEEDED", /56/);
    throws(() => checkTtl("ttlMs", null, 55), "ERR_LIMIT_EXCEEDED", /null/);
    throws(() => checkTtl("ttlMs", -1, 55), "ERR_INVALID_ARGUMENT", /-1/);
  });

  it("checkText() counts UTF-16 code units", () => {
    assert.equal(checkText("t", "😀", "maxT", 2), "😀");
    throws(
      () => checkText("t", "😀!", "maxT", 2),
      "ERR_LIMIT_EXCEEDED",
      /^Cannot use t: it has 3 characters: maxT is 2$/,
    );
  });

  it("checkFunction() gives a function back", () => {
    const call = () => {};
    assert.equal(checkFunction("f", call), call);
    throws(() => checkFunction("f", {}), "ERR_INVALID_ARGUMENT", /an object/);
  });
});
