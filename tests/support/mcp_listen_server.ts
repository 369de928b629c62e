/** An MCP server over stdio whose tasks can be listened to, as a process of its own. */

import { McpServer } from "@modelcontextprotocol/server";
import {
  serveStdio,
  StdioServerTransport,
} from "@modelcontextprotocol/server/stdio";
import { attachTasks, withStdioTaskNotifications } from "../../mcp.ts";
import { MemoryTaskStore, TaskLifecycle } from "../../mod.ts";
import { slowlyPolledTools } from "./mcp_listen_tools.ts";

const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
const registerTools = slowlyPolledTools();

serveStdio(() => {
  const mcp = new McpServer({ name: "listen-stdio", version: "1.2.3" });
  registerTools(attachTasks(mcp, tasks), mcp);
  return mcp;
}, {
  transport: withStdioTaskNotifications(new StdioServerTransport(), tasks),
});
