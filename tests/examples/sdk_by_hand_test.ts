import assert from "node:assert/strict";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  openTaskClient,
  type TaskClient,
} from "../../examples/crash_recovery/client.ts";
import {
  freePort,
  makeExampleProject,
  whileServing,
} from "../support/example_project.ts";
import { send, sendLegacy } from "../support/mcp_frames.ts";
import { describe, it } from "../support/runner.ts";

const UNKNOWN = "7d3a5f4e-0000-4000-8000-000000000000";
const GREET = { name: "greet", arguments: {} };
const ADA = { action: "accept", content: { name: "Ada" } };

/** Runs the example's server, as a user would. */
async function withServer(body: (url: URL) => Promise<void>): Promise<void> {
  const port = await freePort();
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  const project = await makeExampleProject("sdk_by_hand", { port });
  try {
    await whileServing(project, url, () => body(url));
  } finally {
    await project.remove();
  }
}

async function withClient(
  url: URL,
  body: (client: TaskClient) => Promise<void>,
): Promise<void> {
  const client = await openTaskClient(new StreamableHTTPClientTransport(url), {
    endpointId: "by-hand",
    onInputRequest: () => Promise.resolve(ADA as never),
  });
  await body(client);
  await client.close();
}

describe("examples/sdk_by_hand", () => {
  it("serves a task whose question the official client answers", () =>
    withServer((url) =>
      withClient(url, async ({ session }) => {
        const execution = await session.callTool("greet");
        assert.equal(execution.kind, "task");
        const { outcome } = await execution.settle();
        assert.equal(outcome.status, "completed");
        assert.deepEqual(outcome.result, {
          resultType: "complete",
          content: [{ type: "text", text: "Hello, Ada!" }],
        });
      })
    ));

  it("cancels", () =>
    withServer((url) =>
      withClient(url, async ({ session }) => {
        const execution = await session.callTool("greet");
        assert.equal(execution.kind, "task");
        await session.cancelTask(execution.handle.taskId);
        const { outcome } = await execution.settle();
        assert.equal(outcome.status, "cancelled");
      })
    ));

  it("pushes a task from onTaskChanged() as it changes", () =>
    withServer((url) =>
      withClient(url, async ({ client }) => {
        const { taskId } = (await send(url, "tools/call", GREET)).result;
        const seen: unknown[] = [];
        client.fallbackNotificationHandler = (notification) => {
          seen.push([notification.method, notification.params?.status]);
          return Promise.resolve();
        };
        const filter = { taskIds: [taskId, UNKNOWN] };
        const subscription = await client.listen(
          filter as Parameters<typeof client.listen>[0],
        );
        await send(url, "tasks/update", {
          taskId,
          inputResponses: { who: ADA },
        });
        assert.equal(await subscription.closed, "graceful");
        assert.deepEqual(seen.at(-1), ["notifications/tasks", "completed"]);
        assert.ok(seen.length > 1, JSON.stringify(seen));
      })
    ));

  it("answers what it must not serve as the specification says", () =>
    withServer(async (url) => {
      const { taskId } = (await send(url, "tools/call", GREET)).result;
      const get = (id: string, options = {}) =>
        send(url, "tasks/get", { taskId: id }, options);

      assert.ok(["working", "input_required"].includes(
        (await get(taskId)).result.status,
      ));
      assert.equal((await get(UNKNOWN)).error?.code, -32602);
      const update = await send(url, "tasks/update", { taskId });
      assert.equal(update.error?.code, -32602);

      const undeclared = { capabilities: { elicitation: { form: {} } } };
      const refused = await get(taskId, undeclared);
      assert.equal(refused.status, 400);
      assert.equal(refused.error?.code, -32021);
      assert.deepEqual(refused.error?.data, {
        requiredCapabilities: {
          extensions: { "io.modelcontextprotocol/tasks": {} },
        },
      });
      const listen = await send(url, "subscriptions/listen", {
        notifications: { taskIds: [taskId] },
      }, undeclared);
      assert.equal(listen.error?.code, -32021);
      const called = await send(url, "tools/call", GREET, undeclared);
      assert.equal(called.result.content[0].text, "Hello, whoever you are!");
      const extensions = { "io.modelcontextprotocol/tasks": {} };
      for (const more of [{}, { elicitation: { url: {} } }]) {
        const capabilities = { extensions, ...more };
        const unasked = await send(url, "tools/call", GREET, { capabilities });
        assert.equal(unasked.result.resultType, "complete");
      }

      const legacy = await sendLegacy(url, "tasks/get", { taskId });
      assert.equal(legacy.error?.code, -32601);
    }));

  it("leaves the headers to the SDK: -32020 where Mcp-Name is not the task", () =>
    withServer(async (url) => {
      const { taskId } = (await send(url, "tools/call", GREET)).result;
      const wrong = await send(url, "tasks/get", { taskId }, { name: UNKNOWN });
      assert.equal(wrong.status, 400);
      assert.equal(wrong.error?.code, -32020);
    }));
});
