/** What the SDK does to a tool's result, done to one that comes after its answer. */

import type { JsonObject, JsonValue } from "../model/json.ts";
import type { GetTaskResult } from "../model/wire.ts";
import type { SchemaLike } from "./shapes.ts";

/**
 * Completes the result of a tool call as the SDK would have: clients refuse a
 * task whose result lacks `resultType` or `content`.
 *
 * @param result The result as the worker gave it.
 * @returns The result as a client expects it.
 */
export function completeToolResult(result: JsonObject): JsonObject {
  return {
    ...result,
    resultType: "complete",
    content: withText(result.content, result.structuredContent),
  };
}

/**
 * Shows a task as `tasks/get` and `notifications/tasks` do: with its result
 * completed, also where it was not ended through a registered tool.
 *
 * @param task The task.
 * @returns The task as a client expects it.
 */
export function completeTask(task: GetTaskResult): GetTaskResult {
  if (task.status !== "completed") return task;
  return { ...task, result: completeToolResult(task.result) };
}

/** Clients that cannot read structured values that are no objects read a text. */
function withText(
  content: JsonValue | undefined,
  structured: JsonValue | undefined,
): JsonValue {
  const blocks = Array.isArray(content) ? content as readonly JsonValue[] : [];
  if (structured === undefined) return blocks;
  const isObject = typeof structured === "object" && structured !== null &&
    !Array.isArray(structured);
  if (isObject || blocks.some(isText)) return blocks;
  return [...blocks, { type: "text", text: JSON.stringify(structured) }];
}

function isText(block: JsonValue): boolean {
  return (block as JsonObject | null)?.type === "text";
}

/**
 * Checks a result against its tool's output schema. The SDK does so only for
 * results that are its own answer.
 *
 * @param tool The tool.
 * @param schema Its output schema.
 * @param result The result.
 * @throws {Error} The structured content is missing or does not fit.
 */
export async function checkToolOutput(
  tool: string,
  schema: SchemaLike | undefined,
  result: JsonObject,
): Promise<void> {
  if (!schema || result.isError === true) return;
  if (result.structuredContent === undefined) {
    throw new Error(
      `Output validation error: Tool ${tool} has an output schema but no structured content was provided`,
    );
  }
  const { issues } = await schema["~standard"].validate(
    result.structuredContent,
  ) as { readonly issues?: readonly { readonly message: string }[] };
  if (issues) {
    throw new Error(
      `Output validation error: Invalid structured content for tool ${tool}: ${
        issues.map((issue) => issue.message).join(", ")
      }`,
    );
  }
}
