/** Streams of notifications over HTTP, read frame by frame and checked against the official schemas. */

import assert from "node:assert/strict";
import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import {
  ErrorV2Schema,
  TaskStatusNotificationV2Schema,
  TaskSubscriptionAcknowledgedNotificationsV2Schema,
} from "@modelcontextprotocol/ext-tasks/core/v2";
import {
  attachTasks,
  type AttachTasksOptions,
  type McpTasks,
  type TaskNotificationsOptions,
  withTaskNotifications,
} from "../../mcp.ts";
import {
  MemoryTaskStore,
  TaskLifecycle,
  type TaskLifecycleOptions,
  type TaskStore,
} from "../../mod.ts";
import {
  CLIENT_CAPABILITIES_KEY,
  SUBSCRIPTION_ID_KEY,
} from "../../src/mcp/protocol.ts";
import { DECLARED } from "./mcp_frames.ts";
import { countListeners } from "./count_listeners.ts";

// deno-lint-ignore no-explicit-any -- tests look into it at will
type Message = any;

/** What to serve. */
export interface ListenHostOptions {
  /** Registers tools. */
  readonly tools?: (mcp: McpTasks<McpServer>, server: McpServer) => void;
  /** The options of the notifications. */
  readonly notifications?: TaskNotificationsOptions;
  /** The options of the adapter. */
  readonly attach?: AttachTasksOptions;
  /** The store; by default one in memory. */
  readonly store?: TaskStore;
  /** More options of the lifecycle. */
  readonly lifecycle?: Omit<TaskLifecycleOptions, "store">;
}

/** A handler and its tasks. */
export interface ListenHandler {
  /** Its tasks. */
  readonly tasks: TaskLifecycle;
  /** The listeners that the tasks have. */
  listeners(): number;
  /** The handler. */
  readonly handler: ReturnType<typeof createMcpHandler>;
  /** What `onError` of the notifications heard. */
  readonly errors: unknown[];
}

/** A server that runs. */
export interface ListeningHost extends ListenHandler {
  /** Where its endpoint is. */
  readonly url: URL;
  /** Ends it, and its lifecycle. */
  close(): Promise<void>;
}

/**
 * Makes a handler with tasks that can be listened to.
 *
 * @param options What to serve.
 * @returns The handler.
 */
export function listenHandler(options: ListenHostOptions = {}): ListenHandler {
  const tasks = new TaskLifecycle({
    sweepIntervalMs: null,
    ...options.lifecycle,
    store: options.store ?? new MemoryTaskStore(),
  });
  const listeners = countListeners(tasks);
  const errors: unknown[] = [];
  const handler = withTaskNotifications(
    createMcpHandler(() => {
      const mcp = new McpServer(
        { name: "listen-tests", version: "3.2.1" },
        { capabilities: { tools: { listChanged: true } } },
      );
      const attached = attachTasks(mcp, tasks, options.attach);
      options.tools?.(attached, mcp);
      return mcp;
    }),
    tasks,
    {
      onError: (error) => void errors.push(error),
      ...options.notifications,
    },
  );
  return { tasks, listeners, handler, errors };
}

/**
 * Serves such a handler on a free port. The principal of a request is its
 * bearer token.
 *
 * @param options What to serve.
 * @returns The server.
 */
export async function startListenHost(
  options: ListenHostOptions = {},
): Promise<ListeningHost> {
  const host = listenHandler(options);
  const answer = toNodeHandler(host.handler);
  const http = createServer((req, res) => {
    const clientId = /^Bearer (.+)$/.exec(req.headers.authorization ?? "")?.[1];
    if (clientId !== undefined) {
      Object.assign(req, { auth: { token: "t", clientId, scopes: [] } });
    }
    return answer(req as IncomingMessage, res as ServerResponse);
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const { port } = http.address() as { port: number };
  return {
    ...host,
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    async close() {
      await host.handler.close();
      await host.tasks.close({ graceMs: 1_000 });
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };
}

/** How to listen. */
export interface ListenOptions {
  /** The id of the request. */
  readonly id?: number | string;
  /** What the client declares; by default the extension. */
  readonly capabilities?: object;
  /** The bearer token. */
  readonly token?: string;
  /** Headers in place of the right ones. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends the connection. */
  readonly signal?: AbortSignal;
}

/** A stream that is read. */
export interface Listening {
  /** The status of the answer. */
  readonly status: number;
  /** The headers of the answer. */
  readonly headers: Headers;
  /** The error, where the answer is one. */
  readonly error?: { code: number; message: string; data?: unknown };
  /** Every frame so far as it came, without the empty line. */
  readonly frames: string[];
  /** Reads the next message; `undefined` after the end. Comments are passed over. */
  next(): Promise<Message>;
  /** Reads a task's notification. */
  task(): Promise<Message>;
  /** Reads the next frame, a comment too. */
  frame(): Promise<string | undefined>;
  /** Goes. */
  leave(): Promise<void>;
}

/**
 * Makes a request to listen.
 *
 * @param url The endpoint.
 * @param notifications What to ask for.
 * @param options How.
 * @returns The request.
 */
export function listenRequest(
  url: URL | string,
  notifications: unknown,
  options: ListenOptions = {},
): Request {
  const { id = "listen-7", token } = options;
  return new Request(url, {
    method: "POST",
    signal: options.signal,
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "subscriptions/listen",
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...options.headers,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id,
      method: "subscriptions/listen",
      params: {
        notifications,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "l", version: "0" },
          [CLIENT_CAPABILITIES_KEY]: options.capabilities ?? DECLARED,
        },
      },
    }),
  });
}

/**
 * Listens.
 *
 * @param url The endpoint.
 * @param notifications What to ask for.
 * @param options How.
 * @returns The stream; its tasks and acknowledgement are checked against the official schemas.
 */
export async function listen(
  url: URL,
  notifications: unknown,
  options: ListenOptions = {},
): Promise<Listening> {
  const response = await fetch(listenRequest(url, notifications, options));
  return await readListening(response, options.id ?? "listen-7");
}

/**
 * Reads an answer.
 *
 * @param response The answer.
 * @param id The id of the request.
 * @returns The stream.
 */
export async function readListening(
  response: Response,
  id: number | string = "listen-7",
): Promise<Listening> {
  const { status, headers } = response;
  const frames: string[] = [];
  if (headers.get("content-type") !== "text/event-stream") {
    const { error, id: answered } = await response.json();
    ErrorV2Schema.parse(error);
    assert.equal(answered, id);
    const none = () => Promise.reject(new Error("the answer is an error"));
    return {
      status,
      headers,
      error,
      frames,
      next: none,
      task: none,
      frame: none,
      leave: () => Promise.resolve(),
    };
  }
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  const ready: string[] = [];
  let text = "";
  const frame = async () => {
    while (ready.length === 0) {
      const { done, value } = await reader.read();
      if (done) {
        assert.equal(text, "", "the stream ends inside a frame");
        return undefined;
      }
      text += decoder.decode(value, { stream: true });
      const parts = text.split("\n\n");
      text = parts.pop()!;
      ready.push(...parts);
    }
    frames.push(ready[0]);
    return ready.shift()!;
  };
  const next = async (): Promise<Message> => {
    for (;;) {
      const one = await frame();
      if (one === undefined) return undefined;
      if (one.startsWith(":")) continue;
      const [event, data, ...rest] = one.split("\n");
      assert.equal(event, "event: message");
      assert.deepEqual(rest, []);
      return checkMessage(JSON.parse(data.slice("data: ".length)), id);
    }
  };
  return {
    status,
    headers,
    frames,
    frame,
    next,
    task: async () => {
      const message = await next();
      assert.equal(message?.method, "notifications/tasks");
      return message.params;
    },
    leave: () => reader.cancel(),
  };
}

/**
 * Checks a message of a subscription.
 *
 * @param message The message.
 * @param id The id of the subscription.
 * @returns The message.
 */
export function checkMessage(message: Message, id: unknown): Message {
  assert.equal(message.jsonrpc, "2.0");
  if (message.error) return message;
  const body = message.method === undefined ? message.result : message.params;
  assert.equal(body._meta[SUBSCRIPTION_ID_KEY], id);
  if (message.method === "notifications/tasks") {
    TaskStatusNotificationV2Schema.parse(message);
    assert.ok(!("resultType" in body), "a notification is no result");
  } else if (message.method === "notifications/subscriptions/acknowledged") {
    TaskSubscriptionAcknowledgedNotificationsV2Schema.parse(body.notifications);
  }
  return message;
}
