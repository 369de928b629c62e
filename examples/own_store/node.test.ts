import { describe, it, type TestContext } from "node:test";
import { runTaskStoreConformance } from "@mcp-durable/tasks/testing";
import { makeFixture } from "./fixture.ts";

runTaskStoreConformance("TableTaskStore", makeFixture, {
  runner: {
    describe,
    it,
    skip: (t: TestContext, reason) => t.skip(reason),
  },
});
