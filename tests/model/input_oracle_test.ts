/**
 * Requests and answers against the official schemas and a validator of JSON
 * Schema. What is accepted here, they accept. Refused here alone are:
 *
 * - forms, tools, preferences and choices that are checked whole here, and
 *   are any object in the schemas of the extension;
 * - URLs of other schemes than http and https, and roots outside `file://`;
 * - data that is no base64, and a `_meta` that is no object;
 * - forms that nobody can fill in, and content without an accepted form;
 * - one choice made twice, and a property that is not of its format to the letter.
 */

import assert from "node:assert/strict";
import {
  InputRequestV2Schema,
  InputResponseV2Schema,
} from "@modelcontextprotocol/ext-tasks/core/v2";
import { specTypeSchemas } from "@modelcontextprotocol/server";
import { addFormats, Ajv } from "@modelcontextprotocol/server/validators/ajv";
import fc from "../support/fast_check.ts";
import {
  type InputRequest,
  parseInputRequest,
} from "../../src/model/input_request.ts";
import { formatPath } from "../../src/model/json.ts";
import { parseInputResponse } from "../../src/model/input_response.ts";
import { describe, it, runtime, skip } from "../support/runner.ts";
import {
  exchange,
  formCase,
  inputRequest,
  type Json,
  mutated,
} from "./input_arbitraries.ts";

const maxDepth = 60;

function accepts(request: unknown): boolean {
  try {
    parseInputRequest("k", request, { maxDepth });
    return true;
  } catch (error) {
    assert.equal((error as { code: string }).code, "ERR_INVALID_INPUT_REQUEST");
    return false;
  }
}

function problemOf(
  request: unknown,
  answer: unknown,
  checkAnswers = false,
): string | undefined {
  const parsed = parseInputResponse(request as InputRequest, answer, {
    maxDepth,
    checkAnswers,
  });
  if ("problem" in parsed) return parsed.problem;
  assert.deepEqual(parsed.response, answer);
  return undefined;
}

/** The schemas that the SDK checks what it sends and receives with. */
function sdkAccepts(request: Json): boolean {
  const { method, params } = request as Record<string, Json>;
  if (method === "roots/list") return true;
  const schema = method === "sampling/createMessage"
    ? specTypeSchemas.CreateMessageRequestParams
    : (params as { mode?: Json }).mode === "url"
    ? specTypeSchemas.ElicitRequestURLParams
    : specTypeSchemas.ElicitRequestFormParams;
  return schema["~standard"].validate(asIn2025(params)).issues === undefined;
}

/**
 * The published schemas are those of the revision before, where a date needs
 * its time and a page an id, and more is known of the schemas of a tool, of
 * `_meta` and of `task`. What differs is taken out, or put in.
 */
function asIn2025(value: Json): Json {
  return JSON.parse(JSON.stringify(value), (key, member) => {
    if (key === "inputSchema") return { type: member?.type };
    if (key === "lastModified" || key === "outputSchema") return undefined;
    if (key === "_meta" || key === "task") return undefined;
    if (member?.mode === "url") return { ...member, elicitationId: "e1" };
    return member;
  });
}

/**
 * A validator; with `allErrors`, since it does not miss a key of "" otherwise,
 * and with `ownProperties`, since content is data.
 */
function validator() {
  const ajv = new Ajv({ strict: false, allErrors: true, ownProperties: true });
  addFormats(ajv);
  return (schema: Json, content: Json) =>
    ajv.validate(schema as object, content);
}

describe("parseInputRequest() and the official schemas", () => {
  it("both accept made-up requests", () => {
    fc.assert(
      fc.property(inputRequest, (request) => {
        assert.ok(accepts(request));
        assert.ok(InputRequestV2Schema.safeParse(request).success);
        assert.ok(sdkAccepts(request));
      }),
      { numRuns: 500 },
    );
  });

  it("the schemas accept whatever is accepted of damaged requests", () => {
    let accepted = 0;
    let refused = 0;
    fc.assert(
      fc.property(inputRequest.chain(mutated), (request) => {
        if (!accepts(request)) refused++;
        else {
          accepted++;
          assert.ok(InputRequestV2Schema.safeParse(request).success);
          assert.ok(sdkAccepts(request));
        }
      }),
      { numRuns: 4_000 },
    );
    assert.ok(accepted > 500 && refused > 500, `${accepted} ${refused}`);
  });
});

describe("parseInputResponse() and the official schemas", () => {
  it("both accept made-up answers", () => {
    fc.assert(
      fc.property(exchange, ({ request, answer }) => {
        assert.equal(problemOf(request, answer), undefined);
        assert.ok(InputResponseV2Schema.safeParse(answer).success);
      }),
      { numRuns: 500 },
    );
  });

  it("the schemas accept whatever is accepted of damaged answers", () => {
    let accepted = 0;
    let refused = 0;
    const damaged = exchange.chain(({ request, answer }) =>
      mutated(answer).map((answer) => ({ request, answer }))
    );
    fc.assert(
      fc.property(damaged, ({ request, answer }) => {
        if (problemOf(request, answer) !== undefined) refused++;
        else {
          accepted++;
          assert.ok(InputResponseV2Schema.safeParse(answer).success);
        }
      }),
      { numRuns: 4_000 },
    );
    assert.ok(accepted > 500 && refused > 500, `${accepted} ${refused}`);
  });
});

const request = (requestedSchema: Json): Json => ({
  method: "elicitation/create",
  params: { message: "", requestedSchema },
});

const accept = (content: Json): Json => ({ action: "accept", content });

describe("parseInputResponse() with checkAnswers", () => {
  it("accepts an answer that fits its form", () => {
    fc.assert(
      fc.property(formCase, ({ schema, good }) => {
        assert.ok(accepts(request(schema)));
        assert.equal(problemOf(request(schema), accept(good), true), undefined);
      }),
      { numRuns: 500 },
    );
  });

  it("refuses an answer with one property that does not fit, and names it", () => {
    const spoilt = formCase
      .filter(({ properties }) => Object.keys(properties).length > 0)
      .chain((form) =>
        fc.constantFrom(...Object.keys(form.properties)).chain((name) =>
          fc.constantFrom(...form.properties[name].bad).map((value) => ({
            schema: form.schema,
            name,
            content: { ...form.good, ...Object.fromEntries([[name, value]]) },
          }))
        )
      );
    fc.assert(
      fc.property(spoilt, ({ schema, name, content }) => {
        const problem = problemOf(request(schema), accept(content), true);
        assert.ok(problem !== undefined, name);
        const place = formatPath(["content", name]);
        assert.ok(problem.startsWith(place), problem);
        assert.equal(problemOf(request(schema), accept(content)), undefined);
      }),
      { numRuns: 1_000 },
    );
  });

  it("refuses an answer without what is required, and names it", () => {
    const incomplete = formCase
      .filter(({ required }) => required.length > 0)
      .chain((form) =>
        fc.constantFrom(...form.required).map((name) => {
          const content = { ...form.good };
          delete content[name];
          return { schema: form.schema, name, content };
        })
      );
    fc.assert(
      fc.property(incomplete, ({ schema, content }) => {
        assert.match(
          problemOf(request(schema), accept(content), true)!,
          /^content.* is missing; the form requires it/s,
        );
      }),
    );
  });

  const agree = "agrees with a validator of JSON Schema";
  if (runtime === "workerd") {
    skip(agree, "the validator compiles code, which workerd forbids");
  } else {
    it(agree, () => {
      let accepted = 0;
      let refused = 0;
      const validates = validator();
      // The validator never looks at a property of this name.
      const answers = formCase
        .filter(({ schema }) =>
          !Object.hasOwn(schema.properties as object, "__proto__")
        )
        .chain(({ schema, good }) =>
          mutated(good).map((content) => ({ schema, content }))
        );
      fc.assert(
        fc.property(answers, ({ schema, content }) => {
          const answer = accept(content);
          if (problemOf(request(schema), answer) !== undefined) return;
          const problem = problemOf(request(schema), answer, true);
          if (problem === undefined) accepted++;
          else refused++;
          if (problem?.includes("a choice counts once")) return;
          assert.equal(
            problem === undefined,
            validates(schema, content),
            problem,
          );
        }),
        { numRuns: 600 },
      );
      assert.ok(accepted > 50 && refused > 50, `${accepted} ${refused}`);
    });

    it("accepts no text that the validator's formats refuse", () => {
      const samples = {
        "email": "ann.lee+a@mail.example.com",
        "uri": "https://ann@example.com:81/a;b/%20?c=d&e#f",
        "date": "2024-02-29",
        "date-time": "2024-02-29T23:59:60.5-01:30",
      };
      for (const [format, sample] of Object.entries(samples)) {
        const schema: Json = {
          type: "object",
          properties: { it: { type: "string", format } },
        };
        const validates = validator();
        const edit = fc.record({
          at: fc.nat(sample.length),
          cut: fc.nat(2),
          add: fc.string({
            unit: fc.constantFrom(..."0123456789aZ.-+:@%/?#[]TtZz ~_é"),
            maxLength: 2,
          }),
        });
        fc.assert(
          fc.property(fc.array(edit, { maxLength: 3 }), (edits) => {
            let it = sample;
            for (const { at, cut, add } of edits) {
              it = it.slice(0, at) + add + it.slice(at + cut);
            }
            const problem = problemOf(request(schema), accept({ it }), true);
            // The validator wants a dot in the host of an address, and a path
            // or a host in a URI.
            if (/@[^.]*$/.test(it) || /^[^:]*:([?#]|$)/.test(it)) return;
            if (problem === undefined) {
              assert.ok(validates(schema, { it }), JSON.stringify(it));
            }
          }),
          { numRuns: 2_000 },
        );
      }
    });
  }
});
