/** Serves the tasks extension from an `McpServer`. */

import type { TaskLifecycle } from "../engine/lifecycle.ts";
import { InvalidArgumentError } from "../errors.ts";
import { requireTasks } from "./gate.ts";
import { ownerOf } from "./owner.ts";
import { TASKS_EXTENSION_ID } from "./protocol.ts";
import { tapReplies } from "./replies.ts";
import { completeTask } from "./result.ts";
import { type TaskErrorListener, toRpcError } from "./rpc_error.ts";
import type {
  McpServerLike,
  RequestContextLike,
  SchemaLike,
} from "./shapes.ts";
import { callTool, type Tool, type ToolHost } from "./tool.ts";
import type { TaskToolConfig, TaskToolWorker } from "./tool_config.ts";

/** The options of {@linkcode attachTasks}. */
export interface AttachTasksOptions {
  /**
   * Names the owner of a request's tasks (rule I16); `undefined` for tasks
   * that are bound to nobody, such as the host creates itself.
   *
   * @default the OAuth client and `extra.sub` of the request's `authInfo`;
   * {@linkcode ANONYMOUS_OWNER} without one
   */
  readonly owner?: (ctx: RequestContextLike) => string | undefined;
  /**
   * Hears of unexpected errors, of which clients learn nothing but "Internal
   * error".
   *
   * @default nothing
   */
  readonly onError?: TaskErrorListener;
}

/** A server's tools that become tasks. */
export interface McpTasks<Server extends McpServerLike> {
  /**
   * Registers a tool. Called by a client that declares the tasks extension
   * with its request, it creates a task, answers with it, and runs the worker
   * detached from the request; called by any other client, it runs the worker
   * while the client waits.
   *
   * @param name The tool's name.
   * @param config What `McpServer.registerTool` takes, and how the tool's
   * tasks are created.
   * @param worker Does the work.
   * @returns What `McpServer.registerTool` returns.
   */
  registerTool: <Input extends SchemaLike | undefined = undefined>(
    name: string,
    config: TaskToolConfig<Input>,
    worker: TaskToolWorker<Input>,
  ) => ReturnType<Server["registerTool"]>;
}

/** The parameters of every `tasks/*` request that the adapter reads. */
const TASK_PARAMS = {
  "~standard": {
    version: 1,
    vendor: "mcp-durable",
    validate(value: unknown): object {
      const taskId = (value as { readonly taskId?: unknown } | undefined)
        ?.taskId;
      if (typeof taskId === "string") return { value: { taskId } };
      return { issues: [{ message: "a string is needed", path: ["taskId"] }] };
    },
  },
};

type Handler = (
  tasks: TaskLifecycle,
  taskId: string,
  access: { readonly owner?: string },
  ctx: RequestContextLike,
) => Promise<unknown>;

const HANDLERS: Readonly<Record<string, Handler>> = {
  "tasks/get": async (tasks, taskId, access) =>
    completeTask(await tasks.getTask(taskId, access)),
  "tasks/update": (tasks, taskId, access, ctx) =>
    tasks.updateTask(taskId, answersOf(ctx), access),
  "tasks/cancel": (tasks, taskId, access) => tasks.cancelTask(taskId, access),
};

/**
 * Serves the tasks of a lifecycle from a server of the official SDK
 * (`@modelcontextprotocol/server`, from 2.3.0 on): declares the extension,
 * answers `tasks/get`, `tasks/update` and `tasks/cancel`, and registers tools
 * whose calls become tasks. Call it before the server connects, once for each
 * server; the lifecycle is shared by them all and outlives them.
 *
 * @param mcp The server.
 * @param tasks The lifecycle.
 * @param options The options.
 * @returns Registers tools.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: the server already
 * answers a `tasks/*` method.
 *
 * @example
 * ```ts
 * import { McpServer } from "@modelcontextprotocol/server";
 * import { z } from "zod";
 * import { MemoryTaskStore, TaskLifecycle } from "@mcp-durable/tasks";
 * import { attachTasks } from "@mcp-durable/tasks/mcp";
 *
 * const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
 *
 * function makeServer(): McpServer {
 *   const mcp = new McpServer({ name: "squares", version: "1.0.0" });
 *   attachTasks(mcp, tasks).registerTool("square", {
 *     inputSchema: z.object({ of: z.number() }),
 *     task: { ttlMs: 60_000 },
 *   }, async ({ of }, task) => {
 *     await task.progress("multiplying");
 *     return { content: [{ type: "text", text: `${of * of}` }] };
 *   });
 *   return mcp;
 * }
 * makeServer();
 * await tasks.close();
 * ```
 */
export function attachTasks<Server extends McpServerLike>(
  mcp: Server,
  tasks: TaskLifecycle,
  options: AttachTasksOptions = {},
): McpTasks<Server> {
  const { owner = ownerOf, onError } = options;
  const { server } = mcp;
  for (const method of Object.keys(HANDLERS)) {
    try {
      server.assertCanSetRequestHandler(method);
    } catch (cause) {
      throw new InvalidArgumentError(
        `Cannot attach tasks: the server already answers ${method}; attach once, to a server without handlers of its own for tasks`,
        { cause },
      );
    }
  }

  server.registerCapabilities(
    { extensions: { [TASKS_EXTENSION_ID]: {} } } as never,
  );
  for (const [method, handler] of Object.entries(HANDLERS)) {
    const answer = async (
      { taskId }: { readonly taskId: string },
      ctx: RequestContextLike,
    ) => {
      requireTasks(ctx);
      try {
        const principal = owner(ctx);
        const access = principal === undefined ? {} : { owner: principal };
        return await handler(tasks, taskId, access, ctx);
      } catch (error) {
        throw toRpcError(error, { method, taskId }, onError);
      }
    };
    server.setRequestHandler(
      method,
      { params: TASK_PARAMS } as never,
      answer as never,
    );
  }

  const host: ToolHost = { tasks, reply: tapReplies(server), owner, onError };
  return {
    registerTool(name, config, worker) {
      const { task: _, ...sdkConfig } = config;
      const tool = { name, config, worker } as unknown as Tool;
      const callback = config.inputSchema
        ? (args: unknown, ctx: RequestContextLike) =>
          callTool(host, tool, args, ctx)
        : (ctx: RequestContextLike) => callTool(host, tool, {}, ctx);
      return mcp.registerTool(
        name,
        sdkConfig as never,
        callback as never,
      ) as ReturnType<Server["registerTool"]>;
    },
  };
}

/**
 * The answers of a `tasks/update`. Those that the SDK threw away, because they
 * are no answers, are refused by key like any other that is wrong.
 */
function answersOf(ctx: RequestContextLike): unknown {
  const { inputResponses, droppedInputResponseKeys = [] } = ctx.mcpReq;
  if (droppedInputResponseKeys.length === 0) return inputResponses;
  const dropped = droppedInputResponseKeys.map((key) => [key, null]);
  return { ...inputResponses, ...Object.fromEntries(dropped) };
}
