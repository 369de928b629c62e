/** What the worker of a tool does to its task, under the rules for tools. */

import { Ends } from "../engine/ends.ts";
import type { TaskHandle } from "../engine/handle.ts";
import type { TaskWorker } from "../engine/workers.ts";
import { quiet } from "../engine/quiet.ts";
import { DuplicateInputKeyError } from "../errors.ts";
import type { InputRequests } from "../model/input_request.ts";
import type { JsonObject } from "../model/json.ts";
import { requireInputCapabilities } from "./client_input.ts";
import {
  checkedResult,
  checkToolOutput,
  completeToolResult,
} from "./result.ts";
import type { SchemaLike } from "./shapes.ts";
import type {
  TaskToolConfig,
  TaskToolContext,
  ToolResult,
} from "./tool_config.ts";

/** A tool of a server. */
export interface Tool {
  /** Its name. */
  readonly name: string;
  /** Its configuration. */
  readonly config: TaskToolConfig<SchemaLike | undefined>;
  /** Its work. */
  readonly worker: (
    args: unknown,
    task: TaskHandle,
    ctx: TaskToolContext,
  ) => ToolResult | void | Promise<ToolResult | void>;
}

/**
 * Makes the worker of a task from that of a tool: it asks only for what the
 * client declared, and its result is checked and completed.
 *
 * @param tool The tool.
 * @param args The arguments, as the tool's schema made them.
 * @param ctx What the tool's worker knows of the call.
 * @returns The worker.
 */
export function taskWorker(
  tool: Tool,
  args: unknown,
  ctx: TaskToolContext,
): TaskWorker {
  return async (task) => {
    const ends = new Ends();
    const handle = toolHandle(task, tool, ctx, ends);
    const result = await tool.worker(args, handle, ctx);
    await ends.conclude(result ?? undefined);
    return result && !ends.ended ? await finish(tool, result) : undefined;
  };
}

function toolHandle(
  task: TaskHandle,
  tool: Tool,
  { answers, call }: TaskToolContext,
  ends: Ends,
): TaskHandle {
  const ask = async <const Requests extends InputRequests>(
    requests: Requests,
  ) => {
    requireInputCapabilities(requests, call.clientCapabilities);
    for (const key of Object.keys(requests ?? {})) {
      if (Object.hasOwn(answers, key)) {
        throw new DuplicateInputKeyError(task.taskId, key);
      }
    }
    return await task.requestInput(requests);
  };
  return {
    taskId: task.taskId,
    get signal() {
      return task.signal;
    },
    progress: (message, patch) => task.progress(message, patch),
    requestInput: (requests) => quiet(ask(requests)),
    resumeInput: () => task.resumeInput(),
    complete: (result) =>
      ends.track(async () => {
        await task.complete(await finish(tool, result as ToolResult));
      }),
    fail: (error) => task.fail(error),
    cancelled: (message) => task.cancelled(message),
  };
}

async function finish(tool: Tool, result: ToolResult): Promise<JsonObject> {
  const given = checkedResult(tool.name, result);
  await checkToolOutput(tool.name, tool.config.outputSchema, given);
  return completeToolResult(given);
}
