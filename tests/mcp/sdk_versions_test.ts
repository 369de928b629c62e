import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import {
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  openTaskClient,
  type TaskClient,
} from "../../examples/crash_recovery/client.ts";
import { attachTasks, withTaskNotifications } from "../../mcp.ts";
import { MemoryTaskStore, TaskLifecycle } from "../../mod.ts";
import { scriptCommand } from "../support/child.ts";
import { send, sendLegacy } from "../support/mcp_frames.ts";
import { registerTools } from "../support/mcp_tools.ts";
import { describe, it } from "../support/runner.ts";
import {
  loadSdk,
  SDK_VERSIONS,
  type SdkVersion,
} from "../support/sdk_versions.ts";
import { endServer, stdioTransport } from "../support/stdio_transport.ts";

const ANSWER = { action: "accept", content: { count: 7 } };
const DOUBLE = { name: "double", arguments: { n: 8 } };

/** A server on a version of the SDK, on a free port. */
async function withServer(
  version: SdkVersion,
  body: (url: URL) => Promise<void>,
): Promise<void> {
  const { server } = await loadSdk(version);
  const tasks = new TaskLifecycle({
    store: new MemoryTaskStore(),
    defaultPollIntervalMs: 20,
  });
  const handler = withTaskNotifications(
    server.createMcpHandler(() => {
      const mcp = new server.McpServer({ name: "sdk-tests", version: "1.2.3" });
      registerTools(attachTasks(mcp, tasks), mcp);
      return mcp;
    }),
    tasks,
  );
  const http = createServer(toNodeHandler(handler));
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const { port } = http.address() as { port: number };
  try {
    await body(new URL(`http://127.0.0.1:${port}/mcp`));
  } finally {
    await tasks.close({ graceMs: 1_000 });
    await handler.close();
    http.closeAllConnections();
    http.close();
    await once(http, "close");
  }
}

async function withClient(
  transport: Transport,
  body: (client: TaskClient) => Promise<void>,
  end: () => Promise<void> = async () => {},
): Promise<void> {
  const client = await openTaskClient(transport, {
    endpointId: "sdk",
    onInputRequest: () => Promise.resolve(ANSWER as never),
  });
  try {
    await body(client);
  } finally {
    await client.session.close();
    await end();
    await client.client.close();
  }
}

/** What the official client does with tasks, from a call to its end. */
async function mainFlow({ client, session }: TaskClient): Promise<void> {
  const settle = async (tool: string, args = {}) => {
    const execution = await session.callTool(tool, args);
    assert.equal(execution.kind, "task");
    return (await execution.settle()).outcome;
  };
  const doubled = await settle("double", DOUBLE.arguments);
  assert.equal(doubled.status, "completed");
  assert.deepEqual(doubled.result, {
    resultType: "complete",
    content: [{ type: "text", text: "16" }],
    structuredContent: { doubled: 16 },
  });
  const asked = await settle("ask_first");
  assert.equal(asked.status, "completed");
  const { content } = asked.result as { content: { text: string }[] };
  assert.deepEqual(JSON.parse(content[0].text), [ANSWER, ANSWER]);
  assert.equal((await settle("sum")).status, "completed");
  assert.equal((await settle("protocol_error")).status, "failed");

  const execution = await session.callTool("until_cancelled");
  assert.equal(execution.kind, "task");
  const { taskId } = execution.handle;
  const subscription = await client.listen(
    { taskIds: [taskId] } as Parameters<typeof client.listen>[0],
  );
  await session.cancelTask(taskId);
  const { outcome } = await execution.settle();
  assert.equal(outcome.status, "cancelled");
  assert.equal(await subscription.closed, "graceful");
}

for (const version of SDK_VERSIONS) {
  describe(`@modelcontextprotocol/server ${version}`, () => {
    it("is the one that is loaded", async () => {
      assert.equal((await loadSdk(version)).version, version);
    });

    it("serves tasks to the official client over Streamable HTTP", () =>
      withServer(
        version,
        (url) => withClient(new StreamableHTTPClientTransport(url), mainFlow),
      ));

    it("serves tasks to the official client over stdio", () => {
      const transport = stdioTransport(scriptCommand(
        new URL("../support/sdk_stdio_server.ts", import.meta.url),
        [version],
      ));
      return withClient(transport, mainFlow, () => endServer(transport));
    });

    it("serves those who know no tasks, and refuses them what they cannot have", () =>
      withServer(version, async (url) => {
        const undeclared = { capabilities: {} };
        const { result } = await send(url, "tools/call", DOUBLE, undeclared);
        assert.deepEqual(result.structuredContent, { doubled: 16 });
        const only = { name: "ask_first", arguments: {} };
        const refused = await send(url, "tools/call", only, undeclared);
        assert.equal(refused.error?.code, -32021);
        const { taskId } = (await send(url, "tools/call", DOUBLE)).result;
        const get = await send(url, "tasks/get", { taskId }, undeclared);
        assert.equal(get.error?.code, -32021);
        const legacy = await sendLegacy(url, "tasks/get", { taskId });
        assert.equal(legacy.error?.code, -32601);
        const called = await sendLegacy(url, "tools/call", DOUBLE);
        assert.deepEqual(called.result.structuredContent, { doubled: 16 });
      }));
  });
}
