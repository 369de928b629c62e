/** A tool whose calls become tasks, for the clients that know tasks. */

import { parseError } from "../engine/handle_arguments.ts";
import type { TaskLifecycle } from "../engine/lifecycle.ts";
import { asJsonRpcError, isNoOutcome } from "../engine/thrown.ts";
import { quiet } from "../engine/quiet.ts";
import type { JsonRpcError } from "../errors.ts";
import type { InputRequests } from "../model/input_request.ts";
import type { JsonObject } from "../model/json.ts";
import { requireInputCapabilities } from "./client_input.ts";
import { declaresTasks, missingTasks } from "./gate.ts";
import type { Placeholder, ReplyFunction } from "./replies.ts";
import { RequestTaskHandle } from "./request_handle.ts";
import { directResult } from "./result.ts";
import {
  type InputRequiredResult,
  openRound,
  type Round,
  type RoundRules,
} from "./round.ts";
import {
  hiddenError,
  type TaskErrorListener,
  type TaskRequestInfo,
  toRpcError,
} from "./rpc_error.ts";
import type { RawParams } from "./requests.ts";
import type { RequestContextLike } from "./shapes.ts";
import { taskWorker, type Tool } from "./task_handle.ts";
import type { TaskToolContext, ToolResult } from "./tool_config.ts";

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
  /** Keeps the process alive for work that goes on after the answer. */
  readonly waitUntil: ((work: Promise<void>) => void) | undefined;
  /** How clients are asked before there is a task. */
  readonly rules: RoundRules;
  /** Whether the connection speaks a revision that has tasks. */
  readonly speaksTasks: () => boolean;
  /** What the client of a call can do. */
  readonly capabilities: (
    ctx: RequestContextLike,
  ) => Readonly<Record<string, unknown>>;
  /** The parameters of a call as they came. */
  readonly params: (ctx: RequestContextLike) => RawParams;
}

/** What the SDK is to answer a call with. */
export type ToolAnswer = ToolResult | InputRequiredResult | Placeholder;

/** A call of a tool. */
interface Call {
  readonly host: ToolHost;
  readonly tool: Tool;
  readonly args: unknown;
  readonly ctx: RequestContextLike;
  /** Whether it may become a task. */
  readonly deferred: boolean;
  readonly round: Round;
}

/**
 * Answers one call: with a task, if the client knows tasks, else with the
 * result, or with -32021 where the tool runs as a task only; before that with
 * what the tool has to say or to ask at once.
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
): Promise<ToolAnswer> {
  const deferred = host.speaksTasks() && declaresTasks(ctx);
  if (!deferred && tool.config.task?.support === "required") {
    return host.reply(ctx, { error: missingTasks(ctx.mcpReq.method) });
  }
  let round;
  try {
    const responses = host.speaksTasks()
      ? host.params(ctx).inputResponses
      : ctx.mcpReq.inputResponses;
    round = await openRound(host.rules, ctx, responses);
  } catch (error) {
    const where = place(tool, ctx);
    return host.reply(ctx, { error: toRpcError(error, where, host.onError) });
  }
  const call = { host, tool, args, ctx, deferred, round };
  const early = await prelude(call);
  if (early) return early;
  return deferred ? await defer(call) : await answer(call);
}

/** Lets the tool answer at once, or ask. */
async function prelude(call: Call): Promise<ToolAnswer | undefined> {
  const { host, tool, args, ctx, round } = call;
  const { before } = tool.config;
  if (!before) return undefined;
  const { answers: _, ...context } = toolContext(call);
  const ask = async <const Requests extends InputRequests>(
    requests: Requests,
  ) => {
    requireInputCapabilities(requests, host.capabilities(ctx));
    return await round.ask(requests);
  };
  let result, thrown;
  try {
    result = await before(args as never, {
      ...context,
      signal: ctx.mcpReq.signal,
      requestInput: (requests) => quiet(ask(requests)),
    });
  } catch (error) {
    thrown = { error };
  }
  const question = await endRound(call);
  if (question) return question;
  if (thrown) return answerThrow(call, thrown.error);
  return result ? directResult(tool.name, result) : undefined;
}

/** Creates the task, durably, and only then starts the work, which nobody waits for. */
async function defer(call: Call): Promise<Placeholder> {
  const { host, tool, args, ctx } = call;
  const where = place(tool, ctx);
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
    return host.reply(ctx, { error: toRpcError(error, where, host.onError) });
  }
  const worker = taskWorker(tool, args, toolContext(call));
  const work = host.tasks.run(created.taskId, worker);
  try {
    host.waitUntil?.(work);
  } catch (error) {
    hiddenError(error, { ...where, taskId: created.taskId }, host.onError);
  }
  return host.reply(ctx, { result: created });
}

/** Runs the worker while the client waits. */
async function answer(call: Call): Promise<ToolAnswer> {
  const { host, tool, args, ctx, round } = call;
  const handle = new RequestTaskHandle(
    ctx,
    round,
    host.capabilities(ctx),
    host.rules.limits,
  );
  let thrown;
  try {
    const result = await tool.worker(args, handle, toolContext(call));
    await handle.ends.conclude(result ?? undefined);
    if (!handle.outcome) await handle.complete((result ?? {}) as JsonObject);
  } catch (error) {
    thrown = { error };
  } finally {
    handle.release();
  }
  const { outcome } = handle;
  if (!outcome) {
    return await endRound(call) ?? answerThrow(call, thrown?.error);
  }
  switch (outcome.status) {
    case "completed":
      return directResult(tool.name, outcome.result as ToolResult);
    case "failed":
      return host.reply(ctx, { error: outcome.error });
    case "cancelled":
      return {
        content: [{ type: "text", text: outcome.message ?? "Cancelled" }],
        isError: true,
      };
  }
}

/** Asks the client, if the tool has asked for something. */
async function endRound(
  { host, tool, ctx, round }: Call,
): Promise<InputRequiredResult | Placeholder | undefined> {
  try {
    const end = await round.end(ctx);
    return !end || "resultType" in end ? end : host.reply(ctx, end);
  } catch (error) {
    const failure = hiddenError(error, place(tool, ctx), host.onError);
    return host.reply(ctx, { error: failure });
  }
}

/** Answers with what was thrown; an ordinary throw is for the SDK to make a tool result of. */
function answerThrow(
  { host, tool, ctx, round }: Call,
  error: unknown,
): Placeholder {
  if (isNoOutcome(error, round.id)) {
    const hidden = hiddenError(error, place(tool, ctx), host.onError);
    return host.reply(ctx, { error: hidden });
  }
  const failure = asJsonRpcError(error);
  if (!failure) throw error;
  const { maxDepth } = host.rules.limits;
  return host.reply(ctx, { error: withPlainData(failure, maxDepth) });
}

/** Leaves the data out where it is no JSON, as a task does: it could not be sent. */
function withPlainData(error: JsonRpcError, maxDepth: number): JsonRpcError {
  try {
    return parseError(error, maxDepth);
  } catch {
    return { code: error.code, message: error.message };
  }
}

function place(tool: Tool, ctx: RequestContextLike): TaskRequestInfo {
  return { method: ctx.mcpReq.method, tool: tool.name };
}

function toolContext({ host, ctx, deferred, round }: Call): TaskToolContext {
  const authInfo = ctx.http?.authInfo;
  const { answers } = round;
  return {
    deferred,
    answers,
    call: {
      arguments: (host.params(ctx).arguments ?? {}) as RawParams,
      clientCapabilities: host.capabilities(ctx),
      answers,
    },
    requestId: ctx.mcpReq.id,
    ...(authInfo && { authInfo }),
    meta: ctx.mcpReq._meta ?? {},
  };
}
