/** stdio on Deno, Node and Bun: the client starts `server.ts` and speaks to it. */
import { McpServer } from "@modelcontextprotocol/server";
import {
  serveStdio,
  StdioServerTransport,
} from "@modelcontextprotocol/server/stdio";
import { TaskLifecycle } from "@mcp-durable/tasks";
import {
  attachTasks,
  withStdioTaskNotifications,
} from "@mcp-durable/tasks/mcp";
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

serveStdio(makeServer, {
  transport: withStdioTaskNotifications(new StdioServerTransport(), tasks),
});
