/** One stdio connection inside a test, frame by frame: the official transport over two pipes. */

import { PassThrough } from "node:stream";
import { McpServer } from "@modelcontextprotocol/server";
import {
  serveStdio,
  StdioServerTransport,
} from "@modelcontextprotocol/server/stdio";
import {
  attachTasks,
  type McpTasks,
  type TaskNotificationsOptions,
  withStdioTaskNotifications,
} from "../../mcp.ts";
import { MemoryTaskStore, TaskLifecycle, type TaskStore } from "../../mod.ts";
import { CLIENT_CAPABILITIES_KEY } from "../../src/mcp/protocol.ts";
import { DECLARED } from "./mcp_frames.ts";
import { checkMessage } from "./mcp_listen.ts";
import { countListeners } from "./count_listeners.ts";

// deno-lint-ignore no-explicit-any -- tests look into it at will
type Message = any;

/** A connection. */
export interface StdioConnection {
  /** Its tasks. */
  readonly tasks: TaskLifecycle;
  /** The server of the connection, once it has one. */
  readonly server: () => McpServer;
  /** What `onError` of the notifications heard. */
  readonly errors: unknown[];
  /** The listeners that the tasks have. */
  listeners(): number;
  /** Sends a message as it is. */
  write(message: object): void;
  /** Sends a request of revision 2026-07-28. */
  request(
    id: number | string,
    method: string,
    params: object,
    capabilities?: object,
  ): void;
  /** Listens. */
  listen(
    id: number | string,
    notifications: unknown,
    capabilities?: object,
  ): void;
  /** Cancels a request. */
  cancel(id: number | string): void;
  /** Reads the next message; those of a subscription are checked against the official schemas. */
  next(): Promise<Message>;
  /** Ends the input, as a client does that goes. */
  hangUp(): void;
  /** Closes the server, then the lifecycle. Somebody has to read what it still says. */
  close(): Promise<void>;
  /** Closes it, and reads what it still says. */
  end(): Promise<void>;
}

/**
 * Serves a connection.
 *
 * @param notifications The options of the notifications.
 * @param store The store; by default one in memory.
 * @param registerTools Registers the tools of the server; by default there is none.
 * @returns The connection.
 */
export function connectStdio(
  notifications: TaskNotificationsOptions = {},
  store: TaskStore = new MemoryTaskStore(),
  registerTools: (tools: McpTasks<McpServer>) => void = () => {},
): StdioConnection {
  const tasks = new TaskLifecycle({ store, sweepIntervalMs: null });
  const listeners = countListeners(tasks);
  const errors: unknown[] = [];
  const input = new PassThrough();
  // As small as a pipe may be: who does not read is noticed at once.
  const output = new PassThrough({ highWaterMark: 1 });
  let server: McpServer | undefined;
  const serving = serveStdio(() => {
    server = new McpServer(
      { name: "listen-stdio", version: "2.1.0" },
      { capabilities: { tools: { listChanged: true } } },
    );
    registerTools(attachTasks(server, tasks));
    return server;
  }, {
    transport: withStdioTaskNotifications(
      new StdioServerTransport(input, output),
      tasks,
      { onError: (error) => void errors.push(error), ...notifications },
    ),
  });

  const subscriptions = new Set<unknown>();
  let text = "";
  const chunks = output.setEncoding("utf8").iterator({
    destroyOnReturn: false,
  });
  const next = async (): Promise<Message> => {
    while (!text.includes("\n")) text += (await chunks.next()).value;
    const at = text.indexOf("\n");
    const message = JSON.parse(text.slice(0, at));
    text = text.slice(at + 1);
    const stamp = message.params?._meta
      ?.["io.modelcontextprotocol/subscriptionId"];
    return subscriptions.has(stamp) ? checkMessage(message, stamp) : message;
  };
  const write = (message: object) =>
    void input.write(`${JSON.stringify(message)}\n`);
  const request: StdioConnection["request"] = (
    id,
    method,
    params,
    capabilities = DECLARED,
  ) =>
    write({
      jsonrpc: "2.0",
      id,
      method,
      params: {
        ...params,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "s", version: "0" },
          [CLIENT_CAPABILITIES_KEY]: capabilities,
        },
      },
    });
  const close = async () => {
    await serving.close();
    await tasks.close();
  };
  return {
    tasks,
    server: () => server!,
    errors,
    listeners,
    write,
    request,
    listen(id, filter, capabilities) {
      subscriptions.add(id);
      request(
        id,
        "subscriptions/listen",
        { notifications: filter },
        capabilities,
      );
    },
    cancel(requestId) {
      const method = "notifications/cancelled";
      write({ jsonrpc: "2.0", method, params: { requestId } });
    },
    next,
    hangUp: () => void input.end(),
    close,
    async end() {
      const closed = close();
      const rest = (async () => {
        while (!(await chunks.next()).done);
      })().catch(() => {}); // The pipe is destroyed under it.
      await closed;
      output.destroy();
      await rest;
    },
  };
}
