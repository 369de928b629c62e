import assert from "node:assert/strict";
import { McpServer } from "@modelcontextprotocol/server";
import { attachTasks } from "../../mcp.ts";
import {
  isInvalidArgumentError,
  MemoryTaskStore,
  TaskLifecycle,
  type TaskRecord,
} from "../../mod.ts";
import { send, sendAny } from "../support/mcp_frames.ts";
import { type HostOptions, startHost } from "../support/mcp_host.ts";
import { describe, it } from "../support/runner.ts";
import { PlainStore } from "../support/plain_store.ts";

const owner = "anonymous";

const QUESTION = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "How many?",
    requestedSchema: {
      type: "object",
      properties: { count: { type: "integer" } },
      required: ["count"],
    },
  },
} as const;

/** A store whose disk is gone. */
class BrokenStore extends PlainStore {
  broken = false;
  override get(taskId: string, now?: number): Promise<TaskRecord | undefined> {
    if (this.broken) return Promise.reject(new Error("EIO: /secret/disk"));
    return super.get(taskId, now);
  }
}

describe("attachTasks()", () => {
  it("refuses a server that has tasks attached already", async () => {
    const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
    const mcp = new McpServer({ name: "twice", version: "1.0.0" });
    attachTasks(mcp, tasks);
    assert.throws(() => attachTasks(mcp, tasks), (error: Error) => {
      assert.ok(isInvalidArgumentError(error));
      assert.match(error.message, /attached already/);
      return true;
    });
    await tasks.close();
  });

  it("refuses what is no server, no lifecycle and no function, and says so", async () => {
    const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
    const mcp = new McpServer({ name: "wrong", version: "1.0.0" });
    for (
      const [args, message] of [
        [[mcp.server, tasks], /the server is .+, an McpServer .+ is needed/],
        [[undefined, tasks], /the server is undefined/],
        [
          [{ server: { assertCanSetRequestHandler() {} } }, tasks],
          /of an SDK that speaks no revision with tasks, .* from 2\.3\.0 on/,
        ],
        [[mcp, undefined], /the lifecycle is undefined, a TaskLifecycle/],
        [[mcp, tasks, { owner: "ann" }], /owner: the value is "ann"/],
        [[mcp, tasks, { onError: 7 }], /onError: the value is 7/],
        [[mcp, tasks, { waitUntil: 7 }], /waitUntil: the value is 7/],
        [
          [mcp, tasks, { pollLimiter: {} }],
          /an object, a PollLimiter is needed/,
        ],
        [[mcp, tasks, { requestState: "x" }], /createRequestStateCodec\(\)/],
        [[mcp, tasks, null], /the options are null, an object/],
        [
          [mcp, tasks, { onerror() {} }],
          /Cannot attach tasks: there is no option "onerror"; did you mean onError\?/,
        ],
      ] as const
    ) {
      assert.throws(
        () => attachTasks(...args as unknown as [McpServer, TaskLifecycle]),
        (error: Error) => {
          assert.ok(isInvalidArgumentError(error), error.message);
          assert.match(error.message, message);
          return true;
        },
      );
    }
    attachTasks(mcp, tasks);
    await tasks.close();
  });
});

describe("an argument that the host has wrong", () => {
  const wrongs: Record<string, HostOptions> = {
    "an owner that is no string": { attach: { owner: () => 7 as never } },
    "a clock that gives no time": { lifecycle: { now: () => NaN } },
    "an id that is none": { lifecycle: { generateTaskId: () => 7 as never } },
  };
  for (const [name, wrong] of Object.entries(wrongs)) {
    it(`is the host's to know, not the client's: ${name}`, async () => {
      const tools: HostOptions["tools"] = ({ registerTool }) =>
        registerTool("tool", {}, () => {});
      const host = await startHost({ ...wrong, tools });
      const call = { name: "tool", arguments: {} };
      const { error } = await send(host.url, "tools/call", call);
      assert.deepEqual(error, { code: -32603, message: "Internal error" });
      assert.equal(host.errors.length, 1);
      assert.ok(isInvalidArgumentError(host.errors[0].error));
      await host.close();
    });
  }
});

describe("the names that handlers have inside", () => {
  it("are unknown to clients, like any other method", async () => {
    const host = await startHost();
    const { taskId } = await host.tasks.createTask({ owner });
    for (const method of ["get", "update", "cancel"]) {
      const name = `io.mcp-durable/tasks/${method}`;
      for (const capabilities of [undefined, {}]) {
        const options = { capabilities };
        const inside = await sendAny(host.url, name, { taskId }, options);
        const other = await sendAny(host.url, "a/b", { taskId }, options);
        assert.equal(inside.error?.code, -32601);
        assert.equal(inside.body, other.body);
      }
    }
    await host.close();
  });
});

describe("tasks/get", () => {
  it("shows a task whatever its state, as the lifecycle does", async () => {
    const host = await startHost();
    const created = await host.tasks.createTask({
      owner,
      ttlMs: 90_000,
      pollIntervalMs: 70,
      statusMessage: "queued",
    });
    const { taskId } = created;
    const { result } = await send(host.url, "tasks/get", { taskId });
    const { _meta, ...task } = result;
    assert.deepEqual(task, { ...created, resultType: "complete" });

    await host.tasks.handle(taskId).fail({
      code: -32050,
      message: "no disk",
      data: { tried: 2 },
    });
    const failed = (await send(host.url, "tasks/get", { taskId })).result;
    assert.equal(failed.status, "failed");
    assert.deepEqual(failed.error, {
      code: -32050,
      message: "no disk",
      data: { tried: 2 },
    });
    assert.equal(failed.statusMessage, "no disk");
    await host.close();
  });

  it("completes a result that lacks resultType and content", async () => {
    const host = await startHost();
    const results = [
      [{}, { resultType: "complete", content: [] }],
      [{ structuredContent: { n: 7 } }, {
        resultType: "complete",
        content: [],
        structuredContent: { n: 7 },
      }],
      [{ structuredContent: [1, 2] }, {
        resultType: "complete",
        content: [{ type: "text", text: "[1,2]" }],
        structuredContent: [1, 2],
      }],
      [{ structuredContent: 5, content: [{ type: "text", text: "five" }] }, {
        resultType: "complete",
        content: [{ type: "text", text: "five" }],
        structuredContent: 5,
      }],
      [{ isError: true, content: [{ type: "text", text: "no" }] }, {
        resultType: "complete",
        content: [{ type: "text", text: "no" }],
        isError: true,
      }],
    ] as const;
    for (const [given, shown] of results) {
      const { taskId } = await host.tasks.createTask({ owner });
      await host.tasks.handle(taskId).complete(given);
      const { result } = await send(host.url, "tasks/get", { taskId });
      assert.deepEqual(result.result, shown);
    }
    await host.close();
  });

  it("leaves the result of any other request as it is", async () => {
    const host = await startHost();
    const result = { messages: [{ role: "user" }] };
    for (const method of ["prompts/get", "tools/call"]) {
      const { taskId } = await host.tasks.createTask({ owner, method });
      await host.tasks.handle(taskId).complete(result);
      const got = await sendAny(host.url, "tasks/get", { taskId });
      assert.deepEqual(
        got.result.result,
        method === "tools/call"
          ? { ...result, resultType: "complete", content: [] }
          : result,
      );
    }
    await host.close();
  });

  it("answers -32602 for an id that is unknown or no string", async () => {
    const host = await startHost();
    for (const taskId of ["unknown", "", "__proto__"]) {
      const { error } = await send(host.url, "tasks/get", { taskId });
      assert.equal(error?.code, -32602, taskId);
    }
    for (const params of [{}, { taskId: 7 }, { taskId: null }]) {
      const { error } = await send(host.url, "tasks/get", params);
      assert.equal(error?.code, -32602, JSON.stringify(params));
    }
    await host.close();
  });

  it("answers -32602 for an id that has expired, like an unknown one", async () => {
    let now = 1_000_000;
    const host = await startHost({ lifecycle: { now: () => now } });
    const { taskId } = await host.tasks.createTask({ owner, ttlMs: 500 });
    now += 499;
    assert.ok((await send(host.url, "tasks/get", { taskId })).result);
    now += 1;
    const expired = await send(host.url, "tasks/get", { taskId });
    const unknown = await send(host.url, "tasks/get", { taskId: "unknown" });
    assert.equal(expired.body, unknown.body.replace("unknown", taskId));
    await host.close();
  });
});

describe("tasks/update", () => {
  /** A task that waits for two answers. */
  async function asking() {
    const host = await startHost();
    const { taskId } = await host.tasks.createTask({ owner });
    const answers = host.tasks.handle(taskId).requestInput({
      a: QUESTION,
      b: QUESTION,
    });
    const update = (inputResponses?: unknown) =>
      send(host.url, "tasks/update", {
        taskId,
        ...(inputResponses !== undefined && { inputResponses }),
      });
    const open = async () => {
      const { result } = await send(host.url, "tasks/get", { taskId });
      return [result.status, Object.keys(result.inputRequests ?? {})];
    };
    for (;;) if ((await open())[0] === "input_required") break;
    return { host, answers, update, open };
  }

  const accept = (count: unknown) => ({ action: "accept", content: { count } });

  it("takes a part of the answers, and ignores what was not asked", async () => {
    const { host, answers, update, open } = await asking();
    const { result } = await update({ a: accept(3), z: accept(4) });
    const { _meta, ...acknowledgement } = result;
    assert.deepEqual(acknowledgement, { resultType: "complete" });
    assert.deepEqual(await open(), ["input_required", ["b"]]);
    await update({ a: accept(5), b: { action: "decline" } });
    assert.deepEqual(await answers, {
      a: accept(3),
      b: { action: "decline" },
    });
    assert.deepEqual(await open(), ["working", []]);
    assert.ok((await update({ a: accept(6) })).result);
    await host.close();
  });

  it("refuses a wrong answer by its key, and takes the good ones", async () => {
    for (
      const wrong of [accept("many"), 7, null, "three", { result: accept(3) }]
    ) {
      const { host, answers, update, open } = await asking();
      const { error } = await update({ a: wrong, b: accept(8) });
      assert.equal(error?.code, -32602, JSON.stringify(wrong));
      assert.match(error.message, /"a"/);
      assert.doesNotMatch(error.message, /"b"/);
      assert.deepEqual(await open(), ["input_required", ["a"]]);
      await update({ a: accept(9) });
      assert.deepEqual(await answers, { a: accept(9), b: accept(8) });
      await host.close();
    }
  });

  it("answers -32602 when the answers are no object, and says what they are", async () => {
    const { host, answers, update, open } = await asking();
    for (
      const [wrong, shown] of [
        [null, /inputResponses is null/],
        [[], /inputResponses is an array of 0/],
        [[accept(3)], /inputResponses is an array of 1/],
        ["a", /inputResponses is "a"/],
        [7, /inputResponses is 7/],
        [false, /inputResponses is false/],
      ] as const
    ) {
      const { error } = await update(wrong);
      assert.equal(error?.code, -32602, JSON.stringify(wrong));
      assert.match(error.message, shown);
    }
    assert.deepEqual(await open(), ["input_required", ["a", "b"]]);
    answers.catch(() => {});
    await host.close();
  });

  it("takes an answer under the key __proto__", async () => {
    const host = await startHost();
    const { taskId } = await host.tasks.createTask({ owner });
    const requests = JSON.parse(
      `{"__proto__":${JSON.stringify(QUESTION)}}`,
    );
    const answers = host.tasks.handle(taskId).requestInput(requests);
    for (;;) {
      const { result } = await send(host.url, "tasks/get", { taskId });
      if (result.status === "input_required") break;
    }
    const inputResponses = JSON.parse(
      `{"__proto__":${JSON.stringify(accept(3))}}`,
    );
    await send(host.url, "tasks/update", { taskId, inputResponses });
    assert.deepEqual(Object.entries(await answers), [["__proto__", accept(3)]]);
    await host.close();
  });

  it("answers -32602 when there are no answers at all", async () => {
    const { host, answers, update, open } = await asking();
    const { error } = await update();
    assert.equal(error?.code, -32602);
    assert.match(error.message, /inputResponses/);
    assert.deepEqual(await open(), ["input_required", ["a", "b"]]);
    answers.catch(() => {});
    await host.close();
  });
});

describe("tasks/cancel", () => {
  it("is acknowledged, aborts the signal, and changes no status", async () => {
    const host = await startHost();
    const { taskId } = await host.tasks.createTask({ owner });
    const { signal } = host.tasks.handle(taskId);
    for (let times = 0; times < 2; times++) {
      const { result } = await send(host.url, "tasks/cancel", { taskId });
      assert.equal(result.resultType, "complete");
    }
    assert.equal(signal.reason.code, "ERR_TASK_CANCELLED");
    const { result } = await send(host.url, "tasks/get", { taskId });
    assert.equal(result.status, "working");
    await host.tasks.handle(taskId).cancelled();
    assert.ok((await send(host.url, "tasks/cancel", { taskId })).result);
    await host.close();
  });
});

describe("an unexpected error", () => {
  it("is -32603 without a word for the client, and whole for the host", async () => {
    const store = new BrokenStore();
    const host = await startHost({ store });
    const { taskId } = await host.tasks.createTask({ owner });
    store.broken = true;
    for (
      const [method, params] of [
        ["tasks/get", {}],
        ["tasks/update", { inputResponses: {} }],
        ["tasks/cancel", {}],
      ] as const
    ) {
      host.errors.length = 0;
      const { error, body } = await send(host.url, method, {
        ...params,
        taskId,
      });
      assert.deepEqual(error, { code: -32603, message: "Internal error" });
      assert.doesNotMatch(body, /EIO|secret/);
      const [heard] = host.errors;
      assert.deepEqual(heard.where, { method, taskId });
      assert.match(String((heard.error as Error).cause), /EIO: \/secret\/disk/);
    }
    await host.close();
  });

  it("is the same when the host's own owner() or onError() throws", async () => {
    const host = await startHost({
      attach: {
        owner: () => {
          throw new Error("no database at 10.0.0.7");
        },
        onError: () => {
          throw new Error("no logger");
        },
      },
    });
    const { error } = await send(host.url, "tasks/get", { taskId: "x" });
    assert.deepEqual(error, { code: -32603, message: "Internal error" });
    await host.close();
  });
});
