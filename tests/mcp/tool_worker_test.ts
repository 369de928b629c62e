import assert from "node:assert/strict";
import { z } from "zod";
import {
  isInputUnavailableError,
  MemoryTaskStore,
  TaskLifecycle,
} from "../../mod.ts";
import {
  type TaskToolCall,
  type TaskToolWorker,
  toolWorker,
} from "../../mcp.ts";
import { send } from "../support/mcp_frames.ts";
import { startHost } from "../support/mcp_host.ts";
import { howMany } from "../support/mcp_tools.ts";
import { describe, it } from "../support/runner.ts";

const config = {
  inputSchema: z.object({
    day: z.iso.date().transform((text) => new Date(text)),
  }),
  outputSchema: z.object({ year: z.number() }),
};
type Worker = TaskToolWorker<
  typeof config.inputSchema,
  typeof config.outputSchema
>;

const call = (more: Partial<TaskToolCall> = {}): TaskToolCall => ({
  arguments: { day: "1987-06-05" },
  clientCapabilities: {},
  answers: {},
  ...more,
});

/** Runs a worker on a new task, as a restarted host does. */
async function run(worker: Worker, given: TaskToolCall) {
  const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
  const { taskId } = await tasks.createTask();
  const kept = JSON.parse(JSON.stringify(given));
  await tasks.run(taskId, toolWorker("year", config, worker, kept));
  const task = await tasks.getTask(taskId);
  await tasks.close();
  assert.ok(task.status === "completed", task.status);
  return task.result;
}

const year: Worker = ({ day }) => ({
  structuredContent: { year: day.getUTCFullYear() },
});

describe("toolWorker()", () => {
  it("refuses at once what is no call, no config and no worker", () => {
    const make = (...args: readonly unknown[]) =>
      toolWorker("year", ...args as [typeof config, Worker, TaskToolCall]);
    const { answers: _, ...less } = call();
    for (
      const [args, message] of [
        [[config, year, undefined], /"year" again: arguments of its call is u/],
        [[config, year, less], /answers of its call is undefined/],
        [[undefined, year, call()], /tool "year": the config is undefined/],
        [[config, undefined, call()], /the worker of tool "year"/],
      ] as const
    ) {
      assert.throws(() => make(...args), {
        code: "ERR_INVALID_ARGUMENT",
        message,
      });
    }
  });

  it("runs a call again from what its context said, with the same outcome", async () => {
    const calls: TaskToolCall[] = [];
    const host = await startHost({
      tools: ({ registerTool }) =>
        registerTool("year", config, (args, task, ctx) => {
          calls.push(ctx.call);
          return year(args, task, ctx);
        }),
    });
    const direct = await send(host.url, "tools/call", {
      name: "year",
      arguments: { day: "1987-06-05" },
    }, { capabilities: { sampling: {} } });
    const { _meta, ...expected } = direct.result;
    await host.close();
    assert.deepEqual(calls, [{
      arguments: { day: "1987-06-05" },
      clientCapabilities: { sampling: {} },
      answers: {},
    }]);
    assert.deepEqual(await run(year, calls[0]), expected);
  });

  it("checks the arguments and the result as the tool does", async () => {
    const wrongInput = await run(year, call({ arguments: { day: "never" } }));
    assert.equal(wrongInput.isError, true);
    const [{ text }] = wrongInput.content as { text: string }[];
    assert.match(text, /^Input validation error: .* tool year: day: /);

    const wrongOutput = await run(
      () => ({ structuredContent: { year: "1987" as never } }),
      call(),
    );
    assert.equal(wrongOutput.isError, true);
  });

  it("asks only for what the client declared when the task began", async () => {
    const errors: unknown[] = [];
    const worker: Worker = async ({ day }, task, ctx) => {
      errors.push(
        await task.requestInput({ a: howMany("A?") }).catch((error) => error),
      );
      return await year({ day }, task, ctx);
    };
    await run(worker, call({ clientCapabilities: { roots: {} } }));
    assert.ok(isInputUnavailableError(errors[0]));
  });

  it("gives the worker the answers of the time before the task", async () => {
    const answers = { a: { action: "accept", content: { count: 3 } } } as const;
    let seen: unknown;
    const worker: Worker = (args, task, ctx) => {
      seen = ctx;
      return year(args, task, ctx);
    };
    const given = call({ answers });
    await run(worker, given);
    assert.deepEqual(seen, { deferred: true, answers, call: given, meta: {} });
  });
});
