/** `subscriptions/listen` with `taskIds` over Streamable HTTP. */

import type { TaskLifecycle } from "../engine/lifecycle.ts";
import { startLoop } from "../engine/timers.ts";
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
  LISTEN_METHOD,
  listenContext,
  type ListenRequest,
  withTaskIds,
} from "./listen_request.ts";
import {
  commentFrame,
  messageFrame,
  readMessages,
  type SseMessage,
} from "./listen_sse.ts";
import { TaskStream } from "./listen_stream.ts";
import { RPC_CODES } from "./protocol.ts";
import { type RpcError, toRpcError } from "./rpc_error.ts";
import type { AuthInfoLike, RequestId } from "./shapes.ts";

/** What `createMcpHandler` of the SDK makes. */
export interface HttpHandlerLike {
  /** Answers a request. */
  fetch(request: Request, options?: never): Promise<Response>;
  /** Ends what is under way. */
  close(): Promise<void>;
}

/** What a host passes along with a request. */
interface FetchOptions {
  readonly authInfo?: AuthInfoLike;
  readonly parsedBody?: unknown;
}

/**
 * Lets clients listen to tasks over HTTP instead of polling them: answers
 * `subscriptions/listen` with `taskIds`, which the SDK does not know.
 * Everything else is the handler's, as it was.
 *
 * The client hears of each task as it is, and then of every change, in order.
 * Ids that are unknown, expired or another owner's are left out of the
 * acknowledgement. When all tasks of a stream have ended and the client asked
 * for nothing else, the stream ends in good order, as the SDK ends one that
 * has nothing to say; so it does when the handler or the
 * lifecycle is closed. A reader that has not read 256 frames or 1 MiB when the
 * next frame comes is cut off: its stream ends without a result, and it may
 * listen again.
 *
 * @param handler What `createMcpHandler` gave; use what this returns instead
 * of it.
 * @param tasks The lifecycle that `attachTasks` has.
 * @param options The options.
 * @returns The handler, for `Deno.serve`, `Bun.serve`, a Durable Object or
 * `toNodeHandler` of `@modelcontextprotocol/node`.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an argument is wrong.
 *
 * @example
 * ```ts
 * import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
 * import { MemoryTaskStore, TaskLifecycle } from "@mcp-durable/tasks";
 * import { attachTasks, withTaskNotifications } from "@mcp-durable/tasks/mcp";
 *
 * const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
 * const handler = withTaskNotifications(
 *   createMcpHandler(() => {
 *     const mcp = new McpServer({ name: "jobs", version: "1.0.0" });
 *     attachTasks(mcp, tasks);
 *     return mcp;
 *   }),
 *   tasks,
 * );
 * // Deno.serve(handler.fetch)
 * await handler.close();
 * await tasks.close();
 * ```
 */
export function withTaskNotifications<Handler extends HttpHandlerLike>(
  handler: Handler,
  tasks: TaskLifecycle,
  options: TaskNotificationsOptions = {},
): Handler {
  if (typeof handler?.fetch !== "function") {
    throw unusable(
      "handler",
      handler,
      "what createMcpHandler() gives, before toNodeHandler() has it,",
    );
  }
  const host = listenHost(tasks, options);
  return {
    ...handler,
    async fetch(request: Request, fetchOptions?: FetchOptions) {
      // The SDK refuses a request whose header and body name different methods.
      const parsed = fetchOptions?.parsedBody;
      const listens = request.headers.get("mcp-method") === LISTEN_METHOD &&
        (parsed !== undefined || !request.bodyUsed);
      const copy = listens && parsed === undefined
        ? request.clone()
        : undefined;
      const response = await handler.fetch(request, fetchOptions as never);
      if (!listens) return response;
      const type = response.headers.get("content-type");
      if (!type?.startsWith("text/event-stream")) {
        void copy?.body?.cancel().catch(() => {});
        return response;
      }
      const message = copy ? JSON.parse(await copy.text()) as unknown : parsed;
      if (!isListenRequest(message)) return response;
      return await listen(host, message, response, {
        signal: request.signal,
        authInfo: fetchOptions?.authInfo,
      });
    },
    async close() {
      await handler.close();
      host.registry.close();
    },
  };
}

/** Puts the tasks into the SDK's answer, or refuses. */
async function listen(
  host: ListenHost,
  request: ListenRequest,
  response: Response,
  client: { readonly signal: AbortSignal; readonly authInfo?: AuthInfoLike },
): Promise<Response> {
  const reader = response.body!.getReader();
  const messages = readMessages(reader);
  try {
    const { value: first } = await messages.next();
    const honoured = first && honouredBy(first);
    if (!honoured) throw new Error("the SDK did not acknowledge the request");
    const ctx = listenContext(request, client.signal, client.authInfo);
    const granted = await grant(host, request, ctx);
    const stream = new HttpStream(host, granted, request.id, {
      reader,
      messages,
      alone: Object.keys(honoured).length === 0,
    });
    const body = stream.open(withTaskIds(first, granted), client.signal);
    return new Response(body, {
      status: response.status,
      headers: response.headers,
    });
  } catch (error) {
    void reader.cancel().catch(() => {});
    const where = { method: LISTEN_METHOD };
    return errorResponse(request.id, toRpcError(error, where, host.onError));
  }
}

function errorResponse(id: RequestId, refusal: RpcError): Response {
  const { code, message, data } = refusal;
  const error = { code, message, ...(data !== undefined && { data }) };
  // As the SDK answers.
  const status = code === RPC_CODES.missingClientCapability ? 400 : 200;
  return Response.json({ jsonrpc: "2.0", id, error }, { status });
}

/** What is left of the SDK's answer. */
interface SdkStream {
  /** Reads it. */
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  /** The messages after the acknowledgement. */
  readonly messages: AsyncIterable<SseMessage>;
  /** Whether the client asked for tasks alone, so that the SDK ends its stream at once. */
  readonly alone: boolean;
}

/** One answer that goes on: what the SDK says, and what is said of tasks. */
class HttpStream {
  readonly #granted: Granted;
  readonly #sdk: SdkStream;
  readonly #id: RequestId;
  readonly #queue: FrameQueue<Uint8Array> = new FrameQueue();
  readonly #tasks: TaskStream;
  readonly #keepAliveMs: number;
  #leave: () => void = () => {};
  #sdkEnded = false;
  #tasksEnded = false;
  /** What the SDK said at the end. */
  #last: Uint8Array | undefined;

  /**
   * @param host What all streams share.
   * @param granted What the client may listen to.
   * @param id The id of the request.
   * @param sdk What is left of the SDK's answer.
   */
  constructor(
    host: ListenHost,
    granted: Granted,
    id: RequestId,
    sdk: SdkStream,
  ) {
    this.#granted = granted;
    this.#keepAliveMs = host.keepAliveMs;
    this.#id = id;
    this.#sdk = sdk;
    this.#tasks = new TaskStream(host, granted, id, {
      send: (notification) => this.#push(messageFrame(notification)),
      whenRead: () => this.#queue.whenEmpty(),
      done: () => this.#done(),
      lost: () => this.#cut(),
    });
  }

  /**
   * Starts to send.
   *
   * @param ack The acknowledgement.
   * @param signal Aborts when the client goes.
   * @returns The body of the answer.
   */
  open(ack: object, signal: AbortSignal): ReadableStream<Uint8Array> {
    const gone = () => this.#cut();
    signal.addEventListener("abort", gone, { once: true });
    // deno-lint-ignore require-await -- the loop takes asynchronous calls
    const timer = startLoop(async () => {
      if (this.#queue.isEmpty) this.#push(commentFrame());
    }, this.#keepAliveMs);
    this.#leave = () => {
      timer.stop();
      signal.removeEventListener("abort", gone);
      this.#granted.place.leave();
    };
    this.#push(messageFrame(ack));
    if (signal.aborted) this.#cut();
    else {
      void this.#pass();
      this.#tasks.start();
      // The SDK itself ends a stream in which it has a part.
      if (this.#sdk.alone) this.#granted.place.onClose(() => this.#done());
    }
    return new ReadableStream({
      pull: async (controller) => {
        const frame = await this.#queue.take();
        if (frame) return controller.enqueue(frame);
        try {
          controller.close();
        } catch {
          // The client has gone meanwhile.
        }
      },
      cancel: gone,
    }, { highWaterMark: 0 });
  }

  /** Passes on what the SDK says; its end is kept for ours. */
  async #pass(): Promise<void> {
    try {
      for await (const message of this.#sdk.messages) {
        const frame = messageFrame(message);
        if (message.id === this.#id && message.method === undefined) {
          this.#last = frame;
        } else this.#push(frame);
      }
    } catch {
      return this.#cut();
    }
    this.#sdkEnded = true;
    if (!this.#sdk.alone || this.#tasksEnded) this.#finish();
  }

  /** Nothing more will be said of tasks. */
  #done(): void {
    this.#tasks.stop();
    this.#tasksEnded = true;
    if (this.#sdkEnded) this.#finish();
  }

  #push(frame: Uint8Array): void {
    if (!this.#queue.push(frame, frame.byteLength)) this.#cut();
  }

  /** Ends in good order. */
  #finish(): void {
    this.#tasks.stop();
    this.#leave();
    this.#queue.end(this.#last);
  }

  /** Ends at once: the client has gone, or cannot follow. */
  #cut(): void {
    this.#tasks.stop();
    this.#leave();
    this.#queue.drop();
    void this.#sdk.reader.cancel().catch(() => {});
  }
}
