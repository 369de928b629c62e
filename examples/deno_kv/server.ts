/**
 * An MCP server for Deno Deploy, over Streamable HTTP. Its tasks are in a Deno KV, and beside
 * them what an instance needs to go on with the work of another that has ended.
 */
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import {
  isTaskNotFoundError,
  isTerminalStatus,
  TaskLifecycle,
} from "@mcp-durable/tasks";
import { DenoKvTaskStore } from "@mcp-durable/tasks/deno-kv";
import {
  ANONYMOUS_OWNER,
  attachTasks,
  type TaskToolWorker,
  toolWorker,
  withTaskNotifications,
} from "@mcp-durable/tasks/mcp";
import { ESTIMATE_PI, estimatePi } from "./estimate_pi.ts";
import { Jobs } from "./jobs.ts";

/** How often an instance looks for work that others have left, in milliseconds. */
const LOOK_EVERY_MS = 3_000;

// On Deno Deploy there is no path: it is the database of the app.
const kv = await Deno.openKv(Deno.env.get("KV_PATH"));
const jobs = new Jobs(kv);
const tasks = new TaskLifecycle({
  // What another instance changes is known at once.
  store: new DenoKvTaskStore(kv, { watch: true }),
  onEvent: (event) => console.error(event),
});

/** What this instance works on. */
const running = new Set<string>();

const work: TaskToolWorker<typeof ESTIMATE_PI.inputSchema> = async (
  args,
  task,
  { call },
) => {
  running.add(task.taskId);
  try {
    return await estimatePi(args, task, call, jobs);
  } finally {
    running.delete(task.taskId);
  }
};

/** Makes the server of one request. What outlives it is outside. */
function makeServer() {
  const mcp = new McpServer({ name: "pi", version: "1.0.0" });
  attachTasks(mcp, tasks, {
    onError: (error, where) => console.error(where, error),
  }).registerTool("estimate_pi", ESTIMATE_PI, work);
  return mcp;
}

/** Takes up what other instances have left, and clears away what has ended. */
async function takeUpJobs() {
  for await (const { taskId, call } of jobs.takeLost()) {
    if (await hasEnded(taskId)) await jobs.remove(taskId);
    // Its own lease is over where the process stood still for a while.
    else if (!running.has(taskId)) {
      const worker = toolWorker("estimate_pi", ESTIMATE_PI, work, call);
      void tasks.run(taskId, worker);
    }
  }
}

async function hasEnded(taskId: string) {
  try {
    // A server with authentication has to keep the owner in the job: to
    // anybody else its task is as one that is gone.
    const { status } = await tasks.getTask(taskId, { owner: ANONYMOUS_OWNER });
    return isTerminalStatus(status);
  } catch (error) {
    if (isTaskNotFoundError(error)) return true;
    throw error;
  }
}

async function lookForJobs() {
  for (;;) {
    await takeUpJobs().catch((error) => console.error(error));
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

const handler = withTaskNotifications(createMcpHandler(makeServer), tasks);
// On Deno Deploy both are ignored.
Deno.serve(
  { hostname: "127.0.0.1", port: 3000 },
  (request) => handler.fetch(request),
);
void lookForJobs();
