/** An MCP server over stdio with the tests' tools, as a process of its own. */

import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { attachTasks } from "../../mcp.ts";
import { MemoryTaskStore, TaskLifecycle } from "../../mod.ts";
import { registerTools } from "./mcp_tools.ts";

const tasks = new TaskLifecycle({
  store: new MemoryTaskStore(),
  defaultPollIntervalMs: 20,
});

serveStdio(() => {
  const mcp = new McpServer({ name: "stdio-tests", version: "1.2.3" });
  registerTools(attachTasks(mcp, tasks), mcp);
  return mcp;
});
