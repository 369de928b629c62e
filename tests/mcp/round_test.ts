import assert from "node:assert/strict";
import {
  Client,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { createRequestStateCodec } from "@modelcontextprotocol/server";
import { z } from "zod";
import {
  type ElicitResult,
  isDuplicateInputKeyError,
  isInputPendingError,
  type TaskHandle,
} from "../../mod.ts";
import type {
  AttachTasksOptions,
  TaskToolContext,
  ToolResult,
} from "../../mcp.ts";
import { send } from "../support/mcp_frames.ts";
import { type McpHost, startHost } from "../support/mcp_host.ts";
import { howMany } from "../support/mcp_tools.ts";
import { describe, it } from "../support/runner.ts";

const UNDECLARED = { elicitation: { form: {} } };

const accept = (count: unknown) => ({ action: "accept", content: { count } });

const text = (text: string): ToolResult => ({
  content: [{ type: "text", text }],
});

function hostOf(
  worker: (
    task: TaskHandle,
    ctx: TaskToolContext,
  ) => ToolResult | void | Promise<ToolResult | void>,
  attach: AttachTasksOptions = {},
): Promise<McpHost> {
  return startHost({
    attach,
    tools: ({ registerTool }) =>
      registerTool("tool", {}, (_args, task, ctx) => worker(task, ctx)),
  });
}

/** Calls the tool without tasks; `before` is the answer to the call before. */
function call(
  host: McpHost,
  inputResponses?: unknown,
  before?: { readonly result?: { readonly requestState?: unknown } },
) {
  const requestState = before?.result?.requestState;
  return send(host.url, "tools/call", {
    name: "tool",
    arguments: {},
    ...(inputResponses !== undefined && { inputResponses }),
    ...(requestState !== undefined && { requestState }),
  }, { capabilities: UNDECLARED });
}

/** Two rounds: two questions at once, then one. */
async function sum(task: TaskHandle): Promise<ToolResult> {
  const counts = async (requests: Record<string, ReturnType<typeof howMany>>) =>
    Object.values(await task.requestInput(requests)).map((answer) =>
      (answer as ElicitResult).content!.count
    );
  const [a, b] = await counts({ a: howMany("A?"), b: howMany("B?") });
  const [c] = await counts({ c: howMany("C?") });
  return text(`${a} ${b} ${c}`);
}

const sumWorker = (_args: unknown, task: TaskHandle) => sum(task);

describe("a question to a client without tasks", () => {
  it("is a round of its call, and the answers of earlier rounds come with it", async () => {
    const host = await hostOf(sum);
    const first = await call(host);
    const { _meta, requestState, ...asked } = first.result;
    assert.deepEqual(asked, {
      resultType: "input_required",
      inputRequests: { a: howMany("A?"), b: howMany("B?") },
    });
    assert.equal(typeof requestState, "string");
    const second = await call(host, { a: accept(1), b: accept(2) }, first);
    assert.deepEqual(second.result.inputRequests, { c: howMany("C?") });
    const third = await call(host, { c: accept(3) }, second);
    assert.equal(third.result.resultType, "complete");
    assert.deepEqual(third.result.content, text("1 2 3").content);
    await host.close();
  });

  it("is asked again as long as it is not answered", async () => {
    const host = await hostOf(sum);
    const first = await call(host);
    const second = await call(host, { b: accept(2), z: accept(9) }, first);
    assert.deepEqual(second.result.inputRequests, { a: howMany("A?") });
    const third = await call(host, undefined, second);
    assert.deepEqual(third.result.inputRequests, { a: howMany("A?") });
    const fourth = await call(host, { a: accept(1), b: accept(7) }, third);
    assert.deepEqual(fourth.result.inputRequests, { c: howMany("C?") });
    const fifth = await call(host, { c: accept(3) }, fourth);
    assert.deepEqual(fifth.result.content, text("1 2 3").content);
    await host.close();
  });

  it("is not answered before it was asked", async () => {
    const host = await hostOf(sum);
    const eager = await call(host, { a: accept(1), b: accept(2) });
    assert.deepEqual(Object.keys(eager.result.inputRequests), ["a", "b"]);
    await host.close();
  });

  it("keeps its answer while another run does not ask it", async () => {
    const runs = ["a", "b", "ab"];
    const host = await hostOf(async (task) => {
      const keys = [...runs.shift()!];
      const requests = keys.map((key) => [key, howMany(`${key}?`)]);
      return text(
        JSON.stringify(await task.requestInput(Object.fromEntries(requests))),
      );
    });
    const first = await call(host);
    const second = await call(host, { a: accept(1) }, first);
    const { result } = await call(host, { b: accept(2) }, second);
    assert.deepEqual(JSON.parse(result.content[0].text), {
      a: accept(1),
      b: accept(2),
    });
    await host.close();
  });

  it("may have a key that every object has", async () => {
    const host = await hostOf(async (task) => {
      await task.requestInput({ constructor: howMany("C?") });
    });
    const first = await call(host);
    const { result } = await call(host, {}, first);
    assert.deepEqual(Object.keys(result.inputRequests), ["constructor"]);
    await host.close();
  });

  it("cannot come after the end", async () => {
    let code: unknown;
    const host = await hostOf(async (task) => {
      await task.complete({ content: [] });
      await task.requestInput({ a: howMany("A?") }).catch((error) =>
        code = error.code
      );
    });
    const { result } = await call(host);
    assert.equal(result.resultType, "complete");
    assert.equal(code, "ERR_TASK_TERMINAL");
    await host.close();
  });

  it("may be declined, which is an answer", async () => {
    const host = await hostOf(async (task) => {
      const { a } = await task.requestInput({ a: howMany("A?") });
      return text(JSON.stringify(a));
    });
    const first = await call(host);
    const { result } = await call(host, { a: { action: "decline" } }, first);
    assert.deepEqual(result.content, text('{"action":"decline"}').content);
    await host.close();
  });

  it("refuses a wrong answer by its key, and answers that are none", async () => {
    const host = await hostOf(sum);
    const first = await call(host);
    for (const wrong of [accept("many"), 7, null, { result: accept(3) }]) {
      const { error } = await call(host, { a: wrong, b: accept(2) }, first);
      assert.equal(error?.code, -32602, JSON.stringify(wrong));
      assert.match(error.message, /"a"/);
      assert.doesNotMatch(error.message, /"b"/);
    }
    for (const wrong of [null, [], "a"]) {
      const { error } = await call(host, wrong, first);
      assert.equal(error?.code, -32602, JSON.stringify(wrong));
      assert.match(error.message, /inputResponses/);
    }
    const good = await call(host, { a: accept(1), b: accept(2) }, first);
    assert.deepEqual(good.result.inputRequests, { c: howMany("C?") });
    await host.close();
  });

  it("keeps a key named __proto__ apart", async () => {
    const key = "__proto__";
    const host = await hostOf(async (task) => {
      const requests = {};
      Object.defineProperty(requests, key, {
        value: howMany("P?"),
        enumerable: true,
      });
      const answers = await task.requestInput(requests);
      assert.deepEqual(Object.keys(answers), [key]);
      const own = Object.getOwnPropertyDescriptor(answers, key)?.value;
      return text(JSON.stringify(own));
    });
    const first = await call(host);
    assert.deepEqual(Object.keys(first.result.inputRequests), [key]);
    const answers = JSON.parse(`{"${key}":${JSON.stringify(accept(4))}}`);
    const { result } = await call(host, answers, first);
    assert.deepEqual(
      result.content,
      text(JSON.stringify(accept(4))).content,
    );
    await host.close();
  });

  it("is one round where two questions are on their way at once", async () => {
    const host = await hostOf(async (task) => {
      const both = await Promise.all([
        task.requestInput({ a: howMany("A?") }),
        task.requestInput({ b: howMany("B?") }),
      ]);
      return text(JSON.stringify(both));
    });
    const first = await call(host);
    assert.deepEqual(Object.keys(first.result.inputRequests), ["a", "b"]);
    const answers = { a: accept(1), b: accept(2) };
    const { result } = await call(host, answers, first);
    assert.equal(
      result.content[0].text,
      JSON.stringify([{ a: accept(1) }, { b: accept(2) }]),
    );
    await host.close();
  });

  it("names one question: neither twice, nor another in a later round", async () => {
    let message = "A?";
    let caught: unknown;
    const host = await hostOf(async (task) => {
      await task.requestInput({ a: howMany(message) });
      caught = await task.requestInput({ a: howMany(message) })
        .catch((error: unknown) => error);
      return text("once");
    });
    const first = await call(host);
    assert.equal(
      (await call(host, { a: accept(1) }, first)).result.content[0].text,
      "once",
    );
    assert.ok(isDuplicateInputKeyError(caught));
    message = "Another?";
    const { result } = await call(host, { a: accept(1) }, first);
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /"a"/);
    await host.close();
  });

  it("ends the run of the worker: its signal aborts, and nothing else answers", async () => {
    const seen: unknown[] = [];
    const host = await hostOf(async (task) => {
      try {
        await task.requestInput({ a: howMany("A?") });
        return text("answered");
      } catch (error) {
        assert.ok(isInputPendingError(error));
        assert.equal(task.signal.reason, error);
        for (
          const end of [
            () => task.complete({}),
            () => task.fail({ code: -32001, message: "no" }),
            () => task.cancelled(),
            () => task.progress("on"),
          ]
        ) seen.push(await end().catch((error: { code: string }) => error.code));
        return text("took the default");
      }
    });
    const first = await call(host);
    assert.deepEqual(Object.keys(first.result.inputRequests), ["a"]);
    assert.deepEqual(seen, Array(4).fill("ERR_INPUT_PENDING"));
    const { result } = await call(host, { a: accept(1) }, first);
    assert.equal(result.content[0].text, "answered");
    await host.close();
  });

  it("is refused where there are too many keys", async () => {
    const host = await startHost({
      lifecycle: { limits: { maxInputKeys: 2 } },
      tools: ({ registerTool }) =>
        registerTool("tool", {}, async (_args, task) => {
          const question = howMany("?");
          await task.requestInput({ a: question, b: question, c: question });
        }),
    });
    const { result } = await call(host);
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /maxInputKeys is 2/);
    await host.close();
  });

  it("skips the output schema, which the result then has to fit", async () => {
    const host = await startHost({
      tools: ({ registerTool }) =>
        registerTool("tool", {
          outputSchema: z.object({ n: z.number() }),
        }, async (_args, task) => {
          const { a } = await task.requestInput({ a: howMany("A?") });
          return { structuredContent: { n: Number(a.content?.count) } };
        }),
    });
    const first = await call(host);
    assert.equal(first.result.resultType, "input_required");
    const { result } = await call(host, { a: accept(6) }, first);
    assert.deepEqual(result.structuredContent, { n: 6 });
    await host.close();
  });

  it("is answered by the official client by itself", async () => {
    const host = await hostOf(sum);
    const client = new Client({ name: "rounds", version: "1.0.0" }, {
      capabilities: UNDECLARED,
      versionNegotiation: { mode: "auto" },
    });
    const asked: unknown[] = [];
    client.setRequestHandler("elicitation/create", ({ params }) => {
      asked.push(params.message);
      const count = asked.length;
      return { action: "accept" as const, content: { count } };
    });
    await client.connect(new StreamableHTTPClientTransport(host.url));
    const result = await client.callTool({ name: "tool", arguments: {} });
    assert.deepEqual(asked, ["A?", "B?", "C?"]);
    assert.deepEqual(result.content, text("1 2 3").content);
    await client.close();
    await host.close();
  });
});

describe("the state of a call that asks", () => {
  it("gets a client that changes it no further than another answer", async () => {
    const host = await hostOf(sum);
    const first = await call(host);
    const second = await call(host, { a: accept(1), b: accept(2) }, first);
    const state = JSON.parse(second.result.requestState);
    assert.deepEqual(Object.keys(state), ["a", "b", "c"]);
    state.a[1] = accept("many");
    const changed = { result: { requestState: JSON.stringify(state) } };
    const { error } = await call(host, { c: accept(3) }, changed);
    assert.equal(error?.code, -32602);
    assert.match(error.message, /"a"/);
    await host.close();
  });

  it("is refused if it is none", async () => {
    const host = await hostOf(sum);
    for (
      const requestState of ["", "{", "7", "null", '{"a":1}', '{"a":[1]}', 7]
    ) {
      const { error } = await call(host, {}, { result: { requestState } });
      assert.equal(error?.code, -32602, String(requestState));
      assert.equal(error.message, "Invalid or expired requestState");
      assert.deepEqual(error.data, { reason: "invalid_request_state" });
    }
    await host.close();
  });

  it("is refused if it has more keys than a call can have", async () => {
    const host = await startHost({
      lifecycle: { limits: { maxInputKeys: 2 } },
      tools: ({ registerTool }) => registerTool("tool", {}, sumWorker),
    });
    for (const [keys, code] of [[2, undefined], [3, -32602]]) {
      const entries = Array.from({ length: keys! }, (_, i) => [i, ["x"]]);
      const requestState = JSON.stringify(Object.fromEntries(entries));
      const { error } = await call(host, {}, { result: { requestState } });
      assert.equal(error?.code, code);
    }
    await host.close();
  });

  it("is sealed with the SDK's codec, and refused when changed or somebody else's", async () => {
    const host = await hostOf(sum, {
      requestState: createRequestStateCodec({
        key: "a key of at least thirty-two bytes",
        bind: (ctx) => ctx.http?.authInfo?.clientId ?? "",
      }),
    });
    const args = { name: "tool", arguments: {} };
    const as = (token: string, more: object = {}) =>
      send(host.url, "tools/call", { ...args, ...more }, {
        token,
        capabilities: UNDECLARED,
      });
    const { requestState } = (await as("app")).result;
    assert.match(requestState, /^v1\./);
    const inputResponses = { a: accept(1), b: accept(2) };
    const good = await as("app", { requestState, inputResponses });
    assert.deepEqual(Object.keys(good.result.inputRequests), ["c"]);
    // Not the last character, of which base64 does not read every bit.
    const changed = requestState.replace(
      /.(?=.{4}$)/,
      (c: string) => c === "A" ? "B" : "A",
    );
    for (
      const bad of [
        as("app", { requestState: changed, inputResponses }),
        as("app", { requestState: '{"a":["x"]}', inputResponses }),
        as("other", { requestState, inputResponses }),
      ]
    ) {
      const { error } = await bad;
      assert.equal(error?.code, -32602);
      assert.deepEqual(error.data, { reason: "invalid_request_state" });
    }
    await host.close();
  });
});
