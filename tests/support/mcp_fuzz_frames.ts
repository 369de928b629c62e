/** Frames that a hostile or broken client sends: valid ones, with something wrong. */

import fc from "./fast_check.ts";
import { envelope } from "./mcp_frames.ts";

/** A request over HTTP. */
export interface FuzzFrame {
  /** Its headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** Its body. */
  readonly body: string | Uint8Array<ArrayBuffer>;
  /** Whether it is one that is not answered: a notification, or an answer. */
  readonly silent: boolean;
}

type Json = unknown;

/** The place of a task's id in a template. */
const TASK_ID = "{taskId}";

/** The place of the state of a call that was answered with a question. */
const STATE = "{requestState}";

function modern(method: string, params: object = {}, id: Json = 1) {
  return {
    jsonrpc: "2.0",
    id,
    method,
    params: { ...params, _meta: { ...envelope(), progressToken: 7 } },
  };
}

const ANSWER = { action: "accept", content: { count: 2 } };

/** The valid frames. None calls a tool that, to some clients, never answers. */
const TEMPLATES: readonly object[] = [
  modern("tools/call", { name: "ping", arguments: {} }),
  modern("tools/call", { name: "double", arguments: { n: 21 } }),
  modern("tools/call", { name: "sum", arguments: {} }),
  modern("tools/call", { name: "protocol_error" }),
  modern("tools/call", { name: "tool_error", task: { ttl: 60_000 } }),
  modern("tools/call", { name: "ask_first", arguments: {} }),
  modern("tools/call", {
    name: "ask_first",
    arguments: {},
    inputResponses: { first: ANSWER },
    requestState: STATE,
  }),
  modern("tasks/get", { taskId: TASK_ID }),
  modern("tasks/update", {
    taskId: TASK_ID,
    inputResponses: { a: ANSWER, b: { action: "decline" } },
  }),
  modern("tasks/cancel", { taskId: TASK_ID }),
  modern("tasks/result", { taskId: TASK_ID }),
  modern("tasks/list"),
  modern("tools/list"),
  modern("server/discover", {}, "discover"),
  modern("subscriptions/listen", { notifications: { taskIds: [TASK_ID] } }),
  {
    jsonrpc: "2.0",
    id: 5,
    method: "tools/call",
    params: { name: "double", arguments: { n: 4 } },
  },
  {
    jsonrpc: "2.0",
    id: "legacy",
    method: "tasks/get",
    params: { taskId: TASK_ID },
  },
  {
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: 1, _meta: envelope() },
  },
];

function nested(depth: number, kind: "[" | "{"): Json {
  return kind === "["
    ? JSON.parse("[".repeat(depth) + "]".repeat(depth))
    : JSON.parse('{"a":'.repeat(depth) + "1" + "}".repeat(depth));
}

/** Values of the wrong type, of the wrong size, and such as break a naive program. */
const hostile: fc.Arbitrary<Json> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom<Json>(
      null,
      true,
      false,
      0,
      -0,
      -1,
      1.5,
      1e308,
      Number.MAX_SAFE_INTEGER + 2,
      "",
      " ",
      "a",
      "__proto__",
      "constructor",
      "toString",
      "\u0000",
      "\ud800",
      "💥",
      "../../etc/passwd",
      TASK_ID,
      [],
      [null],
      {},
      { action: "accept" },
      { method: "elicitation/create" },
      { result: {} },
      "2025-11-25",
      "2026-07-28",
    ),
  },
  { weight: 2, arbitrary: fc.jsonValue() },
  {
    weight: 2,
    arbitrary: fc.tuple(
      // Deeper, zod 4.6.7 runs out of stack in the SDK, and keeps what it was at.
      fc.integer({ min: 100, max: 400 }),
      fc.constantFrom("[" as const, "{" as const),
    ).map(([depth, kind]) => nested(depth, kind)),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1_000, max: 300_000 })
      .map((length) => "x".repeat(length)),
  },
);

const key = fc.constantFrom(
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "taskId",
  "inputResponses",
  "requestState",
  "task",
  "id",
  "method",
  "result",
  "error",
  "_meta",
  "",
  "a",
  "io.modelcontextprotocol/clientCapabilities",
  "io.modelcontextprotocol/protocolVersion",
);

/** A change at one place of a frame. */
type Mutation =
  | { readonly how: "replace"; readonly at: number; readonly value: Json }
  | { readonly how: "remove"; readonly at: number }
  | { readonly how: "repeat"; readonly at: number }
  | {
    readonly how: "add";
    readonly at: number;
    readonly key: string;
    readonly value: Json;
  };

const at = fc.nat(1_000);
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({ how: fc.constant("replace" as const), at, value: hostile }),
  fc.record({ how: fc.constant("remove" as const), at }),
  fc.record({ how: fc.constant("repeat" as const), at }),
  fc.record({ how: fc.constant("add" as const), at, key, value: hostile }),
);

/** Every place in a value, as its parent and its key. */
function places(root: Json): [parent: Record<string, Json>, key: string][] {
  const found: [Record<string, Json>, string][] = [];
  const walk = (value: Json, depth: number) => {
    if (typeof value !== "object" || value === null || depth > 20) return;
    for (const key of Object.keys(value)) {
      found.push([value as Record<string, Json>, key]);
      walk((value as Record<string, Json>)[key], depth + 1);
    }
  };
  walk(root, 0);
  return found;
}

/** Puts a copy there, under any key. */
function put(target: object, key: string, value: Json): void {
  Object.defineProperty(target, key, {
    value: JSON.parse(JSON.stringify(value)),
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

function mutate(frame: Json, change: Mutation): void {
  const all = places(frame);
  if (all.length === 0) return;
  const [parent, key] = all[change.at % all.length];
  if (change.how === "replace") put(parent, key, change.value);
  else if (change.how === "remove") delete parent[key];
  else if (change.how === "repeat") {
    put(parent, `${key}2`, parent[key]);
  } else {
    const inner = parent[key];
    const target = typeof inner === "object" && inner !== null ? inner : parent;
    put(target, change.key, change.value);
  }
}

/** What happens to the text of a frame, if anything. */
type Damage =
  | undefined
  | { readonly how: "cut"; readonly part: number }
  | { readonly how: "whole"; readonly text: string }
  | { readonly how: "batch" | "bytes" | "twice" };

const damage: fc.Arbitrary<Damage> = fc.oneof(
  { weight: 12, arbitrary: fc.constant(undefined) },
  fc.record({
    how: fc.constant("cut" as const),
    part: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  fc.record({
    how: fc.constant("whole" as const),
    text: fc.constantFrom("", "null", "[]", "{}", '"', "1", "NaN", "<html>"),
  }),
  fc.record({
    how: fc.constantFrom("batch" as const, "bytes" as const, "twice" as const),
  }),
);

function damaged(text: string, how: Damage): FuzzFrame["body"] {
  switch (how?.how) {
    case undefined:
      return text;
    case "cut":
      return text.slice(0, Math.floor(text.length * how.part));
    case "whole":
      return how.text;
    case "batch":
      return `[${text},${text}]`;
    case "twice":
      return text + text;
    case "bytes":
      return Uint8Array.from([0xff, 0xfe, 0x00, 0x7b, 0x22, 0xc3, 0x28]);
  }
}

/** Which headers go with the frame. */
type Headers = "right" | "none" | "other name" | "other method" | "old" | "bad";

const headers: fc.Arbitrary<Headers> = fc.oneof(
  { weight: 12, arbitrary: fc.constant("right" as const) },
  fc.constantFrom<Headers>("none", "other name", "other method", "old", "bad"),
);

function member(value: Json, key: string): Json {
  return typeof value === "object" && value !== null &&
      Object.hasOwn(value, key)
    ? (value as Record<string, Json>)[key]
    : undefined;
}

/** A text that can be a header; what cannot be one is left out. */
function asHeader(name: string, value: Json): Record<string, string> {
  return typeof value === "string" && /^[\x21-\x7e]{1,200}$/.test(value)
    ? { [name]: value }
    : {};
}

function headersOf(frame: Json, which: Headers): Record<string, string> {
  const json = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const params = member(frame, "params");
  const modern = member(params, "_meta") !== undefined;
  switch (which) {
    case "none":
      return json;
    case "old":
      return { ...json, "mcp-protocol-version": "2025-11-25" };
    case "bad":
      return { "content-type": "text/plain", accept: "image/png" };
  }
  if (!modern) return { ...json, "mcp-protocol-version": "2025-11-25" };
  const method = which === "other method"
    ? "tools/list"
    : member(frame, "method");
  const name = which === "other name"
    ? "somebody"
    : member(params, "taskId") ?? member(params, "name");
  return {
    ...json,
    "mcp-protocol-version": "2026-07-28",
    ...asHeader("mcp-method", method),
    ...asHeader("mcp-name", name),
  };
}

/** Makes a frame from a task's id and a call's state, both real. */
export type FrameMaker = (taskId: string, requestState: string) => FuzzFrame;

/** Frames, most of them with something wrong. */
export const fuzzFrames: fc.Arbitrary<FrameMaker> = fc.record({
  template: fc.constantFrom(...TEMPLATES),
  mutations: fc.array(mutation, { maxLength: 3 }),
  damage,
  headers,
}).map((plan) => {
  const make: FrameMaker = (taskId, requestState) => {
    const frame = structuredClone(plan.template);
    for (const change of plan.mutations) mutate(frame, change);
    const text = JSON.stringify(frame)
      .replaceAll(TASK_ID, taskId)
      .replaceAll(STATE, JSON.stringify(requestState).slice(1, -1));
    const whole = JSON.parse(text);
    return {
      headers: headersOf(whole, plan.headers),
      body: damaged(text, plan.damage),
      silent: member(whole, "id") === undefined ||
        member(whole, "method") === undefined,
    };
  };
  // The test says which frame was answered wrongly.
  return Object.assign(make, { [fc.toStringMethod]: () => "a frame" });
});
