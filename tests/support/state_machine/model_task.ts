/**
 * A task as the rules say it is: the record and what a client sees of it. It
 * knows nothing of the engine's code and shares none of it.
 */

import type { CreateTaskInit } from "../../../mod.ts";
import { canonical } from "./canonical.ts";
import { objectFrom } from "./samples.ts";

/** The engine's defaults in these tests. */
export const DEFAULTS = { ttlMs: 90_000, pollIntervalMs: 700 } as const;

/** What a wrong call is answered with. */
export class Refusal {
  readonly codes: readonly string[];

  constructor(...codes: string[]) {
    this.codes = codes;
  }
}

export const NOT_FOUND = "ERR_TASK_NOT_FOUND";
export const TERMINAL = "ERR_TASK_TERMINAL";
export const CANCELLED = "ERR_TASK_CANCELLED";
export const DUPLICATE_KEY = "ERR_DUPLICATE_INPUT_KEY";
export const BAD_ANSWER = "ERR_INVALID_INPUT_RESPONSE";
export const CLOSED = "ERR_LIFECYCLE_CLOSED";
export const STORE_FAILED = "ERR_STORE_FAILED";

const iso = (time: number) => new Date(time).toISOString();

/** The model of one task. */
export class ModelTask {
  readonly taskId: string;
  readonly owner: string | undefined;
  readonly createdAt: number;
  status = "working";
  statusMessage: string | undefined;
  updatedAt: number;
  ttlMs: number | null;
  pollIntervalMs: number | undefined;
  cancelRequestedAt: number | undefined;
  readonly open: Map<string, unknown> = new Map();
  readonly answers: Map<string, unknown> = new Map();
  readonly taken: Set<string> = new Set();
  readonly used: Set<string> = new Set();
  result: unknown;
  error: unknown;
  /** The engine that has changed the TTL since, `several` if it was not one. */
  ttlBy: string | undefined;
  /** Fields that other releases put there. */
  readonly unknown: Map<string, unknown> = new Map();
  version = 1;
  /** The engine that made the last change which a client can see. */
  changedBy: string | undefined;
  /** Whether a sweep has deleted it. */
  swept = false;

  constructor(taskId: string, init: CreateTaskInit, now: number) {
    this.taskId = taskId;
    this.owner = init.owner;
    this.createdAt = now;
    this.updatedAt = now;
    this.statusMessage = init.statusMessage;
    this.ttlMs = init.ttlMs === undefined ? DEFAULTS.ttlMs : init.ttlMs;
    this.pollIntervalMs = init.pollIntervalMs === undefined
      ? DEFAULTS.pollIntervalMs
      : init.pollIntervalMs ?? undefined;
  }

  get terminal(): boolean {
    return ["completed", "failed", "cancelled"].includes(this.status);
  }

  /** Whether it exists for a caller of the engine. */
  exists(now: number): boolean {
    return !this.swept && !this.expired(now);
  }

  expired(now: number): boolean {
    return this.ttlMs !== null && now >= this.createdAt + this.ttlMs;
  }

  /** Why nothing may be written; `undefined` if something may. */
  refusal(now: number): Refusal | undefined {
    if (!this.exists(now)) return new Refusal(NOT_FOUND);
    if (this.terminal) return new Refusal(TERMINAL);
  }

  /** Counts a change that a client can see (rules I4 and I9). */
  touch(now: number): void {
    this.version++;
    this.updatedAt = Math.max(this.updatedAt, now);
  }

  ask(requests: ReadonlyMap<string, unknown>, now: number): void {
    for (const [key, request] of requests) {
      this.open.set(key, request);
      this.used.add(key);
    }
    this.status = "input_required";
    this.touch(now);
  }

  answer(answers: ReadonlyMap<string, unknown>, now: number): void {
    for (const [key, answer] of answers) {
      this.open.delete(key);
      this.answers.set(key, answer);
    }
    if (this.open.size === 0) this.status = "working";
    this.touch(now);
  }

  end(status: "completed" | "failed" | "cancelled", now: number): void {
    this.status = status;
    this.open.clear();
    this.answers.clear();
    this.taken.clear();
    this.touch(now);
  }

  /** What the store keeps. Lists that are sets are in order. */
  record(): string {
    return canonical(defined({
      ...objectFrom(this.unknown),
      taskId: this.taskId,
      owner: this.owner,
      method: "tools/call",
      status: this.status,
      statusMessage: this.statusMessage,
      createdAt: iso(this.createdAt),
      lastUpdatedAt: iso(this.updatedAt),
      ttlMs: this.ttlMs,
      pollIntervalMs: this.pollIntervalMs,
      cancelRequestedAt: this.cancelRequestedAt === undefined
        ? undefined
        : iso(this.cancelRequestedAt),
      inputRequests: this.open.size ? objectFrom(this.open) : undefined,
      inputResponses: this.answers.size ? objectFrom(this.answers) : undefined,
      takenInputKeys: this.taken.size ? [...this.taken].sort() : undefined,
      usedInputKeys: this.used.size ? [...this.used].sort() : undefined,
      result: this.result,
      error: this.error,
      version: this.version,
    }));
  }

  /** What `tasks/get` gives. */
  view(): string {
    return canonical(defined({
      resultType: "complete",
      ...this.#base(),
      inputRequests: this.status === "input_required"
        ? objectFrom(this.open)
        : undefined,
      result: this.status === "completed" ? this.result : undefined,
      error: this.status === "failed" ? this.error : undefined,
    }));
  }

  /** What the request that created it is answered with. */
  createView(): string {
    return canonical(defined({ resultType: "task", ...this.#base() }));
  }

  #base(): Record<string, unknown> {
    return {
      taskId: this.taskId,
      status: this.status,
      statusMessage: this.statusMessage,
      createdAt: iso(this.createdAt),
      lastUpdatedAt: iso(this.updatedAt),
      ttlMs: this.ttlMs,
      pollIntervalMs: this.pollIntervalMs,
    };
  }
}

/** The text of a record that a store gave, to hold against {@link ModelTask.record}. */
export function recordText(record: object): string {
  const copy: Record<string, unknown> = { ...record };
  for (const set of ["takenInputKeys", "usedInputKeys"]) {
    const keys = copy[set];
    if (Array.isArray(keys)) copy[set] = [...keys].sort();
  }
  return canonical(copy);
}

/** Optional fields are absent, never null. */
function defined(fields: Record<string, unknown>): Record<string, unknown> {
  return objectFrom(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  );
}
