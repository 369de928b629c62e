/** Requests of JSON-RPC over HTTP, written by hand: what is on the wire, and nothing around it. */

import {
  CallToolResultV2Schema,
  CancelTaskResultV2Schema,
  CreateTaskResultV2Schema,
  ErrorV2Schema,
  GetTaskResultV2Schema,
  UpdateTaskResultV2Schema,
} from "@modelcontextprotocol/ext-tasks/core/v2";
import { CLIENT_CAPABILITIES_KEY } from "../../src/mcp/protocol.ts";

/** The capabilities of a client that knows tasks, and can be asked by form. */
export const DECLARED: object = {
  elicitation: { form: {} },
  extensions: { "io.modelcontextprotocol/tasks": {} },
};

/** How to send a request. */
export interface SendOptions {
  /** What the client declares; by default {@linkcode DECLARED}. */
  readonly capabilities?: object;
  /** The bearer token. */
  readonly token?: string;
  /** The id of the request. */
  readonly id?: number | string;
  /** Ends the connection. */
  readonly signal?: AbortSignal;
  /** The header `Mcp-Name`; by default what the request names. */
  readonly name?: string;
  /** More of the request's `_meta`. */
  readonly meta?: object;
}

/** An answer. */
export interface Frame {
  /** The HTTP status. */
  readonly status: number;
  /** The body as it came. */
  readonly body: string;
  /** Every message in it; the last one is the answer. */
  // deno-lint-ignore no-explicit-any -- tests look into it at will
  readonly messages: readonly any[];
  /** The result of the answer. */
  // deno-lint-ignore no-explicit-any -- tests look into it at will
  readonly result?: any;
  /** The error of the answer. */
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: unknown;
  };
}

/** What the official package lets through as the answer to each method. */
const RESULTS: Readonly<
  Record<string, readonly { parse(value: unknown): unknown }[]>
> = {
  "tools/call": [CreateTaskResultV2Schema, CallToolResultV2Schema],
  "tasks/get": [GetTaskResultV2Schema],
  "tasks/update": [UpdateTaskResultV2Schema],
  "tasks/cancel": [CancelTaskResultV2Schema],
};

/**
 * Makes the `_meta` that every request of revision 2026-07-28 carries.
 *
 * @param capabilities What the client declares.
 * @returns The members.
 */
export function envelope(capabilities: object = DECLARED): object {
  return {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "frames", version: "0.0.1" },
    [CLIENT_CAPABILITIES_KEY]: capabilities,
  };
}

/** Throws where a frame does not fit the official schema. */
function check(method: string, { result, error }: Frame): void {
  if (error) ErrorV2Schema.parse(error);
  else if (method === "tools/call") {
    const isTask = result.resultType === "task";
    RESULTS[method][isTask ? 0 : 1].parse(result);
  } else RESULTS[method]?.[0].parse(result);
}

/**
 * Sends a request of revision 2026-07-28, and checks the answer against the
 * schemas of the official package.
 *
 * @param url The endpoint.
 * @param method The method.
 * @param params The parameters, without `_meta`.
 * @param options How.
 * @returns The answer.
 */
export async function send(
  url: URL,
  method: string,
  params: Readonly<Record<string, unknown>>,
  options: SendOptions = {},
): Promise<Frame> {
  const frame = await sendAny(url, method, params, options);
  check(method, frame);
  return frame;
}

/**
 * Sends a request of revision 2026-07-28, and takes whatever comes.
 *
 * @param url The endpoint.
 * @param method The method.
 * @param params The parameters, without `_meta`.
 * @param options How.
 * @returns The answer.
 */
export function sendAny(
  url: URL,
  method: string,
  params: Readonly<Record<string, unknown>>,
  options: SendOptions = {},
): Promise<Frame> {
  const name = options.name ?? params.taskId ?? params.name;
  const meta = { ...options.meta, ...envelope(options.capabilities) };
  return post(url, method, { ...params, _meta: meta }, {
    ...options,
    headers: {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": name }),
    },
  });
}

/**
 * Sends a request of revision 2025-11-25.
 *
 * @param url The endpoint.
 * @param method The method.
 * @param params The parameters.
 * @returns The answer.
 */
export function sendLegacy(
  url: URL,
  method: string,
  params: Readonly<Record<string, unknown>>,
): Promise<Frame> {
  const headers = { "mcp-protocol-version": "2025-11-25" };
  return post(url, method, params, { headers });
}

async function post(
  url: URL,
  method: string,
  params: object,
  options: SendOptions & { readonly headers: Readonly<Record<string, string>> },
): Promise<Frame> {
  const { token, id = 1, signal } = options;
  const response = await fetch(url, {
    method: "POST",
    signal,
    headers: {
      ...options.headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
  });
  const body = await response.text();
  const messages = body.startsWith("{")
    ? [JSON.parse(body)]
    : body.split("\n").filter((line) => line.startsWith("data: {"))
      .map((line) => JSON.parse(line.slice("data: ".length)));
  const { result, error } = messages.at(-1) ?? {};
  return { status: response.status, body, messages, result, error };
}
