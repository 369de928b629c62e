/**
 * Serves tasks from a server of the official MCP SDK. The SDK itself is not
 * imported: whichever copy of `@modelcontextprotocol/server` (2.3.0 or newer)
 * a program has, it fits.
 *
 * @module
 */

export {
  attachTasks,
  type AttachTasksOptions,
  type McpTasks,
} from "./src/mcp/attach.ts";
export { ANONYMOUS_OWNER, ownerOf } from "./src/mcp/owner.ts";
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
  SchemaLike,
  SchemaOutput,
  ServerLike,
} from "./src/mcp/shapes.ts";
export type {
  TaskToolConfig,
  TaskToolContext,
  TaskToolTaskOptions,
  TaskToolWorker,
  ToolContent,
  ToolResult,
} from "./src/mcp/tool_config.ts";
