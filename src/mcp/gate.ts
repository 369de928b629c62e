/** Which requests may speak of tasks. */

import {
  CLIENT_CAPABILITIES_KEY,
  FIRST_REVISION,
  RPC_CODES,
  TASKS_EXTENSION_ID,
} from "./protocol.ts";
import { RpcError } from "./rpc_error.ts";
import type { RequestContextLike, ServerLike } from "./shapes.ts";

type Capabilities = Readonly<Record<string, unknown>>;

/**
 * Tells whether a server's connection speaks a revision that has tasks as an
 * extension. On an older one the extension is never on, whatever a request
 * carries.
 *
 * @param server The low-level server.
 * @returns Whether it does.
 */
export function speaksTasks(server: ServerLike): boolean {
  const revision = server.getNegotiatedProtocolVersion();
  return revision !== undefined && revision >= FIRST_REVISION;
}

/**
 * Reads what the client of a request says it can do: with the request itself,
 * or, in an older revision, when it connected.
 *
 * @param server The low-level server.
 * @param ctx The request's context.
 * @returns The capabilities; none where nothing is known.
 */
export function clientCapabilities(
  server: ServerLike,
  ctx: RequestContextLike,
): Capabilities {
  return (speaksTasks(server)
    ? member(ctx.mcpReq.envelope, CLIENT_CAPABILITIES_KEY)
    : server.getClientCapabilities() as Capabilities | undefined) ?? {};
}

/**
 * Tells whether the client declared the tasks extension with this request.
 *
 * @param ctx The request's context.
 * @returns Whether its answer may be a task.
 */
export function declaresTasks(ctx: RequestContextLike): boolean {
  return metaDeclaresTasks(ctx.mcpReq.envelope);
}

/**
 * Tells the same from a request's `_meta`, before the SDK takes the protocol's
 * part out of it.
 *
 * @param meta The metadata, whatever it is.
 * @returns Whether it declares the tasks extension.
 */
export function metaDeclaresTasks(meta: unknown): boolean {
  const capabilities = member(meta, CLIENT_CAPABILITIES_KEY);
  const extensions = member(capabilities, "extensions");
  return member(extensions, TASKS_EXTENSION_ID) !== undefined;
}

/**
 * Makes the answer to a request that needs the extension and does not declare
 * it.
 *
 * @param method The method of the request.
 * @returns The answer.
 */
export function missingTasks(method: string): RpcError {
  return new RpcError(
    RPC_CODES.missingClientCapability,
    `Cannot answer ${method}: the request does not declare the client capability extensions["${TASKS_EXTENSION_ID}"]`,
    { requiredCapabilities: { extensions: { [TASKS_EXTENSION_ID]: {} } } },
  );
}

/** An own member that is an object. */
function member(
  value: unknown,
  key: string,
): Capabilities | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (!Object.hasOwn(value, key)) return undefined;
  const found = (value as Record<string, unknown>)[key];
  return typeof found === "object" && found !== null && !Array.isArray(found)
    ? found as Capabilities
    : undefined;
}
