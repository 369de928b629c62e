/**
 * Streamable HTTP on Deno, Node and Bun, with telemetry:
 * `OTEL_DENO=true deno run -A server.ts`, or `node --import ./your_sdk.ts server.ts`.
 */
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { TaskLifecycle } from "@mcp-durable/tasks";
import { attachTasks } from "@mcp-durable/tasks/mcp";
import { WalTaskStore } from "@mcp-durable/tasks/wal";
import { taskTelemetry } from "./telemetry.ts";

const onEvent = taskTelemetry();
const store = new WalTaskStore({ dir: "tasks" });
const tasks = new TaskLifecycle({ store, onEvent });

const handler = createMcpHandler(() => {
  const mcp = new McpServer({ name: "hello", version: "1.0.0" });
  attachTasks(mcp, tasks, {
    onError: (error, { method }) =>
      onEvent({ type: "error", operation: method, error }),
  }).registerTool("hello", {}, async (_args, task) => {
    await task.progress("waving");
    return { content: [{ type: "text", text: "Hello, world!" }] };
  });
  return mcp;
});
createServer(toNodeHandler(handler)).listen(3000, "127.0.0.1");
