/** What the instances are working on, in the KV beside the tasks. */

import type { TaskToolCall } from "@mcp-durable/tasks/mcp";

/** What an instance has to know to take up a task that lost its worker. */
export interface Job {
  /** The task. */
  readonly taskId: string;
  /** The call that became the task. */
  readonly call: TaskToolCall;
  /** How many points were drawn. */
  readonly drawn: number;
  /** How many of them were in the circle. */
  readonly inside: number;
}

/** A job with the instance that works on it. */
interface Held extends Job {
  readonly holder: string;
  /** When others may take it, in milliseconds since the epoch. */
  readonly heldUntil: number;
}

const PREFIX = "jobs";

/** For how long an instance has a job after each sign of life, in milliseconds. */
const LEASE_MS = 3_000;

/** How often a file that another process has locked is tried again. */
const MAX_TRIES = 20;

/** The jobs of all instances, each held by one of them. */
export class Jobs {
  readonly #kv: Deno.Kv;
  /** Names this instance. */
  readonly #holder = crypto.randomUUID();

  /** @param kv The database. */
  constructor(kv: Deno.Kv) {
    this.#kv = kv;
  }

  /** The jobs that another instance has left, each taken by this one now. */
  async *takeLost(): AsyncGenerator<Job> {
    for await (const { value } of this.#kv.list<Held>({ prefix: [PREFIX] })) {
      if (value.heldUntil > Date.now()) continue;
      const job = await this.take(value.taskId);
      if (job) yield job;
    }
  }

  /**
   * Takes a job, and makes it if it is new.
   *
   * @param taskId Its task.
   * @param call The call that became the task, if it may be new.
   * @returns The job as it was last kept; `undefined` if another instance has it.
   */
  async take(taskId: string, call?: TaskToolCall): Promise<Job | undefined> {
    const { value, versionstamp } = await this.#get(taskId);
    const isOthers = value !== null && value.holder !== this.#holder &&
      value.heldUntil > Date.now();
    const job = value ?? (call && { taskId, call, drawn: 0, inside: 0 });
    if (!job || isOthers) return undefined;
    return await this.#put(job, versionstamp) ? job : undefined;
  }

  /**
   * Keeps how far a job is.
   *
   * @param job The job as it is now.
   * @returns The same; `undefined` if another instance has it now.
   */
  async keep(job: Job): Promise<Job | undefined> {
    const { value, versionstamp } = await this.#get(job.taskId);
    if (value?.holder !== this.#holder) return undefined;
    return await this.#put(job, versionstamp) ? job : undefined;
  }

  /**
   * Takes a job out.
   *
   * @param taskId Its task.
   */
  async remove(taskId: string): Promise<void> {
    await this.#kv.delete([PREFIX, taskId]);
  }

  #get(taskId: string): Promise<Deno.KvEntryMaybe<Held>> {
    return untilUnlocked(() => this.#kv.get<Held>([PREFIX, taskId]));
  }

  /** Writes a job, if nobody else has done so since it was read. */
  async #put(job: Job, versionstamp: string | null): Promise<boolean> {
    const key = [PREFIX, job.taskId];
    const heldUntil = Date.now() + LEASE_MS;
    const held: Held = { ...job, holder: this.#holder, heldUntil };
    const { ok } = await untilUnlocked(() =>
      this.#kv.atomic().check({ key, versionstamp }).set(key, held).commit()
    );
    return ok;
  }
}

/**
 * Does something again while another process has the file of the database
 * locked. On Deno Deploy there is no such file.
 */
async function untilUnlocked<T>(operation: () => Promise<T>): Promise<T> {
  for (let tries = 1;; tries++) {
    try {
      return await operation();
    } catch (error) {
      const isLocked = error instanceof Error && /locked/.test(error.message);
      if (!isLocked || tries === MAX_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100 * Math.random()));
    }
  }
}
