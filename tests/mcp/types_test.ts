/** What the type checker says to the author of a tool; `deno check` fails where it says otherwise. */

import assert from "node:assert/strict";
import {
  type CallToolResult,
  fromJsonSchema,
  McpServer,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { attachTasks } from "../../mcp.ts";
import {
  type ElicitResult,
  type InputRequests,
  type InputResponses,
  MemoryTaskStore,
  TaskLifecycle,
} from "../../mod.ts";
import { howMany } from "../support/mcp_tools.ts";
import { describe, it } from "../support/runner.ts";

/** A server with the tools, as each registers. */
async function registering(
  register: (
    registerTool: ReturnType<typeof attachTasks<McpServer>>["registerTool"],
  ) => void,
): Promise<void> {
  const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
  const mcp = new McpServer({ name: "types", version: "1.0.0" });
  register(attachTasks(mcp, tasks).registerTool);
  await tasks.close();
}

describe("the types of registerTool()", () => {
  const outputSchema = z.object({
    n: z.number().default(5),
    note: z.string().optional(),
  });

  it("take structured content as the output schema takes it", () =>
    registering((registerTool) => {
      registerTool("all", { outputSchema }, () => ({
        structuredContent: { n: 5, note: "x" },
      }));
      registerTool("defaults", { outputSchema }, () => ({
        structuredContent: {},
      }));
      registerTool("a failure", { outputSchema }, () => ({
        content: [{ type: "text", text: "no" }],
        isError: true,
      }));
      registerTool("its own end", { outputSchema }, async (_args, task) => {
        await task.complete({ structuredContent: { n: 5 } });
      });
      registerTool("a list", { outputSchema: z.array(z.string()) }, () => ({
        structuredContent: ["a"],
      }));
      const described = fromJsonSchema({ type: "object" });
      registerTool("anything", { outputSchema: described }, () => ({
        structuredContent: { a: 1 },
      }));
    }));

  it("refuse structured content that is missing, or does not fit", () =>
    registering((registerTool) => {
      // @ts-expect-error -- it is missing
      registerTool("none", { outputSchema }, () => ({ content: [] }));
      registerTool("wrong", { outputSchema }, () => ({
        // @ts-expect-error -- it is no number
        structuredContent: { n: "five" },
      }));
      const call = (): CallToolResult => ({ content: [] });
      // @ts-expect-error -- nobody knows whether it fits
      registerTool("unknown", { outputSchema }, call);
      registerTool("free", {}, call);
    }));

  it("take the scope challenge of the SDK", () =>
    registering((registerTool) => {
      registerTool("scoped", { scopeChallenge: () => undefined }, () => {});
    }));
});

describe("the types of requestInput()", () => {
  it("tell each answer by its request", async () => {
    const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
    const { taskId } = await tasks.createTask();
    const asked = tasks.handle(taskId).requestInput({
      count: howMany("How many?"),
      said: {
        method: "sampling/createMessage",
        params: { messages: [], maxTokens: 5 },
      },
      where: { method: "roots/list" },
    });
    await tasks.updateTask(taskId, {
      count: { action: "accept", content: { count: 7 } },
      said: {
        model: "m",
        role: "assistant",
        content: { type: "text", text: "yes" },
      },
      where: { roots: [{ uri: "file:///x" }] },
    });
    const answers = await asked;
    assert.equal(answers.count.content?.count, 7);
    assert.equal(answers.said.model, "m");
    assert.equal(answers.where.roots[0]?.uri, "file:///x");
    // @ts-expect-error -- nothing was asked under this key
    assert.equal(answers.cuont, undefined);
    const known: InputResponses = answers;
    assert.equal((known.count as ElicitResult).action, "accept");
    await tasks.close();
  });

  it("refuse a zod schema as a form, and what is made of it by z.toJSONSchema() is one", async () => {
    const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
    const { taskId } = await tasks.createTask();
    const form = z.object({ name: z.string(), age: z.int().optional() });
    const asking = (requestedSchema: unknown) =>
      tasks.handle(taskId).requestInput({
        who: {
          method: "elicitation/create",
          params: {
            message: "Who?",
            requestedSchema: requestedSchema as never,
          },
        },
      });
    await assert.rejects(asking(form), {
      code: "ERR_NOT_JSON",
      message: /requestedSchema: it is an instance of ZodObject \(use z\.toJ/,
    });
    const asked = asking(z.toJSONSchema(form));
    const content = { name: "Ada" };
    await tasks.updateTask(taskId, { who: { action: "accept", content } });
    assert.deepEqual((await asked).who.content, content);
    await tasks.close();
  });

  it("know no more than the requests that they are given", async () => {
    const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
    const { taskId } = await tasks.createTask();
    const requests: InputRequests = { count: howMany("How many?") };
    const asked = tasks.handle(taskId).requestInput(requests);
    await tasks.updateTask(taskId, { count: { action: "decline" } });
    const answers: InputResponses = await asked;
    const { count } = answers;
    assert.equal(count && "action" in count && count.action, "decline");
    await tasks.close();
  });
});
