import { runTaskStoreConformance } from "@mcp-durable/tasks/testing";
import { makeFixture } from "./fixture.ts";

runTaskStoreConformance("TableTaskStore", makeFixture, {
  runner: {
    describe: (_name, body) => body(),
    it: (name, body) => Deno.test(name, body),
    skip: (t: Deno.TestContext, reason) =>
      t.step({ name: reason, ignore: true, fn() {} }),
  },
});
