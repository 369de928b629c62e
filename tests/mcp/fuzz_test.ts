import assert from "node:assert/strict";
import { checkAnswer, fuzzServer } from "../support/mcp_fuzz.ts";
import { envelope, send } from "../support/mcp_frames.ts";
import { startHost } from "../support/mcp_host.ts";
import { registerTools } from "../support/mcp_tools.ts";
import { describe, it } from "../support/runner.ts";
import { withTempDir } from "../support/wal_dir.ts";

/** How many frames each server gets; `deno task fuzz` sends 10^5. */
const FRAMES = 300;

/** After so few, the runtime is still compiling. */
const SLACK_BYTES = 4 * 1024 * 1024;

describe(`${FRAMES} fuzzed frames`, () => {
  it("are each answered, and change nothing for a server with either store", () =>
    withTempDir(async (dir) => {
      await Promise.all([
        fuzzServer(["memory"], FRAMES, SLACK_BYTES),
        fuzzServer(["wal", dir], FRAMES, SLACK_BYTES),
      ]);
    }));
});

describe("a frame that is nested 100,000 deep", () => {
  /** Frames with a place for a value, and how the SDK is to route them. */
  const frames = [
    ["tools/call", "double", { name: "double", arguments: { n: "@" } }],
    ["tools/call", "ping", { name: "ping", other: "@" }],
    ["tools/call", "sum", { name: "sum", inputResponses: { a: "@" } }],
    ["tasks/get", "id", { taskId: "id", inputRequests: "@" }],
    ["tasks/update", "id", { taskId: "id", inputResponses: { a: "@" } }],
    ["tasks/update", "id", { taskId: "id", inputResponses: "@" }],
  ] as const;

  it("is answered, and the server serves on", async () => {
    const host = await startHost({ tools: registerTools });
    for (const [method, name, params] of frames) {
      for (const [open, close] of [["[", "]"], ['{"a":', "}"]]) {
        const deep = open.repeat(100_000) + "1" + close.repeat(100_000);
        const body = JSON.stringify({
          jsonrpc: "2.0",
          id: 3,
          method,
          params: { ...params, _meta: envelope() },
        }).replace('"@"', deep);
        const headers = {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": method,
          "mcp-name": name,
        };
        const init = { method: "POST", headers, body };
        const response = await fetch(host.url, init);
        const answer = {
          status: response.status,
          body: await response.text(),
        };
        checkAnswer(answer, { headers, body, silent: false });
      }
    }
    const call = { name: "double", arguments: { n: 21 } };
    const { result } = await send(host.url, "tools/call", call);
    assert.equal(result.resultType, "task");
    await host.close();
  });
});
