import assert from "node:assert/strict";
import {
  fromJsonSchema,
  McpServer,
  ProtocolError,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import {
  isInputUnavailableError,
  isInvalidArgumentError,
  MemoryTaskStore,
  StoreFailedError,
  TaskFailure,
  type TaskHandle,
  TaskLifecycle,
  type TaskRecord,
} from "../../mod.ts";
import {
  ANONYMOUS_OWNER,
  attachTasks,
  ownerOf,
  type TaskToolContext,
  type ToolResult,
} from "../../mcp.ts";
import { DECLARED, send, sendLegacy } from "../support/mcp_frames.ts";
import { type McpHost, reaches, startHost } from "../support/mcp_host.ts";
import { connectStdio } from "../support/mcp_listen_stdio.ts";
import { howMany, registerTools } from "../support/mcp_tools.ts";
import { describe, it } from "../support/runner.ts";

const UNDECLARED = { capabilities: { elicitation: { form: {} } } };

/** Calls a tool, and waits for the end of its task. */
async function taskOf(host: McpHost, name: string, args: object = {}) {
  const { result } = await send(host.url, "tools/call", {
    name,
    arguments: args,
  });
  assert.equal(result.resultType, "task");
  const { promise, resolve } = Promise.withResolvers<void>();
  host.tasks.onTaskChanged(result.taskId, ({ status }) => {
    if (status !== "working" && status !== "input_required") resolve();
  });
  await promise;
  return (await send(host.url, "tasks/get", { taskId: result.taskId })).result;
}

/** Calls a tool without tasks. */
function directly(host: McpHost, name: string, args: object = {}) {
  return send(host.url, "tools/call", { name, arguments: args }, UNDECLARED);
}

/** A host with one tool. */
function hostOf(
  worker: (
    task: TaskHandle,
    ctx: TaskToolContext,
  ) => ToolResult | void | Promise<ToolResult | void>,
): Promise<McpHost> {
  return startHost({
    tools: ({ registerTool }) =>
      registerTool("tool", {}, (_args, task, ctx) => worker(task, ctx)),
  });
}

describe("a tool called by a client that declares the extension", () => {
  it("answers with a flat task, durable before it is returned", async () => {
    const host = await startHost({ tools: registerTools });
    const { result } = await send(host.url, "tools/call", {
      name: "until_cancelled",
      arguments: {},
    });
    const { _meta, createdAt, lastUpdatedAt, taskId, ...rest } = result;
    assert.deepEqual(rest, {
      resultType: "task",
      status: "working",
      ttlMs: 3_600_000,
      pollIntervalMs: 20,
    });
    assert.equal(createdAt, lastUpdatedAt);
    assert.deepEqual(_meta["io.modelcontextprotocol/serverInfo"], {
      name: "tests",
      version: "1.2.3",
    });
    assert.ok((await send(host.url, "tasks/get", { taskId })).result);
    await host.close();
  });

  it("takes its ttlMs and pollIntervalMs from the tool", async () => {
    const host = await startHost({ tools: registerTools });
    const task = await taskOf(host, "double", { n: 4 });
    assert.equal(task.ttlMs, 120_000);
    assert.equal(task.pollIntervalMs, 15);
    assert.equal(task.statusMessage, "doubling 4.0");
    await host.close();
  });

  it("gives what the request itself would have given", async () => {
    const host = await startHost({ tools: registerTools });
    for (const [name, args] of [["double", { n: 4 }], ["tool_error", {}]]) {
      const { result } = await directly(host, name as string, args as object);
      const { _meta, ...direct } = result;
      const task = await taskOf(host, name as string, args as object);
      assert.equal(task.status, "completed");
      assert.deepEqual(task.result, direct);
    }
    const { error } = await directly(host, "protocol_error");
    const failed = await taskOf(host, "protocol_error");
    assert.equal(failed.status, "failed");
    assert.deepEqual(failed.error, error);
    assert.deepEqual(error, {
      code: -32055,
      message: "the index is missing",
      data: { index: 3 },
    });
    await host.close();
  });

  it("refuses arguments that the schema refuses, without a task", async () => {
    const host = await startHost({ tools: registerTools });
    const { result } = await send(host.url, "tools/call", {
      name: "double",
      arguments: { n: "four" },
    });
    assert.equal(result.resultType, "complete");
    assert.equal(result.isError, true);
    await host.close();
  });

  it("is typed by its schema", async () => {
    const host = await startHost({
      tools: ({ registerTool }) => {
        const inputSchema = z.object({ n: z.number() });
        const registered = registerTool("typed", { inputSchema }, ({ n }) => {
          // @ts-expect-error -- a number has no such method
          n.toUpperCase?.();
          return { content: [{ type: "text", text: n.toFixed(2) }] };
        });
        registered.update({ title: "What the SDK returns" });
        // @ts-expect-error -- content has no such block
        registerTool("wrong", {}, () => ({ content: [{ type: "txet" }] }));
      },
    });
    const { result } = await taskOf(host, "typed", { n: 1.5 });
    assert.equal(result.content[0].text, "1.50");
    await host.close();
  });

  it("gets the arguments as the schema makes them", async () => {
    const host = await startHost({
      tools: ({ registerTool }) =>
        registerTool("year", {
          inputSchema: z.object({
            day: z.iso.date().transform((text) => new Date(text)),
          }),
        }, ({ day }) => ({
          content: [{ type: "text", text: `${day.getUTCFullYear()}` }],
        })),
    });
    const { result } = await taskOf(host, "year", { day: "1987-06-05" });
    assert.equal(result.content[0].text, "1987");
    await host.close();
  });

  it("ends cancelled when it was cancelled", async () => {
    const host = await startHost({ tools: registerTools });
    const { result } = await send(host.url, "tools/call", {
      name: "until_cancelled",
      arguments: {},
    });
    await send(host.url, "tasks/cancel", { taskId: result.taskId });
    const task = await reaches(host, result.taskId, "cancelled");
    assert.ok(!("result" in task) && !("error" in task));
    await host.close();
  });

  it("goes on when the connection drops before the answer", async () => {
    const creating = Promise.withResolvers<void>();
    const create = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    const started = Promise.withResolvers<TaskHandle>();
    const release = Promise.withResolvers<void>();
    class SlowStore extends MemoryTaskStore {
      override async create(record: TaskRecord): Promise<void> {
        creating.resolve();
        await create.promise;
        await super.create(record);
      }
    }
    const host = await startHost({
      store: new SlowStore(),
      attach: {
        owner: (ctx) => {
          ctx.mcpReq.signal.addEventListener("abort", () => aborted.resolve());
          return ownerOf(ctx);
        },
      },
      tools: ({ registerTool }) =>
        registerTool("tool", {}, async (_args, task) => {
          started.resolve(task);
          await release.promise;
          return { content: [{ type: "text", text: "in spite of it" }] };
        }),
    });
    const dropped = new AbortController();
    const call = send(host.url, "tools/call", { name: "tool", arguments: {} }, {
      signal: dropped.signal,
    });
    await creating.promise;
    dropped.abort();
    await assert.rejects(call, { name: "AbortError" });
    await aborted.promise;
    create.resolve();
    const { taskId, signal } = await started.promise;
    assert.equal(signal.aborted, false);
    release.resolve();
    const task = await reaches(host, taskId, "completed");
    assert.ok(task.status === "completed");
    assert.deepEqual(task.result.content, [
      { type: "text", text: "in spite of it" },
    ]);
    await host.close();
  });

  it("goes on when its call is cancelled by a notification, before the answer and after it", async () => {
    const creating = Promise.withResolvers<void>();
    const create = Promise.withResolvers<void>();
    class SlowStore extends MemoryTaskStore {
      override async create(record: TaskRecord): Promise<void> {
        creating.resolve();
        await create.promise;
        await super.create(record);
      }
    }
    const handles: TaskHandle[] = [];
    const release = Promise.withResolvers<void>();
    const both = Promise.withResolvers<void>();
    const connection = connectStdio({}, new SlowStore(), ({ registerTool }) => {
      registerTool("tool", {}, async (_args, task) => {
        if (handles.push(task) === 2) both.resolve();
        await release.promise;
        return { content: [{ type: "text", text: "all the same" }] };
      });
    });
    const call = { name: "tool", arguments: {} };
    connection.request("early", "tools/call", call);
    await creating.promise;
    connection.cancel("early");
    connection.request("late", "tools/call", call);
    create.resolve();
    const answer = await connection.next();
    assert.equal(answer.id, "late");
    connection.cancel("late");
    await both.promise;
    // What follows on the connection comes after the notification.
    connection.request("after", "tasks/get", {
      taskId: answer.result.taskId,
    });
    assert.equal((await connection.next()).result.status, "working");
    release.resolve();
    for (const { taskId, signal } of handles) {
      assert.equal(signal.aborted, false);
      const access = { owner: ANONYMOUS_OWNER };
      while (
        (await connection.tasks.getTask(taskId, access)).status === "working"
      ) await new Promise((resolve) => setTimeout(resolve, 5));
      const task = await connection.tasks.getTask(taskId, access);
      assert.equal(task.status, "completed");
    }
    await connection.end();
  });

  it("sends no notification for the call, even with a progress token", async () => {
    const host = await startHost({ tools: registerTools });
    const { messages } = await send(host.url, "tools/call", {
      name: "double",
      arguments: { n: 1 },
    }, { meta: { progressToken: "p" } });
    assert.equal(messages.length, 1);
    await host.close();
  });

  it("is asked only for what it declared", async () => {
    const refused = Promise.withResolvers<unknown>();
    const host = await hostOf(async (task) => {
      try {
        await task.requestInput({
          a: howMany("One?"),
          b: { method: "roots/list" },
        });
      } catch (error) {
        refused.resolve(error);
        throw error;
      }
    });
    const task = await taskOf(host, "tool");
    assert.ok(isInputUnavailableError(await refused.promise));
    assert.equal(task.result.isError, true);
    assert.match(task.result.content[0].text, /capability roots/);
    await host.close();
  });

  it("may be asked by URL if it declared that", async () => {
    const url = {
      method: "elicitation/create",
      params: { mode: "url", message: "Sign in", url: "https://example.org/" },
    } as const;
    const host = await hostOf(async (task) => {
      const { a } = await task.requestInput({ a: url });
      return { content: [{ type: "text", text: JSON.stringify(a) }] };
    });
    const refused = await taskOf(host, "tool");
    assert.match(refused.result.content[0].text, /elicitation\.url/);
    const { result } = await send(
      host.url,
      "tools/call",
      { name: "tool", arguments: {} },
      { capabilities: { ...DECLARED, elicitation: { form: {}, url: {} } } },
    );
    const { taskId } = result;
    const asked = await reaches(host, taskId, "input_required");
    assert.ok(asked.status === "input_required");
    assert.deepEqual(asked.inputRequests, { a: url });
    await send(host.url, "tasks/update", {
      taskId,
      inputResponses: { a: { action: "accept" } },
    });
    const task = await reaches(host, taskId, "completed");
    assert.equal(task.status, "completed");
    await host.close();
  });

  it("leaves alone what the worker itself has ended", async () => {
    const ends = {
      complete: (task: TaskHandle) => task.complete({ content: [] }),
      fail: (task: TaskHandle) => task.fail({ code: -32001, message: "no" }),
      cancelled: (task: TaskHandle) => task.cancelled("enough"),
    };
    for (
      const [end, status] of [
        ["complete", "completed"],
        ["fail", "failed"],
        ["cancelled", "cancelled"],
      ] as const
    ) {
      const host = await hostOf(async (task) => {
        await ends[end](task);
        return { content: [{ type: "text", text: "too late" }] };
      });
      assert.equal((await taskOf(host, "tool")).status, status);
      await host.close();
    }
  });
});

describe("a tool with an output schema", () => {
  const outputs = async (outputs: object) => {
    const host = await startHost({
      tools: ({ registerTool }) =>
        registerTool("tool", {
          outputSchema: z.object({
            n: z.number(),
            rows: z.array(z.object({ at: z.string() })).optional(),
          }),
        }, () => outputs as never),
    });
    const { result } = await directly(host, "tool");
    const { _meta, ...direct } = result;
    const task = await taskOf(host, "tool");
    await host.close();
    assert.equal(task.status, "completed");
    return [direct, task.result];
  };

  it("defers and completes", async () => {
    const [direct, deferred] = await outputs({ structuredContent: { n: 5 } });
    assert.deepEqual(deferred.structuredContent, { n: 5 });
    assert.deepEqual(deferred, direct);
  });

  it("is checked as the SDK checks it: nothing, and something wrong", async () => {
    for (
      const wrong of [
        { content: [] },
        { structuredContent: 5 },
        { structuredContent: { n: "5" } },
        { structuredContent: { n: "5", rows: [{ at: "one" }, { at: 2 }] } },
      ]
    ) {
      const [direct, deferred] = await outputs(wrong);
      assert.equal(deferred.isError, true);
      const [text, expected] = [deferred, direct].map((r) => r.content[0].text);
      assert.match(text, /^Output validation error/);
      assert.equal(text, expected);
    }
  });

  it("may end with isError without structured content", async () => {
    const [direct, deferred] = await outputs({
      isError: true,
      content: [{ type: "text", text: "no number today" }],
    });
    assert.deepEqual(deferred, direct);
  });
});

describe("a tool called by a client without tasks", () => {
  it("gets the result, and progress if it asked for it", async () => {
    const host = await startHost({ tools: registerTools });
    const quiet = await directly(host, "double", { n: 8 });
    assert.equal(quiet.messages.length, 1);
    assert.deepEqual(quiet.result.structuredContent, { doubled: 16 });
    const { messages } = await send(host.url, "tools/call", {
      name: "double",
      arguments: { n: 8 },
    }, { ...UNDECLARED, meta: { progressToken: "p" } });
    assert.equal(messages.length, 2);
    assert.deepEqual(messages[0].params, {
      progressToken: "p",
      progress: 1,
      message: "doubling 8.0",
    });
    await host.close();
  });

  it("cannot be asked for what it did not declare, and the worker may do without", async () => {
    const host = await hostOf(async (task, ctx) => {
      assert.equal(ctx.deferred, false);
      assert.equal(await task.resumeInput(), undefined);
      const error = await task.requestInput({ a: { method: "roots/list" } })
        .catch((error: unknown) => error);
      assert.ok(isInputUnavailableError(error));
      return { content: [{ type: "text", text: "took the default" }] };
    });
    const { result } = await directly(host, "tool");
    assert.equal(result.content[0].text, "took the default");
    await host.close();
  });

  it("gets a readable tool error where the worker cannot do without", async () => {
    const host = await startHost({ tools: registerTools });
    const { result } = await send(host.url, "tools/call", {
      name: "sum",
      arguments: {},
    }, { capabilities: {} });
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /capability elicitation\.form/);
    await host.close();
  });

  it("gets a JSON-RPC error for TaskFailure and fail(), once", async () => {
    const error = { code: -32044, message: "full", data: [1] };
    for (
      const worker of [
        () => {
          throw new TaskFailure(error);
        },
        async (task: TaskHandle) => {
          await task.fail(error);
          await assert.rejects(task.complete({}), {
            code: "ERR_TASK_TERMINAL",
          });
          await assert.rejects(task.progress("x"), {
            code: "ERR_TASK_TERMINAL",
          });
        },
        () => {
          throw new ProtocolError(-32044, "full", [1]);
        },
      ]
    ) {
      const host = await hostOf(worker);
      assert.deepEqual((await directly(host, "tool")).error, error);
      await host.close();
    }
  });

  it("gets what the worker completed itself, and a word for cancelled()", async () => {
    const completes = await hostOf(async (task) => {
      await task.complete({ content: [{ type: "text", text: "first" }] });
      return { content: [{ type: "text", text: "second" }] };
    });
    const first = await directly(completes, "tool");
    assert.equal(first.result.content[0].text, "first");
    await completes.close();

    const gives_up = await hostOf((task) => task.cancelled("not today"));
    const { result } = await directly(gives_up, "tool");
    assert.equal(result.isError, true);
    assert.equal(result.content[0].text, "not today");
    await gives_up.close();
  });

  it("aborts the worker when the connection drops", async () => {
    const started = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<unknown>();
    const host = await hostOf(async ({ signal }) => {
      started.resolve();
      await new Promise<void>((resolve) =>
        signal.addEventListener("abort", () => resolve())
      );
      stopped.resolve(signal.reason);
    });
    const dropped = new AbortController();
    const call = send(host.url, "tools/call", { name: "tool", arguments: {} }, {
      ...UNDECLARED,
      signal: dropped.signal,
    });
    await started.promise;
    dropped.abort();
    await assert.rejects(call, { name: "AbortError" });
    const reason = await stopped.promise as { code: string };
    assert.equal(reason.code, "ERR_TASK_CANCELLED");
    await host.close();
  });

  it("does not see its signal abort after its answer", async () => {
    const handles: TaskHandle[] = [];
    const host = await hostOf((task) => {
      handles.push(task);
      return { content: [] };
    });
    await directly(host, "tool");
    await directly(host, "tool");
    assert.equal(handles[0].signal.aborted, false);
    await host.close();
  });
});

describe("what a worker leaves un-awaited", () => {
  it("does not end the process, whatever becomes of it", async () => {
    const host = await hostOf(async (task) => {
      void task.progress(7 as never);
      void task.requestInput({ a: { method: "roots/list" } });
      await task.complete({ content: [{ type: "text", text: "on" }] });
      void task.progress("too late");
      void task.requestInput({ b: howMany("too late") });
    });
    const { result } = await directly(host, "tool");
    assert.equal(result.content[0].text, "on");
    const task = await taskOf(host, "tool");
    assert.equal(task.result.content[0].text, "on");
    await host.close();
  });

  it("ends the call with it, be it the result, and not the process", async () => {
    const host = await startHost({
      tools: ({ registerTool }) => {
        const outputSchema = z.object({ n: z.number() });
        registerTool("result", { outputSchema }, (_args, task) => {
          void task.complete({ structuredContent: { n: 7 } });
        });
        registerTool("failure", {}, (_args, task) => {
          void task.fail({ code: -32_001, message: "no such folder" });
        });
        registerTool("neither", {}, (_args, task) => {
          void task.complete({ content: "no blocks" });
        });
        registerTool("no error", {}, (_args, task) => {
          void task.fail("no such folder" as never);
        });
      },
    });
    const { result } = await directly(host, "result");
    assert.deepEqual(result.structuredContent, { n: 7 });
    const task = await taskOf(host, "result");
    assert.deepEqual(task.result.structuredContent, { n: 7 });
    const { error } = await directly(host, "failure");
    assert.deepEqual(error, { code: -32_001, message: "no such folder" });
    assert.deepEqual((await taskOf(host, "failure")).error, error);
    const neither = (await directly(host, "neither")).result;
    assert.match(neither.content[0].text, /content is "no blocks"/);
    assert.deepEqual(
      (await taskOf(host, "neither")).result.content,
      neither.content,
    );
    const wrong = (await directly(host, "no error")).result;
    assert.match(wrong.content[0].text, /the error is "no such folder"/);
    assert.deepEqual(
      (await taskOf(host, "no error")).result.content,
      wrong.content,
    );
    await host.close();
  });

  it("is refused with a typed error where it is awaited", async () => {
    const codes: unknown[] = [];
    const code = (promise: Promise<unknown>) =>
      promise.then(() => "none", (error: { code: string }) => error.code);
    const host = await hostOf(async (task) => {
      codes.push(
        await code(task.progress(7 as never)),
        await code(task.progress("on", { ttlMs: -1 })),
        await code(task.progress("on", 7 as never)),
        await code(task.progress("o".repeat(4_097))),
        await code(task.fail({ code: "x" } as never)),
        await code(task.fail({ code: 1, message: "m", data: new Date() })),
        await code(task.cancelled(7 as never)),
        await code(task.requestInput({ a: { method: "a/b" } as never })),
      );
    });
    const refused = [
      "ERR_INVALID_ARGUMENT",
      "ERR_INVALID_ARGUMENT",
      "ERR_INVALID_ARGUMENT",
      "ERR_LIMIT_EXCEEDED",
      "ERR_INVALID_ARGUMENT",
      "ERR_NOT_JSON",
      "ERR_INVALID_ARGUMENT",
      "ERR_INVALID_INPUT_REQUEST",
    ];
    await directly(host, "tool");
    await taskOf(host, "tool");
    assert.deepEqual(codes, [...refused, ...refused]);
    await host.close();
  });
});

describe("a tool that runs as a task only", () => {
  it("answers -32021 to a client without tasks, and does not run", async () => {
    let runs = 0;
    const host = await startHost({
      tools: ({ registerTool }) =>
        registerTool("tool", {
          outputSchema: z.object({ runs: z.number() }),
          task: { support: "required", ttlMs: 45_000 },
        }, () => ({ structuredContent: { runs: ++runs } })),
    });
    const { error } = await directly(host, "tool");
    assert.equal(error?.code, -32021);
    assert.deepEqual(error.data, {
      requiredCapabilities: {
        extensions: { "io.modelcontextprotocol/tasks": {} },
      },
    });
    const legacy = await sendLegacy(host.url, "tools/call", {
      name: "tool",
      arguments: {},
    });
    assert.equal(legacy.error?.code, -32021);
    const task = await taskOf(host, "tool");
    assert.deepEqual(task.result.structuredContent, { runs: 1 });
    assert.equal(task.ttlMs, 45_000);
    await host.close();
  });
});

describe("a call that can only be a task, of a client without tasks", () => {
  const required = (
    inputSchema: z.ZodType,
    update?: (tool: { disable(): void; remove(): void }) => void,
  ) =>
    startHost({
      tools: ({ registerTool }) => {
        const tool = registerTool("tool", {
          inputSchema,
          task: { support: "required" },
        }, () => {});
        update?.(tool);
      },
    });

  it("gets -32021 before its arguments are looked at", async () => {
    const host = await required(z.object({ n: z.number() }));
    for (const args of [{ n: "four" }, {}, { n: 4 }]) {
      const { error, status } = await directly(host, "tool", args);
      assert.equal(error?.code, -32021);
      assert.equal(status, 400);
      const legacy = await sendLegacy(host.url, "tools/call", {
        name: "tool",
        arguments: args,
      });
      assert.equal(legacy.error?.code, -32021);
    }
    const { result } = await send(host.url, "tools/call", {
      name: "tool",
      arguments: { n: "four" },
    });
    assert.equal(result.isError, true);
    await host.close();
  });

  it("is like any other once the tool is switched off", async () => {
    for (const off of ["disable", "remove"] as const) {
      const host = await required(z.object({}), (tool) => tool[off]());
      const { error } = await directly(host, "tool");
      assert.equal(error?.code, -32602, off);
      await host.close();
    }
  });

  it("is refused at registration where support is neither word", async () => {
    const refused: unknown[] = [];
    const host = await startHost({
      tools: ({ registerTool }, mcp) => {
        mcp.registerTool("other", {}, () => ({ content: [] }));
        for (const support of ["forbidden", true, null]) {
          try {
            registerTool("tool", { task: { support } as never }, () => {});
          } catch (error) {
            refused.push(error);
          }
        }
      },
    });
    const { result } = await send(host.url, "tools/list", {});
    assert.deepEqual(
      result.tools.map(({ name }: { name: string }) => name),
      ["other"],
    );
    assert.equal(refused.length, 3);
    assert.ok(refused.every(isInvalidArgumentError));
    await host.close();
  });
});

describe("registerTool()", () => {
  it("refuses at once what would fail at a call", async () => {
    const tasks = new TaskLifecycle({
      store: new MemoryTaskStore(),
      limits: { maxTtlMs: 5_000 },
    });
    const mcp = new McpServer({ name: "wrong", version: "1.0.0" });
    const { registerTool } = attachTasks(mcp, tasks);
    const register = (...rest: readonly unknown[]) =>
      registerTool("count", ...rest as [object, () => void]);
    const worker = () => {};
    const of = (part: string) => `^Cannot use ${part} of tool "count": `;
    const no = (name: string, meant: string) =>
      `^Cannot register tool "count": the config has no "${name}"; did you mean ${meant}\\?$`;
    for (
      const [message, ...wrong] of [
        ['^Cannot register tool "count": the config is u', undefined, worker],
        ['^Cannot register tool "count": the config is a function', worker],
        [of("the worker"), {}, undefined],
        [of("before"), { before: 7 }, worker],
        [of("inputSchema"), { inputSchema: { n: z.number() } }, worker],
        [of("outputSchema"), { outputSchema: null }, worker],
        [of("task.ttlMs"), { task: { ttlMs: "1h" } }, worker],
        [of("task.pollIntervalMs"), { task: { pollIntervalMs: 0.5 } }, worker],
        [of("task.support"), { task: { support: "never" } }, worker],
        ['^Cannot register tool "count" with task: the o', { task: 5 }, worker],
        [
          '"count" with task: there is no option "ttl"; did you mean ttlMs\\?$',
          { task: { ttl: 5 } },
          worker,
        ],
        [no("tasks", "task"), { tasks: {} }, worker],
        [no("ouputSchema", "outputSchema"), { ouputSchema: {} }, worker],
        [no("ttlMs", "task: { ttlMs }"), { ttlMs: 5 }, worker],
        [no("execution", "task: { .+ }"), { execution: {} }, worker],
      ] as const
    ) {
      assert.throws(
        () => register(...wrong),
        { code: "ERR_INVALID_ARGUMENT", message: new RegExp(message) },
        message,
      );
    }
    for (const ttlMs of [5_001, null]) {
      assert.throws(() => register({ task: { ttlMs } }, worker), {
        code: "ERR_LIMIT_EXCEEDED",
        message: /task\.ttlMs of tool "count"/,
      });
    }
    register({ task: { ttlMs: 5_000 }, ofSomeLaterSdk: true }, worker);
    assert.throws(() => register({}, worker), /count is already registered/);
    await tasks.close();
  });

  it("has types that take only schemas with which the SDK can list the tool", async () => {
    const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
    const mcp = new McpServer({ name: "schemas", version: "1.0.0" });
    const { registerTool } = attachTasks(mcp, tasks);
    const described = fromJsonSchema({ type: "object" });
    const standard = { validate: (value: unknown) => ({ value }) };
    const plain = { "~standard": standard };
    registerTool("described", { inputSchema: described }, () => {});
    // @ts-expect-error -- it has no JSON Schema
    registerTool("plain", { inputSchema: plain }, () => {});
    await tasks.close();
  });
});

describe("what a worker throws", () => {
  const thrown = (error: unknown) =>
    hostOf(() => {
      throw error;
    });

  it("is the tool's own failure, whatever code it has, if no JSON-RPC error has it", async () => {
    for (
      const error of [
        new DOMException("the operation was aborted", "AbortError"),
        new DOMException("timed out", "TimeoutError"),
        Object.assign(new Error("unavailable"), { code: 14 }),
        Object.assign(new Error("no file"), { code: "ENOENT" }),
        Object.assign(new Error("out of range"), { code: -31_999 }),
        Object.assign(new Error("no integer"), { code: -32_000.5 }),
      ]
    ) {
      const host = await thrown(error);
      const task = await taskOf(host, "tool");
      assert.equal(task.status, "completed", error.message);
      const { _meta, ...direct } = (await directly(host, "tool")).result;
      assert.deepEqual(task.result, direct);
      assert.deepEqual(task.result, {
        resultType: "complete",
        content: [{ type: "text", text: error.message }],
        isError: true,
      });
      await host.close();
    }
  });

  it("fails the task, with a message, if it is a JSON-RPC error", async () => {
    for (
      const error of [
        new ProtocolError(-32055, "no index", { index: 3 }),
        new ProtocolError(55, "no index", { index: 3 }),
        Object.assign(new Error("no index"), {
          code: -32_000,
          data: { index: 3 },
        }),
        new TaskFailure({
          code: -7,
          message: "no index",
          data: { index: 3 },
        }),
      ]
    ) {
      const host = await thrown(error);
      const task = await taskOf(host, "tool");
      assert.equal(task.status, "failed");
      assert.equal(task.statusMessage, "no index");
      assert.deepEqual(task.error, {
        code:
          (error as { code?: number }).code === ("ERR_TASK_FAILURE" as never)
            ? -7
            : (error as { code: number }).code,
        message: "no index",
        data: { index: 3 },
      });
      assert.deepEqual((await directly(host, "tool")).error, task.error);
      await host.close();
    }
  });

  it("loses data that is no JSON, directly or as a task", async () => {
    for (const data of [{ n: 1n }, new Date(), new Map()]) {
      const host = await thrown(
        new TaskFailure({ code: 5, message: "n", data }),
      );
      const { error } = await taskOf(host, "tool");
      assert.deepEqual(error, { code: 5, message: "n" });
      assert.deepEqual((await directly(host, "tool")).error, error);
      await host.close();
    }
  });
});

describe("what is no result", () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const wrongs: Record<string, readonly [wrong: unknown, says?: RegExp]> = {
    "a text": ["done", /the value is "done", an object such as \{ content: /],
    "an array": [[{ type: "text", text: "done" }], /is an array of 1, an obj/],
    "a bigint": [{ structuredContent: { n: 1n } }],
    "a cycle": [{ structuredContent: cycle }],
    "a text as content": [{ content: "done" }, /content is "done"; an array/],
    "content of texts": [
      { content: ["done"] },
      /content\[0\] is "done"; an obj/,
    ],
    "an unknown block": [
      { content: [{ type: "txt", text: "done" }] },
      /content\[0\]\.type is "txt"; "text", "image", .* is needed$/,
    ],
    "a block without its text": [
      { content: [{ type: "text", text: undefined }] },
      /content\[0\]\.text is missing; a string is needed$/,
    ],
    "a word for isError": [
      { content: [], isError: "yes" },
      /isError is "yes"; true or false is needed$/,
    ],
  };
  for (const [name, [wrong, says]] of Object.entries(wrongs)) {
    it(`ends the call, directly or as a task: ${name}`, async () => {
      const host = await hostOf(() => wrong as ToolResult);
      const { result } = await directly(host, "tool");
      const task = await taskOf(host, "tool");
      for (const { isError, content: [{ text }] } of [result, task.result]) {
        assert.equal(isError, true);
        if (!says) continue;
        assert.match(text, /^Cannot use the result of tool "tool": /);
        assert.match(text, says);
      }
      await host.close();
    });
  }
});

describe("what a worker has nothing to say in", () => {
  it("is left out of its result at any depth where it is undefined, and no item of an array is", async () => {
    const shared = { kept: 1, dropped: undefined };
    const host = await startHost({
      tools: ({ registerTool }) =>
        registerTool("tool", {}, () => ({
          content: [{ type: "text", text: "t", annotations: undefined }],
          structuredContent: {
            list: [shared, shared, null],
            deep: { deeper: { ["__proto__"]: undefined, a: shared } },
          },
        })),
    });
    const { _meta, ...direct } = (await directly(host, "tool")).result;
    assert.deepEqual(direct, {
      resultType: "complete",
      content: [{ type: "text", text: "t" }],
      structuredContent: {
        list: [{ kept: 1 }, { kept: 1 }, null],
        deep: { deeper: { a: { kept: 1 } } },
      },
    });
    assert.deepEqual((await taskOf(host, "tool")).result, direct);
    assert.ok("dropped" in shared);
    await host.close();
  });

  it("is refused in an array, and where JSON would make something else of it, by its place", async () => {
    const circle: unknown[] = [];
    circle.push([circle, circle], { circle, gone: undefined });
    for (
      const [structuredContent, problem] of [
        [{ list: [1, undefined] }, "list[1]: it is undefined (leave it out"],
        [
          { a: { when: new Date(0) } },
          "a.when: it is an instance of Date (use",
        ],
        [{ a: { n: NaN } }, "a.n: it is NaN;"],
        [{ circle }, "circle[0][0]: it is a cycle;"],
      ] as const
    ) {
      const host = await hostOf(() => ({ structuredContent }));
      const { result } = await taskOf(host, "tool");
      const [{ text }] = result.content;
      assert.ok(
        text.startsWith(`Cannot store result.structuredContent.${problem}`),
        text,
      );
      await host.close();
    }
  });

  it("is left out where it is null at the top of its result, and nowhere else", async () => {
    const host = await startHost({
      tools: ({ registerTool }) =>
        registerTool("tool", {}, () => ({
          content: undefined,
          isError: null as never,
          _meta: null as never,
          structuredContent: { nothing: null, list: [null] },
        })),
    });
    const { _meta, ...direct } = (await directly(host, "tool")).result;
    assert.deepEqual(direct, {
      resultType: "complete",
      content: [],
      structuredContent: { nothing: null, list: [null] },
    });
    assert.deepEqual((await taskOf(host, "tool")).result, direct);
    await host.close();
  });

  it("may be null where any JSON may be", async () => {
    const host = await hostOf(() => ({ structuredContent: null }));
    const task = await taskOf(host, "tool");
    assert.equal(task.status, "completed");
    assert.equal(task.result.structuredContent, null);
    const { result } = await directly(host, "tool");
    assert.equal(result.structuredContent, null);
    await host.close();
  });
});

describe("AttachTasksOptions.waitUntil", () => {
  const works: Promise<void>[] = [];
  const release = Promise.withResolvers<void>();

  it("is given the work of each task, which ends when the worker has", async () => {
    const host = await startHost({
      attach: { waitUntil: (work) => void works.push(work) },
      tools: ({ registerTool }) =>
        registerTool("tool", {}, async () => {
          await release.promise;
          return { content: [] };
        }),
    });
    const { result } = await send(host.url, "tools/call", {
      name: "tool",
      arguments: {},
    });
    assert.equal(works.length, 1);
    const ended = works[0].then(() => "ended");
    assert.equal(await Promise.race([ended, Promise.resolve("on")]), "on");
    release.resolve();
    assert.equal(await ended, "ended");
    const { taskId } = result;
    const task = (await send(host.url, "tasks/get", { taskId })).result;
    assert.equal(task.status, "completed");
    await directly(host, "tool");
    assert.equal(works.length, 1);
    await host.close();
  });

  it("does not change the answer if it throws", async () => {
    const host = await startHost({
      attach: {
        waitUntil: () => {
          throw new Error("the request is over");
        },
      },
      tools: registerTools,
    });
    const task = await taskOf(host, "double", { n: 3 });
    assert.equal(task.status, "completed");
    assert.equal(
      (host.errors[0].error as Error).message,
      "the request is over",
    );
    await host.close();
  });
});

describe("a store that fails", () => {
  class NoRoom extends MemoryTaskStore {
    override create(): Promise<void> {
      return Promise.reject(new Error("ENOSPC: /secret/disk"));
    }
  }

  it("makes tools/call a generic -32603, with the cause for the host", async () => {
    const host = await startHost({
      store: new NoRoom(),
      tools: registerTools,
    });
    const { error, body } = await send(host.url, "tools/call", {
      name: "double",
      arguments: { n: 2 },
    });
    assert.deepEqual(error, { code: -32603, message: "Internal error" });
    assert.doesNotMatch(body, /ENOSPC|secret/);
    const [{ error: heard, where }] = host.errors;
    assert.deepEqual(where, { method: "tools/call", tool: "double" });
    assert.match(String((heard as Error).cause), /ENOSPC: \/secret\/disk/);
    assert.deepEqual(
      (await directly(host, "double", { n: 2 })).result.structuredContent,
      { doubled: 4 },
    );
    await host.close();
  });

  it("in a worker is no text for the client either", async () => {
    const host = await hostOf(() => {
      throw new StoreFailedError("read /secret/disk");
    });
    const { error } = await directly(host, "tool");
    assert.deepEqual(error, { code: -32603, message: "Internal error" });
    assert.equal(host.errors.length, 1);
    await host.close();
  });

  it("says nothing of an owner that is too long, which is the host's", async () => {
    const host = await startHost({
      attach: { owner: () => "x".repeat(1_025) },
      tools: registerTools,
    });
    const { error } = await send(host.url, "tools/call", {
      name: "double",
      arguments: { n: 2 },
    });
    assert.deepEqual(error, { code: -32603, message: "Internal error" });
    const [{ error: heard, where }] = host.errors;
    assert.deepEqual(where, { method: "tools/call", tool: "double" });
    assert.match(String(heard), /owner: it has 1025 .*maxNameLength is 1024/);
    await host.close();
  });

  it("says which limit was reached, since that is for the client", async () => {
    const host = await startHost({
      tools: registerTools,
      lifecycle: { limits: { maxTasksPerOwner: 1 } },
    });
    const call = { name: "until_cancelled", arguments: {} };
    assert.ok((await send(host.url, "tools/call", call)).result);
    const { error } = await send(host.url, "tools/call", call);
    assert.equal(error?.code, -32602);
    assert.match(error.message, /maxTasksPerOwner is 1/);
    await host.close();
  });
});
