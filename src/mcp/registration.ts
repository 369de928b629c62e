/** What a host registers is checked at once, not when a client calls it. */

import type { TaskLifecycle } from "../engine/lifecycle.ts";
import { InvalidArgumentError, show } from "../errors.ts";
import {
  checkFunction,
  checkPositiveInteger,
  checkTtl,
  unusable,
} from "../model/limits.ts";
import {
  checkOptions,
  type NamesOf,
  nearestName,
} from "../model/option_names.ts";
import type { AttachTasksOptions } from "./attach.ts";
import type { McpServerLike } from "./shapes.ts";
import type { Tool } from "./task_handle.ts";
import type { TaskToolCall, TaskToolTaskOptions } from "./tool_config.ts";

const ATTACH_NAMES: NamesOf<AttachTasksOptions> = {
  owner: true,
  onError: true,
  waitUntil: true,
  pollLimiter: true,
  requestState: true,
};

const CONFIG_NAMES: NamesOf<Tool["config"]> = {
  title: true,
  description: true,
  inputSchema: true,
  outputSchema: true,
  annotations: true,
  icons: true,
  scopeChallenge: true,
  _meta: true,
  task: true,
  before: true,
};

const TASK_NAMES: NamesOf<TaskToolTaskOptions> = {
  ttlMs: true,
  pollIntervalMs: true,
  support: true,
};

/**
 * Checks what tasks are attached with.
 *
 * @param mcp The server.
 * @param tasks The lifecycle.
 * @param options The options.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: one of them is none.
 */
export function checkAttachArguments(
  mcp: McpServerLike,
  tasks: TaskLifecycle,
  options: AttachTasksOptions,
): void {
  if (typeof mcp?.server?.assertCanSetRequestHandler !== "function") {
    throw new InvalidArgumentError(
      `Cannot attach tasks: the server is ${
        show(mcp)
      } without a server under it, an McpServer of @modelcontextprotocol/server is needed`,
    );
  }
  if (typeof mcp.server.getNegotiatedProtocolVersion !== "function") {
    throw new InvalidArgumentError(
      "Cannot attach tasks: the server is of an SDK that speaks no revision with tasks, such as @modelcontextprotocol/sdk; an McpServer of @modelcontextprotocol/server from 2.3.0 on is needed",
    );
  }
  checkLifecycle("attach tasks", tasks);
  checkOptions("attach tasks", options, ATTACH_NAMES);
  const { owner, onError, waitUntil, pollLimiter, requestState } = options;
  checkHooks({ owner, onError, waitUntil });
  if (pollLimiter !== undefined && typeof pollLimiter?.poll !== "function") {
    throw unusable("pollLimiter", pollLimiter, "a PollLimiter");
  }
  if (requestState !== undefined && typeof requestState?.mint !== "function") {
    throw unusable(
      "requestState",
      requestState,
      "what the SDK's createRequestStateCodec() makes",
    );
  }
}

/**
 * Checks that there is a lifecycle.
 *
 * @param operation What it is needed for.
 * @param tasks The lifecycle.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is none.
 */
export function checkLifecycle(operation: string, tasks: TaskLifecycle): void {
  if (typeof tasks?.createTask === "function") return;
  throw new InvalidArgumentError(
    `Cannot ${operation}: the lifecycle is ${
      show(tasks)
    }, a TaskLifecycle is needed`,
  );
}

/**
 * Checks that what a host lets call is a function, where it is there.
 *
 * @param hooks The functions by the names of their options.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: one of them is none.
 */
export function checkHooks(hooks: Readonly<Record<string, unknown>>): void {
  for (const [name, hook] of Object.entries(hooks)) {
    if (hook !== undefined) checkFunction(name, hook);
  }
}

/**
 * Checks what is the adapter's own of a tool; the rest is for the SDK. Every
 * message names the tool.
 *
 * @param tool The tool.
 * @param maxTtlMs The longest TTL that a task may get, or `null`.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: a part of it is none.
 * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: `task.ttlMs` is over the limit.
 */
export function checkTool(tool: Tool, maxTtlMs: number | null): void {
  const { config, worker } = tool;
  const operation = `register tool ${show(tool.name)}`;
  const of = (part: string) => `${part} of tool ${show(tool.name)}`;
  if (typeof config !== "object" || config === null) {
    throw new InvalidArgumentError(
      `Cannot ${operation}: the config is ${
        show(config)
      }, an object such as { inputSchema } is needed`,
    );
  }
  checkConfigNames(operation, config);
  checkFunction(of("the worker"), worker);
  checkHooks({ [of("before")]: config.before });
  for (const name of ["inputSchema", "outputSchema"] as const) {
    const schema = config[name];
    if (schema === undefined) continue;
    if (typeof schema?.["~standard"]?.validate === "function") continue;
    throw unusable(of(name), schema, "a schema, such as z.object({ … }),");
  }
  const { task = {} } = config;
  checkOptions(`${operation} with task`, task, TASK_NAMES);
  const { support, ttlMs, pollIntervalMs } = task;
  if (ttlMs !== undefined) checkTtl(of("task.ttlMs"), ttlMs, maxTtlMs);
  if (pollIntervalMs !== undefined) {
    checkPositiveInteger(of("task.pollIntervalMs"), pollIntervalMs);
  }
  if (
    support !== undefined && support !== "optional" && support !== "required"
  ) {
    throw unusable(of("task.support"), support, '"optional" or "required"');
  }
}

/**
 * Refuses names in a tool's config that are surely meant otherwise. Any other
 * that is unknown here is for the SDK, which may be newer.
 */
function checkConfigNames(operation: string, config: Tool["config"]): void {
  for (const [name, value] of Object.entries(config)) {
    if (value === undefined || Object.hasOwn(CONFIG_NAMES, name)) continue;
    const meant = Object.hasOwn(TASK_NAMES, name)
      ? `task: { ${name} }`
      : name === "execution"
      ? 'task: { support: "required" }'
      : nearestName(name, Object.keys(CONFIG_NAMES));
    if (meant === undefined) continue;
    throw new InvalidArgumentError(
      `Cannot ${operation}: the config has no ${
        show(name)
      }; did you mean ${meant}?`,
    );
  }
}

/**
 * Checks what a call that is run again was kept as.
 *
 * @param tool The tool.
 * @param call What the host has kept.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is none.
 */
export function checkCall(tool: string, call: TaskToolCall): void {
  const parts = ["arguments", "clientCapabilities", "answers"] as const;
  for (const part of parts) {
    const value: unknown = call?.[part];
    if (typeof value === "object" && value !== null) continue;
    throw new InvalidArgumentError(
      `Cannot run tool ${show(tool)} again: ${part} of its call is ${
        show(value)
      }, what the worker's context had as call is needed, whole`,
    );
  }
}
