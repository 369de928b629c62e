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

// Opened here, so that a second process on the folder says why it cannot start.
const store = await WalTaskStore.open({ dir: "tasks" });
const tasks = new TaskLifecycle({ store });

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
