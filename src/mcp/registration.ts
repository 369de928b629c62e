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
  checkLifecycle("attach tasks", tasks);
  checkHooks({
    owner: options.owner,
    onError: options.onError,
    waitUntil: options.waitUntil,
  });
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
  checkHooks({ before: config.before });
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
