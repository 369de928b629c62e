/** A real MCP server over HTTP, for tests: the official handler behind `node:http`. */

import { createServer } from "node:http";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import {
  ANONYMOUS_OWNER,
  attachTasks,
  type AttachTasksOptions,
  type McpTasks,
} from "../../mcp.ts";
import {
  type GetTaskResult,
  MemoryTaskStore,
  TaskLifecycle,
  type TaskLifecycleOptions,
  type TaskStore,
} from "../../mod.ts";

/** What to serve. */
export interface HostOptions {
  /** Registers tools; called for each request, as the SDK makes a server for each. */
  readonly tools?: (mcp: McpTasks<McpServer>, server: McpServer) => void;
  /** The store; by default one in memory. */
  readonly store?: TaskStore;
  /** More options of the lifecycle. */
  readonly lifecycle?: Omit<TaskLifecycleOptions, "store">;
  /** The options of the adapter. */
  readonly attach?: AttachTasksOptions;
  /** Makes each server in the place of `tools` and `attach`. */
  readonly make?: (server: McpServer) => void;
}

/** A server that runs. */
export interface McpHost {
  /** Where its endpoint is. */
  readonly url: URL;
  /** Its tasks. */
  readonly tasks: TaskLifecycle;
  /** What `onError` of the adapter heard, oldest first. */
  readonly errors: { readonly error: unknown; readonly where: object }[];
  /** Ends it, and its lifecycle. */
  close(): Promise<void>;
}

/**
 * Serves tasks on a free port. The principal of a request is its bearer token,
 * `CLIENT` or `CLIENT/SUB`.
 *
 * @param options What to serve.
 * @returns The server.
 */
export async function startHost(options: HostOptions = {}): Promise<McpHost> {
  const tasks = new TaskLifecycle({
    defaultPollIntervalMs: 20,
    ...options.lifecycle,
    store: options.store ?? new MemoryTaskStore(),
  });
  const errors: { error: unknown; where: object }[] = [];
  const handler = createMcpHandler(() => {
    const mcp = new McpServer({ name: "tests", version: "1.2.3" });
    if (options.make) {
      options.make(mcp);
      return mcp;
    }
    const attached = attachTasks(mcp, tasks, {
      onError: (error, where) => void errors.push({ error, where }),
      ...options.attach,
    });
    options.tools?.(attached, mcp);
    return mcp;
  });
  const answer = toNodeHandler(handler);
  const http = createServer((req, res) => {
    const token = /^Bearer (.+)$/.exec(req.headers.authorization ?? "")?.[1];
    if (token !== undefined) {
      const [clientId, sub] = token.split("/");
      Object.assign(req, {
        auth: { token, clientId, scopes: [], ...(sub && { extra: { sub } }) },
      });
    }
    return answer(req as IncomingMessage, res as ServerResponse);
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const { port } = http.address() as { port: number };
  return {
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    tasks,
    errors,
    async close() {
      await tasks.close({ graceMs: 1_000 });
      await handler.close();
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };
}

/**
 * Waits until a task is in a state.
 *
 * @param host The server.
 * @param taskId The task.
 * @param status The state.
 * @param owner Whose task it is.
 * @returns The task then.
 */
export async function reaches(
  host: McpHost,
  taskId: string,
  status: GetTaskResult["status"],
  owner: string = ANONYMOUS_OWNER,
): Promise<GetTaskResult> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = host.tasks.onTaskChanged(taskId, (task) => {
    if (task.status === status) resolve();
  });
  const now = await host.tasks.getTask(taskId, { owner });
  if (now.status !== status) await promise;
  stop();
  return await host.tasks.getTask(taskId, { owner });
}
