/** A tool whose calls become tasks, for the clients that know tasks. */

import type { TaskHandle } from "../engine/handle.ts";
import type { TaskLifecycle } from "../engine/lifecycle.ts";
import { asJsonRpcError, isNoOutcome } from "../engine/workers.ts";
import type { InputRequests } from "../model/input_request.ts";
import type { JsonObject } from "../model/json.ts";
import { requireInputCapabilities } from "./client_input.ts";
import { clientCapabilities, declaresTasks, missingTasks } from "./gate.ts";
import { quiet } from "./quiet.ts";
import type { Placeholder, ReplyFunction } from "./replies.ts";
import { RequestTaskHandle } from "./request_handle.ts";
import { checkToolOutput, completeToolResult } from "./result.ts";
import {
  hiddenError,
  type TaskErrorListener,
  type TaskRequestInfo,
  toRpcError,
} from "./rpc_error.ts";
import type { RequestContextLike, SchemaLike } from "./shapes.ts";
import type {
  TaskToolConfig,
  TaskToolContext,
  ToolResult,
} from "./tool_config.ts";

/** What all tools of a server share. */
export interface ToolHost {
  /** The engine. */
  readonly tasks: TaskLifecycle;
  /** Answers a call in the SDK's place. */
  readonly reply: ReplyFunction;
  /** Names the owner of a call. */
  readonly owner: (ctx: RequestContextLike) => string | undefined;
  /** Hears of unexpected errors. */
  readonly onError: TaskErrorListener | undefined;
}

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
 * Answers one call: with a task, if the client knows tasks, else with the
 * result, or with -32021 where the tool runs as a task only.
 *
 * @param host What all tools share.
 * @param tool The tool.
 * @param args The arguments, as the tool's schema made them.
 * @param ctx The request's context.
 * @returns What the SDK is to answer.
 */
export async function callTool(
  host: ToolHost,
  tool: Tool,
  args: unknown,
  ctx: RequestContextLike,
): Promise<ToolResult | Placeholder> {
  if (declaresTasks(ctx)) return await defer(host, tool, args, ctx);
  if (tool.config.task?.required) {
    return host.reply(ctx, { error: missingTasks(ctx.mcpReq.method) });
  }
  return await answer(host, tool, args, ctx);
}

/** Creates the task, durably, and only then starts the work, which nobody waits for. */
async function defer(
  host: ToolHost,
  tool: Tool,
  args: unknown,
  ctx: RequestContextLike,
): Promise<Placeholder> {
  let created;
  try {
    const owner = host.owner(ctx);
    const { ttlMs, pollIntervalMs } = tool.config.task ?? {};
    created = await host.tasks.createTask({
      ttlMs,
      pollIntervalMs,
      method: ctx.mcpReq.method,
      ...(owner !== undefined && { owner }),
    });
  } catch (error) {
    const where = place(tool, ctx);
    return host.reply(ctx, { error: toRpcError(error, where, host.onError) });
  }
  const capabilities = clientCapabilities(ctx);
  const context = toolContext(ctx, true);
  void host.tasks.run(created.taskId, async (task) => {
    const handle = toolHandle(task, tool, capabilities);
    const result = await tool.worker(args, handle, context);
    return result && await finish(tool, result as JsonObject);
  });
  return host.reply(ctx, { result: created });
}

/** Runs the worker while the client waits. */
async function answer(
  host: ToolHost,
  tool: Tool,
  args: unknown,
  ctx: RequestContextLike,
): Promise<ToolResult | Placeholder> {
  const handle = new RequestTaskHandle(ctx);
  try {
    const result = await tool.worker(args, handle, toolContext(ctx, false));
    if (!handle.outcome) await handle.complete((result ?? {}) as JsonObject);
  } catch (error) {
    if (!handle.outcome) {
      const failure = isNoOutcome(error, handle.taskId)
        ? hiddenError(error, place(tool, ctx), host.onError)
        : asJsonRpcError(error);
      if (!failure) throw error; // The SDK makes a tool result of it.
      await handle.fail(failure);
    }
  } finally {
    handle.release();
  }
  const outcome = handle.outcome!;
  switch (outcome.status) {
    case "completed":
      return outcome.result as ToolResult;
    case "failed":
      return host.reply(ctx, { error: outcome.error });
    case "cancelled":
      return {
        content: [{ type: "text", text: outcome.message ?? "Cancelled" }],
        isError: true,
      };
  }
}

/** The task's handle, which also keeps the rules for the answer of a tool. */
function toolHandle(
  task: TaskHandle,
  tool: Tool,
  capabilities: Readonly<Record<string, unknown>>,
): TaskHandle {
  return {
    taskId: task.taskId,
    get signal() {
      return task.signal;
    },
    progress: (message, patch) => task.progress(message, patch),
    requestInput: (requests: InputRequests) => {
      const ask = async () => {
        requireInputCapabilities(requests, capabilities);
        return await task.requestInput(requests);
      };
      return quiet(ask());
    },
    resumeInput: () => task.resumeInput(),
    complete: async (result) => {
      await task.complete(await finish(tool, result));
    },
    fail: (error) => task.fail(error),
    cancelled: (message) => task.cancelled(message),
  };
}

async function finish(tool: Tool, result: JsonObject): Promise<JsonObject> {
  await checkToolOutput(tool.name, tool.config.outputSchema, result);
  return completeToolResult(result);
}

function place(tool: Tool, ctx: RequestContextLike): TaskRequestInfo {
  return { method: ctx.mcpReq.method, tool: tool.name };
}

function toolContext(
  ctx: RequestContextLike,
  deferred: boolean,
): TaskToolContext {
  const authInfo = ctx.http?.authInfo;
  return {
    deferred,
    requestId: ctx.mcpReq.id,
    ...(authInfo && { authInfo }),
    meta: ctx.mcpReq._meta ?? {},
  };
}
