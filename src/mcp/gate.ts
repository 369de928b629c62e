/** Which requests may speak of tasks. */

import {
  CLIENT_CAPABILITIES_KEY,
  RPC_CODES,
  TASKS_EXTENSION_ID,
} from "./protocol.ts";
import { RpcError } from "./rpc_error.ts";
import type { RequestContextLike } from "./shapes.ts";

/**
 * Reads what the client of a request says it can do. It says so with each
 * request; one of an older revision says nothing that counts here.
 *
 * @param ctx The request's context.
 * @returns The capabilities; none for a request of an older revision.
 */
export function clientCapabilities(
  ctx: RequestContextLike,
): Readonly<Record<string, unknown>> {
  return member(ctx.mcpReq.envelope, CLIENT_CAPABILITIES_KEY) ?? {};
}

/**
 * Tells whether the client declared the tasks extension with this request.
 *
 * @param ctx The request's context.
 * @returns Whether its answer may be a task.
 */
export function declaresTasks(ctx: RequestContextLike): boolean {
  const extensions = member(clientCapabilities(ctx), "extensions");
  return member(extensions, TASKS_EXTENSION_ID) !== undefined;
}

/**
 * Lets a `tasks/*` request pass if its client declared the extension with it.
 *
 * @param ctx The request's context.
 * @throws {RpcError} -32601 for a request of an older revision, which has no
 * such methods; -32021 for a client that did not declare the extension.
 */
export function requireTasks(ctx: RequestContextLike): void {
  if (!ctx.mcpReq.envelope) {
    throw new RpcError(RPC_CODES.methodNotFound, "Method not found");
  }
  if (!declaresTasks(ctx)) throw missingTasks(ctx.mcpReq.method);
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
): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (!Object.hasOwn(value, key)) return undefined;
  const found = (value as Record<string, unknown>)[key];
  return typeof found === "object" && found !== null && !Array.isArray(found)
    ? found as Readonly<Record<string, unknown>>
    : undefined;
}
