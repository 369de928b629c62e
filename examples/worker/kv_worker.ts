/**
 * The same server with its tasks in a Workers KV namespace. The Durable Object
 * stays, as the one writer that KV needs: it alone changes tasks, and clients
 * read them through it. What it is working on is in its own storage as before.
 */

import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import {
  isTaskNotFoundError,
  isTerminalStatus,
  TaskLifecycle,
} from "@mcp-durable/tasks";
import {
  type WorkersKvBinding,
  WorkersKvTaskStore,
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
  readonly storage: JobStorage & {
    getAlarm(): Promise<number | null>;
    setAlarm(scheduledTimeMs: number): Promise<void>;
  };
  blockConcurrencyWhile<T>(body: () => Promise<T>): Promise<T>;
}

interface Env {
  readonly WRITER: {
    getByName(name: string): { fetch(request: Request): Promise<Response> };
  };
  readonly TASKS: WorkersKvBinding;
}

/** How often an object with work to do is woken; see worker.ts. */
const WAKE_EVERY_MS = 30_000;
/** A sweep lists all keys, and each listing is paid for. */
const SWEEP_EVERY_MS = 3_600_000;

/** The object: the server, the work on its tasks, and the only one that writes them. */
export class TaskWriter {
  readonly #storage: Context["storage"];
  readonly #jobs: Jobs;
  readonly #running = new Set<string>();
  readonly #tasks: TaskLifecycle;
  readonly #handler: { fetch(request: Request): Promise<Response> };

  constructor(ctx: Context, env: Env) {
    this.#storage = ctx.storage;
    this.#jobs = new Jobs(ctx.storage);
    this.#tasks = new TaskLifecycle({
      store: new WorkersKvTaskStore(env.TASKS, { acceptEventualStore: true }),
      sweepIntervalMs: SWEEP_EVERY_MS,
      onEvent: (event) => console.error(event),
    });
    this.#handler = withTaskNotifications(
      createMcpHandler(() => this.#makeServer()),
      this.#tasks,
    );
    void ctx.blockConcurrencyWhile(() => this.#takeUpJobs());
  }

  fetch(request: Request): Promise<Response> {
    return this.#handler.fetch(request);
  }

  async alarm(): Promise<void> {
    await this.#takeUpJobs();
  }

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
    if (await this.#storage.getAlarm() === null) {
      await this.#storage.setAlarm(Date.now() + WAKE_EVERY_MS);
    }
  }

  async #hasEnded(taskId: string): Promise<boolean> {
    try {
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
    env.WRITER.getByName("all").fetch(request),
};
