/** A tool whose calls become tasks, for the clients that know tasks. */

import type { TaskHandle } from "../engine/handle.ts";
import type { TaskLifecycle } from "../engine/lifecycle.ts";
import { asJsonRpcError, isNoOutcome } from "../engine/workers.ts";
import type { InputRequests } from "../model/input_request.ts";
import type { JsonObject } from "../model/json.ts";
import { requireInputCapabilities } from "./client_input.ts";
import { clientCapabilities, declaresTasks } from "./gate.ts";
import type { Placeholder, ReplyFunction } from "./replies.ts";
import { RequestTaskHandle } from "./request_handle.ts";
import { checkToolOutput, completeToolResult } from "./result.ts";
import {
  hiddenError,
  type TaskErrorListener,
  type TaskRequestInfo,
  toRpcError,
} from "./rpc_error.ts";
import type {
  AuthInfoLike,
  RequestContextLike,
  RequestId,
  SchemaLike,
  SchemaOutput,
} from "./shapes.ts";

/** A block of a tool's content. */
export type ToolContent =
  | {
    /** A text. */
    readonly type: "text";
    /** The text. */
    readonly text: string;
    /** For whom it is, and how it matters. */
    readonly annotations?: object;
    /** Metadata. */
    readonly _meta?: object;
  }
  | {
    /** A picture or a sound. */
    readonly type: "image" | "audio";
    /** Its bytes in base64. */
    readonly data: string;
    /** Its kind. */
    readonly mimeType: string;
    /** For whom it is, and how it matters. */
    readonly annotations?: object;
    /** Metadata. */
    readonly _meta?: object;
  }
  | {
    /** A resource that the client can read. */
    readonly type: "resource_link";
    /** Where. */
    readonly uri: string;
    /** Its name. */
    readonly name: string;
    /** Its name, for people. */
    readonly title?: string;
    /** What it is. */
    readonly description?: string;
    /** Its kind. */
    readonly mimeType?: string;
    /** Its size in bytes. */
    readonly size?: number;
    /** For whom it is, and how it matters. */
    readonly annotations?: object;
    /** Metadata. */
    readonly _meta?: object;
  }
  | {
    /** A resource itself. */
    readonly type: "resource";
    /** The resource. */
    readonly resource: object;
    /** For whom it is, and how it matters. */
    readonly annotations?: object;
    /** Metadata. */
    readonly _meta?: object;
  };

/** What a tool gives: the SDK's `CallToolResult`. */
export interface ToolResult {
  /** What the model reads. */
  readonly content?: readonly ToolContent[];
  /** What a program reads: any JSON, as the tool's output schema says. */
  readonly structuredContent?: unknown;
  /** Whether the tool failed, in a way that the model may learn of. */
  readonly isError?: boolean;
  /** Metadata. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** What a worker knows of the call. It is good as long as the worker runs. */
export interface TaskToolContext {
  /** Whether the call became a task; false: its client waits for the answer. */
  readonly deferred: boolean;
  /** The id of the request. */
  readonly requestId: RequestId;
  /** Who called, where the host's authentication says so. */
  readonly authInfo?: AuthInfoLike;
  /** The metadata of the request. */
  readonly meta: Readonly<Record<string, unknown>>;
}

/**
 * Does the work of a tool. What it returns is the result; what it throws is
 * read as {@linkcode TaskLifecycle.run} says.
 */
export type TaskToolWorker<Input extends SchemaLike | undefined> = (
  args: SchemaOutput<Input>,
  task: TaskHandle,
  ctx: TaskToolContext,
) => ToolResult | void | Promise<ToolResult | void>;

/** How the tasks of a tool are created. */
export interface TaskToolTaskOptions {
  /**
   * Milliseconds from creation after which the task no longer exists; `null`
   * for ever.
   *
   * @default the lifecycle's `defaultTtlMs`
   */
  readonly ttlMs?: number | null;
  /**
   * How often a client should poll, in milliseconds.
   *
   * @default the lifecycle's `defaultPollIntervalMs`
   */
  readonly pollIntervalMs?: number;
}

/** What `McpServer.registerTool` takes, and how the tool's tasks are created. */
export interface TaskToolConfig<Input extends SchemaLike | undefined> {
  /** The tool's name, for people. */
  readonly title?: string;
  /** What the tool does, for the model. */
  readonly description?: string;
  /** What the tool takes; the SDK checks it before the worker starts. */
  readonly inputSchema?: Input;
  /** What the tool gives as `structuredContent`. */
  readonly outputSchema?: SchemaLike;
  /** Hints for clients. */
  readonly annotations?: object;
  /** Icons for clients. */
  readonly icons?: readonly object[];
  /** Metadata. */
  readonly _meta?: Readonly<Record<string, unknown>>;
  /**
   * How the tool's tasks are created.
   *
   * @default {}
   */
  readonly task?: TaskToolTaskOptions;
}

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
 * result.
 *
 * @param host What all tools share.
 * @param tool The tool.
 * @param args The arguments, as the tool's schema made them.
 * @param ctx The request's context.
 * @returns What the SDK is to answer.
 */
export function callTool(
  host: ToolHost,
  tool: Tool,
  args: unknown,
  ctx: RequestContextLike,
): Promise<ToolResult | Placeholder> {
  return declaresTasks(ctx)
    ? defer(host, tool, args, ctx)
    : answer(host, tool, args, ctx);
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
    created = await host.tasks.createTask({
      ...tool.config.task,
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
    requestInput: async (requests: InputRequests) => {
      requireInputCapabilities(requests, capabilities);
      return await task.requestInput(requests);
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
