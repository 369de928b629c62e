/** What a server may ask a client for while a task runs (revision 2026-07-28). */

import { InvalidInputRequestError, show } from "../errors.ts";
import { meta } from "./content_block.ts";
import { type FormSchema, formSchema } from "./form_schema.ts";
import { toPlainJson } from "./json.ts";
import { type CreateMessageRequestParams, samplingParams } from "./sampling.ts";
import {
  type Check,
  describeMismatch,
  objectOf,
  optional,
  string,
  text,
  variants,
} from "./shape.ts";

/** Asks a person to fill in a form, or to open a page. */
export interface ElicitRequest {
  /** The kind of request. */
  readonly method: "elicitation/create";
  /** The question. */
  readonly params: ElicitRequestFormParams | ElicitRequestURLParams;
}

/** A form to fill in. */
export interface ElicitRequestFormParams {
  /**
   * The kind of question.
   *
   * @default "form"
   */
  readonly mode?: "form";
  /** What the person reads above the form. */
  readonly message: string;
  /** The form. */
  readonly requestedSchema: FormSchema;
  /** Whatever else belongs to the question; any plain JSON. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** A page to open: what the person does there never passes through the client. */
export interface ElicitRequestURLParams {
  /** The kind of question. */
  readonly mode: "url";
  /** Why the page has to be opened. */
  readonly message: string;
  /** The page, by http or https. */
  readonly url: string;
  /** Whatever else belongs to the question; any plain JSON. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** Asks the client's model for a message. */
export interface CreateMessageRequest {
  /** The kind of request. */
  readonly method: "sampling/createMessage";
  /** The conversation so far, and how to go on. */
  readonly params: CreateMessageRequestParams;
}

/** Asks for the folders that the client works in. */
export interface ListRootsRequest {
  /** The kind of request. */
  readonly method: "roots/list";
  /** Nothing that the protocol defines; any plain JSON. */
  readonly params?: Readonly<Record<string, unknown>>;
}

/**
 * A request for input. Objects are open: members that are not listed are kept
 * and sent.
 */
export type InputRequest =
  | ElicitRequest
  | CreateMessageRequest
  | ListRootsRequest;

/** Requests for input by key (rule I5). */
export type InputRequests = Readonly<Record<string, InputRequest>>;

const webUrl: Check = text(
  "an http or https URL is needed",
  (text) => /^https?:\/\/[^\s]+$/i.test(text) && URL.canParse(text),
);

const formParams: Check = objectOf({
  message: string,
  requestedSchema: formSchema,
  _meta: meta,
});

const urlParams: Check = objectOf({
  message: string,
  url: webUrl,
  _meta: meta,
});

const inputRequest: Check = variants("method", {
  "elicitation/create": objectOf({
    params: variants("mode", { form: formParams, url: urlParams }, formParams),
  }),
  "sampling/createMessage": objectOf({ params: samplingParams }),
  "roots/list": objectOf({ params: optional(objectOf({ _meta: meta })) }),
});

/**
 * Checks and copies one request.
 *
 * @param key Its key.
 * @param value What the worker passed.
 * @param options How deep it may be nested.
 * @returns The copy, with every member that it had.
 * @throws {NotJsonError} `ERR_NOT_JSON`: JSON would change it.
 * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: it is nested too deeply.
 * @throws {InvalidInputRequestError} `ERR_INVALID_INPUT_REQUEST`: the protocol has no such request, or nobody could answer it.
 */
export function parseInputRequest(
  key: string,
  value: unknown,
  options: { readonly maxDepth: number },
): InputRequest {
  const copy = toPlainJson(value, {
    what: `the request under key ${show(key)}`,
    maxDepth: options.maxDepth,
  });
  const wrong = inputRequest(copy);
  if (wrong) {
    throw new InvalidInputRequestError(
      key,
      describeMismatch(wrong, "the request"),
    );
  }
  return copy as unknown as InputRequest;
}
