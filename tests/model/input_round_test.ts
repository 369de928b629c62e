import assert from "node:assert/strict";
import {
  applyTaskPatch,
  DEFAULT_LIMITS,
  type InputRequest,
  type TaskRecord,
} from "../../mod.ts";
import {
  answersTo,
  applyAnswers,
  bytesToEnd,
  openRequests,
  parseInputRequests,
  takeAnswers,
} from "../../src/model/input_round.ts";
import { jsonBytes } from "../../src/model/json.ts";
import { describe, it } from "../support/runner.ts";
import { ask, named, throws } from "../support/engine_world.ts";

const roots: InputRequest = { method: "roots/list" };

function record(more: Partial<TaskRecord> = {}): TaskRecord {
  return {
    taskId: "one",
    status: "working",
    createdAt: "2026-05-06T07:08:09.010Z",
    lastUpdatedAt: "2026-05-06T07:08:09.010Z",
    ttlMs: null,
    version: 3,
    ...more,
  };
}

const limits = DEFAULT_LIMITS;
const options = { limits, checkAnswers: true };

describe("parseInputRequests()", () => {
  it("copies the requests", () => {
    const given = { a: ask("A?"), b: roots };
    const parsed = parseInputRequests(given, limits);
    assert.deepEqual(parsed, given);
    assert.notEqual(parsed.a, given.a);
  });

  it("keeps a key named __proto__ as a key", () => {
    const given = JSON.parse('{"__proto__": {"method": "roots/list"}}');
    const parsed = parseInputRequests(given, limits);
    assert.deepEqual(Object.keys(parsed), ["__proto__"]);
    assert.equal(Object.getPrototypeOf(parsed), Object.prototype);
  });
});

describe("openRequests()", () => {
  it("adds to what is open, and to the keys that were used", () => {
    const before = record({
      status: "input_required",
      inputRequests: { open: roots },
      usedInputKeys: ["old", "open"],
    });
    assert.deepEqual(openRequests(before, { fresh: ask() }, limits), {
      status: "input_required",
      inputRequests: { open: roots, fresh: ask() },
      usedInputKeys: ["old", "open", "fresh"],
    });
  });

  it("refuses a key that was used, named like a member of every object too", () => {
    const before = record({ usedInputKeys: ["__proto__", "toString"] });
    for (const key of ["__proto__", "toString"]) {
      const requests = JSON.parse(`{"${key}": {"method": "roots/list"}}`);
      throws(
        () => openRequests(before, requests, limits),
        "ERR_DUPLICATE_INPUT_KEY",
        new RegExp(key),
      );
    }
    openRequests(before, { constructor: roots } as never, limits);
  });

  it("fills a record up to a quarter, or 8 KiB, before its end", () => {
    for (const [maxRecordBytes, reserve] of [[1_000, 250], [99_999, 8_192]]) {
      const small = { ...limits, maxRecordBytes };
      const requests = (length: number) => ({ k: ask("x".repeat(length)) });
      const size = (length: number) =>
        jsonBytes({
          ...record(),
          ...openRequests(record(), requests(length), limits),
        });
      const room = maxRecordBytes - reserve - size(0);
      const patch = openRequests(record(), requests(room), small);
      assert.equal(
        jsonBytes({ ...record(), ...patch }),
        maxRecordBytes - reserve,
      );
      throws(
        () => openRequests(record(), requests(room + 1), small),
        "ERR_ENTRY_TOO_LARGE",
        new RegExp(`at most ${maxRecordBytes - reserve} are allowed`),
      );
    }
  });
});

describe("bytesToEnd()", () => {
  it("leaves out what the end of a task drops", () => {
    const kept = record({ owner: "ada", usedInputKeys: ["a"] });
    const grown = record({
      owner: "ada",
      usedInputKeys: ["a"],
      statusMessage: "m".repeat(99),
      inputRequests: { a: ask() },
      inputResponses: { b: named("Bob") },
      takenInputKeys: ["b"],
    });
    assert.equal(bytesToEnd(grown, limits), bytesToEnd(kept, limits));
    assert.equal(bytesToEnd(kept, limits), jsonBytes(kept) + 8_192);
  });
});

describe("applyAnswers()", () => {
  const before = record({
    status: "input_required",
    inputRequests: { a: ask(), b: roots },
    inputResponses: { old: named("Old") },
  });

  it("moves what was answered, and stays input_required while a key is open", () => {
    const { patch, taken, problems } = applyAnswers(before, {
      a: named("Ada"),
      unknown: 1,
    }, options);
    assert.deepEqual(patch, {
      status: "input_required",
      inputRequests: { b: roots },
      inputResponses: { old: named("Old"), a: named("Ada") },
    });
    assert.deepEqual(taken, ["a"]);
    assert.equal(problems.size, 0);
  });

  it("goes back to working with the last answer, without an empty list", () => {
    const { patch } = applyAnswers(before, {
      a: named("Ada"),
      b: { roots: [] },
    }, options);
    assert.equal(patch?.status, "working");
    const after = applyTaskPatch(before, patch!);
    assert.equal("inputRequests" in after, false);
  });

  it("has no patch where nothing was taken", () => {
    for (const responses of [{}, { unknown: 1 }, { old: named("New") }]) {
      const { patch, taken, problems } = applyAnswers(
        before,
        responses,
        options,
      );
      assert.equal(patch, undefined);
      assert.deepEqual(taken, []);
      assert.equal(problems.size, 0);
    }
    const { patch, problems } = applyAnswers(before, { b: null }, options);
    assert.equal(patch, undefined);
    assert.deepEqual([...problems.keys()], ["b"]);
  });

  it("ignores what an object inherits", () => {
    const asked = record({
      status: "input_required",
      inputRequests: { toString: roots } as never,
    });
    const { patch, problems } = applyAnswers(asked, {}, options);
    assert.equal(patch, undefined);
    assert.equal(problems.size, 0);
  });

  it("takes answers while they fit, counted by what they add", () => {
    const asked = record({
      status: "input_required",
      inputRequests: { a: roots, b: roots, c: roots },
    });
    const answer = { roots: [{ uri: `file:///${"x".repeat(300)}` }] };
    const small = { ...limits, maxRecordBytes: 1_000 };
    const { taken, problems, patch } = applyAnswers(asked, {
      a: answer,
      b: answer,
      c: { roots: [] },
    }, { limits: small, checkAnswers: true });
    assert.deepEqual(taken, ["a", "c"]);
    assert.deepEqual([...problems.keys()], ["b"]);
    assert.ok(jsonBytes({ ...asked, ...patch }) <= 750);
  });
});

describe("answersTo()", () => {
  it("gives the answers to these keys alone, once all are there", () => {
    const answered = record({
      inputResponses: { a: named("A"), b: named("B"), c: named("C") },
    });
    assert.deepEqual(answersTo(answered, ["c", "a"]), {
      c: named("C"),
      a: named("A"),
    });
    assert.equal(answersTo(answered, ["a", "d"]), undefined);
    assert.equal(answersTo(answered, ["toString"]), undefined);
    assert.equal(answersTo(record(), ["a"]), undefined);
  });
});

describe("takeAnswers()", () => {
  const answered = record({
    inputResponses: { a: named("A"), b: named("B"), c: named("C") },
    takenInputKeys: ["a"],
  });

  it("takes what nobody has taken and nobody waits for", () => {
    const take = takeAnswers(answered, (key) => key === "b");
    assert.deepEqual(take, {
      answers: { c: named("C") },
      patch: { takenInputKeys: ["a", "c"] },
    });
  });

  it("has nothing where all is taken or waited for, or nothing was answered", () => {
    assert.equal(takeAnswers(answered, () => true), undefined);
    assert.equal(
      takeAnswers(
        record({ inputResponses: { a: named("A") }, takenInputKeys: ["a"] }),
        () => false,
      ),
      undefined,
    );
    assert.equal(takeAnswers(record(), () => false), undefined);
  });
});
