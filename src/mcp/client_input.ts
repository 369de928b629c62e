/** Which input a client can be asked for: only what it declared. */

import { InputUnavailableError } from "../errors.ts";

/** The client capability that each kind of request needs. */
const NEEDED: Readonly<Record<string, string>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

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
  capabilities: Readonly<Record<string, unknown>>,
): void {
  for (const [key, request] of Object.entries(requests ?? {})) {
    const { method, params } = (request ?? {}) as {
      readonly method?: string;
      readonly params?: { readonly mode?: string };
    };
    const needed = NEEDED[method ?? ""];
    if (needed === undefined) continue; // The engine refuses it, by its shape.
    const declared = capabilities[needed] as
      | Record<string, unknown>
      | undefined;
    if (!declared) {
      throw new InputUnavailableError(
        `Cannot request input under key ${
          JSON.stringify(key)
        }: the client did not declare the capability ${needed}`,
      );
    }
    const url = params?.mode === "url";
    if (needed === "elicitation" && url && !declared.url) {
      throw new InputUnavailableError(
        `Cannot request input under key ${
          JSON.stringify(key)
        }: the client did not declare the capability elicitation.url`,
      );
    }
  }
}
