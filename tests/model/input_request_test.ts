import assert from "node:assert/strict";
import { parseInputRequest } from "../../src/model/input_request.ts";
import { describe, it } from "../support/runner.ts";

const maxDepth = 40;

const form = (requestedSchema: unknown, more: object = {}) => ({
  method: "elicitation/create",
  params: { message: "Which?", requestedSchema, ...more },
});

const property = (schema: unknown, name = "it") =>
  form({ type: "object", properties: { [name]: schema } });

const page = (url: unknown) => ({
  method: "elicitation/create",
  params: { mode: "url", message: "Open it", url },
});

const sampling = (more: object = {}) => ({
  method: "sampling/createMessage",
  params: {
    messages: [{ role: "user", content: { type: "text", text: "Hi" } }],
    maxTokens: 77,
    ...more,
  },
});

const block = (content: unknown) =>
  sampling({ messages: [{ role: "assistant", content }] });

const text = { type: "text", text: "Hi" };

const toolResult = (more: object = {}) =>
  block([{ type: "tool_result", toolUseId: "u1", content: [text], ...more }]);

const toolResultOf = (content: unknown) => toolResult({ content: [content] });

const tool = (more: object = {}) =>
  sampling({
    tools: [{ name: "add", inputSchema: { type: "object" }, ...more }],
  });

const good: Record<string, unknown> = {
  "a form without properties": form({ type: "object", properties: {} }),
  "a form in mode form": form({ type: "object", properties: {} }, {
    mode: "form",
  }),
  "a form with a dialect and keywords that the protocol does not have": form({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { name: { type: "string", pattern: "^a" } },
    additionalProperties: false,
  }),
  "a string with everything": property({
    type: "string",
    title: "Name",
    description: "Yours",
    minLength: 0,
    maxLength: 9,
    format: "email",
    default: "x",
  }),
  "equal bounds": property({ type: "string", minLength: 4, maxLength: 4 }),
  "a number": property({
    type: "number",
    minimum: -0.5,
    maximum: 1.5,
    default: 9,
  }),
  "an integer": property({ type: "integer", minimum: 3, maximum: 3 }),
  "a boolean": property({ type: "boolean", default: false }),
  "a choice": property({ type: "string", enum: ["a", "a", "b"], default: "c" }),
  "a choice in the older form": property({
    type: "string",
    enum: ["a", "b"],
    enumNames: ["A"],
  }),
  "a titled choice": property({
    type: "string",
    oneOf: [{ const: "a", title: "A" }],
  }),
  "several choices": property({
    type: "array",
    items: { type: "string", enum: ["a", "b"] },
    minItems: 2,
    maxItems: 2,
    default: ["z"],
  }),
  "several titled choices": property({
    type: "array",
    items: { anyOf: [{ const: "a", title: "A" }] },
    minItems: 0,
  }),
  "required properties": form({
    type: "object",
    properties: { a: { type: "boolean" } },
    required: ["a", "a"],
  }),
  "a page without elicitationId": page("https://example.com/sign?in=1#x"),
  "a page with elicitationId": {
    ...page("HTTP://example.com"),
    params: { ...page("HTTP://example.com").params, elicitationId: "e1" },
  },
  "sampling": sampling(),
  "sampling without messages": sampling({ messages: [] }),
  "sampling with everything": sampling({
    systemPrompt: "Be brief",
    includeContext: "allServers",
    temperature: 0.3,
    stopSequences: ["END"],
    metadata: {},
    modelPreferences: {
      hints: [{ name: "small" }, {}],
      costPriority: 0,
      speedPriority: 1,
      intelligencePriority: 0.5,
    },
    toolChoice: { mode: "required" },
    _meta: {},
  }),
  "toolChoice auto": sampling({ toolChoice: { mode: "auto" } }),
  "toolChoice none": sampling({ toolChoice: { mode: "none" } }),
  "empty choices and preferences": sampling({
    toolChoice: {},
    modelPreferences: {},
  }),
  "a tool without hints": tool({ annotations: {} }),
  "one block": block(text),
  "no block": block([]),
  "an image and a sound": block([
    { type: "image", data: "AAEC", mimeType: "image/png" },
    { type: "audio", data: "AA==", mimeType: "audio/wav" },
    { type: "audio", data: "A A\n", mimeType: "audio/wav" },
    { type: "audio", data: "", mimeType: "audio/wav" },
  ]),
  "annotations with a date alone": block({
    ...text,
    annotations: {
      audience: ["user", "assistant"],
      priority: 1,
      lastModified: "2026-03-09",
    },
  }),
  "a use of a tool": block([
    { type: "tool_use", id: "u1", name: "add", input: { a: [1] } },
  ]),
  "a result of a tool, an array": toolResult({ structuredContent: [1] }),
  "a result of a tool, null": toolResult({
    structuredContent: null,
    isError: true,
  }),
  "a link in a result": toolResultOf({
    type: "resource_link",
    name: "log",
    uri: "file:///log",
    title: "Log",
    description: "The log",
    mimeType: "text/plain",
    size: 12,
    icons: [{
      src: "data:,",
      mimeType: "image/png",
      sizes: ["any"],
      theme: "dark",
    }],
  }),
  "a link with what it needs alone": toolResultOf({
    type: "resource_link",
    name: "log",
    uri: "file:///log",
    annotations: {},
  }),
  "a text resource in a result": toolResultOf({
    type: "resource",
    resource: { uri: "a:b", text: "" },
  }),
  "a binary resource in a result": toolResultOf({
    type: "resource",
    resource: { uri: "a:b", blob: "AAEC", mimeType: "x/y" },
  }),
  "a tool whose result is an array": tool({
    outputSchema: { type: "array", items: { type: "string" } },
  }),
  "a tool whose schema has keywords": tool({
    inputSchema: { type: "object", properties: { a: true }, required: ["a"] },
  }),
  "a tool with everything": tool({
    title: "Add",
    description: "Adds",
    inputSchema: {
      $schema: "x",
      type: "object",
    },
    outputSchema: { $schema: "y" },
    annotations: {
      title: "Add",
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
    icons: [{ src: "https://example.com/i.png" }],
    _meta: {},
  }),
  "roots": { method: "roots/list" },
  "roots with parameters": {
    method: "roots/list",
    params: { _meta: {}, x: 1 },
  },
};

const bad: Record<string, [request: unknown, problem: string]> = {
  "null": [null, "the request is null; an object is needed"],
  "a string": ["roots/list", 'the request is "roots/list"; an object'],
  "an array": [[], "the request is an array of 0; an object is needed"],
  "no method": [{ params: {} }, "method is missing; "],
  "another method": [
    { method: "tools/call" },
    'method is "tools/call"; "elicitation/create", "sampling/createMessage" or "roots/list" is needed',
  ],
  "a method that is no string": [
    { method: ["roots/list"] },
    "method is an array of 1; ",
  ],
  "a method named as a member of Object": [
    { method: "constructor" },
    'method is "constructor"; ',
  ],
  "elicitation without parameters": [
    { method: "elicitation/create" },
    "params is missing; an object is needed",
  ],
  "another mode": [
    form({ type: "object", properties: {} }, { mode: "page" }),
    'params.mode is "page"; "form" or "url" is needed',
  ],
  "no message": [
    { method: "elicitation/create", params: { requestedSchema: {} } },
    "params.message is missing; a string is needed",
  ],
  "no form": [form(undefined as never), "NOT_JSON"],
  "a form that is null": [
    form(null),
    "params.requestedSchema is null; an object is needed",
  ],
  "a form of another type": [
    form({ type: "array", properties: {} }),
    'params.requestedSchema.type is "array"; "object" is needed',
  ],
  "a form without properties": [
    form({ type: "object" }),
    "params.requestedSchema.properties is missing; an object is needed",
  ],
  "a form whose properties are a list": [
    form({ type: "object", properties: [] }),
    "params.requestedSchema.properties is an array of 0; ",
  ],
  "a dialect that is no string": [
    form({ type: "object", properties: {}, $schema: 7 }),
    "params.requestedSchema.$schema is 7; a string is needed",
  ],
  "required that is no list": [
    form({ type: "object", properties: {}, required: "a" }),
    'params.requestedSchema.required is "a"; an array is needed',
  ],
  "required with an unknown property": [
    form({
      type: "object",
      properties: { a: { type: "boolean" } },
      required: ["a", "b"],
    }),
    'params.requestedSchema.required[1] is "b"; the name of one of the properties is needed',
  ],
  "required with a member of Object": [
    form({ type: "object", properties: {}, required: ["toString"] }),
    'params.requestedSchema.required[0] is "toString"; ',
  ],
  "a property that is no object": [
    property("string"),
    'params.requestedSchema.properties.it is "string"; an object is needed',
  ],
  "a property without type": [
    property({ enum: ["a"] }),
    "properties.it.type is missing; ",
  ],
  "a property that is an object": [
    property({ type: "object", properties: {} }),
    'properties.it.type is "object"; "string", "number", "integer", "boolean" or "array" is needed',
  ],
  "a property of two types": [
    property({ type: ["string", "null"] }),
    "properties.it.type is an array of 2; ",
  ],
  "a property with an odd name": [
    property({ type: "null" }, "an odd name"),
    'properties["an odd name"].type is "null"; ',
  ],
  "a title that is no string": [
    property({ type: "boolean", title: 1 }),
    "properties.it.title is 1; a string is needed",
  ],
  "a negative length": [
    property({ type: "string", minLength: -1 }),
    "properties.it.minLength is -1; a whole number from 0 is needed",
  ],
  "a fractional length": [
    property({ type: "string", maxLength: 1.5 }),
    "properties.it.maxLength is 1.5; a whole number from 0 is needed",
  ],
  "lengths that no text has": [
    property({ type: "string", minLength: 5, maxLength: 4 }),
    "properties.it.minLength is 5; at most maxLength (4) is needed",
  ],
  "another format": [
    property({ type: "string", format: "uuid" }),
    'properties.it.format is "uuid"; "email", "uri", "date" or "date-time" is needed',
  ],
  "a default of another type, string": [
    property({ type: "string", default: 1 }),
    "properties.it.default is 1; a string is needed",
  ],
  "a default of another type, number": [
    property({ type: "integer", default: "1" }),
    'properties.it.default is "1"; a number is needed',
  ],
  "a default of another type, boolean": [
    property({ type: "boolean", default: null }),
    "properties.it.default is null; true or false is needed",
  ],
  "a default of another type, choices": [
    property({
      type: "array",
      items: { type: "string", enum: ["a"] },
      default: "a",
    }),
    'properties.it.default is "a"; an array is needed',
  ],
  "a range that is empty": [
    property({ type: "number", minimum: 2, maximum: 1 }),
    "properties.it.minimum is 2; at most maximum (1) is needed",
  ],
  "a bound that is no number": [
    property({ type: "number", minimum: "2" }),
    'properties.it.minimum is "2"; a number is needed',
  ],
  "choices that are no strings": [
    property({ type: "string", enum: ["a", 2] }),
    "properties.it.enum[1] is 2; a string is needed",
  ],
  "no choice": [
    property({ type: "string", enum: [] }),
    "properties.it.enum is an array of 0; at least one choice is needed",
  ],
  "no titled choice": [
    property({ type: "string", oneOf: [] }),
    "properties.it.oneOf is an array of 0; at least one choice is needed",
  ],
  "a choice without title": [
    property({ type: "string", oneOf: [{ const: "a" }] }),
    "properties.it.oneOf[0].title is missing; a string is needed",
  ],
  "names of choices that are no strings": [
    property({ type: "string", enum: ["a"], enumNames: [1] }),
    "properties.it.enumNames[0] is 1; a string is needed",
  ],
  "several choices of nothing": [
    property({ type: "array", items: { type: "string", enum: [] } }),
    "properties.it.items.enum is an array of 0; at least one choice",
  ],
  "several titled choices of nothing": [
    property({ type: "array", items: { anyOf: [] } }),
    "properties.it.items.anyOf is an array of 0; at least one choice",
  ],
  "several choices of anything": [
    property({ type: "array", items: { type: "string" } }),
    "properties.it.items.enum is missing; an array is needed",
  ],
  "several choices without items": [
    property({ type: "array" }),
    "properties.it.items is missing; an object is needed",
  ],
  "several choices of numbers": [
    property({ type: "array", items: { type: "number", enum: ["1"] } }),
    'properties.it.items.type is "number"; "string" is needed',
  ],
  "more choices than there are": [
    property({
      type: "array",
      items: { type: "string", enum: ["a", "b", "a"] },
      minItems: 3,
    }),
    "properties.it.minItems is 3; at most 2, the number of choices, is needed",
  ],
  "numbers of choices that nobody can make": [
    property({
      type: "array",
      items: { type: "string", enum: ["a", "b"] },
      minItems: 2,
      maxItems: 1,
    }),
    "properties.it.minItems is 2; at most maxItems (1) is needed",
  ],
  "a script": [
    page("javascript:alert(1)"),
    'params.url is "javascript:alert(1)"; an http or https URL is needed',
  ],
  "a script after a blank": [page(" javascript:alert(1)"), "params.url is "],
  "a script with a line break": [
    page("java\nscript://example.com/%0aalert(1)"),
    "params.url is ",
  ],
  "data": [page("data:text/html,hello"), "params.url is "],
  "a file": [page("file:///etc/passwd"), "params.url is "],
  "a path": [page("/sign-in"), "params.url is "],
  "no host": [page("https://"), "params.url is "],
  "a URL with a blank": [page("https://exa mple.com"), "params.url is "],
  "no URL": [page(undefined as never), "NOT_JSON"],
  "a URL that is a number": [page(7), "params.url is 7; "],
  "no messages": [
    { method: "sampling/createMessage", params: { maxTokens: 1 } },
    "params.messages is missing; an array is needed",
  ],
  "no maxTokens": [
    { method: "sampling/createMessage", params: { messages: [] } },
    "params.maxTokens is missing; a whole number is needed",
  ],
  "a fraction of a token": [
    sampling({ maxTokens: 1.5 }),
    "params.maxTokens is 1.5; a whole number is needed",
  ],
  "another role": [
    sampling({ messages: [{ role: "system", content: text }] }),
    'params.messages[0].role is "system"; "user" or "assistant" is needed',
  ],
  "no content": [
    sampling({ messages: [{ role: "user" }] }),
    "params.messages[0].content is missing; an object is needed",
  ],
  "content that is text alone": [
    block("Hi"),
    'params.messages[0].content is "Hi"; an object is needed',
  ],
  "another kind of block": [
    block([text, { type: "video" }]),
    'params.messages[0].content[1].type is "video"; ',
  ],
  "a link outside a result": [
    block({ type: "resource_link", name: "log", uri: "file:///log" }),
    'content.type is "resource_link"; ',
  ],
  "a block without text": [
    block({ type: "text" }),
    "params.messages[0].content.text is missing; a string is needed",
  ],
  "an image without a media type": [
    block({ type: "image", data: "" }),
    "content.mimeType is missing; a string is needed",
  ],
  "an image that is no base64": [
    block({ type: "image", data: "A-_A", mimeType: "image/png" }),
    'content.data is "A-_A"; base64 is needed',
  ],
  "an image that is cut": [
    block({ type: "image", data: "AAAAA", mimeType: "image/png" }),
    "content.data is ",
  ],
  "a priority above 1": [
    block({ ...text, annotations: { priority: 1.1 } }),
    "content.annotations.priority is 1.1; a number from 0 to 1 is needed",
  ],
  "another audience": [
    block({ ...text, annotations: { audience: ["tool"] } }),
    'content.annotations.audience[0] is "tool"; ',
  ],
  "a date that is a number": [
    block({ ...text, annotations: { lastModified: 1 } }),
    "content.annotations.lastModified is 1; a string is needed",
  ],
  "a _meta that is no object": [
    block({ ...text, _meta: [] }),
    "content._meta is an array of 0; an object is needed",
  ],
  "a use without input": [
    block({ type: "tool_use", id: "u1", name: "add" }),
    "content.input is missing; an object is needed",
  ],
  "a result without a use": [
    block({ type: "tool_result", content: [] }),
    "content.toolUseId is missing; a string is needed",
  ],
  "a result with one block": [
    toolResult({ content: text }),
    "content[0].content is an object; an array is needed",
  ],
  "a result in a result": [
    toolResultOf({ type: "tool_result", toolUseId: "u2", content: [] }),
    'content[0].content[0].type is "tool_result"; ',
  ],
  "a resource that is empty": [
    toolResultOf({ type: "resource", resource: { uri: "a:b" } }),
    "content[0].resource is an object; an object with text or blob is needed",
  ],
  "a link with a fractional size": [
    toolResultOf({ type: "resource_link", name: "a", uri: "a:b", size: 0.5 }),
    "content[0].size is 0.5; a whole number is needed",
  ],
  "another theme": [
    tool({ icons: [{ src: "a", theme: "blue" }] }),
    'params.tools[0].icons[0].theme is "blue"; ',
  ],
  "a tool without schema": [
    sampling({ tools: [{ name: "add" }] }),
    "params.tools[0].inputSchema is missing; an object is needed",
  ],
  "a tool whose arguments are an array": [
    tool({ inputSchema: { type: "array" } }),
    'params.tools[0].inputSchema.type is "array"; "object" is needed',
  ],
  "a tool whose result schema is a list": [
    tool({ outputSchema: [] }),
    "params.tools[0].outputSchema is an array of 0; an object is needed",
  ],
  "a hint that is no boolean": [
    tool({ annotations: { readOnlyHint: "yes" } }),
    'annotations.readOnlyHint is "yes"; true or false is needed',
  ],
  "another toolChoice": [
    sampling({ toolChoice: { mode: "any" } }),
    'params.toolChoice.mode is "any"; "auto", "required" or "none" is needed',
  ],
  "a toolChoice that is a string": [
    sampling({ toolChoice: "auto" }),
    'params.toolChoice is "auto"; an object is needed',
  ],
  "another context": [
    sampling({ includeContext: "all" }),
    'params.includeContext is "all"; ',
  ],
  "a temperature that is a string": [
    sampling({ temperature: "0" }),
    'params.temperature is "0"; a number is needed',
  ],
  "stop sequences that are no strings": [
    sampling({ stopSequences: [0] }),
    "params.stopSequences[0] is 0; a string is needed",
  ],
  "metadata that is a list": [
    sampling({ metadata: [] }),
    "params.metadata is an array of 0; an object is needed",
  ],
  "a preference below 0": [
    sampling({ modelPreferences: { costPriority: -0.1 } }),
    "params.modelPreferences.costPriority is -0.1; a number from 0 to 1 is needed",
  ],
  "a hint that is a string": [
    sampling({ modelPreferences: { hints: ["small"] } }),
    'params.modelPreferences.hints[0] is "small"; an object is needed',
  ],
  "roots with a list": [
    { method: "roots/list", params: [] },
    "params is an array of 0; an object is needed",
  ],
  "roots with null": [
    { method: "roots/list", params: null },
    "params is null; an object is needed",
  ],
};

/** Requests with every member that the protocol defines. */
const whole = [
  property({
    type: "array",
    title: "Pets",
    description: "Yours",
    minItems: 0,
    maxItems: 1,
    items: { anyOf: [{ const: "a", title: "A" }] },
    default: ["a"],
  }),
  property({ type: "string", oneOf: [{ const: "a", title: "A" }] }),
  good["a string with everything"],
  good["a number"],
  good["a boolean"],
  good["a choice in the older form"],
  good["several choices"],
  form({ type: "object", properties: {} }, { _meta: {} }),
  { ...page("x"), params: { ...page("https://x").params, _meta: {} } },
  block({ type: "image", data: "", mimeType: "x/y", _meta: {} }),
  sampling({ messages: [{ role: "user", content: [], _meta: {} }] }),
  good["sampling with everything"],
  good["a tool with everything"],
  good["a link in a result"],
  good["an image and a sound"],
  good["annotations with a date alone"],
  block({ type: "tool_use", id: "u", name: "add", input: {}, _meta: {} }),
  toolResult({ isError: true, _meta: {} }),
  toolResultOf({ ...text, annotations: {}, _meta: {} }),
  toolResultOf({
    type: "resource_link",
    name: "log",
    uri: "file:///log",
    annotations: { priority: 1 },
    _meta: {},
  }),
  toolResultOf({
    type: "resource",
    resource: {
      uri: "a:b",
      text: "",
      blob: "",
      mimeType: "x/y",
      _meta: {},
    },
    annotations: {},
    _meta: {},
  }),
  { method: "roots/list", params: { _meta: {} } },
];

/** Each request that has one value of another type than this one. */
function* distorted(value: unknown, key?: string): Generator<unknown> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      for (const other of distorted(item)) yield value.with(index, other);
    }
  } else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      for (const other of distorted(member, name)) {
        yield { ...value, [name]: other };
      }
    }
  }
  yield typeof value === "number" || key === "content" ? "7" : 7;
}

describe("parseInputRequest()", () => {
  it("refuses every request with a value of another type", () => {
    let count = 0;
    for (const request of whole) {
      assert.ok(parseInputRequest("k", request, { maxDepth }));
      for (const other of distorted(request)) {
        count++;
        assert.throws(
          () => parseInputRequest("k", other, { maxDepth }),
          { code: "ERR_INVALID_INPUT_REQUEST" },
          JSON.stringify(other),
        );
      }
    }
    assert.ok(count > 300, `${count}`);
  });

  for (const [name, request] of Object.entries(good)) {
    it(`accepts ${name}, as it is`, () => {
      const parsed = parseInputRequest("k", request, { maxDepth });
      assert.deepEqual(parsed, request);
      assert.notEqual(parsed, request);
    });
  }

  for (const [name, [request, problem]] of Object.entries(bad)) {
    it(`refuses ${name}`, () => {
      const code = problem === "NOT_JSON"
        ? "ERR_NOT_JSON"
        : "ERR_INVALID_INPUT_REQUEST";
      assert.throws(
        () => parseInputRequest("k1", request, { maxDepth }),
        (error: TypeError & { code: string }) => {
          assert.ok(error instanceof TypeError);
          assert.equal(error.code, code);
          if (problem !== "NOT_JSON") {
            assert.ok(error.message.includes(problem), error.message);
            assert.match(error.message, /^Cannot request input under key "k1"/);
          }
          return true;
        },
      );
    });
  }

  it("keeps what the protocol does not define, at every level", () => {
    const request = {
      ...block([{ ...text, x: { y: [null] } }]),
      vendor: [{ a: 1 }],
      toString: "data",
    };
    assert.deepEqual(parseInputRequest("k", request, { maxDepth }), request);
  });

  it("keeps properties named like members of Object", () => {
    const request = JSON.parse(`{
      "method": "elicitation/create",
      "params": { "message": "", "requestedSchema": {
        "type": "object",
        "properties": {
          "__proto__": { "type": "string" },
          "constructor": { "type": "boolean" },
          "toString": { "type": "integer" },
          "": { "type": "number" }
        },
        "required": ["__proto__", "constructor", "toString", ""]
      } }
    }`);
    const parsed = parseInputRequest("k", request, { maxDepth });
    assert.equal(JSON.stringify(parsed), JSON.stringify(request));
    assert.equal(Object.getPrototypeOf(parsed), Object.prototype);
    assert.throws(
      () =>
        parseInputRequest(
          "k",
          JSON.parse(
            JSON.stringify(request).replace(
              '"__proto__":{"type":"string"}',
              '"__proto__":{"type":"text"}',
            ),
          ),
          { maxDepth },
        ),
      /properties\.__proto__\.type is "text"/,
    );
  });

  it("takes no inherited member for an own one", () => {
    const request = Object.create({ method: "roots/list" });
    assert.throws(() => parseInputRequest("k", request, { maxDepth }), {
      code: "ERR_NOT_JSON",
    });
  });

  it("names the key and the place of what is not JSON", () => {
    const request = sampling({ metadata: { when: new Date(0) } });
    assert.throws(() => parseInputRequest("when?", request, { maxDepth }), {
      name: "NotJsonError",
      message:
        /^Cannot store the request under key "when\?"\.params\.metadata\.when: it is an instance of Date \(use toISOString\(\)\);/,
    });
  });

  it("refuses what is nested too deeply", () => {
    const request = sampling({ metadata: { a: { b: { c: {} } } } });
    assert.ok(parseInputRequest("k", request, { maxDepth: 6 }));
    assert.throws(() => parseInputRequest("k", request, { maxDepth: 5 }), {
      code: "ERR_LIMIT_EXCEEDED",
      limit: "maxDepth",
      maximum: 5,
    });
    let deep: unknown = {};
    for (let level = 0; level < 100_000; level++) deep = { deep };
    assert.throws(
      () => parseInputRequest("k", sampling({ metadata: deep }), { maxDepth }),
      { code: "ERR_LIMIT_EXCEEDED" },
    );
  });

  it("writes short messages, whatever it is given", () => {
    const long = "x".repeat(100_000);
    for (
      const request of [
        { method: long },
        page(`javascript:${long}`),
        property({ type: long }, long),
        form({ type: "object", properties: {}, required: [long] }),
      ]
    ) {
      assert.throws(
        () => parseInputRequest(long, request, { maxDepth }),
        (error: Error) => error.message.length < 600,
      );
    }
  });
});
