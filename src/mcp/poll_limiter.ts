/** Stops clients that poll a task much faster than they were told to. */

import { InvalidArgumentError, show } from "../errors.ts";
import { checkFunction } from "../model/limits.ts";
import { checkOptions, type NamesOf } from "../model/option_names.ts";

/** The options of a {@linkcode PollLimiter}. */
export interface PollLimiterOptions {
  /**
   * How many polls of a task are let through in the time of its
   * `pollIntervalMs`, in the long run. It has to be above 1.
   *
   * @default 4
   */
  readonly pollsPerInterval?: number;
  /**
   * How many polls may come at once after a pause.
   *
   * @default 10
   */
  readonly burst?: number;
  /**
   * How many tasks are watched at the same time; those whose last poll is the
   * oldest are forgotten first.
   *
   * @default 10_000
   */
  readonly maxTasks?: number;
  /**
   * A clock that never goes back, in milliseconds.
   *
   * @default performance.now
   */
  readonly now?: () => number;
}

const NAMES: NamesOf<PollLimiterOptions> = {
  pollsPerInterval: true,
  burst: true,
  maxTasks: true,
  now: true,
};

interface Watched {
  pollIntervalMs: number;
  /** Polls that are left. */
  polls: number;
  /** When they were counted. */
  at: number;
}

/**
 * Counts the polls (`tasks/get`) of each principal on each task, and refuses
 * those that come much faster than the task's `pollIntervalMs` asks for. A
 * client that polls about so often never meets it, nor does a task without
 * `pollIntervalMs`. Make one for all servers, since it counts across requests.
 *
 * A refused client gets the JSON-RPC error -32029 with `data.retryAfterMs`.
 *
 * @example
 * ```ts
 * import { McpServer } from "@modelcontextprotocol/server";
 * import { MemoryTaskStore, TaskLifecycle } from "@mcp-durable/tasks";
 * import { attachTasks, PollLimiter } from "@mcp-durable/tasks/mcp";
 *
 * const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
 * const pollLimiter = new PollLimiter({ pollsPerInterval: 5 });
 * const mcp = new McpServer({ name: "limited", version: "1.0.0" });
 * attachTasks(mcp, tasks, { pollLimiter });
 * await tasks.close();
 * ```
 */
export class PollLimiter {
  readonly #pollsPerInterval: number;
  readonly #burst: number;
  readonly #maxTasks: number;
  readonly #now: () => number;
  readonly #watched: Map<string, Watched> = new Map();

  /**
   * Makes a limiter that has seen nothing.
   *
   * @param options The options.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an option is wrong.
   */
  constructor(options: PollLimiterOptions = {}) {
    checkOptions("make a PollLimiter", options, NAMES);
    const { pollsPerInterval = 4, burst = 10, maxTasks = 10_000 } = options;
    if (!(pollsPerInterval > 1 && Number.isFinite(pollsPerInterval))) {
      throw new InvalidArgumentError(
        `Cannot use pollsPerInterval: the value is ${
          show(pollsPerInterval)
        }, a number above 1 is needed`,
      );
    }
    for (const [name, value] of Object.entries({ burst, maxTasks })) {
      if (!Number.isSafeInteger(value) || value < 1) {
        throw new InvalidArgumentError(
          `Cannot use ${name}: the value is ${
            show(value)
          }, an integer from 1 is needed`,
        );
      }
    }
    this.#pollsPerInterval = pollsPerInterval;
    this.#burst = burst;
    this.#maxTasks = maxTasks;
    this.#now = checkFunction(
      "now",
      options.now ?? (() => performance.now()),
    );
  }

  /**
   * Counts a poll, before anything is read for it. Of tasks that this
   * principal has not been shown yet it knows nothing, and lets them pass.
   *
   * @param owner The principal.
   * @param taskId The task.
   * @returns Milliseconds to wait, if the poll is too early; else `undefined`.
   */
  poll(owner: string | undefined, taskId: string): number | undefined {
    const key = keyOf(owner, taskId);
    const watched = this.#watched.get(key);
    if (!watched) return undefined;
    const now = this.#now();
    const pollMs = watched.pollIntervalMs / this.#pollsPerInterval;
    const regained = Math.max(0, now - watched.at) / pollMs;
    watched.polls = Math.min(this.#burst, watched.polls + regained);
    watched.at = now;
    this.#watched.delete(key);
    this.#watched.set(key, watched);
    if (watched.polls < 1) return Math.ceil((1 - watched.polls) * pollMs);
    watched.polls--;
    return undefined;
  }

  /**
   * Takes note of a task that a principal was shown.
   *
   * @param owner The principal.
   * @param taskId The task.
   * @param pollIntervalMs What it was told; `undefined` for nothing.
   */
  shown(
    owner: string | undefined,
    taskId: string,
    pollIntervalMs: number | undefined,
  ): void {
    const key = keyOf(owner, taskId);
    const watched = this.#watched.get(key);
    if (pollIntervalMs === undefined) {
      this.#watched.delete(key);
    } else if (watched) {
      watched.pollIntervalMs = pollIntervalMs;
    } else {
      const polls = this.#burst - 1;
      this.#watched.set(key, { pollIntervalMs, polls, at: this.#now() });
      if (this.#watched.size > this.#maxTasks) {
        const [oldest] = this.#watched.keys();
        this.#watched.delete(oldest);
      }
    }
  }
}

function keyOf(owner: string | undefined, taskId: string): string {
  return JSON.stringify([owner ?? null, taskId]);
}
