/** Serves the tasks extension from an `McpServer`. */

import type { TaskLifecycle } from "../engine/lifecycle.ts";
import { InvalidArgumentError, show } from "../errors.ts";
import {
  clientCapabilities,
  declaresTasks,
  metaDeclaresTasks,
  missingTasks,
  speaksTasks,
} from "./gate.ts";
import { checkInputResponses } from "./input_responses.ts";
import { ownerOf } from "./owner.ts";
import type { PollLimiter } from "./poll_limiter.ts";
import { RPC_CODES, TASKS_EXTENSION_ID } from "./protocol.ts";
import { checkAttachArguments, checkTool } from "./registration.ts";
import { tapReplies } from "./replies.ts";
import { type RawParams, tapRequests } from "./requests.ts";
import { completeTask } from "./result.ts";
import { RpcError, type TaskErrorListener, toRpcError } from "./rpc_error.ts";
import type {
  McpServerLike,
  RequestContextLike,
  RequestStateCodecLike,
  SchemaLike,
} from "./shapes.ts";
import type { Tool } from "./task_handle.ts";
import { callTool, type ToolHost } from "./tool.ts";
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
  /**
   * Is given each task's work, where the platform ends what nobody waits for:
   * `(work) => ctx.waitUntil(work)` in a Durable Object.
   *
   * @default nothing
   */
  readonly waitUntil?: (work: Promise<void>) => void;
  /**
   * Limits how fast a task may be polled. One for all servers.
   *
   * @default nothing
   */
  readonly pollLimiter?: PollLimiter;
  /**
   * Seals the state of calls that ask their client before there is a task: the
   * SDK's `createRequestStateCodec({ key })`. Without it the client could
   * change the state, which gets it nothing: the state holds the client's own
   * answers, and all of them are checked against the questions again. With it
   * a change, another principal (`bind`) or too late an answer (`ttlSeconds`)
   * is refused with -32602. A host that has set the SDK's own
   * `requestState.verify` has to pass the same codec here.
   *
   * @default nothing
   */
  readonly requestState?: RequestStateCodecLike;
}

/** A server's tools that become tasks. */
export interface McpTasks<Server extends McpServerLike> {
  /**
   * Registers a tool. Called by a client that declares the tasks extension
   * with its request, it creates a task, answers with it, and runs the worker
   * detached from the request; called by any other client, it runs the worker
   * while the client waits. The SDK checks the arguments first.
   *
   * @param name The tool's name.
   * @param config What `McpServer.registerTool` takes, and how the tool's
   * tasks are created.
   * @param worker Does the work.
   * @returns What `McpServer.registerTool` returns.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an argument is wrong.
   * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: `task.ttlMs` is over `limits.maxTtlMs`.
   */
  registerTool: <
    Input extends SchemaLike | undefined = undefined,
    Output extends SchemaLike | undefined = undefined,
  >(
    name: string,
    config: TaskToolConfig<Input, Output>,
    worker: TaskToolWorker<Input, Output>,
  ) => ReturnType<Server["registerTool"]>;
}

/** Lets everything through: the adapter reads the parameters as they came. */
const ANY_PARAMS = {
  "~standard": {
    version: 1,
    vendor: "mcp-durable",
    validate: (value: unknown): object => ({ value }),
  },
};

/**
 * Where requests of the extension go. A handler of the host's own under the
 * real name is for older revisions, and stays what it is.
 */
const PRIVATE_PREFIX = "io.mcp-durable/";

interface TaskRequest {
  readonly tasks: TaskLifecycle;
  readonly taskId: string;
  readonly access: { readonly owner?: string };
  readonly params: RawParams;
  readonly pollLimiter: PollLimiter | undefined;
}

const HANDLERS: Readonly<
  Record<string, (request: TaskRequest) => Promise<unknown>>
> = {
  "tasks/get": getTask,
  "tasks/update": async ({ tasks, taskId, access, params }) => {
    const responses = checkInputResponses(params.inputResponses);
    return await tasks.updateTask(taskId, responses, access);
  },
  "tasks/cancel": ({ tasks, taskId, access }) =>
    tasks.cancelTask(taskId, access),
};

async function getTask(request: TaskRequest): Promise<unknown> {
  const { tasks, taskId, access, pollLimiter } = request;
  const retryAfterMs = pollLimiter?.poll(access.owner, taskId);
  if (retryAfterMs !== undefined) {
    throw new RpcError(
      RPC_CODES.polledTooFast,
      `Cannot show task ${
        show(taskId)
      }: it is polled too fast; poll again in ${retryAfterMs} ms, and then as its pollIntervalMs says`,
      { retryAfterMs },
    );
  }
  const task = await tasks.getTask(taskId, access);
  pollLimiter?.shown(access.owner, taskId, task.pollIntervalMs);
  if (task.status !== "completed") return task;
  return completeTask(task, await tasks.methodOf(taskId, access));
}

/**
 * Serves the tasks of a lifecycle from a server of the official SDK
 * (`@modelcontextprotocol/server`, from 2.3.0 on): declares the extension,
 * answers `tasks/get`, `tasks/update` and `tasks/cancel`, and registers tools
 * whose calls become tasks. Call it before the server connects, once for each
 * server; the lifecycle is shared by them all and outlives them.
 *
 * Connections of an older revision have no tasks: tools give their result, and
 * `tasks/*` has the handlers that the host itself registers, or -32601.
 *
 * @param mcp The server.
 * @param tasks The lifecycle.
 * @param options The options.
 * @returns Registers tools.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an argument is wrong,
 * or the server has tasks attached already.
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
  checkAttachArguments(mcp, tasks, options);
  const { owner = ownerOf, onError, pollLimiter } = options;
  const { server } = mcp;
  for (const method of Object.keys(HANDLERS)) {
    try {
      server.assertCanSetRequestHandler(PRIVATE_PREFIX + method);
    } catch (cause) {
      throw new InvalidArgumentError(
        "Cannot attach tasks: the server has tasks attached already; attach once to each server",
        { cause },
      );
    }
  }

  server.registerCapabilities(
    { extensions: { [TASKS_EXTENSION_ID]: {} } } as never,
  );
  const requiresTasks = new Set<string>();
  const params = tapRequests(server, (method, { name, _meta }) => {
    const speaks = speaksTasks(server);
    if (method === "tools/call") {
      const refused = requiresTasks.has(name as string) &&
        !(speaks && metaDeclaresTasks(_meta));
      return refused ? { refusal: missingTasks(method) } : {};
    }
    // The names that handlers have inside are no methods for clients.
    if (method.startsWith(PRIVATE_PREFIX)) return { method: PRIVATE_PREFIX };
    if (!Object.hasOwn(HANDLERS, method)) return undefined;
    return speaks ? { method: PRIVATE_PREFIX + method } : {};
  });
  for (const [method, handler] of Object.entries(HANDLERS)) {
    const answer = async (_params: unknown, ctx: RequestContextLike) => {
      if (!speaksTasks(server)) {
        throw new RpcError(RPC_CODES.methodNotFound, "Method not found");
      }
      if (!declaresTasks(ctx)) throw missingTasks(method);
      const taskId = taskIdOf(method, params(ctx));
      try {
        const principal = owner(ctx);
        const access = principal === undefined ? {} : { owner: principal };
        const request = { tasks, taskId, access, pollLimiter };
        return await handler({ ...request, params: params(ctx) });
      } catch (error) {
        throw toRpcError(error, { method, taskId }, onError);
      }
    };
    server.setRequestHandler(
      PRIVATE_PREFIX + method,
      { params: ANY_PARAMS } as never,
      answer as never,
    );
  }
  const { limits, checkFormAnswers } = tasks;
  const host: ToolHost = {
    tasks,
    reply: tapReplies(server),
    owner,
    onError,
    waitUntil: options.waitUntil,
    rules: { limits, checkFormAnswers, requestState: options.requestState },
    speaksTasks: () => speaksTasks(server),
    capabilities: (ctx) => clientCapabilities(server, ctx),
    params,
  };
  return {
    registerTool(name, config, worker) {
      const tool = { name, config, worker } as unknown as Tool;
      checkTool(tool, limits.maxTtlMs);
      const { task, before: _, ...sdkConfig } = config;
      const callback = config.inputSchema
        ? (args: unknown, ctx: RequestContextLike) =>
          callTool(host, tool, args, ctx)
        : (ctx: RequestContextLike) => callTool(host, tool, {}, ctx);
      const registered = mcp.registerTool(
        name,
        sdkConfig as never,
        callback as never,
      );
      if (task?.support === "required") requiresTasks.add(name);
      return registered as ReturnType<Server["registerTool"]>;
    },
  };
}

function taskIdOf(method: string, { taskId }: RawParams): string {
  if (typeof taskId === "string") return taskId;
  throw new RpcError(
    RPC_CODES.invalidParams,
    `Cannot answer ${method}: taskId is ${show(taskId)}, a string is needed`,
  );
}
