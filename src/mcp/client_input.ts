/** Which input a client can be asked for: only what it declared. */

import { InputUnavailableError } from "../errors.ts";

type Capabilities = Readonly<Record<string, unknown>>;

/** The client capability that a request needs, as a path. */
function neededCapability(
  method: unknown,
  params: Capabilities,
): readonly [name: string, member?: string] | undefined {
  switch (method) {
    case "elicitation/create":
      return ["elicitation", params.mode === "url" ? "url" : "form"];
    case "sampling/createMessage": {
      const tools = params.tools !== undefined ||
        params.toolChoice !== undefined;
      return tools ? ["sampling", "tools"] : ["sampling"];
    }
    case "roots/list":
      return ["roots"];
  }
}

function isDeclared(
  capabilities: Capabilities,
  name: string,
  member: string | undefined,
): boolean {
  const declared = capabilities[name];
  if (typeof declared !== "object" || declared === null) return false;
  if (member === undefined) return true;
  // A bare `elicitation: {}` is older than the modes, and means forms.
  if (member === "form" && !("url" in declared)) return true;
  return member in declared &&
    (declared as Capabilities)[member] !== undefined;
}

/**
 * Refuses requests of a kind that the client never declared (specification:
 * a server must not send them).
 *
 * @param requests The requests by key.
 * @param capabilities What the client declared.
 * @throws {InputUnavailableError} `ERR_INPUT_UNAVAILABLE`: one kind was not declared.
 */
export function requireInputCapabilities(
  requests: Readonly<Record<string, unknown>>,
  capabilities: Capabilities,
): void {
  for (const [key, request] of Object.entries(requests ?? {})) {
    const { method, params } = (request ?? {}) as Capabilities;
    const needed = neededCapability(method, (params ?? {}) as Capabilities);
    if (!needed) continue; // The engine refuses it, by its shape.
    const [name, member] = needed;
    if (isDeclared(capabilities, name, member)) continue;
    throw new InputUnavailableError(
      `Cannot request input under key ${
        JSON.stringify(key)
      }: the client did not declare the capability ${needed.join(".")}`,
    );
  }
}
