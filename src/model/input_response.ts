/** What a client answers (revision 2026-07-28). */

import { LimitExceededError, NotJsonError } from "../errors.ts";
import {
  meta,
  type Role,
  role,
  samplingContentBlock,
  type SamplingMessageContentBlock,
} from "./content_block.ts";
import { checkFormAnswer } from "./form_answer.ts";
import { formSchema } from "./form_schema.ts";
import type {
  CreateMessageRequest,
  ElicitRequest,
  ElicitRequestFormParams,
  InputRequest,
  InputRequests,
} from "./input_request.ts";
import { type JsonObject, type JsonValue, toPlainJson } from "./json.ts";
import {
  anyObject,
  type Check,
  describeMismatch,
  listOf,
  matching,
  type Mismatch,
  mismatch,
  objectOf,
  oneOf,
  oneOrList,
  optional,
  own,
  recordOf,
  string,
  text,
  within,
} from "./shape.ts";

/** The answer to an {@linkcode ElicitRequest}. */
export interface ElicitResult {
  /** What the person did: answered, refused, or dismissed the question. */
  readonly action: "accept" | "decline" | "cancel";
  /** The form as it was filled in: only where a form was accepted. */
  readonly content?: Readonly<
    Record<string, string | number | boolean | readonly string[]>
  >;
}

/** The answer to a {@linkcode CreateMessageRequest}. */
export interface CreateMessageResult {
  /** The model that spoke. */
  readonly model: string;
  /** Who speaks. */
  readonly role: Role;
  /** What was said: one block, or several. */
  readonly content:
    | SamplingMessageContentBlock
    | readonly SamplingMessageContentBlock[];
  /** Why the model stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse` or another word. */
  readonly stopReason?: string;
  /** Whatever else belongs to the message; any plain JSON. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** The answer to a {@linkcode ListRootsRequest}. */
export interface ListRootsResult {
  /** The folders. */
  readonly roots: readonly Root[];
}

/** A folder that a client works in. */
export interface Root {
  /** Where it is: `file://…`. */
  readonly uri: string;
  /** A name for people. */
  readonly name?: string;
  /** Whatever else belongs to the folder; any plain JSON. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/**
 * An answer: of the kind that belongs to the request under the same key.
 * Objects are open: members that are not listed are kept.
 */
export type InputResponse =
  | ElicitResult
  | CreateMessageResult
  | ListRootsResult;

/** Answers by key. */
export type InputResponses = Readonly<Record<string, InputResponse>>;

/** The answer to one request: of the kind that its method has. */
export type InputResponseTo<Request extends InputRequest> = Request extends
  ElicitRequest ? ElicitResult
  : Request extends CreateMessageRequest ? CreateMessageResult
  : ListRootsResult;

/** The answers to requests, each under the key of its request. */
export type InputResponsesTo<Requests extends InputRequests> = {
  readonly [Key in keyof Requests]: InputResponseTo<Requests[Key]>;
};

const formValue: Check = matching(
  "a string, a number, true, false or an array of strings is needed",
  (value) =>
    typeof value === "string" || typeof value === "number" ||
    typeof value === "boolean" ||
    (Array.isArray(value) && value.every((item) => typeof item === "string")),
);

const elicitResult: Check = objectOf({
  action: oneOf("accept", "decline", "cancel"),
  content: optional(recordOf(formValue)),
  _meta: meta,
});

const createMessageResult: Check = objectOf({
  model: string,
  role,
  content: oneOrList(samplingContentBlock),
  stopReason: optional(string),
  _meta: meta,
});

const listRootsResult: Check = objectOf({
  roots: listOf(objectOf({
    uri: text("a file:// URI is needed", (text) => text.startsWith("file://")),
    name: optional(string),
    _meta: meta,
  })),
  _meta: meta,
});

/** The shape of the answer to each kind of request. */
const results: ReadonlyMap<string, Check> = new Map([
  ["elicitation/create", elicitResult],
  ["sampling/createMessage", createMessageResult],
  ["roots/list", listRootsResult],
]);

/**
 * Checks and copies one answer against the request that it is for. It never
 * throws: what a client sends is the client's mistake.
 *
 * @param request The request, as it is stored.
 * @param value What the client sent.
 * @param options How deep it may be nested, and whether an accepted form is checked against its `requestedSchema`.
 * @returns The copy, with every member that it had; or what is wrong with it.
 */
export function parseInputResponse(
  request: InputRequest,
  value: unknown,
  options: { readonly maxDepth: number; readonly checkAnswers: boolean },
): { readonly response: InputResponse } | { readonly problem: string } {
  let copy: JsonValue;
  try {
    copy = toPlainJson(value, {
      what: "answer",
      maxDepth: options.maxDepth,
    });
  } catch (error) {
    return { problem: describeRefusal(error) };
  }
  const wrong = (results.get(request.method) ?? anyObject)(copy) ??
    checkContent(request, copy as JsonObject, options.checkAnswers);
  return wrong
    ? {
      problem: `${
        describeMismatch(wrong, "the answer")
      } (in an answer to ${request.method})`,
    }
    : { response: copy as unknown as InputResponse };
}

/** The part of an elicitation's answer that depends on what was asked. */
function checkContent(
  request: InputRequest,
  answer: JsonObject,
  checkAnswers: boolean,
): Mismatch | undefined {
  if (request.method !== "elicitation/create") return undefined;
  const content = own(answer, "content") as JsonObject | undefined;
  const isForm = request.params?.mode !== "url";
  if (content !== undefined && (answer.action !== "accept" || !isForm)) {
    return within(
      "content",
      mismatch(content, "only an accepted form has content"),
    );
  }
  if (!checkAnswers || !isForm || answer.action !== "accept") return undefined;
  const { requestedSchema: schema } =
    (request.params ?? {}) as ElicitRequestFormParams;
  // A record may have been written by a release that let more pass.
  if (formSchema(schema as unknown as JsonObject)) return undefined;
  return within("content", checkFormAnswer(schema, content));
}

/** Why {@linkcode toPlainJson} refused; a proxy or a getter may throw anything. */
function describeRefusal(error: unknown): string {
  return error instanceof NotJsonError || error instanceof LimitExceededError
    ? error.message
    : "the answer could not be read; plain JSON is needed";
}
