/**
 * Requests on their way to the SDK, which drops or changes some of what they
 * carry, and has one handler for a method whatever the revision.
 */

import type { RpcError } from "./rpc_error.ts";
import type { RequestContextLike, RequestId, ServerLike } from "./shapes.ts";
import { tapMessages } from "./transport.ts";

/** A member of a request's parameters that the adapter reads. */
export type RawParams = Readonly<Record<string, unknown>>;

/** What is done with a request. */
export interface Route {
  /** The method whose handler gets it; absent: its own. */
  readonly method?: string;
  /** What it is answered with in the place of any result that it would have. */
  readonly refusal?: RpcError;
}

/** Gives the parameters of a request that is being answered, as they came. */
export type ReadParams = (ctx: RequestContextLike) => RawParams;

interface OpenRequest {
  readonly params: RawParams;
  readonly refusal?: RpcError;
}

/**
 * Taps every connection of a server, to see each request before the SDK does.
 *
 * @param server The low-level server.
 * @param routeOf Says what is done with a request; `undefined` for one whose
 * parameters nobody asks for.
 * @returns Gives the parameters of a request that is being answered.
 */
export function tapRequests(
  server: ServerLike,
  routeOf: (method: string, params: RawParams) => Route | undefined,
): ReadParams {
  let open = new Map<RequestId, OpenRequest>();

  const receive = (message: unknown): unknown => {
    const { id, method, params: given } = message as {
      readonly id?: RequestId;
      readonly method?: string;
      readonly params?: unknown;
    };
    const params = (given ?? {}) as RawParams;
    // A request that was cancelled is never answered.
    if (method === "notifications/cancelled") {
      open.delete(params.requestId as RequestId);
    }
    if (id === undefined || method === undefined) return message;
    const route = routeOf(method, params);
    if (!route) return message;
    const { method: to, refusal } = route;
    open.set(id, { params, refusal });
    return to === undefined ? message : { ...message as object, method: to };
  };

  const send = (message: unknown): unknown => {
    const { id, method } = message as { id?: RequestId; method?: string };
    if (id === undefined || method !== undefined) return message;
    const refusal = open.get(id)?.refusal;
    open.delete(id);
    if (!refusal || !("result" in (message as object))) return message;
    const { code, message: text, data } = refusal;
    return { jsonrpc: "2.0", id, error: { code, message: text, data } };
  };

  tapMessages(server, { connect: () => open = new Map(), receive, send });
  return (ctx) => open.get(ctx.mcpReq.id)?.params ?? {};
}
