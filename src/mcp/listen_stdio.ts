/** `subscriptions/listen` with `taskIds` over stdio. */

import type { TaskLifecycle } from "../engine/lifecycle.ts";
import { unusable } from "../model/limits.ts";
import {
  type ListenHost,
  listenHost,
  type TaskNotificationsOptions,
} from "./listen_options.ts";
import { FrameQueue } from "./listen_queue.ts";
import {
  grant,
  type Granted,
  honouredBy,
  isListenRequest,
  listenContext,
  type ListenRequest,
  withTaskIds,
} from "./listen_request.ts";
import { TaskStream } from "./listen_stream.ts";
import { SUBSCRIPTION_ID_KEY } from "./protocol.ts";
import type { RpcError } from "./rpc_error.ts";
import type { RequestId } from "./shapes.ts";

/** What the SDK serves a connection on, such as `StdioServerTransport`. */
export interface StdioTransportLike {
  /** Hears of the client's messages. */
  onmessage?: ((message: never, extra?: never) => void) | undefined;
  /** Hears that the connection is closed. */
  onclose?: (() => void) | undefined;
  /** Sends a message; resolves when there is room for the next. */
  send(message: never, options?: never): Promise<void>;
}

type Receive = (message: unknown, extra?: unknown) => void;
type Send = (message: unknown, options?: unknown) => Promise<void>;

/** A message of JSON-RPC, as far as this side looks into it. */
interface Message {
  readonly id?: RequestId;
  readonly method?: string;
  readonly params?: {
    readonly requestId?: RequestId;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
}

/**
 * Lets clients listen to tasks over stdio instead of polling them: the same
 * as {@linkcode withTaskNotifications} for the transport of a connection. A
 * client that has not read 256 frames or 1 MiB of a subscription when the next
 * frame comes is told with `notifications/cancelled` that it is over.
 *
 * @param transport A transport that is given to `serveStdio` afterwards. It is
 * the same that is returned.
 * @param tasks The lifecycle that `attachTasks` has.
 * @param options The options.
 * @returns The transport.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an argument is wrong.
 *
 * @example
 * ```ts
 * import { McpServer } from "@modelcontextprotocol/server";
 * import {
 *   serveStdio,
 *   StdioServerTransport,
 * } from "@modelcontextprotocol/server/stdio";
 * import { MemoryTaskStore, TaskLifecycle } from "@mcp-durable/tasks";
 * import {
 *   attachTasks,
 *   withStdioTaskNotifications,
 * } from "@mcp-durable/tasks/mcp";
 *
 * const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
 * const serving = serveStdio(() => {
 *   const mcp = new McpServer({ name: "jobs", version: "1.0.0" });
 *   attachTasks(mcp, tasks);
 *   return mcp;
 * }, {
 *   transport: withStdioTaskNotifications(new StdioServerTransport(), tasks),
 * });
 * // Until the process has to end:
 * await serving.close();
 * await tasks.close();
 * ```
 */
export function withStdioTaskNotifications<
  Transport extends StdioTransportLike,
>(
  transport: Transport,
  tasks: TaskLifecycle,
  options: TaskNotificationsOptions = {},
): Transport {
  if (typeof transport?.send !== "function") {
    throw unusable("transport", transport, "a transport for serveStdio()");
  }
  new StdioListener(listenHost(tasks, options), transport);
  return transport;
}

/** One subscription of the connection. */
interface Subscription {
  /** Ends it at once. */
  stop(): void;
}

/** Stands between the SDK and the transport of one connection. */
class StdioListener {
  readonly #host: ListenHost;
  readonly #send: Send;
  /** Requests that the SDK has not answered yet. */
  readonly #asked: Map<RequestId, ListenRequest> = new Map();
  /** Subscriptions that are being granted, whose messages have to wait. */
  readonly #opening: Map<RequestId, Promise<void>> = new Map();
  readonly #open: Map<RequestId, Subscription> = new Map();
  /** What the SDK has set on the transport. */
  #receive: Receive | undefined;
  #onclose: (() => void) | undefined;

  /**
   * Taps the transport.
   *
   * @param host What all streams share.
   * @param transport The transport.
   */
  constructor(host: ListenHost, transport: StdioTransportLike) {
    this.#host = host;
    this.#send = (transport.send as Send).bind(transport);
    this.#receive = transport.onmessage as Receive | undefined;
    this.#onclose = transport.onclose;

    const tap = <T>(name: string, get: () => T, set: (value: T) => void) =>
      Object.defineProperty(transport, name, {
        configurable: true,
        enumerable: true,
        get,
        set,
      });
    const incoming: Receive = (message, extra) => {
      this.#hear(message as Message);
      this.#receive?.(message, extra);
    };
    const closed = () => {
      this.#stopAll();
      this.#onclose?.();
    };
    tap<Receive | undefined>(
      "onmessage",
      () => incoming,
      (receive) => this.#receive = receive,
    );
    tap<(() => void) | undefined>(
      "onclose",
      () => closed,
      (onclose) => this.#onclose = onclose,
    );
    const tapped = transport as { send: Send };
    tapped.send = (message, options) => this.#pass(message as Message, options);
  }

  /** Looks at a message of the client, which the SDK gets in any case. */
  #hear(message: Message): void {
    const { method, params } = message;
    if (isListenRequest(message)) this.#asked.set(message.id, message);
    else if (method === "notifications/cancelled") {
      const id = params?.requestId;
      if (id === undefined) return;
      this.#asked.delete(id);
      this.#open.get(id)?.stop();
    }
  }

  /** Sends a message of the SDK, or what takes its place. */
  async #pass(message: Message, options?: unknown): Promise<void> {
    const id = message.method === undefined
      ? message.id
      : message.params?._meta?.[SUBSCRIPTION_ID_KEY] as RequestId | undefined;
    if (id === undefined) return await this.#send(message, options);

    await this.#opening.get(id);
    const asked = this.#asked.get(id);
    if (message.method === undefined) {
      // The answer to the request: it was refused, or the SDK ends it.
      this.#asked.delete(id);
      this.#open.get(id)?.stop();
    } else if (asked && honouredBy(message)) {
      const opening = this.#grant(asked, message);
      this.#opening.set(id, opening);
      try {
        return await opening;
      } finally {
        this.#opening.delete(id);
      }
    }
    await this.#send(message, options);
  }

  /** Puts the tasks into the SDK's acknowledgement, or refuses. */
  async #grant(request: ListenRequest, ack: Message): Promise<void> {
    const { id } = request;
    // Nothing aborts it: who cancels the request ends the subscription.
    const ctx = listenContext(request, new AbortController().signal);
    let granted: Granted;
    try {
      granted = await grant(this.#host, request, ctx);
    } catch (refusal) {
      if (!this.#asked.delete(id)) return;
      this.#tellSdk(id);
      const { code, message, data } = refusal as RpcError;
      const error = { code, message, ...(data !== undefined && { data }) };
      return await this.#send({ jsonrpc: "2.0", id, error });
    }
    // Cancelled meanwhile, and so never to be acknowledged.
    if (!this.#asked.delete(id)) return granted.place.leave();
    this.#open.get(id)?.stop();
    const alone = Object.keys(honouredBy(ack)!).length === 0;
    const sent = this.#send(withTaskIds(ack, granted));
    this.#start(granted, id, alone);
    await sent;
  }

  #start(granted: Granted, id: RequestId, alone: boolean): void {
    const queue = new FrameQueue<object>();
    const over = () => {
      stream.stop();
      granted.place.leave();
      if (this.#open.get(id) === subscription) this.#open.delete(id);
    };
    const subscription: Subscription = {
      stop: () => {
        over();
        queue.drop();
      },
    };
    const cut = () => {
      subscription.stop();
      this.#tellSdk(id);
      const reason = "the client does not read fast enough";
      const params = { requestId: id, reason };
      const method = "notifications/cancelled";
      void this.#send({ jsonrpc: "2.0", method, params }).catch(() => {});
    };
    const stream = new TaskStream(this.#host, granted, id, {
      send: (notification) => {
        const bytes = new TextEncoder().encode(JSON.stringify(notification));
        if (!queue.push(notification, bytes.byteLength)) cut();
      },
      whenRead: () => queue.whenEmpty(),
      done: () => {
        if (!alone) return;
        over();
        this.#tellSdk(id);
        const _meta = { [SUBSCRIPTION_ID_KEY]: id };
        const result = { resultType: "complete", _meta };
        queue.end({ jsonrpc: "2.0", id, result });
      },
      lost: cut,
    });
    this.#open.set(id, subscription);
    void this.#drain(queue).catch(() => subscription.stop());
    stream.start();
  }

  /** Sends what is queued, each when there is room. */
  async #drain(queue: FrameQueue<object>): Promise<void> {
    for (;;) {
      const message = await queue.take();
      if (!message) return;
      await this.#send(message);
    }
  }

  /** Makes the SDK forget a subscription that ended on this side. */
  #tellSdk(id: RequestId): void {
    const params = { requestId: id };
    const method = "notifications/cancelled";
    this.#receive?.({ jsonrpc: "2.0", method, params });
  }

  #stopAll(): void {
    this.#asked.clear();
    for (const subscription of [...this.#open.values()]) subscription.stop();
  }
}
