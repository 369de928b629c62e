import { describe, it, type TestContext } from "vitest";
import { runTaskStoreConformance } from "@mcp-durable/tasks/testing";
import { makeFixture } from "./fixture.ts";

runTaskStoreConformance("TableTaskStore", makeFixture, {
  runner: {
    describe,
    it,
    skip: (context: TestContext, reason) => context.skip(reason),
  },
});
