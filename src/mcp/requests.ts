/**
 * Requests on their way to the SDK, which drops or changes some of what they
 * carry, and has one handler for a method whatever the revision.
 */

import type { RequestContextLike, RequestId, ServerLike } from "./shapes.ts";
import { tapMessages } from "./transport.ts";

/** A member of a request's parameters that the adapter reads. */
export type RawParams = Readonly<Record<string, unknown>>;

/** Names the method whose handler gets a request; `undefined` for its own. */
export type Route = (method: string, params: RawParams) => string | undefined;

/** Gives the parameters of a request that is being answered, as they came. */
export type ReadParams = (ctx: RequestContextLike) => RawParams;

/**
 * Taps every connection of a server, to see each request before the SDK does.
 *
 * @param server The low-level server.
 * @param methods The methods whose parameters are kept until the answer.
 * @param route Where requests go.
 * @returns Gives the parameters of a request that is being answered.
 */
export function tapRequests(
  server: ServerLike,
  methods: readonly string[],
  route: Route,
): ReadParams {
  let open = new Map<RequestId, RawParams>();

  const receive = (message: unknown): unknown => {
    const { id, method, params } = message as {
      readonly id?: RequestId;
      readonly method?: string;
      readonly params?: RawParams;
    };
    if (method === "notifications/cancelled") {
      open.delete(params?.requestId as RequestId);
    }
    if (id === undefined || !methods.includes(method!)) return message;
    open.set(id, params ?? {});
    const to = route(method!, params ?? {});
    return to === undefined ? message : { ...message as object, method: to };
  };

  tapMessages(server, {
    connect: () => open = new Map(),
    receive,
    send(message) {
      const { id, method } = message as { id?: RequestId; method?: string };
      if (id !== undefined && method === undefined) open.delete(id);
      return message;
    },
  });
  return (ctx) => open.get(ctx.mcpReq.id) ?? {};
}
