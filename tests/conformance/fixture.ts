/** The server that the official conformance suite asks for, served by the adapter alone. */

import {
  createMcpHandler,
  type McpHttpHandler,
  McpServer,
  ProtocolError,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { attachTasks, withTaskNotifications } from "../../mcp.ts";
import {
  type ElicitResult,
  MemoryTaskStore,
  TaskLifecycle,
} from "../../mod.ts";

/** Waits, unless the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    reject(signal.reason);
  }, { once: true });
  return promise;
}

/** A question with fields to fill in, all of them. */
function form(
  message: string,
  properties: Readonly<
    Record<string, { readonly type: "string" } | { readonly type: "boolean" }>
  >,
) {
  const required = Object.keys(properties);
  return {
    method: "elicitation/create",
    params: {
      mode: "form",
      message,
      requestedSchema: { type: "object", properties, required },
    },
  } as const;
}

function text(text: string) {
  return { content: [{ type: "text" as const, text }] };
}

/**
 * Makes the handler. It starts nothing before the first request, so a Worker
 * can make it at module scope.
 *
 * @returns The handler, whose tasks are its own.
 */
export function makeHandler(): McpHttpHandler {
  const tasks = new TaskLifecycle({
    store: new MemoryTaskStore(),
    defaultTtlMs: 300_000,
    defaultPollIntervalMs: 100,
  });
  const handler = createMcpHandler(() => {
    const mcp = new McpServer({ name: "conformance", version: "1.0.0" });
    const { registerTool } = attachTasks(mcp, tasks);

    mcp.registerTool("greet", {
      description: "Greets; never a task",
      inputSchema: z.object({ name: z.string() }),
    }, ({ name }) => text(`Hello, ${name}!`));

    registerTool("slow_compute", {
      description: "Takes the time it is told to",
      inputSchema: z.object({ seconds: z.number(), label: z.string() }),
    }, async ({ seconds, label }, task) => {
      await task.progress(`computing ${label}`);
      await pause(seconds * 1_000, task.signal);
      return text(`computed ${label} in ${seconds} s`);
    });

    registerTool("failing_job", {
      description: "Fails after a second, as a tool",
      task: { support: "required" },
    }, async (_args, task) => {
      await pause(1_000, task.signal);
      return { ...text("the job failed"), isError: true };
    });

    registerTool("protocol_error_job", {
      description: "Fails with a JSON-RPC error",
    }, () => {
      throw new ProtocolError(-32050, "the job broke the protocol");
    });

    registerTool("confirm_delete", {
      description: "Asks before it deletes",
      inputSchema: z.object({ filename: z.string() }),
    }, async ({ filename }, task) => {
      const { confirm } = await task.requestInput({
        confirm: form(`Delete ${filename}?`, {
          confirm: { type: "boolean" },
        }),
      });
      return text(`${filename}: ${JSON.stringify(confirm)}`);
    });

    registerTool("multi_input", {
      description: "Asks two questions at once",
    }, async (_args, task) => {
      const answers = await task.requestInput({
        name: form("What is it called?", { name: { type: "string" } }),
        confirm: form("Is that right?", { confirm: { type: "boolean" } }),
      });
      return text(JSON.stringify(answers));
    });

    registerTool("test_tool_with_task", {
      description: "Asks for a name, then greets in a task",
      task: { support: "required" },
      before: async (_args, { requestInput }) => {
        await requestInput({
          user_name: form("What is your name?", { name: { type: "string" } }),
        });
      },
    }, async (_args, task, { answers }) => {
      await task.progress("greeting");
      const { content } = answers.user_name as ElicitResult;
      return text(`Hello, ${content?.name}!`);
    });

    return mcp;
  });
  return withTaskNotifications(handler, tasks);
}
