/** The worker of a tool for a task that exists already. */

import type { TaskWorker } from "../engine/workers.ts";
import { checkCall, checkTool } from "./registration.ts";
import type { SchemaLike } from "./shapes.ts";
import { taskWorker, type Tool } from "./task_handle.ts";
import type {
  TaskToolCall,
  TaskToolConfig,
  TaskToolWorker,
} from "./tool_config.ts";
import { validate } from "./validate.ts";

/**
 * Makes the worker of a task from that of a tool, so that a host which was
 * restarted can take up a task under the rules under which it began: the
 * arguments go through the tool's input schema, the result through its output
 * schema, and the client is asked only for what it declared.
 *
 * @param name The tool's name.
 * @param config What the tool was registered with.
 * @param worker Does the work.
 * @param call What the worker's context said as `call` when the task began.
 * @returns A worker for {@linkcode TaskLifecycle.run}.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an argument is wrong.
 *
 * @example
 * ```ts
 * import { z } from "zod";
 * import { MemoryTaskStore, TaskLifecycle } from "@mcp-durable/tasks";
 * import { type TaskToolCall, toolWorker } from "@mcp-durable/tasks/mcp";
 *
 * const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
 * const { taskId } = await tasks.createTask();
 * // What the process before has kept of `ctx.call`:
 * const call: TaskToolCall = {
 *   arguments: { of: 7 },
 *   clientCapabilities: {},
 *   answers: {},
 * };
 * const square = { inputSchema: z.object({ of: z.number() }) };
 * await tasks.run(
 *   taskId,
 *   toolWorker("square", square, ({ of }) => ({
 *     content: [{ type: "text", text: `${of * of}` }],
 *   }), call),
 * );
 * await tasks.close();
 * ```
 */
export function toolWorker<
  Input extends SchemaLike | undefined = undefined,
  Output extends SchemaLike | undefined = undefined,
>(
  name: string,
  config: TaskToolConfig<Input, Output>,
  worker: TaskToolWorker<Input, Output>,
  call: TaskToolCall,
): TaskWorker {
  const tool = { name, config, worker } as unknown as Tool;
  checkTool(tool, null);
  checkCall(name, call);
  return async (task) => {
    const args = await parseArguments(name, config.inputSchema, call.arguments);
    const { answers } = call;
    const ctx = { deferred: true, answers, call, meta: {} };
    return await taskWorker(tool, args, ctx)(task);
  };
}

async function parseArguments(
  name: string,
  schema: SchemaLike | undefined,
  given: unknown,
): Promise<unknown> {
  if (!schema) return {};
  const validated = await validate(schema, given);
  if ("value" in validated) return validated.value;
  throw new Error(
    `Input validation error: Invalid arguments for tool ${name}: ${validated.problem}`,
  );
}
