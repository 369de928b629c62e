import assert from "node:assert/strict";
import { isTerminalStatus, type TaskStatus } from "../../src/model/status.ts";
import { describe, it } from "../support/runner.ts";

const final: Record<TaskStatus, boolean> = {
  working: false,
  input_required: false,
  completed: true,
  failed: true,
  cancelled: true,
};

describe("isTerminalStatus()", () => {
  for (const [status, expected] of Object.entries(final)) {
    it(`says that ${status} is ${expected ? "" : "not "}final`, () => {
      assert.equal(isTerminalStatus(status as TaskStatus), expected);
    });
  }
});
