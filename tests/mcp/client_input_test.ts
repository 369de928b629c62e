import assert from "node:assert/strict";
import { inputRequired } from "@modelcontextprotocol/server";
import { isInputUnavailableError } from "../../mod.ts";
import { requireInputCapabilities } from "../../src/mcp/client_input.ts";
import { send } from "../support/mcp_frames.ts";
import { startHost } from "../support/mcp_host.ts";
import { howMany } from "../support/mcp_tools.ts";
import { describe, it } from "../support/runner.ts";

const form = howMany("How many?");
const url = {
  method: "elicitation/create",
  params: { mode: "url", message: "Sign in", url: "https://example.org/" },
} as const;
const sampling = {
  method: "sampling/createMessage",
  params: {
    messages: [{ role: "user", content: { type: "text", text: "Hi" } }],
    maxTokens: 100,
  },
} as const;
const tool = { name: "t", inputSchema: { type: "object" } } as const;
const sampleTools = {
  ...sampling,
  params: { ...sampling.params, tools: [tool] },
} as const;
const sampleChoice = {
  ...sampling,
  params: { ...sampling.params, toolChoice: { mode: "none" } },
} as const;
const roots = { method: "roots/list" } as const;

const KINDS = { form, url, sampling, sampleTools, sampleChoice, roots };
type Kind = keyof typeof KINDS;

/** What a client says, and what it may be asked then. */
const DECLARATIONS: readonly [object, readonly Kind[]][] = [
  [{}, []],
  [{ elicitation: {} }, ["form"]],
  [{ elicitation: { form: {} } }, ["form"]],
  [{ elicitation: { url: {} } }, ["url"]],
  [{ elicitation: { form: {}, url: {} } }, ["form", "url"]],
  [{ sampling: {} }, ["sampling"]],
  [{ sampling: { tools: {} } }, ["sampling", "sampleTools", "sampleChoice"]],
  [{ sampling: { context: {} } }, ["sampling"]],
  [{ roots: {} }, ["roots"]],
  [{ roots: { listChanged: true }, sampling: {} }, ["roots", "sampling"]],
];

describe("requireInputCapabilities()", () => {
  it("lets through the kinds that a client declared, and no other", () => {
    for (const [capabilities, allowed] of DECLARATIONS) {
      for (const [kind, request] of Object.entries(KINDS)) {
        const ask = () =>
          requireInputCapabilities({ k: request }, capabilities as never);
        const name = `${kind} of ${JSON.stringify(capabilities)}`;
        if (allowed.includes(kind as Kind)) {
          assert.doesNotThrow(ask, name);
        } else {
          assert.throws(ask, (error) => isInputUnavailableError(error), name);
        }
      }
    }
  });

  it("agrees with the SDK about every kind", async () => {
    const host = await startHost({
      tools: (_tasks, mcp) => {
        for (const [kind, request] of Object.entries(KINDS)) {
          mcp.registerTool(
            kind,
            {},
            () => inputRequired({ inputRequests: { k: request as never } }),
          );
        }
      },
    });
    for (const [capabilities, allowed] of DECLARATIONS) {
      for (const kind of Object.keys(KINDS)) {
        const { result, error } = await send(
          host.url,
          "tools/call",
          { name: kind, arguments: {} },
          { capabilities },
        );
        const name = `${kind} of ${JSON.stringify(capabilities)}`;
        if (allowed.includes(kind as Kind)) assert.ok(result, name);
        else assert.equal(error?.code, -32021, name);
      }
    }
    await host.close();
  });

  it("leaves to the engine what is no request", () => {
    for (const odd of [null, undefined, 5, {}, { method: 7 }]) {
      assert.doesNotThrow(() => requireInputCapabilities({ k: odd }, {}));
    }
    assert.doesNotThrow(() => requireInputCapabilities(null as never, {}));
  });
});
