/** Tools whose tasks are polled so seldom that a test which ends has been pushed. */

import type { McpServer } from "@modelcontextprotocol/server";
import type { McpTasks } from "../../mcp.ts";
import { howMany } from "./mcp_tools.ts";

/** Registers tools on each server of a host. */
export type RegisterTools = (
  attached: McpTasks<McpServer>,
  mcp: McpServer,
) => void;

/**
 * Makes a tool `job`, which waits, asks how many, and answers with twice as
 * many; and a tool `go`, which is no task and ends the waiting.
 *
 * @returns Registers them.
 */
export function slowlyPolledTools(): RegisterTools {
  const { promise: started, resolve: go } = Promise.withResolvers<void>();
  return ({ registerTool }, mcp) => {
    mcp.registerTool("go", {}, () => {
      go();
      return { content: [] };
    });
    registerTool("job", {
      task: { pollIntervalMs: 20_000 },
    }, async (_args, task) => {
      await started;
      await task.progress("started");
      const { q } = await task.requestInput({ q: howMany("How many?") });
      const { content } = q as { readonly content?: { count?: unknown } };
      return {
        content: [{ type: "text", text: `${2 * Number(content?.count)}` }],
      };
    });
  };
}
