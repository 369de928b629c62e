import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import {
  Client,
  InMemoryTransport,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";
import {
  createRequestStateCodec,
  McpServer,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { attachTasks, type McpTasks } from "../../mcp.ts";
import { MemoryTaskStore, TaskLifecycle } from "../../mod.ts";
import { CLIENT_CAPABILITIES_KEY } from "../../src/mcp/protocol.ts";
import { DECLARED, send, sendLegacy } from "../support/mcp_frames.ts";
import { type McpHost, startHost } from "../support/mcp_host.ts";
import { registerTools } from "../support/mcp_tools.ts";
import { describe, it } from "../support/runner.ts";

const METHODS = [
  ["tasks/get", {}],
  ["tasks/update", { inputResponses: {} }],
  ["tasks/cancel", {}],
  ["tasks/result", {}],
  ["tasks/list", {}],
] as const;

/** Whatever comes, in and out. */
const ANYTHING = { params: z.looseObject({}) };
const anything = z.looseObject({});

/** Gives its own answers to the older methods. */
function answersItself(mcp: McpServer): void {
  for (const [method] of METHODS) {
    mcp.server.setRequestHandler(method, ANYTHING, (params) => ({
      mine: method,
      got: params.taskId,
    }));
  }
}

/** A server and a client of revision 2025-11-25 on one connection. */
async function connect(
  tools: (tasks: McpTasks<McpServer>, mcp: McpServer) => void,
  capabilities: object = { elicitation: {} },
  requestState?: ReturnType<typeof createRequestStateCodec>,
) {
  const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
  const mcp = new McpServer(
    { name: "old", version: "1.0.0" },
    requestState && { requestState: { verify: requestState.verify } },
  );
  tools(attachTasks(mcp, tasks, { requestState }), mcp);
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "old", version: "1.0.0" }, {
    capabilities,
  });
  await mcp.connect(far as never);
  await client.connect(near);
  assert.equal(client.getNegotiatedProtocolVersion(), "2025-11-25");
  return {
    tasks,
    client,
    async close() {
      await client.close();
      await mcp.close();
      await tasks.close();
    },
  };
}

function answerCounts(client: Client): string[] {
  const asked: string[] = [];
  client.setRequestHandler("elicitation/create", ({ params }) => {
    asked.push(params.message);
    return { action: "accept" as const, content: { count: asked.length } };
  });
  return asked;
}

describe("tasks/* of revision 2025-11-25", () => {
  it("are unknown, each of them", async () => {
    const host = await startHost();
    const { taskId } = await host.tasks.createTask({ owner: "anonymous" });
    for (const [method, params] of METHODS) {
      const { error } = await sendLegacy(host.url, method, {
        ...params,
        taskId,
      });
      assert.deepEqual(error, { code: -32601, message: "Method not found" });
    }
    await host.close();
  });

  it("have the host's own handlers where it has set them, before or after", async () => {
    for (const when of ["before", "after"]) {
      const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
      const host: McpHost = await startHost({
        make: (mcp) => {
          if (when === "before") answersItself(mcp);
          attachTasks(mcp, tasks);
          if (when === "after") answersItself(mcp);
        },
      });
      const { taskId } = await tasks.createTask({ owner: "anonymous" });
      for (const [method, params] of METHODS) {
        const { result } = await sendLegacy(host.url, method, {
          ...params,
          taskId,
        });
        assert.deepEqual(result, { mine: method, got: taskId });
      }
      const { result } = await send(host.url, "tasks/get", { taskId });
      assert.equal(result.status, "working");
      const { error } = await send(host.url, "tasks/get", { taskId }, {
        capabilities: {},
      });
      assert.equal(error?.code, -32021);
      for (const method of ["tasks/result", "tasks/list"]) {
        const { error } = await send(host.url, method, { taskId });
        assert.equal(error?.code, -32601, method);
      }
      await tasks.close();
      await host.close();
    }
  });

  it("are unknown also by the names that they have inside", async () => {
    const host = await startHost();
    const { taskId } = await host.tasks.createTask({ owner: "anonymous" });
    const { error } = await sendLegacy(host.url, "io.mcp-durable/tasks/get", {
      taskId,
    });
    assert.equal(error?.code, -32601);
    await host.close();
  });
});

describe("a connection of revision 2025-11-25", () => {
  it("has no tasks, whatever a request carries", async () => {
    const { client, close } = await connect((tasks, mcp) =>
      registerTools(tasks, mcp)
    );
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      [CLIENT_CAPABILITIES_KEY]: DECLARED,
    };
    const result = await client.request({
      method: "tools/call",
      params: { name: "double", arguments: { n: 4 }, _meta },
    }, anything);
    assert.deepEqual(result.structuredContent, { doubled: 8 });
    assert.ok(!("taskId" in result));
    await assert.rejects(
      client.request({ method: "tasks/get", params: { _meta } }, anything),
      { code: -32601 },
    );
    await close();
  });

  it("gets -32021 for a tool that is a task only, before its arguments are looked at", async () => {
    const { client, close } = await connect(({ registerTool }) =>
      registerTool("tool", {
        inputSchema: z.object({ n: z.number() }),
        task: { support: "required" },
      }, () => {})
    );
    const _meta = { [CLIENT_CAPABILITIES_KEY]: DECLARED };
    for (const n of [4, "four"]) {
      const call = client.request({
        method: "tools/call",
        params: { name: "tool", arguments: { n }, _meta },
      }, anything);
      await assert.rejects(call, { code: -32021 });
    }
    await close();
  });

  it("is asked by the SDK while its call waits", async () => {
    const { client, close } = await connect((tasks, mcp) =>
      registerTools(tasks, mcp)
    );
    const asked = answerCounts(client);
    const result = await client.callTool({ name: "sum", arguments: {} });
    assert.deepEqual(asked, [
      "How many apples?",
      "How many bananas?",
      "And more?",
    ]);
    assert.deepEqual(result.content, [{ type: "text", text: "6" }]);
    await close();
  });

  it("is asked under a state that the server's own hook has opened", async () => {
    let opened = 0;
    const codec = createRequestStateCodec({
      key: "a key of at least thirty-two bytes",
    });
    const { client, close } = await connect(
      (tasks, mcp) => registerTools(tasks, mcp),
      { elicitation: {} },
      {
        mint: codec.mint,
        verify(state, ctx) {
          opened++;
          return codec.verify(state, ctx);
        },
      },
    );
    const asked = answerCounts(client);
    const result = await client.callTool({ name: "sum", arguments: {} });
    assert.equal(asked.length, 3);
    assert.deepEqual(result.content, [{ type: "text", text: "6" }]);
    assert.equal(opened, 2);
    await close();
  });

  it("cannot be asked where it has none: each request alone", async () => {
    const host = await startHost({ tools: registerTools });
    const { result } = await sendLegacy(host.url, "tools/call", {
      name: "sum",
      arguments: {},
    });
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /capability elicitation\.form/);
    await host.close();
  });

  it("is not asked for what its client did not declare", async () => {
    const { client, close } = await connect(
      (tasks, mcp) => registerTools(tasks, mcp),
      {},
    );
    const result = await client.callTool({ name: "sum", arguments: {} });
    assert.equal(result.isError, true);
    assert.match(
      (result.content[0] as { text: string }).text,
      /capability elicitation\.form/,
    );
    await close();
  });

  it("works over a transport whose receiver is a setter", async () => {
    const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
    const mcp = new McpServer({ name: "old", version: "1.0.0" });
    registerTools(attachTasks(mcp, tasks), mcp);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => "the-session",
    });
    await mcp.connect(transport);
    const http = createServer((req, res) => transport.handleRequest(req, res));
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
    const { port } = http.address() as { port: number };

    const client = new Client({ name: "old", version: "1.0.0" }, {
      capabilities: { elicitation: {} },
    });
    const asked = answerCounts(client);
    const url = new URL(`http://127.0.0.1:${port}/mcp`);
    await client.connect(new StreamableHTTPClientTransport(url));
    const result = await client.callTool({ name: "sum", arguments: {} });
    assert.equal(asked.length, 3);
    assert.deepEqual(result.content, [{ type: "text", text: "6" }]);
    const required = await client.callTool({
      name: "double",
      arguments: { n: 5 },
    });
    assert.deepEqual(required.structuredContent, { doubled: 10 });

    await client.close();
    await mcp.close();
    await tasks.close();
    http.closeAllConnections();
    http.close();
    await once(http, "close");
  });
});
