import assert from "node:assert/strict";
import {
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import type {
  TaskOutcome,
  TaskView,
} from "@modelcontextprotocol/ext-tasks/client";
import {
  openTaskClient,
  type TaskClient,
} from "../../examples/crash_recovery/client.ts";
import { scriptCommand } from "../support/child.ts";
import { startHost } from "../support/mcp_host.ts";
import { registerTools } from "../support/mcp_tools.ts";
import { describe, it } from "../support/runner.ts";
import { endServer, stdioTransport } from "../support/stdio_transport.ts";

/** A transport to a server with the tests' tools, and how to end the server. */
interface Reach {
  readonly transport: Transport;
  /** Ends the server; the client is still connected. */
  readonly close: () => Promise<void>;
}

const TRANSPORTS: Readonly<Record<string, () => Promise<Reach>>> = {
  "Streamable HTTP": async () => {
    const host = await startHost({ tools: registerTools });
    return {
      transport: new StreamableHTTPClientTransport(host.url),
      close: () => host.close(),
    };
  },
  stdio: () => {
    const transport = stdioTransport(scriptCommand(
      new URL("../support/mcp_stdio_server.ts", import.meta.url),
    ));
    return Promise.resolve({ transport, close: () => endServer(transport) });
  },
};

/** What the person answers. */
const ANSWER = { action: "accept", content: { count: 2 } };

/** Opens a session whose person answers 2 to everything, hands it out, and ends it all. */
async function withSession(
  reach: () => Promise<Reach>,
  body: (client: TaskClient, asked: string[]) => Promise<void>,
): Promise<void> {
  const { transport, close } = await reach();
  const asked: string[] = [];
  const client = await openTaskClient(transport, {
    endpointId: "tests",
    onInputRequest: (request) => {
      asked.push(`${request.params?.message}`);
      return Promise.resolve(ANSWER as never);
    },
  });
  try {
    await body(client, asked);
  } finally {
    await client.session.close();
    await close();
    await client.client.close();
  }
}

async function settle(
  { session }: TaskClient,
  tool: string,
  args: Record<string, number> = {},
): Promise<{ outcome: TaskOutcome<unknown>; seen: TaskView[] }> {
  const execution = await session.callTool(tool, args);
  assert.equal(execution.kind, "task");
  const seen: TaskView[] = [];
  const { outcome } = await execution.settle({
    onEvent: (event) => void (event.type === "task" && seen.push(event.task)),
  });
  return { outcome, seen };
}

for (const [name, reach] of Object.entries(TRANSPORTS)) {
  describe(`the official client over ${name}`, () => {
    it("gets an immediate result where the tool is no task", () =>
      withSession(reach, async ({ session }) => {
        const execution = await session.callTool("ping");
        assert.equal(execution.kind, "immediate");
        const { outcome } = await execution.settle();
        assert.equal(outcome.status, "completed");
      }));

    it("gets the result of a task, of a tool with an output schema", () =>
      withSession(reach, async (client) => {
        const { outcome, seen } = await settle(client, "double", { n: 21 });
        assert.equal(outcome.status, "completed");
        assert.deepEqual(outcome.result, {
          resultType: "complete",
          content: [{ type: "text", text: "42" }],
          structuredContent: { doubled: 42 },
        });
        assert.equal(seen[0].retentionMs, 120_000);
        assert.equal(seen[0].suggestedPollIntervalMs, 15);
      }));

    it("answers one question", () =>
      withSession(reach, async (client, asked) => {
        const { outcome } = await settle(client, "how_many");
        assert.equal(outcome.status, "completed");
        const { content } = outcome.result as { content: { text: string }[] };
        assert.deepEqual(JSON.parse(content[0].text), ANSWER);
        assert.deepEqual(asked, ["How many in all?"]);
      }));

    it("answers a question before there is a task, and one of the task", () =>
      withSession(reach, async (client, asked) => {
        const { outcome, seen } = await settle(client, "ask_first");
        assert.equal(outcome.status, "completed");
        const { content } = outcome.result as { content: { text: string }[] };
        assert.deepEqual(JSON.parse(content[0].text), [ANSWER, ANSWER]);
        assert.deepEqual(asked, ["How many first?", "How many then?"]);
        assert.equal(new Set(seen.map(({ taskId }) => taskId)).size, 1);
      }));

    it("sees a result with isError as completed", () =>
      withSession(reach, async (client) => {
        const { outcome } = await settle(client, "broken_lamp");
        assert.equal(outcome.status, "completed");
        assert.deepEqual(outcome.result, {
          resultType: "complete",
          content: [{ type: "text", text: "the lamp is broken" }],
          isError: true,
        });
      }));

    it("answers two questions at once, and then one", () =>
      withSession(reach, async (client, asked) => {
        const { outcome } = await settle(client, "sum");
        assert.equal(outcome.status, "completed");
        assert.deepEqual(
          (outcome.result as { content: unknown }).content,
          [{ type: "text", text: "6" }],
        );
        assert.deepEqual(asked.slice(0, 2).sort(), [
          "How many apples?",
          "How many bananas?",
        ]);
        assert.deepEqual(asked.slice(2), ["And more?"]);
      }));

    it("cancels", () =>
      withSession(reach, async ({ session }) => {
        const execution = await session.callTool("until_cancelled");
        assert.equal(execution.kind, "task");
        await session.cancelTask(execution.handle.taskId);
        const { outcome } = await execution.settle();
        assert.equal(outcome.status, "cancelled");
      }));

    it("sees a protocol error as failed", () =>
      withSession(reach, async (client) => {
        const { outcome } = await settle(client, "protocol_error");
        assert.equal(outcome.status, "failed");
        const { code, data, message } = outcome.error;
        assert.equal(code, -32055);
        assert.deepEqual(data, { index: 3 });
        assert.match(message, /the index is missing/);
      }));

    it("sees any other throw as completed with isError", () =>
      withSession(reach, async (client) => {
        const { outcome } = await settle(client, "tool_error");
        assert.equal(outcome.status, "completed");
        assert.deepEqual(outcome.result, {
          resultType: "complete",
          content: [{ type: "text", text: "the lamp is broken" }],
          isError: true,
        });
      }));

    it("finds a task again from its reference, in the middle of an input round", () =>
      withSession(reach, async ({ session }) => {
        const execution = await session.callTool("sum");
        assert.equal(execution.kind, "task");
        const reference = execution.serializeReference();
        await execution.detach();
        const task = session.task(reference.taskId);
        while ((await task.snapshot()).status !== "input_required");
        const again = await session.resumeTask(reference);
        const { outcome } = await again.settle();
        assert.equal(outcome.status, "completed");
      }));
  });
}
