import assert from "node:assert/strict";
import {
  type InputRequest,
  parseInputRequest,
} from "../../src/model/input_request.ts";
import { parseInputResponse } from "../../src/model/input_response.ts";
import { describe, it } from "../support/runner.ts";

const maxDepth = 40;

const form: InputRequest = {
  method: "elicitation/create",
  params: {
    message: "Who?",
    requestedSchema: {
      type: "object",
      properties: {
        name: { type: "string", minLength: 2, maxLength: 3 },
        age: { type: "integer", minimum: 18, maximum: 99 },
        share: { type: "number", minimum: 0.25, maximum: 0.75 },
        sure: { type: "boolean" },
        size: { type: "string", enum: ["S", "M"] },
        colour: {
          type: "string",
          oneOf: [{ const: "#f00", title: "Red" }, {
            const: "#0f0",
            title: "Green",
          }],
        },
        pets: {
          type: "array",
          items: { type: "string", enum: ["cat", "dog", "owl"] },
          minItems: 1,
          maxItems: 2,
        },
        days: {
          type: "array",
          items: {
            anyOf: [{ const: "mo", title: "Monday" }, {
              const: "tu",
              title: "Tuesday",
            }],
          },
        },
        mail: { type: "string", format: "email" },
        born: { type: "string", format: "date" },
        seen: { type: "string", format: "date-time" },
        site: { type: "string", format: "uri" },
      },
      required: ["name"],
    },
  },
};

const page: InputRequest = {
  method: "elicitation/create",
  params: { mode: "url", message: "Sign in", url: "https://example.com/in" },
};

const sampling: InputRequest = {
  method: "sampling/createMessage",
  params: { messages: [], maxTokens: 9 },
};

const roots: InputRequest = { method: "roots/list" };

const accept = (content?: unknown) =>
  content === undefined ? { action: "accept" } : { action: "accept", content };

const message = (more: object = {}) => ({
  model: "m-1",
  role: "assistant",
  content: { type: "text", text: "Hi" },
  ...more,
});

const good: [name: string, request: InputRequest, answer: unknown][] = [
  ["an accepted form", form, accept({ name: "Ann" })],
  [
    "a form with everything",
    form,
    accept({
      name: "Bo",
      age: 18,
      share: 0.75,
      sure: false,
      size: "M",
      colour: "#0f0",
      pets: ["owl", "cat"],
      days: [],
      mail: "ann@example.com",
      born: "2024-02-29",
      seen: "2026-07-28T10:00:00.5+02:00",
      site: "https://example.com/~ann?a=b#c",
    }),
  ],
  [
    "a whole number written as a fraction",
    form,
    accept(
      JSON.parse('{ "name": "Ann", "age": 20.0 }'),
    ),
  ],
  ["what the form does not name", form, accept({ name: "Ann", more: [""] })],
  ["characters beyond 16 bits", form, accept({ name: "😀😀😀" })],
  ["a refused form", form, { action: "decline" }],
  ["a dismissed form", form, { action: "cancel" }],
  ["members that the protocol does not define", form, {
    ...accept({ name: "Ann" }),
    resultType: "complete",
    _meta: { by: 1 },
  }],
  ["an opened page", page, accept()],
  ["a refused page", page, { action: "decline", x: null }],
  ["a message", sampling, message()],
  [
    "a message of several blocks",
    sampling,
    message({
      content: [
        { type: "text", text: "" },
        { type: "tool_use", id: "u", name: "add", input: {} },
      ],
      stopReason: "toolUse",
      _meta: {},
      resultType: "complete",
    }),
  ],
  [
    "a message with a result of null",
    sampling,
    message({
      content: {
        type: "tool_result",
        toolUseId: "u",
        content: [],
        structuredContent: null,
      },
    }),
  ],
  [
    "a message with another reason to stop",
    sampling,
    message({
      stopReason: "tired",
    }),
  ],
  ["no roots", roots, { roots: [] }],
  ["roots", roots, {
    roots: [{ uri: "file:///home/ann", name: "Home", _meta: {}, x: 1 }],
    _meta: {},
  }],
];

const bad: [
  name: string,
  request: InputRequest,
  answer: unknown,
  problem: string,
][] = [
  ["null", form, null, "the answer is null; an object is needed"],
  ["a list", roots, [], "the answer is an array of 0; an object is needed"],
  ["a string", sampling, "Hi", 'the answer is "Hi"; an object is needed'],
  ["undefined", form, undefined, "answer: it is undefined"],
  ["a message for a form", form, message(), "action is missing; "],
  ["a form for a message", sampling, accept(), "model is missing; "],
  ["roots for a form", form, { roots: [] }, "action is missing; "],
  ["a form for roots", roots, accept(), "roots is missing; "],
  [
    "another action",
    form,
    { action: "ok" },
    'action is "ok"; "accept", "decline" or "cancel" is needed',
  ],
  [
    "content of a refused form",
    form,
    { action: "decline", content: { name: "Ann" } },
    "content is an object; only an accepted form has content",
  ],
  [
    "content of a dismissed form",
    form,
    { action: "cancel", content: {} },
    "content is an object; only an accepted form has content",
  ],
  [
    "content of a page",
    page,
    accept({}),
    "content is an object; only an accepted form has content",
  ],
  ["content that is null", form, accept(null), "content is null; "],
  ["content that is a list", form, accept([]), "content is an array of 0; "],
  [
    "an object in the content",
    form,
    accept({ name: "Ann", more: { a: 1 } }),
    "content.more is an object; a string, a number, true, false or an array of strings is needed",
  ],
  ["null in the content", form, accept({ more: null }), "content.more is null"],
  [
    "a list of numbers in the content",
    form,
    accept({ more: [1] }),
    "content.more is an array of 1; ",
  ],
  ["a _meta that is no object", form, {
    action: "cancel",
    _meta: true,
  }, "_meta is true; an object is needed"],
  ["no model", sampling, { ...message(), model: 1 }, "model is 1; a string"],
  ["no role", sampling, message({ role: "tool" }), 'role is "tool"; '],
  [
    "no content",
    sampling,
    message({ content: "Hi" }),
    'content is "Hi"; an object is needed',
  ],
  [
    "a bad block",
    sampling,
    message({ content: [{ type: "text" }] }),
    "content[0].text is missing; a string is needed",
  ],
  [
    "a reason that is no string",
    sampling,
    message({ stopReason: null }),
    "stopReason is null; a string is needed",
  ],
  [
    "a root elsewhere",
    roots,
    { roots: [{ uri: "file:///a" }, { uri: "https://example.com" }] },
    'roots[1].uri is "https://example.com"; a file:// URI is needed',
  ],
  ["a root without uri", roots, { roots: [{}] }, "roots[0].uri is missing; "],
  [
    "a root with a name that is no string",
    roots,
    { roots: [{ uri: "file:///", name: 1 }] },
    "roots[0].name is 1; a string is needed",
  ],
];

/** Answers that have the shape of one, and are not what the form asks for. */
const unfit: [name: string, content: unknown, problem: string][] = [
  ["no content", undefined, "content.name is missing; the form requires it"],
  ["what is required missing", {}, "content.name is missing; the form"],
  [
    "a number for a text",
    { name: 1 },
    "content.name is 1; a string is needed",
  ],
  [
    "too short",
    { name: "A" },
    'content.name is "A"; at least 2 characters are needed',
  ],
  [
    "too short beyond 16 bits",
    { name: "😀" },
    "at least 2 characters are needed",
  ],
  [
    "too long",
    { name: "Anna" },
    'content.name is "Anna"; at most 3 characters are allowed, these are 4',
  ],
  [
    "a text for a number",
    { name: "Ann", age: "20" },
    'content.age is "20"; a number is needed',
  ],
  [
    "a fraction",
    { name: "Ann", age: 20.5 },
    "content.age is 20.5; a whole number is needed",
  ],
  [
    "too small",
    { name: "Ann", age: 17 },
    "content.age is 17; a number from 18 is needed",
  ],
  [
    "too large",
    { name: "Ann", share: 0.76 },
    "content.share is 0.76; a number up to 0.75 is needed",
  ],
  [
    "a text for a boolean",
    { name: "Ann", sure: "yes" },
    'content.sure is "yes"; true or false is needed',
  ],
  [
    "another choice",
    { name: "Ann", size: "L" },
    'content.size is "L"; "S" or "M" is needed',
  ],
  [
    "a title for a choice",
    { name: "Ann", colour: "Red" },
    'content.colour is "Red"; "#f00" or "#0f0" is needed',
  ],
  [
    "a text for choices",
    { name: "Ann", pets: "cat" },
    'content.pets is "cat"; an array of strings is needed',
  ],
  [
    "too few choices",
    { name: "Ann", pets: [] },
    "content.pets is an array of 0; at least 1 choices are needed",
  ],
  [
    "too many choices",
    { name: "Ann", pets: ["cat", "dog", "owl"] },
    "content.pets is an array of 3; at most 2 choices are allowed",
  ],
  [
    "a choice twice",
    { name: "Ann", pets: ["cat", "cat"] },
    'content.pets[1] is "cat"; a choice counts once',
  ],
  [
    "another choice among several",
    { name: "Ann", days: ["mo", "Tuesday"] },
    'content.days[1] is "Tuesday"; "mo" or "tu" is needed',
  ],
  [
    "no address",
    { name: "Ann", mail: "ann" },
    'content.mail is "ann"; a text of format email is needed',
  ],
  [
    "no date",
    { name: "Ann", born: "2023-02-29" },
    'content.born is "2023-02-29"; a text of format date is needed',
  ],
  [
    "no moment",
    { name: "Ann", seen: "2026-07-28" },
    'content.seen is "2026-07-28"; a text of format date-time is needed',
  ],
  [
    "no URI",
    { name: "Ann", site: "example.com" },
    'content.site is "example.com"; a text of format uri is needed',
  ],
];

const parse = (
  request: InputRequest,
  answer: unknown,
  checkAnswers = true,
) => parseInputResponse(request, answer, { maxDepth, checkAnswers });

describe("parseInputResponse()", () => {
  it("is tested with requests that are right", () => {
    for (const request of [form, page, sampling, roots]) {
      assert.deepEqual(parseInputRequest("k", request, { maxDepth }), request);
    }
  });

  for (const [name, request, answer] of good) {
    it(`accepts ${name}, as it is`, () => {
      for (const checkAnswers of [true, false]) {
        const parsed = parse(request, answer, checkAnswers);
        assert.deepEqual(parsed, { response: answer });
        assert.ok("response" in parsed && parsed.response !== answer);
      }
    });
  }

  for (const [name, request, answer, problem] of bad) {
    it(`refuses ${name}`, () => {
      for (const checkAnswers of [true, false]) {
        const parsed = parse(request, answer, checkAnswers);
        assert.ok("problem" in parsed);
        assert.ok(parsed.problem.includes(problem), parsed.problem);
      }
    });
  }

  for (const [name, content, problem] of unfit) {
    it(`checks an accepted form for ${name}`, () => {
      const parsed = parse(form, accept(content));
      assert.ok("problem" in parsed);
      assert.ok(parsed.problem.includes(problem), parsed.problem);
    });

    it(`leaves ${name} alone where answers are not checked`, () => {
      assert.deepEqual(parse(form, accept(content), false), {
        response: accept(content),
      });
    });
  }

  it("names the kind of request that the answer does not fit", () => {
    assert.deepEqual(parse(roots, accept()), {
      problem:
        "roots is missing; an array is needed (in an answer to roots/list)",
    });
  });

  it("never throws, whatever it is given", () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    let deep: unknown = {};
    for (let level = 0; level < 100_000; level++) deep = { deep };
    const thrower = {
      get action(): string {
        throw new Error("no");
      },
    };
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const values: [value: unknown, problem: RegExp][] = [
      [new Map(), /^Cannot store answer: it is an instance of Map \(use .+\);/],
      [accept({ a: new Date(0) }), /answer\.content\.a: it is an instance of/],
      [accept({ a: [, "x"] }), /answer\.content\.a\[0\]: it is a hole/],
      [accept({ a: undefined }), /answer\.content\.a: it is undefined/],
      [accept({ a: NaN }), /answer\.content\.a: it is NaN/],
      [accept({ a: 1n }), /answer\.content\.a: it is a bigint/],
      [cycle, /answer\.self: it is a cycle/],
      [deep, /nested too deeply: maxDepth is 40/],
      [thrower, /could not be read; plain JSON is needed/],
      [proxy, /could not be read; plain JSON is needed/],
      [() => {}, /it is a function/],
      [Symbol("x"), /it is a symbol/],
    ];
    for (const [value, problem] of values) {
      for (const request of [form, page, sampling, roots]) {
        const parsed = parse(request, value);
        assert.ok("problem" in parsed);
        assert.match(parsed.problem, problem);
      }
    }
  });

  it("writes short problems, whatever it is given", () => {
    const long = "é😀".repeat(100_000);
    const deep = JSON.parse(
      `{"${long}":`.repeat(20) + "[".repeat(10) + "1" + "]".repeat(10) +
        "}".repeat(20),
    );
    const many = Array.from({ length: 9_999 }, (_, i) => `${long}${i}`);
    const choice = {
      method: "elicitation/create",
      params: {
        message: "",
        requestedSchema: {
          type: "object",
          properties: { [long]: { type: "string", enum: many } },
        },
      },
    } as const;
    for (
      const [request, answer] of [
        [form, { action: long }],
        [form, accept({ [long]: null })],
        [form, accept({ name: long })],
        [form, accept({ name: "Ann", mail: long })],
        [choice, accept({ [long]: long })],
        [roots, { roots: [{ uri: long }] }],
        [form, accept({ a: deep, b: new Map() })],
        [form, deep],
      ] as [InputRequest, unknown][]
    ) {
      const parsed = parse(request, answer);
      assert.ok("problem" in parsed);
      assert.ok(parsed.problem.length < 2_000, `${parsed.problem.length}`);
    }
  });

  it("takes properties named like members of Object for data", () => {
    const request = parseInputRequest(
      "k",
      JSON.parse(`{ "method": "elicitation/create", "params": {
        "message": "", "requestedSchema": {
          "type": "object",
          "properties": {
            "__proto__": { "type": "string" },
            "constructor": { "type": "boolean" },
            "toString": { "type": "integer" },
            "": { "type": "number" }
          },
          "required": ["__proto__", "constructor"]
        } } }`),
      { maxDepth },
    );
    const answer = (content: string) =>
      parse(
        request,
        JSON.parse(`{ "action": "accept", "content": ${content}}`),
      );
    const whole = answer(
      `{ "__proto__": "a", "constructor": true, "toString": 1, "": 0.5 }`,
    );
    assert.ok("response" in whole);
    assert.equal(
      JSON.stringify(whole.response),
      `{"action":"accept","content":{"__proto__":"a","constructor":true,"toString":1,"":0.5}}`,
    );
    assert.equal(Object.getPrototypeOf({}), Object.prototype);
    for (
      const [content, problem] of [
        ["{}", /content\.__proto__ is missing/],
        [`{ "__proto__": "a" }`, /content\.constructor is missing/],
        [`{ "__proto__": 1, "constructor": true }`, /content\.__proto__ is 1/],
        [
          `{ "__proto__": "a", "constructor": true, "toString": "x" }`,
          /content\.toString is "x"/,
        ],
        [
          `{ "__proto__": "a", "constructor": true, "": "x" }`,
          /content\[""\] is "x"/,
        ],
      ] as const
    ) {
      const parsed = answer(content);
      assert.ok("problem" in parsed);
      assert.match(parsed.problem, problem);
    }
    assert.ok("response" in parse(form, accept({ name: "Ann", valueOf: 1 })));
  });

  it("honours a form that allows no other property", () => {
    const closed = {
      method: "elicitation/create",
      params: {
        message: "",
        requestedSchema: {
          type: "object",
          properties: { a: { type: "boolean" } },
          additionalProperties: false,
        },
      },
    } as InputRequest;
    assert.ok("response" in parse(closed, accept({ a: true })));
    const parsed = parse(closed, accept({ a: true, toString: "x" }));
    assert.ok("problem" in parsed);
    assert.match(
      parsed.problem,
      /^content\.toString is "x"; the form has no such property/,
    );
  });

  it("checks no more than the shape against a stored form that is none", () => {
    for (
      const params of [
        undefined,
        {},
        { message: "", requestedSchema: null },
        { message: "", requestedSchema: { type: "object" } },
        {
          message: "",
          requestedSchema: {
            type: "object",
            properties: { a: { type: "x" } },
            required: ["b"],
          },
        },
      ]
    ) {
      const stored = { method: "elicitation/create", params } as never;
      assert.ok("response" in parse(stored, accept({ a: 1 })));
      assert.ok("problem" in parse(stored, { action: "x" }));
    }
    const unknown = { method: "vendor/ask" } as never;
    assert.ok("response" in parse(unknown, { a: 1 }));
    assert.ok("problem" in parse(unknown, [1]));
  });
});
