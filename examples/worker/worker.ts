/**
 * An MCP server on Cloudflare Workers, over Streamable HTTP. It lives in a
 * Durable Object, since in a plain Worker nothing goes on after the answer; the
 * object keeps the tasks, and what it needs to go on with their work after an
 * eviction, a deployment or a crash.
 */

import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import {
  isTaskNotFoundError,
  isTerminalStatus,
  TaskLifecycle,
} from "@mcp-durable/tasks";
import {
  type DurableObjectAlarmInfo,
  type DurableObjectStorageBinding,
  DurableObjectTaskStore,
} from "@mcp-durable/tasks/cloudflare";
import {
  ANONYMOUS_OWNER,
  attachTasks,
  type TaskToolWorker,
  toolWorker,
  withTaskNotifications,
} from "@mcp-durable/tasks/mcp";
import { COUNT_PRIMES, countPrimes } from "./count_primes.ts";
import { Jobs, type JobStorage, startJob } from "./jobs.ts";

interface Context {
  readonly storage: DurableObjectStorageBinding & JobStorage;
  blockConcurrencyWhile<T>(body: () => Promise<T>): Promise<T>;
}

interface Env {
  readonly TASKS: {
    getByName(name: string): { fetch(request: Request): Promise<Response> };
  };
}

/**
 * How often an object with work to do is woken. An object that nobody calls is
 * evicted after about a minute, whatever it is waiting for, and with it the
 * work; and after a crash it is the alarm that brings the object back.
 */
const WAKE_EVERY_MS = 30_000;

/** The object: the server, its tasks, and their work. */
export class Tasks {
  readonly #jobs: Jobs;
  readonly #running = new Set<string>();
  readonly #store: DurableObjectTaskStore;
  readonly #tasks: TaskLifecycle;
  readonly #handler: { fetch(request: Request): Promise<Response> };

  constructor(ctx: Context) {
    this.#jobs = new Jobs(ctx.storage);
    this.#store = new DurableObjectTaskStore(ctx.storage);
    this.#tasks = new TaskLifecycle({
      store: this.#store,
      onEvent: (event) => console.error(event),
    });
    this.#handler = withTaskNotifications(
      createMcpHandler(() => this.#makeServer()),
      this.#tasks,
    );
    // What the object was working on when it was last in memory.
    void ctx.blockConcurrencyWhile(() => this.#takeUpJobs());
  }

  fetch(request: Request): Promise<Response> {
    return this.#handler.fetch(request);
  }

  async alarm(info?: DurableObjectAlarmInfo): Promise<void> {
    await this.#store.alarm(() => this.#takeUpJobs(), info);
  }

  /** Makes the server of one request. What outlives it is outside. */
  #makeServer(): McpServer {
    const mcp = new McpServer({ name: "primes", version: "1.0.0" });
    attachTasks(mcp, this.#tasks, {
      onError: (error, where) => console.error(where, error),
    }).registerTool("count_primes", COUNT_PRIMES, this.#countPrimes);
    return mcp;
  }

  readonly #countPrimes: TaskToolWorker<typeof COUNT_PRIMES.inputSchema> =
    async (args, task, { call }) => {
      const { taskId } = task;
      this.#running.add(taskId);
      try {
        const job = await this.#jobs.find(taskId) ?? startJob(taskId, call);
        await this.#jobs.put(job);
        await this.#stayAwake();
        return await countPrimes(args, task, job, this.#jobs);
      } finally {
        this.#running.delete(taskId);
      }
    };

  /** Takes up the jobs that nobody is working on. */
  async #takeUpJobs(): Promise<void> {
    for (const { taskId, call } of await this.#jobs.list()) {
      if (await this.#hasEnded(taskId)) await this.#jobs.remove(taskId);
      else {
        await this.#stayAwake();
        if (this.#running.has(taskId)) continue;
        void this.#tasks.run(
          taskId,
          toolWorker("count_primes", COUNT_PRIMES, this.#countPrimes, call),
        );
      }
    }
  }

  async #stayAwake(): Promise<void> {
    if (await this.#store.getAlarm() === null) {
      await this.#store.setAlarm(Date.now() + WAKE_EVERY_MS);
    }
  }

  async #hasEnded(taskId: string): Promise<boolean> {
    try {
      // A server with authentication has to keep the owner in the job: to
      // anybody else its task is as one that is gone.
      const access = { owner: ANONYMOUS_OWNER };
      const { status } = await this.#tasks.getTask(taskId, access);
      return isTerminalStatus(status);
    } catch (error) {
      if (isTaskNotFoundError(error)) return true;
      throw error;
    }
  }
}

export default {
  fetch: (request: Request, env: Env): Promise<Response> =>
    env.TASKS.getByName("all").fetch(request),
};
