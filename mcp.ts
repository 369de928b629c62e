/**
 * Serves tasks from a server of the official MCP SDK. The SDK itself is not
 * imported: whichever copy of `@modelcontextprotocol/server` (2.3.0 or newer)
 * a program has, it fits.
 *
 * ```ts
 * import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
 * import { MemoryTaskStore, TaskLifecycle } from "@mcp-durable/tasks";
 * import { attachTasks } from "@mcp-durable/tasks/mcp";
 *
 * const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
 * const handler = createMcpHandler(() => {
 *   const mcp = new McpServer({ name: "hello", version: "1.0.0" });
 *   attachTasks(mcp, tasks).registerTool("hello", {}, async (_args, task) => {
 *     await task.progress("waving");
 *     return { content: [{ type: "text", text: "Hello, world!" }] };
 *   });
 *   return mcp;
 * });
 * // Deno.serve(handler.fetch), or node:http with @modelcontextprotocol/node.
 * await handler.close();
 * await tasks.close();
 * ```
 *
 * @module
 */

export {
  attachTasks,
  type AttachTasksOptions,
  type McpTasks,
} from "./src/mcp/attach.ts";
export {
  type HttpHandlerLike,
  withTaskNotifications,
} from "./src/mcp/listen_http.ts";
export type { TaskNotificationsOptions } from "./src/mcp/listen_options.ts";
export {
  type StdioTransportLike,
  withStdioTaskNotifications,
} from "./src/mcp/listen_stdio.ts";
export { ANONYMOUS_OWNER, ownerOf } from "./src/mcp/owner.ts";
export {
  PollLimiter,
  type PollLimiterOptions,
} from "./src/mcp/poll_limiter.ts";
export { TASKS_EXTENSION_ID } from "./src/mcp/protocol.ts";
export type {
  TaskErrorListener,
  TaskRequestInfo,
} from "./src/mcp/rpc_error.ts";
export type {
  AuthInfoLike,
  McpServerLike,
  RequestContextLike,
  RequestId,
  RequestStateCodecLike,
  SchemaInput,
  SchemaLike,
  SchemaOutput,
  ServerLike,
} from "./src/mcp/shapes.ts";
export { toolWorker } from "./src/mcp/tool_worker.ts";
export type {
  TaskToolCall,
  TaskToolConfig,
  TaskToolContext,
  TaskToolPrelude,
  TaskToolResult,
  TaskToolTaskOptions,
  TaskToolWorker,
  ToolContent,
  ToolResult,
} from "./src/mcp/tool_config.ts";
