/** Workers that `run()` starts: what each does, and what the rules say comes of it. */

import {
  type JsonObject,
  LifecycleClosedError,
  StoreFailedError,
  TaskFailure,
  type TaskHandle,
} from "../../../mod.ts";
import type { WORKERS } from "./commands.ts";
import {
  CANCELLED,
  CLOSED,
  DUPLICATE_KEY,
  type ModelTask,
} from "./model_task.ts";
import { Call } from "./probes.ts";
import { objectFrom, requestOf } from "./samples.ts";
import type { Side } from "./side.ts";
import type { World } from "./world.ts";

/** An end that the rules allow; what they leave open is taken from the record. */
type Ending = "completed" | "error result" | "failed" | "cancelled";

interface Plan {
  /** What the worker does. */
  readonly work: (task: TaskHandle) => unknown;
  /** What comes of it, in a task that is to go on. */
  readonly model: (record: Record<string, unknown>) => void;
}

/** Starts a worker; the model follows once the engine has settled. */
export async function runWorker(
  world: World,
  by: Side,
  task: ModelTask,
  worker: typeof WORKERS[number],
  key: string,
): Promise<void> {
  const n = world.count();
  const text = `thrown ${n}`;
  const refusal = task.refusal(world.now);
  let asked: Call | undefined;
  let signal: AbortSignal | undefined;
  const { work, model } = plan();
  // Nobody wants the work of a task that has ended or was cancelled (rule I14).
  const wanted = !refusal && task.cancelRequestedAt === undefined;
  let started = false;
  const running = new Call(
    by.tasks.run(task.taskId, (handle) => {
      started = true;
      return work(handle) as JsonObject;
    }),
  );
  // A signal says nothing of an end that this process itself has brought about.
  if (worker !== "waits for its signal") world.workers.push(running);
  await world.settle();
  const record = await world.stored(task);
  if (started !== wanted) {
    throw new Error(`a worker was ${started ? "" : "not "}started`);
  }
  if (wanted) model(record ?? {});
  else if (!refusal) {
    task.end("cancelled", world.now);
    world.ended(by, task);
  }

  function plan(): Plan {
    const throws = (error: unknown, ...endings: Ending[]): Plan => ({
      work: () => Promise.reject(error),
      model: (record) => finish(record, ...endings),
    });
    const failing: Ending = "failed";
    switch (worker) {
      case "returns":
        return {
          work: () => ({ content: [], n }),
          model: () => complete({ content: [], n }),
        };
      case "returns nothing":
        return {
          work: () => {},
          model: (record) => complete(record.result),
        };
      case "reports, then returns":
        return {
          work: (handle) => {
            for (const part of [1, 2, 3]) {
              handle.progress(`part ${part} of ${n}`);
            }
            return { content: [], n };
          },
          model: () => {
            for (const part of [1, 2, 3]) {
              task.statusMessage = `part ${part} of ${n}`;
              task.touch(world.now);
              world.changed(by, task);
            }
            complete({ content: [], n });
          },
        };
      case "ends it, then returns":
      case "ends it, then throws":
        return {
          work: async (handle) => {
            await handle.complete({ content: [], n });
            if (worker === "ends it, then throws") throw new Error(text);
            return { content: [], n: -1 };
          },
          model: () => complete({ content: [], n }),
        };
      case "throws TaskFailure":
        return throws(
          new TaskFailure({ code: -32001, message: text, data: { n } }),
          failing,
        );
      case "throws ProtocolError":
        return throws(
          Object.assign(new Error(text), {
            name: "ProtocolError",
            code: -32001,
            data: { n },
          }),
          failing,
        );
      case "throws a JSON-RPC code":
        return throws(
          Object.assign(new Error(text), { code: -32001, data: { n } }),
          failing,
        );
      case "throws at once":
        return {
          work: () => {
            throw new Error(text);
          },
          model: (record) => finish(record, "error result"),
        };
      case "throws an Error":
        return throws(new Error(text), "error result");
      case "throws code 14":
        return throws(
          Object.assign(new Error(text), { code: 14 }),
          "error result",
        );
      case "throws undefined":
        return throws(undefined, "error result");
      case "throws null":
        return throws(null, "error result");
      case "throws a text":
        return throws(text, "error result");
      case "throws a store error":
        return {
          work: () =>
            Promise.reject(
              new Error("wrapped", {
                cause: new StoreFailedError("read", new Error(text)),
              }),
            ),
          model: () => {},
        };
      case "throws a closed lifecycle":
        return {
          work: () => Promise.reject(new LifecycleClosedError("read")),
          model: () => {},
        };
      case "returns a Map":
        return {
          work: () => new Map([[n, n]]),
          model: (record) => finish(record, "error result", "failed"),
        };
      case "asks":
        return {
          work: async (handle) => {
            const answers = handle.requestInput(
              objectFrom([[key, requestOf(key)]]),
            );
            asked = new Call(answers);
            return { content: [], n, answers: await answers };
          },
          model: (record) => {
            const refused = world.ask(by, task, [key]);
            if (!refused) {
              by.wait(task, [key], asked!, resume);
            } else if (refused.codes.includes(DUPLICATE_KEY)) {
              finish(record, "error result");
            }
          },
        };
      case "asks and reports, and forgets it":
        return {
          work: (handle) => {
            handle.requestInput(objectFrom([[key, requestOf(key)]]));
            handle.progress(`forgotten ${n}`);
            return { content: [], n };
          },
          model: () => {
            world.ask(by, task, [key]);
            task.statusMessage = `forgotten ${n}`;
            task.touch(world.now);
            world.changed(by, task);
            complete({ content: [], n });
          },
        };
      case "waits for its signal":
        return {
          work: (handle) =>
            new Promise((_, reject) => {
              signal = handle.signal;
              const abort = () => reject(handle.signal.reason);
              if (signal.aborted) abort();
              else signal.addEventListener("abort", abort, { once: true });
            }),
          model: () => by.hold(task, signal!, stop),
        };
    }
  }

  /** What a worker does whose question was answered, or never will be. */
  async function resume(outcome: string): Promise<void> {
    if (!outcome.startsWith("ok ")) return await stop(outcome);
    if (task.refusal(world.now)) return;
    const answers = (asked!.outcome as { value: unknown }).value;
    complete({ content: [], n, answers });
  }

  async function stop(reason: string): Promise<void> {
    const record = await world.stored(task);
    if (reason === CANCELLED && !task.refusal(world.now)) {
      finish(record ?? {}, "cancelled");
    } else if (reason === CLOSED) {
      // Nothing is written: the task waits to be taken up.
    }
  }

  function complete(result: unknown): void {
    if (typeof result !== "object" || result === null) {
      throw new Error(`a worker that ${worker} left ${result} as its result`);
    }
    task.result = result;
    task.end("completed", world.now);
    world.ended(by, task);
  }

  /** Ends the task as the rules say of this throw. */
  function finish(
    record: Record<string, unknown>,
    ...endings: readonly Ending[]
  ): void {
    const cancelled = task.cancelRequestedAt !== undefined;
    const possible: readonly Ending[] = cancelled
      ? endings.includes("failed") ? [...endings, "cancelled"] : ["cancelled"]
      : endings;
    const actual = endingOf(record);
    if (!actual || !possible.includes(actual)) {
      throw new Error(
        `a worker that ${worker} left ${record.status}, ${actual}, and not ${
          possible.join(" or ")
        }`,
      );
    }
    if (actual === "cancelled") {
      task.statusMessage = record.statusMessage as string | undefined;
    } else if (actual === "failed") {
      task.error = worker === "returns a Map"
        ? record.error
        : { code: -32001, message: text, data: { n } };
      task.statusMessage = (task.error as { message: string }).message;
    } else {
      task.result = record.result;
      task.statusMessage = record.statusMessage as string | undefined;
    }
    task.end(actual === "error result" ? "completed" : actual, world.now);
    world.ended(by, task);
  }
}

function endingOf(record: Record<string, unknown>): Ending | undefined {
  const { status, result } = record;
  if (status !== "completed") {
    return status === "failed" || status === "cancelled" ? status : undefined;
  }
  const { isError, content } = result as {
    isError?: unknown;
    content?: { type?: unknown; text?: unknown }[];
  };
  if (isError !== true) return "completed";
  const [first] = content ?? [];
  return first?.type === "text" && typeof first.text === "string"
    ? "error result"
    : undefined;
}
