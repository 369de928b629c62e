import assert from "node:assert/strict";
import process from "node:process";
import {
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { openTaskClient } from "../../examples/crash_recovery/client.ts";
import { OneProcessTransport } from "../../examples/crash_recovery/server_process.ts";
import { scriptCommand } from "../support/child.ts";
import { startListenHost } from "../support/mcp_listen.ts";
import { slowlyPolledTools } from "../support/mcp_listen_tools.ts";
import { describe, it } from "../support/runner.ts";

/** A transport to a server with the slowly polled tools, and how to end the server. */
interface Reach {
  readonly transport: Transport;
  readonly close: () => Promise<void>;
}

const TRANSPORTS: Readonly<Record<string, () => Promise<Reach>>> = {
  "Streamable HTTP": async () => {
    const host = await startListenHost({ tools: slowlyPolledTools() });
    return {
      transport: new StreamableHTTPClientTransport(host.url),
      close: () => host.close(),
    };
  },
  stdio: () => {
    const [command, args] = scriptCommand(
      new URL("../support/mcp_listen_server.ts", import.meta.url),
    );
    const env = { ...process.env as Record<string, string> };
    const transport = new OneProcessTransport({
      command,
      args,
      env,
      stderr: "ignore",
    });
    return Promise.resolve({
      transport,
      // Not by transport.close(), which leaves timers of two seconds behind.
      close: () =>
        new Promise((resolve) => {
          const { onclose, pid } = transport;
          transport.onclose = () => {
            onclose?.();
            resolve();
          };
          process.kill(pid!, "SIGTERM");
        }),
    });
  },
};

const OPTIONS: Parameters<typeof openTaskClient>[1] = {
  endpointId: "tests",
  onInputRequest: () =>
    Promise.resolve({ action: "accept", content: { count: 21 } } as never),
};

for (const [name, reach] of Object.entries(TRANSPORTS)) {
  describe(`the official client that listens over ${name}`, () => {
    it("settles a task by what is pushed, long before it polls again", async () => {
      const { transport, close } = await reach();
      const { client, session } = await openTaskClient(transport, OPTIONS);
      try {
        const execution = await session.callTool("job");
        assert.equal(execution.kind, "task");
        const { taskId } = execution.handle as unknown as { taskId: string };
        const subscription = await client.listen(
          { taskIds: [taskId] } as Parameters<typeof client.listen>[0],
        );
        const { promise: polled, resolve } = Promise.withResolvers<void>();
        const seen: unknown[] = [];
        const settled = execution.settle({
          onEvent: (event) => {
            if (event.type !== "task") return;
            seen.push(event.task.statusMessage ?? event.task.status);
            resolve();
          },
        });
        await polled;
        const startedAt = Date.now();
        await client.callTool({ name: "go", arguments: {} });
        const { outcome } = await settled;
        assert.ok(Date.now() - startedAt < 15_000);
        assert.equal(outcome.status, "completed");
        assert.deepEqual(outcome.result, {
          resultType: "complete",
          content: [{ type: "text", text: "42" }],
        });
        assert.ok(seen.includes("started"), JSON.stringify(seen));
        assert.equal(await subscription.closed, "graceful");
      } finally {
        await session.close();
        await close();
        await client.close();
      }
    });

    it("may stop listening, and listen again", async () => {
      const { transport, close } = await reach();
      const { client, session } = await openTaskClient(transport, OPTIONS);
      try {
        const execution = await session.callTool("job");
        const { taskId } = execution.handle as unknown as { taskId: string };
        const filter = { taskIds: [taskId] } as Parameters<
          typeof client.listen
        >[0];
        const { promise: told, resolve } = Promise.withResolvers<unknown>();
        const first = await client.listen(filter);
        await first.close();
        assert.equal(await first.closed, "local");
        const fallback = client.fallbackNotificationHandler;
        client.fallbackNotificationHandler = async (notification) => {
          await fallback?.(notification);
          const { statusMessage } = notification.params ?? {};
          if (statusMessage !== undefined) resolve(statusMessage);
        };
        const second = await client.listen(filter);
        const settled = execution.settle();
        await client.callTool({ name: "go", arguments: {} });
        assert.equal(await told, "started");
        assert.equal((await settled).outcome.status, "completed");
        assert.equal(await second.closed, "graceful");
      } finally {
        await session.close();
        await close();
        await client.close();
      }
    });
  });
}
