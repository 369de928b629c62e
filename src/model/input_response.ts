/** What a client answers (revision 2026-07-28). */

import type { InputRequest } from "./input_request.ts";
import type { JsonObject } from "./json.ts";

/** An answer; replaced by the full shapes. */
export type InputResponse = JsonObject;

/** Answers by key. */
export type InputResponses = Readonly<Record<string, InputResponse>>;

/** Checks and copies one answer against the request it is for. */
export function parseInputResponse(
  _request: InputRequest,
  value: unknown,
  _options: { readonly maxDepth: number; readonly checkAnswers: boolean },
): { readonly response: InputResponse } | { readonly problem: string } {
  return { response: value as InputResponse };
}
