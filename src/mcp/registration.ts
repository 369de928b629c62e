/** What a host registers is checked at once, not when a client calls it. */

import type { TaskLifecycle } from "../engine/lifecycle.ts";
import { InvalidArgumentError, show } from "../errors.ts";
import {
  checkFunction,
  checkPositiveInteger,
  checkTtl,
} from "../model/limits.ts";
import type { AttachTasksOptions } from "./attach.ts";
import type { McpServerLike } from "./shapes.ts";
import type { Tool } from "./task_handle.ts";

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
  if (typeof tasks?.createTask !== "function") {
    throw new InvalidArgumentError(
      `Cannot attach tasks: the lifecycle is ${
        show(tasks)
      }, a TaskLifecycle is needed`,
    );
  }
  for (const name of ["owner", "onError", "waitUntil"] as const) {
    if (options[name] !== undefined) checkFunction(name, options[name]);
  }
}

/**
 * Checks what is the adapter's own of a tool; the rest is for the SDK.
 *
 * @param tool The tool.
 * @param maxTtlMs The longest TTL that a task may get, or `null`.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: a part of it is none.
 * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: `task.ttlMs` is over the limit.
 */
export function checkTool(tool: Tool, maxTtlMs: number | null): void {
  const { config, worker } = tool;
  if (typeof config !== "object" || config === null) {
    throw new InvalidArgumentError(
      `Cannot register tool ${show(tool.name)}: the config is ${
        show(config)
      }, an object such as { inputSchema } is needed`,
    );
  }
  checkFunction("worker", worker);
  if (config.before !== undefined) checkFunction("before", config.before);
  const { support, ttlMs, pollIntervalMs } = config.task ?? {};
  if (ttlMs !== undefined) checkTtl("task.ttlMs", ttlMs, maxTtlMs);
  if (pollIntervalMs !== undefined) {
    checkPositiveInteger("task.pollIntervalMs", pollIntervalMs);
  }
  if (
    support !== undefined && support !== "optional" && support !== "required"
  ) {
    throw new InvalidArgumentError(
      `Cannot register a tool: task.support is ${
        show(support)
      }, "optional" or "required" is needed`,
    );
  }
}
