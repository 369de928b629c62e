/** An MCP server over stdio on one version of the SDK: `sdk_stdio_server.ts VERSION`. */

import process from "node:process";
import { attachTasks, withStdioTaskNotifications } from "../../mcp.ts";
import { MemoryTaskStore, TaskLifecycle } from "../../mod.ts";
import { registerTools } from "./mcp_tools.ts";
import { loadSdk, type SdkVersion } from "./sdk_versions.ts";

const { server, stdio } = await loadSdk(process.argv[2] as SdkVersion);
const tasks = new TaskLifecycle({
  store: new MemoryTaskStore(),
  defaultPollIntervalMs: 20,
});
stdio.serveStdio(() => {
  const mcp = new server.McpServer({ name: "sdk-tests", version: "1.2.3" });
  registerTools(attachTasks(mcp, tasks), mcp);
  return mcp;
}, {
  transport: withStdioTaskNotifications(
    new stdio.StdioServerTransport(),
    tasks,
  ),
});
