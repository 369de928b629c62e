/** What the SDK does to a tool's result, done to one that comes after its answer. */

import { InvalidArgumentError, show } from "../errors.ts";
import { toolResult } from "../model/content_block.ts";
import { type JsonObject, type JsonValue, setOwn } from "../model/json.ts";
import { DEFAULT_LIMITS } from "../model/limits.ts";
import { describeMismatch } from "../model/shape.ts";
import type { GetTaskResult } from "../model/wire.ts";
import type { SchemaLike } from "./shapes.ts";
import type { ToolResult } from "./tool_config.ts";
import { validate } from "./validate.ts";

/** Members of a tool's result that cannot be null: a worker may leave them so. */
const NEVER_NULL: readonly string[] = ["content", "isError", "_meta"];

/**
 * Checks a result as a client will, and leaves out what the worker had nothing
 * to say in: members that are undefined, at any depth, as JSON does where the
 * result is a direct answer; and, at the top, null where there is no null. An
 * array keeps all of its items.
 *
 * @param tool The tool.
 * @param result The result as the worker gave it.
 * @returns The result without them.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is no result of a tool.
 */
export function checkedResult(tool: string, result: ToolResult): JsonObject {
  const operation = `Cannot use the result of tool ${show(tool)}`;
  if (typeof result !== "object" || Array.isArray(result)) {
    throw new InvalidArgumentError(
      `${operation}: the value is ${
        show(result)
      }, an object such as { content: [{ type: "text", text: "done" }] } is needed`,
    );
  }
  const members = Object.entries(result).filter(([key, value]) =>
    value !== undefined && !(value === null && NEVER_NULL.includes(key))
  ).map(([key, value]) => [key, withoutUndefined(value)]);
  const given = Object.fromEntries(members) as JsonObject;
  const wrong = toolResult(given);
  if (wrong) {
    throw new InvalidArgumentError(
      `${operation}: ${describeMismatch(wrong, "the result")}`,
    );
  }
  return given;
}

/** Copies only what has something to leave out. Deeper than allowed it changes nothing: that is refused later. */
function withoutUndefined<T>(value: T): T {
  let tooDeep = false;
  const strip = (value: unknown, depth: number): unknown => {
    if (typeof value !== "object" || value === null) return value;
    tooDeep ||= depth === 0;
    if (tooDeep) return value;
    if (Array.isArray(value)) {
      let copy: unknown[] | undefined;
      for (let i = 0; i < value.length && !tooDeep; i++) {
        const item = value[i];
        const kept = strip(item, depth - 1);
        if (kept !== item) (copy ??= [...value])[i] = kept;
      }
      return copy ?? value;
    }
    const prototype = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) return value;
    const given = value as Record<string, unknown>;
    let copy: Record<string, unknown> | undefined;
    for (const key of Object.keys(given)) {
      const member = given[key];
      const kept = strip(member, depth - 1);
      if (tooDeep) return value;
      if (kept === member && kept !== undefined) continue;
      copy ??= { ...given };
      if (kept === undefined) delete copy[key];
      else setOwn(copy, key, kept);
    }
    return copy ?? value;
  };
  const stripped = strip(value, DEFAULT_LIMITS.maxDepth);
  return (tooDeep ? value : stripped) as T;
}

/**
 * Makes of a result what the SDK can answer a call with.
 *
 * @param tool The tool.
 * @param result The result as the worker gave it.
 * @returns The result for the SDK.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is no result of a tool.
 * @throws {TypeError} JSON cannot encode it: the SDK would never answer.
 */
export function directResult(tool: string, result: ToolResult): ToolResult {
  const given = checkedResult(tool, result);
  JSON.stringify(given);
  return given as ToolResult;
}

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
 * Shows a task as `tasks/get` and `notifications/tasks` do: with the result of
 * a tool call completed, also where it was not ended through a registered tool.
 *
 * @param task The task.
 * @param method The request that became the task.
 * @returns The task as a client expects it.
 */
export function completeTask(
  task: GetTaskResult,
  method: string = "tools/call",
): GetTaskResult {
  if (task.status !== "completed" || method !== "tools/call") return task;
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
  const validated = await validate(schema, result.structuredContent);
  if ("problem" in validated) {
    throw new Error(
      `Output validation error: Invalid structured content for tool ${tool}: ${validated.problem}`,
    );
  }
}
