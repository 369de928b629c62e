/** Questions and answers. Which question stands under a key is the same in all tasks. */

import type { InputRequest } from "../../../mod.ts";

interface Sample {
  readonly request: InputRequest;
  /** Answers that fit. */
  readonly good: readonly unknown[];
  /** Answers of the right kind or of another that do not. */
  readonly bad: readonly unknown[];
}

const form: Sample = {
  request: {
    method: "elicitation/create",
    params: {
      message: "Who are you?",
      requestedSchema: {
        type: "object",
        properties: {
          name: { type: "string", minLength: 1 },
          age: { type: "integer", minimum: 18 },
        },
        required: ["name"],
      },
    },
  },
  good: [
    { action: "accept", content: { name: "Ada" } },
    { action: "accept", content: { name: "Bo", age: 18 }, extra: [{}] },
    { action: "decline" },
    { action: "cancel" },
  ],
  bad: [
    { action: "accept", content: {} },
    { action: "accept", content: { name: 5 } },
    { action: "accept", content: { name: "" } },
    { action: "accept", content: { name: "Ada", age: 17 } },
    { action: "accept", content: { name: "Ada", age: 18.5 } },
    { action: "accept" },
    { action: "maybe" },
    { roots: [] },
    {},
    null,
    "accept",
    [],
  ],
};

const page: Sample = {
  request: {
    method: "elicitation/create",
    params: {
      mode: "url",
      message: "Sign in",
      url: "https://example.com/sign-in",
    },
  },
  good: [{ action: "accept" }, { action: "decline" }],
  bad: [{ model: "m", role: "assistant" }, { action: 1 }, 7],
};

const roots: Sample = {
  request: { method: "roots/list" },
  good: [{ roots: [] }, { roots: [{ uri: "file:///srv/a", name: "a" }] }],
  bad: [{ action: "accept" }, { roots: [{ uri: "http://a.example/" }] }, {
    roots: {},
  }],
};

const sampling: Sample = {
  request: {
    method: "sampling/createMessage",
    params: {
      messages: [{ role: "user", content: { type: "text", text: "2 + 2?" } }],
      maxTokens: 50,
    },
  },
  good: [
    { model: "m", role: "assistant", content: { type: "text", text: "4" } },
  ],
  bad: [{ role: "assistant" }, { action: "accept", content: { name: "Ada" } }],
};

const choice: Sample = {
  request: {
    method: "elicitation/create",
    params: {
      mode: "form",
      message: "Which?",
      requestedSchema: {
        type: "object",
        properties: {
          colours: {
            type: "array",
            items: { type: "string", enum: ["red", "blue"] },
          },
        },
      },
    },
  },
  good: [
    { action: "accept", content: { colours: ["red", "blue"] } },
    { action: "accept", content: {} },
  ],
  bad: [
    { action: "accept", content: { colours: ["green"] } },
    { action: "accept", content: { colours: "red" } },
  ],
};

/** The keys of the tests, names that have a meaning elsewhere among them. */
export const KEYS = [
  "name",
  "page",
  "__proto__",
  "",
  "constructor",
  "folders",
  "text",
  "toString",
  "colours",
  "again",
] as const;

const BY_KEY: Readonly<Record<typeof KEYS[number], Sample>> = {
  name: form,
  page,
  ["__proto__"]: choice,
  "": form,
  constructor: roots,
  folders: roots,
  text: sampling,
  toString: page,
  colours: choice,
  again: form,
};

/** The question under a key. */
export function requestOf(key: string): InputRequest {
  return BY_KEY[key as typeof KEYS[number]].request;
}

/** An answer to the question under a key. */
export function answerOf(key: string, good: boolean, pick: number): unknown {
  const list = BY_KEY[key as typeof KEYS[number]][good ? "good" : "bad"];
  return list[pick % list.length];
}

/** An object with the given members, whatever their names. */
export function objectFrom<Value>(
  members: Iterable<readonly [string, Value]>,
): Record<string, Value> {
  return Object.fromEntries(members);
}
