/**
 * Streamable HTTP on Cloudflare Workers: `npx wrangler dev`. The server lives in
 * a Durable Object, since in a plain Worker nothing goes on after the answer.
 * These tasks are in memory: they end when the object is evicted.
 */
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { MemoryTaskStore, TaskLifecycle } from "@mcp-durable/tasks";
import { attachTasks, withTaskNotifications } from "@mcp-durable/tasks/mcp";

interface Env {
  TASKS: {
    getByName(name: string): { fetch(request: Request): Promise<Response> };
  };
}

function makeServer(tasks: TaskLifecycle): McpServer {
  const mcp = new McpServer({ name: "hello", version: "1.0.0" });
  attachTasks(mcp, tasks).registerTool("hello", {}, async (_args, task) => {
    await task.progress("waving");
    return { content: [{ type: "text", text: "Hello, world!" }] };
  });
  return mcp;
}

export class Tasks {
  #tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
  #handler = withTaskNotifications(
    createMcpHandler(() => makeServer(this.#tasks)),
    this.#tasks,
  );

  fetch(request: Request): Promise<Response> {
    return this.#handler.fetch(request);
  }
}

export default {
  fetch: (request: Request, env: Env): Promise<Response> =>
    env.TASKS.getByName("all").fetch(request),
};
