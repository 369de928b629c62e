/**
 * Answers that the SDK's tool handling would not let through: a task, which a
 * tool with an output schema may not return, and a JSON-RPC error, which it
 * turns into a tool result. They are put in the place of the SDK's answer on
 * its way to the transport.
 */

import type { RequestContextLike, RequestId, ServerLike } from "./shapes.ts";
import { tapMessages } from "./transport.ts";

/** What a tool call is to be answered with. */
export type Reply =
  | { readonly result: object }
  | {
    readonly error: {
      readonly code: number;
      readonly message: string;
      readonly data?: unknown;
    };
  };

/** What a tool's callback returns for the SDK; `isError` skips its output schema. */
export interface Placeholder {
  /** Nothing. */
  readonly content: readonly never[];
  /** Keeps the SDK from asking for structured content. */
  readonly isError: true;
}

/** Answers a request in the place of the SDK. */
export type ReplyFunction = (
  ctx: RequestContextLike,
  reply: Reply,
) => Placeholder;

/**
 * Taps every connection of a server, so that its tools can answer what the SDK
 * does not let them.
 *
 * @param server The low-level server: a host may connect it alone.
 * @returns Answers a request; the callback returns what it returns.
 */
export function tapReplies(server: ServerLike): ReplyFunction {
  const replies = new Map<RequestId, Reply>();

  const replace = (message: unknown): unknown => {
    const { id, method, result } = message as {
      readonly id?: RequestId;
      readonly method?: string;
      readonly result?: { readonly _meta?: object };
    };
    if (id === undefined || method !== undefined) return message;
    const reply = replies.get(id);
    if (!reply) return message;
    replies.delete(id);
    if ("error" in reply) {
      const { code, message, data } = reply.error;
      const error = { code, message, ...(data !== undefined && { data }) };
      return { jsonrpc: "2.0", id, error };
    }
    // The SDK says in `_meta` which server this is.
    const meta = result?._meta && { _meta: result._meta };
    return { jsonrpc: "2.0", id, result: { ...reply.result, ...meta } };
  };

  tapMessages(server, { send: replace });
  return (ctx, reply) => {
    const { id, signal } = ctx.mcpReq;
    // A request that was cancelled is never answered.
    if (!signal.aborted) {
      replies.set(id, reply);
      const forget = () => {
        if (replies.get(id) === reply) replies.delete(id);
      };
      signal.addEventListener("abort", forget, { once: true });
    }
    return { content: [], isError: true };
  };
}
