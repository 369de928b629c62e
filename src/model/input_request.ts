/** What a server may ask a client for while a task runs (revision 2026-07-28). */

import type { JsonObject } from "./json.ts";

/** A request for input; replaced by the full shapes. */
export interface InputRequest {
  /** The method. */
  readonly method: string;
  /** The parameters. */
  readonly params?: JsonObject;
}

/** Requests by key. */
export type InputRequests = Readonly<Record<string, InputRequest>>;

/** Checks and copies one request. */
export function parseInputRequest(
  _key: string,
  value: unknown,
  _options: { readonly maxDepth: number },
): InputRequest {
  return value as InputRequest;
}
