import assert from "node:assert/strict";
import { ProtocolError } from "@modelcontextprotocol/server";
import { z } from "zod";
import {
  type ElicitResult,
  isDuplicateInputKeyError,
  isInputUnavailableError,
  MemoryTaskStore,
  StoreFailedError,
  type TaskRecord,
} from "../../mod.ts";
import type { TaskToolConfig, TaskToolWorker } from "../../mcp.ts";
import { DECLARED, send } from "../support/mcp_frames.ts";
import { type McpHost, reaches, startHost } from "../support/mcp_host.ts";
import { howMany } from "../support/mcp_tools.ts";
import { describe, it } from "../support/runner.ts";

const UNDECLARED = { elicitation: { form: {} } };

const accept = (count: number) => ({ action: "accept", content: { count } });

const text = (text: string) => ({
  content: [{ type: "text" as const, text }],
});

const inputSchema = z.object({ of: z.number().default(1) });
type Input = typeof inputSchema;

class CountingStore extends MemoryTaskStore {
  created = 0;
  override create(record: TaskRecord): Promise<void> {
    this.created++;
    return super.create(record);
  }
}

async function hostOf(
  before: TaskToolConfig<Input>["before"],
  worker: TaskToolWorker<Input> = () => text("the work"),
  more: Omit<TaskToolConfig<Input>, "before"> = {},
): Promise<{ host: McpHost; store: CountingStore }> {
  const store = new CountingStore();
  const host = await startHost({
    store,
    tools: ({ registerTool }) =>
      registerTool("tool", { inputSchema, ...more, before }, worker),
  });
  return { host, store };
}

function call(
  host: McpHost,
  more: object = {},
  capabilities: object = DECLARED,
) {
  return send(
    host.url,
    "tools/call",
    { name: "tool", arguments: {}, ...more },
    {
      capabilities,
    },
  );
}

describe("TaskToolConfig.before", () => {
  it("may answer at once, with no task and no worker", async () => {
    let runs = 0;
    const { host, store } = await hostOf(
      ({ of }, { deferred }) =>
        of === 7 ? text(`at once, deferred: ${deferred}`) : undefined,
      () => {
        runs++;
      },
    );
    const at7 = { arguments: { of: 7 } };
    const declared = await call(host, at7);
    assert.equal(declared.result.resultType, "complete");
    assert.equal(declared.result.content[0].text, "at once, deferred: true");
    const undeclared = await call(host, at7, UNDECLARED);
    assert.equal(undeclared.result.content[0].text, "at once, deferred: false");
    assert.deepEqual([store.created, runs], [0, 0]);
    assert.equal((await call(host)).result.resultType, "task");
    assert.equal(store.created, 1);
    await host.close();
  });

  it("asks first, and only then is there a task, whose worker gets the answers", async () => {
    const { host, store } = await hostOf(
      async (_args, { requestInput }) => {
        await requestInput({ a: howMany("A?") });
        await requestInput({ b: howMany("B?") });
      },
      (_args, _task, { answers, call }) => {
        assert.deepEqual(call.answers, answers);
        const counts = Object.entries(answers).map(([key, answer]) =>
          `${key}${(answer as ElicitResult).content!.count}`
        );
        return text(counts.join());
      },
    );
    for (const capabilities of [DECLARED, UNDECLARED]) {
      const first = await call(host, {}, capabilities);
      assert.deepEqual(first.result.inputRequests, { a: howMany("A?") });
      const second = await call(host, {
        inputResponses: { a: accept(4) },
        requestState: first.result.requestState,
      }, capabilities);
      assert.deepEqual(second.result.inputRequests, { b: howMany("B?") });
      assert.equal(store.created, 0);
      const { result } = await call(host, {
        inputResponses: { b: accept(5) },
        requestState: second.result.requestState,
      }, capabilities);
      if (capabilities === UNDECLARED) {
        assert.equal(result.content[0].text, "a4,b5");
        continue;
      }
      assert.equal(result.resultType, "task");
      const task = await reaches(host, result.taskId, "completed");
      assert.ok(task.status === "completed");
      assert.deepEqual(task.result.content, text("a4,b5").content);
      store.created = 0;
    }
    await host.close();
  });

  it("may answer by what was answered", async () => {
    const { host, store } = await hostOf(async (_args, { requestInput }) => {
      const { a } = await requestInput({ a: howMany("A?") });
      return (a as ElicitResult).action === "accept"
        ? undefined
        : text("never mind");
    });
    const first = await call(host);
    const { requestState } = first.result;
    const declined = await call(host, {
      requestState,
      inputResponses: { a: { action: "decline" } },
    });
    assert.deepEqual(declined.result.content, text("never mind").content);
    assert.equal(store.created, 0);
    await host.close();
  });

  it("asks also what it does not wait for", async () => {
    const { host, store } = await hostOf((_args, { requestInput }) => {
      void requestInput({ a: howMany("A?") });
      void requestInput({ a: howMany("A?") });
      void requestInput({ b: { method: "roots/list" } });
    });
    const { result } = await call(host);
    assert.deepEqual(result.inputRequests, { a: howMany("A?") });
    assert.equal(store.created, 0);
    await host.close();
  });

  it("keeps its keys from the worker", async () => {
    const caught: unknown[] = [];
    const { host } = await hostOf(
      async (_args, { requestInput }) => {
        await requestInput({ a: howMany("A?") });
      },
      async (_args, task) => {
        caught.push(
          await task.requestInput({ a: howMany("A?") }).catch((e) => e),
        );
        return text("on");
      },
    );
    for (const capabilities of [DECLARED, UNDECLARED]) {
      const { requestState } = (await call(host, {}, capabilities)).result;
      const { result } = await call(host, {
        requestState,
        inputResponses: { a: accept(1) },
      }, capabilities);
      if (result.taskId) await reaches(host, result.taskId, "completed");
      assert.ok(isDuplicateInputKeyError(caught.at(-1)));
    }
    await host.close();
  });

  it("is not asked what the client did not declare, and may do without", async () => {
    const { host } = await hostOf(async (_args, { requestInput }) => {
      const error = await requestInput({ a: { method: "roots/list" } })
        .catch((error: unknown) => error);
      assert.ok(isInputUnavailableError(error));
      return text("without");
    });
    assert.equal((await call(host)).result.content[0].text, "without");
    await host.close();
  });

  it("throws as a worker does", async () => {
    let thrown: unknown;
    const { host, store } = await hostOf(() => {
      throw thrown;
    });
    thrown = new ProtocolError(-32055, "no index", { index: 3 });
    assert.deepEqual((await call(host)).error, {
      code: -32055,
      message: "no index",
      data: { index: 3 },
    });
    thrown = Object.assign(new Error("grpc"), { code: 14 });
    const { result } = await call(host);
    assert.equal(result.isError, true);
    assert.equal(result.content[0].text, "grpc");
    thrown = new StoreFailedError("read /secret/disk");
    assert.deepEqual((await call(host)).error, {
      code: -32603,
      message: "Internal error",
    });
    assert.equal(host.errors.length, 1);
    assert.equal(store.created, 0);
    await host.close();
  });

  it("does not run for a client that has to know tasks and does not", async () => {
    let runs = 0;
    const { host } = await hostOf(
      () => {
        runs++;
      },
      undefined,
      { task: { support: "required" } },
    );
    const { error } = await call(host, {}, UNDECLARED);
    assert.equal(error?.code, -32021);
    assert.equal(runs, 0);
    await host.close();
  });

  it("answers under the output schema", async () => {
    const { host } = await hostOf(
      ({ of }) => ({ structuredContent: { n: of === 7 ? "seven" : of } }),
      undefined,
      { outputSchema: z.object({ n: z.number() }) },
    );
    const good = await call(host, { arguments: { of: 6 } });
    assert.deepEqual(good.result.structuredContent, { n: 6 });
    const bad = await call(host, { arguments: { of: 7 } });
    assert.equal(bad.result.isError, true);
    await host.close();
  });
});
