/** Calls that are wrong whatever the state of the task. */

import type { TaskHandle, TaskLifecycle } from "../../../mod.ts";
import { requestOf } from "./samples.ts";

interface Target {
  readonly tasks: TaskLifecycle;
  readonly task: TaskHandle;
  readonly taskId: string;
  readonly owner: string | undefined;
}

interface BadCall {
  readonly call: (target: Target) => Promise<unknown>;
  readonly code: string;
}

const ARGUMENT = "ERR_INVALID_ARGUMENT";
const NOT_JSON = "ERR_NOT_JSON";
const REQUEST = "ERR_INVALID_INPUT_REQUEST";
const LIMIT = "ERR_LIMIT_EXCEEDED";

/** A value of no type, since the types refuse what is tried here. */
// deno-lint-ignore no-explicit-any
type Wrong = any;

const cycle: Record<string, unknown> = {};
cycle.self = cycle;

/** Every wrong call, with the code of its error. */
export const BAD_CALLS: readonly BadCall[] = [
  ...[0, -1, 1.5, NaN, Infinity, "x", {}].map((ttlMs): BadCall => ({
    call: ({ task }) => task.progress("bad", { ttlMs: ttlMs as Wrong }),
    code: ARGUMENT,
  })),
  ...[0, 0.5, "x", null].map((pollIntervalMs): BadCall => ({
    call: ({ task }) =>
      task.progress("bad", { pollIntervalMs: pollIntervalMs as Wrong }),
    code: ARGUMENT,
  })),
  { call: ({ task }) => task.progress(42 as Wrong), code: ARGUMENT },
  { call: ({ task }) => task.progress("x".repeat(4_097)), code: LIMIT },
  { call: ({ task }) => task.cancelled(42 as Wrong), code: ARGUMENT },
  { call: ({ task }) => task.fail({} as Wrong), code: ARGUMENT },
  {
    call: ({ task }) => task.fail({ code: 1.5, message: "x" }),
    code: ARGUMENT,
  },
  {
    call: ({ task }) => task.fail({ code: -32000, message: "x", data: 1n }),
    code: NOT_JSON,
  },
  ...[new Map(), cycle, { at: new Date(0) }, { a: [undefined] }, { n: NaN }, {
    n: 1n,
  }].map((result): BadCall => ({
    call: ({ task }) => task.complete(result as Wrong),
    code: NOT_JSON,
  })),
  ...[null, [], "x"].map((answers): BadCall => ({
    call: ({ tasks, taskId, owner }) =>
      tasks.updateTask(taskId, answers, { owner }),
    code: ARGUMENT,
  })),
  { call: ({ task }) => task.requestInput({}), code: ARGUMENT },
  {
    call: ({ task }) =>
      task.requestInput({
        again: requestOf("again"),
        page: {
          method: "elicitation/create",
          params: { mode: "url", message: "m", url: "javascript:alert(1)" },
        },
      }),
    code: REQUEST,
  },
  {
    call: ({ task }) => task.requestInput({ again: { method: "x" } as Wrong }),
    code: REQUEST,
  },
  {
    call: ({ task }) =>
      task.requestInput({ ["k".repeat(257)]: requestOf("name") }),
    code: LIMIT,
  },
];
