/** Streamable HTTP on Bun, which serves the default export: `bun server.ts`. */
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
export default {
  hostname: "127.0.0.1",
  port: 3000,
  idleTimeout: 0, // By default Bun ends a connection that is quiet for 10 seconds.
  fetch: (request: Request) => handler.fetch(request),
};
