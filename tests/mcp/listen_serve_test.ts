import assert from "node:assert/strict";
import { ANONYMOUS_OWNER } from "../../mcp.ts";
import {
  listen,
  type ListenHandler,
  listenHandler,
} from "../support/mcp_listen.ts";
import { describe, it, runtime, skip } from "../support/runner.ts";

/** Serves a handler with the runtime's own server. */
function serve({ handler }: ListenHandler): {
  readonly url: URL;
  readonly close: () => Promise<void>;
} {
  const address = { hostname: "127.0.0.1", port: 0 };
  if (runtime === "deno") {
    const server = Deno.serve(
      { ...address, onListen() {} },
      (request) => handler.fetch(request),
    );
    const url = new URL(`http://127.0.0.1:${server.addr.port}/mcp`);
    return { url, close: () => server.shutdown() };
  }
  const { Bun } = globalThis as unknown as {
    Bun: {
      serve(options: object): { port: number; stop(): Promise<void> };
    };
  };
  const server = Bun.serve({
    ...address,
    idleTimeout: 0,
    fetch: (request: Request) => handler.fetch(request),
  });
  const url = new URL(`http://127.0.0.1:${server.port}/mcp`);
  return { url, close: () => server.stop() };
}

if (runtime === "node") {
  skip("the runtime's own server", "Node's is what the other tests serve with");
} else {
  describe("the runtime's own server", () => {
    it("streams a task to its end", async () => {
      const host = listenHandler();
      const { url, close } = serve(host);
      const { taskId } = await host.tasks.createTask({
        owner: ANONYMOUS_OWNER,
      });
      const stream = await listen(url, { taskIds: [taskId] });
      await stream.next();
      await stream.task();
      for (let i = 0; i < 20; i++) {
        await host.tasks.handle(taskId).progress(`${i}`);
        assert.equal((await stream.task()).statusMessage, `${i}`);
      }
      await host.tasks.handle(taskId).complete({});
      assert.equal((await stream.task()).status, "completed");
      assert.equal((await stream.next()).result.resultType, "complete");
      assert.equal(await stream.next(), undefined);
      assert.equal(host.listeners(), 0);
      await host.handler.close();
      await close();
      await host.tasks.close();
    });

    it("lets go of a client that goes, and of one that does not read", async () => {
      const host = listenHandler();
      const { url, close } = serve(host);
      const { taskId } = await host.tasks.createTask({
        owner: ANONYMOUS_OWNER,
      });
      const task = host.tasks.handle(taskId);
      const listenersAre = async (count: number) => {
        while (host.listeners() !== count) {
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
      };
      for (let i = 0; i < 20; i++) {
        const stream = await listen(url, { taskIds: [taskId] });
        await stream.next();
        await stream.task();
        await stream.leave();
      }
      await listenersAre(0);

      const slow = await listen(url, { taskIds: [taskId] });
      await slow.next();
      await slow.task();
      const message = "x".repeat(4_000);
      while (host.listeners() > 0) {
        for (let i = 0; i < 50; i++) await task.progress(`${message}${i}`);
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      await slow.leave();
      await host.handler.close();
      await close();
      await host.tasks.close();
    });

    it("is not kept from ending by streams that are open", async () => {
      const host = listenHandler();
      const { url, close } = serve(host);
      const { taskId } = await host.tasks.createTask({
        owner: ANONYMOUS_OWNER,
      });
      const streams = [];
      for (let i = 0; i < 3; i++) {
        const stream = await listen(url, { taskIds: [taskId] });
        await stream.next();
        await stream.task();
        streams.push(stream);
      }
      await host.handler.close();
      for (const stream of streams) {
        assert.equal((await stream.next()).result.resultType, "complete");
        assert.equal(await stream.next(), undefined);
      }
      await close();
      await host.tasks.close();
    });
  });
}
