import assert from "node:assert/strict";
import {
  checkOptions,
  type NamesOf,
  nearestName,
} from "../../src/model/option_names.ts";
import { describe, it } from "../support/runner.ts";

interface Options {
  readonly dir: string;
  readonly defaultTtlMs?: number;
  readonly sweepIntervalMs?: number;
}

const NAMES: NamesOf<Options> = {
  dir: true,
  defaultTtlMs: true,
  sweepIntervalMs: true,
};

const check = (options: unknown) =>
  checkOptions("open it", options as Options, NAMES, "setting");

describe("checkOptions()", () => {
  it("takes what there is, and what is undefined", () => {
    check({});
    check({ dir: "x", defaultTtlMs: undefined });
    check({ dir: "x", nothing: undefined });
    check(Object.create(null));
  });

  it("does not look at what is inherited", () => {
    check(Object.create({ foreign: 5 }));
  });

  it("refuses a misspelt name, and says which was meant", () => {
    assert.throws(() => check({ defaultTTLMs: 5 }), {
      name: "InvalidArgumentError",
      code: "ERR_INVALID_ARGUMENT",
      message:
        'Cannot open it: there is no setting "defaultTTLMs"; did you mean defaultTtlMs?',
    });
  });

  for (const name of ["colour", "__proto__", "toString", "x".repeat(100_000)]) {
    it(`refuses another name, and says which there are: ${name.slice(0, 9)}`, () =>
      assert.throws(
        () => check(JSON.parse(`{"dir": "x", "${name}": 5}`)),
        {
          code: "ERR_INVALID_ARGUMENT",
          message:
            /^Cannot open it: there is no setting ".{1,81}"; there are dir, defaultTtlMs, sweepIntervalMs$/,
        },
      ));
  }

  for (const value of [undefined, null, 42, "tasks", ["x"], () => {}]) {
    it(`refuses what is no object: ${String(value)}`, () =>
      assert.throws(() => check(value), {
        code: "ERR_INVALID_ARGUMENT",
        message:
          /^Cannot open it: the settings are .+, an object such as \{ dir \} is needed$/,
      }));
  }
});

describe("nearestName()", () => {
  const near: Readonly<Record<string, string | undefined>> = {
    DIR: "dir",
    dri: undefined,
    directory: "dir",
    swe: "sweepIntervalMs",
    defaultTtl: "defaultTtlMs",
    defaultTimeToLive: undefined,
    deafultTtlMs: "defaultTtlMs",
    sweepInterval: "sweepIntervalMs",
    sweepintervalms: "sweepIntervalMs",
    sweepIntervalSec: "sweepIntervalMs",
    d: undefined,
    "": undefined,
  };
  for (const [name, nearest] of Object.entries(near)) {
    it(`finds ${nearest} for ${JSON.stringify(name)}`, () =>
      assert.equal(nearestName(name, Object.keys(NAMES)), nearest));
  }
});
