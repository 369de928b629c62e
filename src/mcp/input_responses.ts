/** The answers that a request brings. */

import { show } from "../errors.ts";
import { RPC_CODES } from "./protocol.ts";
import type { RawParams } from "./requests.ts";
import { RpcError } from "./rpc_error.ts";

/**
 * Refuses what is no set of answers, which is the client's mistake.
 *
 * @param value What the client sent as `inputResponses`.
 * @returns The answers by key, each as it came.
 * @throws {RpcError} -32602: it is no object.
 */
export function checkInputResponses(value: unknown): RawParams {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as RawParams;
  }
  throw new RpcError(
    RPC_CODES.invalidParams,
    `Cannot take the answers: inputResponses is ${
      show(value)
    }, an object of answers by key is needed`,
  );
}
