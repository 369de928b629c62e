/** Streamable HTTP on Deno: `deno run --allow-net --allow-read=. --allow-write=. server.ts`. */
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { TaskLifecycle } from "@mcp-durable/tasks";
import { attachTasks, withTaskNotifications } from "@mcp-durable/tasks/mcp";
import { WalTaskStore } from "@mcp-durable/tasks/wal";

const tasks = new TaskLifecycle({ store: new WalTaskStore({ dir: "tasks" }) });

function makeServer() {
  const mcp = new McpServer({ name: "hello", version: "1.0.0" });
  attachTasks(mcp, tasks).registerTool("hello", {}, async (_args, task) => {
    await task.progress("waving");
    return { content: [{ type: "text", text: "Hello, world!" }] };
  });
  return mcp;
}

const handler = withTaskNotifications(createMcpHandler(makeServer), tasks);
Deno.serve(
  { hostname: "127.0.0.1", port: 3000 },
  (request) => handler.fetch(request),
);
