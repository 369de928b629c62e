/**
 * An MCP server that serves tasks with the main entry alone, for hosts that
 * want their own wire code: what `@mcp-durable/tasks/mcp` does, by hand.
 */
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  type CallToolResult,
  createMcpHandler,
  McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import {
  MemoryTaskStore,
  type TaskHandle,
  TaskLifecycle,
} from "@mcp-durable/tasks";
import {
  declaresTasks,
  guarded,
  ownerOf,
  showsForms,
  TASK_PARAMS,
  TASKS,
} from "./gate.ts";
import { withTaskPushes } from "./pushes.ts";

const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });

/** The work: asks who is there, and greets. */
async function greet(task: TaskHandle) {
  await task.progress("asking");
  const { who } = await task.requestInput({
    who: {
      method: "elicitation/create",
      params: {
        message: "Who is there?",
        requestedSchema: {
          type: "object",
          properties: { name: { type: "string" } },
          required: ["name"],
        },
      },
    },
  });
  const text = `Hello, ${who.content?.name ?? "stranger"}!`;
  // A task's result is the whole result of the call: the SDK adds nothing to it.
  return { resultType: "complete", content: [{ type: "text", text }] };
}

/** A task on the wire is the answer to the call; the SDK's type does not know it. */
async function callGreet(ctx: ServerContext): Promise<CallToolResult> {
  if (!declaresTasks(ctx) || !showsForms(ctx)) {
    return { content: [{ type: "text", text: "Hello, whoever you are!" }] };
  }
  const { method } = ctx.mcpReq;
  const created = await tasks.createTask({ method, owner: ownerOf(ctx) });
  void tasks.run(created.taskId, greet);
  return created as object as CallToolResult;
}

const handler = createMcpHandler(() => {
  const mcp = new McpServer({ name: "by-hand", version: "1.0.0" });
  // Exactly `{}`, and before the server connects.
  mcp.server.registerCapabilities({ extensions: { [TASKS]: {} } });
  mcp.registerTool("greet", { description: "Greets" }, callGreet);
  // Only with three arguments are these methods let through.
  mcp.server.setRequestHandler(
    "tasks/get",
    { params: TASK_PARAMS },
    guarded(({ taskId }, owner) => tasks.getTask(taskId, { owner })),
  );
  mcp.server.setRequestHandler(
    "tasks/update",
    { params: TASK_PARAMS },
    // The SDK takes the answers out of the parameters.
    guarded(({ taskId }, owner, ctx) =>
      tasks.updateTask(taskId, ctx.mcpReq.inputResponses, { owner })
    ),
  );
  mcp.server.setRequestHandler(
    "tasks/cancel",
    { params: TASK_PARAMS },
    guarded(({ taskId }, owner) => tasks.cancelTask(taskId, { owner })),
  );
  return mcp;
});

createServer(toNodeHandler(withTaskPushes(handler, tasks)))
  .listen(3000, "127.0.0.1");
