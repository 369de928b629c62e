import assert from "node:assert/strict";
import type { TaskRecord } from "../../mod.ts";
import { toCreateTaskResult, toGetTaskResult } from "../../src/model/wire.ts";
import { describe, it } from "../support/runner.ts";

/** A record with every field that the engine ever sets, and one that it does not know. */
const full = {
  taskId: "f3b1",
  status: "working",
  statusMessage: "3 of 4",
  createdAt: "2026-05-06T07:08:09.010Z",
  lastUpdatedAt: "2026-05-06T07:08:10.011Z",
  ttlMs: 12_345,
  pollIntervalMs: 678,
  method: "tools/call",
  owner: "ada",
  cancelRequestedAt: "2026-05-06T07:08:10.000Z",
  inputRequests: { name: { method: "roots/list" } },
  inputResponses: { old: { roots: [] } },
  takenInputKeys: ["old"],
  usedInputKeys: ["old", "name"],
  result: { pages: 7 },
  error: { code: -32_050, message: "jam", data: [1] },
  version: 9,
  steps: { secret: true },
} as const;

const recordOf = (more: object): TaskRecord =>
  ({ ...full, ...more }) as unknown as TaskRecord;

const shared = [
  "createdAt",
  "lastUpdatedAt",
  "pollIntervalMs",
  "resultType",
  "status",
  "statusMessage",
  "taskId",
  "ttlMs",
];

describe("toGetTaskResult()", () => {
  const payloads: Record<string, object> = {
    working: {},
    input_required: { inputRequests: full.inputRequests },
    completed: { result: full.result },
    failed: { error: full.error },
    cancelled: {},
  };
  for (const [status, payload] of Object.entries(payloads)) {
    it(`shows ${status} with exactly its own fields`, () => {
      const shown = toGetTaskResult(recordOf({ status }));
      assert.deepEqual(
        Object.keys(shown).sort(),
        [...shared, ...Object.keys(payload)].sort(),
      );
      assert.deepEqual(shown, {
        resultType: "complete",
        taskId: "f3b1",
        status,
        statusMessage: "3 of 4",
        createdAt: "2026-05-06T07:08:09.010Z",
        lastUpdatedAt: "2026-05-06T07:08:10.011Z",
        ttlMs: 12_345,
        pollIntervalMs: 678,
        ...payload,
      });
    });

    it(`leaves out what ${status} does not have, and never sends null for it`, () => {
      const { statusMessage: _, pollIntervalMs: __, ...rest } = full;
      const shown = toGetTaskResult({ ...rest, status } as TaskRecord);
      assert.equal("statusMessage" in shown, false);
      assert.equal("pollIntervalMs" in shown, false);
    });
  }

  it("shows no TTL as null", () => {
    assert.equal(toGetTaskResult(recordOf({ ttlMs: null })).ttlMs, null);
  });

  it("shows a damaged record in a shape that a client can read", () => {
    const bare = {
      taskId: "f3b1",
      createdAt: full.createdAt,
      lastUpdatedAt: full.lastUpdatedAt,
      ttlMs: null,
      version: 1,
    };
    const show = (status: TaskRecord["status"]) =>
      toGetTaskResult({ ...bare, status });
    const asked = show("input_required");
    assert.deepEqual("inputRequests" in asked && asked.inputRequests, {});
    const done = show("completed");
    assert.deepEqual("result" in done && done.result, {});
    const failed = show("failed");
    assert.deepEqual("error" in failed && failed.error, {
      code: -32_603,
      message: "Internal error",
    });
  });
});

describe("toCreateTaskResult()", () => {
  it("is flat, without any payload, whatever the record holds", () => {
    const created = toCreateTaskResult(recordOf({}));
    assert.deepEqual(Object.keys(created).sort(), shared);
    assert.equal(created.resultType, "task");
    assert.equal(created.status, "working");
  });

  it("leaves out what there is none of", () => {
    const { statusMessage: _, pollIntervalMs: __, ...rest } = full;
    assert.deepEqual(
      Object.keys(toCreateTaskResult(rest)).sort(),
      shared.filter((key) =>
        !["statusMessage", "pollIntervalMs"].includes(key)
      ),
    );
  });
});
