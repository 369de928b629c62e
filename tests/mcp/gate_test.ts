import assert from "node:assert/strict";
import {
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import {
  CLIENT_CAPABILITIES_META_KEY_V2,
  TASKS_EXTENSION_ID_V2,
} from "@modelcontextprotocol/ext-tasks/core/v2";
import { TASKS_EXTENSION_ID } from "../../mcp.ts";
import { CLIENT_CAPABILITIES_KEY, RPC_CODES } from "../../src/mcp/protocol.ts";
import { DECLARED, send, sendLegacy } from "../support/mcp_frames.ts";
import { startHost } from "../support/mcp_host.ts";
import { describe, it } from "../support/runner.ts";

const REQUESTS = [
  ["tasks/get", {}],
  ["tasks/update", { inputResponses: {} }],
  ["tasks/cancel", {}],
] as const;

describe("the names and numbers of the protocol", () => {
  it("are those of the SDK", () => {
    assert.equal(CLIENT_CAPABILITIES_KEY, CLIENT_CAPABILITIES_META_KEY);
    assert.equal(CLIENT_CAPABILITIES_KEY, CLIENT_CAPABILITIES_META_KEY_V2);
    assert.equal(TASKS_EXTENSION_ID, TASKS_EXTENSION_ID_V2);
    assert.deepEqual({ ...RPC_CODES }, {
      methodNotFound: ProtocolErrorCode.MethodNotFound,
      invalidParams: ProtocolErrorCode.InvalidParams,
      internalError: ProtocolErrorCode.InternalError,
      missingClientCapability:
        ProtocolErrorCode.MissingRequiredClientCapability,
      polledTooFast: -32029,
    });
    const taken: number[] = Object.values(ProtocolErrorCode)
      .filter((code) => typeof code === "number");
    assert.ok(!taken.includes(RPC_CODES.polledTooFast));
  });
});

describe("server/discover", () => {
  it("advertises the extension, exactly {}, and no capability of older tasks", async () => {
    const host = await startHost();
    const { result } = await send(host.url, "server/discover", {});
    assert.deepEqual(result.capabilities.extensions, {
      "io.modelcontextprotocol/tasks": {},
    });
    assert.ok(!("tasks" in result.capabilities));
    await host.close();
  });
});

describe("a client that does not declare the extension", () => {
  for (const [method, params] of REQUESTS) {
    it(`gets -32021 with the needed capability for ${method}`, async () => {
      const host = await startHost();
      const { taskId } = await host.tasks.createTask({ owner: "anonymous" });
      for (
        const capabilities of [
          {},
          { tasks: { requests: { tools: { call: {} } } } },
          { extensions: {} },
          { extensions: { "io.modelcontextprotocol/other": {} } },
        ]
      ) {
        const { status, error } = await send(
          host.url,
          method,
          { ...params, taskId },
          { capabilities },
        );
        assert.equal(error?.code, -32021, JSON.stringify(capabilities));
        assert.equal(status, 400);
        assert.deepEqual(error?.data, {
          requiredCapabilities: {
            extensions: { "io.modelcontextprotocol/tasks": {} },
          },
        });
      }
      const accepted = await send(host.url, method, { ...params, taskId });
      assert.equal(accepted.result.resultType, "complete");
      await host.close();
    });
  }

  it("is judged by each request alone", async () => {
    const host = await startHost();
    const { taskId } = await host.tasks.createTask({ owner: "anonymous" });
    const codes = [];
    for (const capabilities of [DECLARED, {}, DECLARED, {}]) {
      const { error } = await send(host.url, "tasks/get", { taskId }, {
        capabilities,
      });
      codes.push(error?.code);
    }
    assert.deepEqual(codes, [undefined, -32021, undefined, -32021]);
    await host.close();
  });
});

describe("a client of revision 2025-11-25", () => {
  it("gets the result of a tool, never a task, and may send a task parameter", async () => {
    const host = await startHost({
      tools: ({ registerTool }) =>
        registerTool("double", {}, (_args, task, ctx) => {
          assert.equal(ctx.deferred, false);
          void task.progress("doubling");
          return { content: [{ type: "text", text: "4" }] };
        }),
    });
    for (const task of [undefined, { ttl: 60_000 }]) {
      const { result } = await sendLegacy(host.url, "tools/call", {
        name: "double",
        arguments: {},
        ...(task && { task }),
      });
      assert.deepEqual(result, { content: [{ type: "text", text: "4" }] });
    }
    await host.close();
  });
});

describe("methods that are gone", () => {
  it("are unknown: tasks/result and tasks/list", async () => {
    const host = await startHost();
    for (const method of ["tasks/result", "tasks/list"]) {
      const { error } = await send(host.url, method, { taskId: "x" });
      assert.equal(error?.code, -32601);
    }
    await host.close();
  });
});
