/** The tools that the tests call over every transport. */

import type { McpServer } from "@modelcontextprotocol/server";
import { ProtocolError } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { McpTasks } from "../../mcp.ts";

/** A question for a whole number. */
export function howMany(message: string) {
  return {
    method: "elicitation/create",
    params: {
      mode: "form",
      message,
      requestedSchema: {
        type: "object",
        properties: { count: { type: "integer" } },
        required: ["count"],
      },
    },
  } as const;
}

/**
 * Registers the tools.
 *
 * @param attached The adapter.
 * @param mcp The server, for a tool that never becomes a task.
 */
export function registerTools(
  { registerTool }: McpTasks<McpServer>,
  mcp: McpServer,
): void {
  mcp.registerTool("ping", {}, () => ({
    content: [{ type: "text", text: "pong" }],
  }));
  registerTool("double", {
    description: "Doubles a number",
    inputSchema: z.object({ n: z.number() }),
    outputSchema: z.object({ doubled: z.number() }),
    task: { ttlMs: 120_000, pollIntervalMs: 15 },
  }, async ({ n }, task) => {
    await task.progress(`doubling ${n.toFixed(1)}`);
    return {
      content: [{ type: "text", text: `${2 * n}` }],
      structuredContent: { doubled: 2 * n },
    };
  });
  registerTool("sum", {}, async (_args, task) => {
    const { a, b } = await task.requestInput({
      a: howMany("How many apples?"),
      b: howMany("How many bananas?"),
    });
    const { c } = await task.requestInput({ c: howMany("And more?") });
    const counts = [a, b, c].map((answer) => Number(answer.content?.count));
    const sum = counts.reduce((x, y) => x + y);
    return { content: [{ type: "text", text: `${sum}` }] };
  });
  registerTool("how_many", {}, async (_args, task) => {
    const { n } = await task.requestInput({ n: howMany("How many in all?") });
    return { content: [{ type: "text", text: JSON.stringify(n) }] };
  });
  registerTool("ask_first", {
    task: { support: "required" },
    before: async (_args, { requestInput }) => {
      await requestInput({ first: howMany("How many first?") });
    },
  }, async (_args, task, { answers }) => {
    const { then } = await task.requestInput({
      then: howMany("How many then?"),
    });
    const { first } = answers;
    return {
      content: [{ type: "text", text: JSON.stringify([first, then]) }],
    };
  });
  registerTool("broken_lamp", {}, () => ({
    content: [{ type: "text", text: "the lamp is broken" }],
    isError: true,
  }));
  registerTool("until_cancelled", {}, async (_args, task) => {
    await task.progress("waiting");
    await new Promise((_, reject) =>
      task.signal.addEventListener("abort", () => reject(task.signal.reason))
    );
  });
  registerTool("protocol_error", {}, () => {
    throw new ProtocolError(-32055, "the index is missing", { index: 3 });
  });
  registerTool("tool_error", {}, () => {
    throw new Error("the lamp is broken");
  });
}
