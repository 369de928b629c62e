import assert from "node:assert/strict";
import { ListenRegistry } from "../../src/mcp/listen_registry.ts";
import { describe, it } from "../support/runner.ts";

describe("ListenRegistry", () => {
  it("ends who is there when it is closed, and who comes later, but nobody who left", () => {
    const registry = new ListenRegistry(2);
    const ended: string[] = [];
    const enter = (name: string) => {
      const place = registry.enter("ann");
      place.onClose(() => ended.push(name));
      return place;
    };
    enter("gone").leave();
    enter("gone too").leave();
    const there = enter("there");
    registry.close();
    assert.deepEqual(ended, ["there"]);
    there.leave();
    enter("late");
    assert.deepEqual(ended, ["there", "late"]);
  });
});
