/** What every small example does: its tool `hello` becomes a task that says hello. */

import assert from "node:assert/strict";
import type { Transport } from "@modelcontextprotocol/client";
import { openTaskClient } from "../../examples/crash_recovery/client.ts";

/**
 * Calls the tool with the official client, and waits for the task's result.
 *
 * @param transport A transport to the example's server.
 * @param end Ends the server, if the client would leave something behind.
 */
export async function assertSaysHello(
  transport: Transport,
  end: () => Promise<void> = async () => {},
): Promise<void> {
  const { client, session } = await openTaskClient(transport, {
    endpointId: "hello",
  });
  const execution = await session.callTool("hello");
  assert.equal(execution.kind, "task");
  const { outcome } = await execution.settle();
  assert.equal(outcome.status, "completed");
  assert.deepEqual((outcome.result as { content: unknown }).content, [
    { type: "text", text: "Hello, world!" },
  ]);
  await session.close();
  await end();
  await client.close();
}

/**
 * Calls the tool with the official client, and waits until a task that is done
 * was pushed.
 *
 * @param transport A transport to the example's server.
 * @param end Ends the server, if the client would leave something behind.
 */
export async function assertPushesHello(
  transport: Transport,
  end: () => Promise<void> = async () => {},
): Promise<void> {
  const { client, session } = await openTaskClient(transport, {
    endpointId: "hello",
  });
  const execution = await session.callTool("hello");
  assert.equal(execution.kind, "task");
  await execution.detach();
  const { taskId } = execution.handle;
  const pushed: unknown[] = [];
  client.fallbackNotificationHandler = ({ method, params }) => {
    pushed.push([method, params?.taskId, params?.status]);
    return Promise.resolve();
  };
  const subscription = await client.listen(
    { taskIds: [taskId] } as Parameters<typeof client.listen>[0],
  );
  assert.equal(await subscription.closed, "graceful");
  assert.deepEqual(pushed.at(-1), ["notifications/tasks", taskId, "completed"]);
  await session.close();
  await end();
  await client.close();
}
