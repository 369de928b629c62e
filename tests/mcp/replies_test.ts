import assert from "node:assert/strict";
import { tapReplies } from "../../src/mcp/replies.ts";
import { describe, it } from "../support/runner.ts";

/** A server on one connection, and what it has sent. */
async function connect() {
  const sent: unknown[] = [];
  const transport = {
    send(message: unknown): Promise<void> {
      sent.push(message);
      return Promise.resolve();
    },
  };
  const server = {
    registerCapabilities() {},
    assertCanSetRequestHandler() {},
    setRequestHandler() {},
    getNegotiatedProtocolVersion: () => "2026-07-28",
    getClientCapabilities: () => undefined,
    connect: () => Promise.resolve(),
  };
  const reply = tapReplies(server);
  await (server.connect as (transport: unknown) => Promise<void>)(transport);
  const request = (id: number | string) => {
    const controller = new AbortController();
    const ctx = {
      mcpReq: {
        id,
        method: "tools/call",
        signal: controller.signal,
        notify: () => Promise.resolve(),
      },
    };
    return { ctx, abort: () => controller.abort() };
  };
  return { sent, transport, reply, request };
}

describe("tapReplies()", () => {
  it("puts a result in the place of the SDK's, and keeps its _meta", async () => {
    const { sent, transport, reply, request } = await connect();
    assert.deepEqual(reply(request(5).ctx, { result: { taskId: "t" } }), {
      content: [],
      isError: true,
    });
    const sdks = { content: [], isError: true, _meta: { server: "s" } };
    await transport.send({ jsonrpc: "2.0", id: 5, result: sdks });
    assert.deepEqual(sent, [{
      jsonrpc: "2.0",
      id: 5,
      result: { taskId: "t", _meta: { server: "s" } },
    }]);
  });

  it("puts an error in the place of a result, with nothing but its own members", async () => {
    const { sent, transport, reply, request } = await connect();
    const error = Object.assign(new Error("no"), { code: -32603, data: [1] });
    reply(request("a").ctx, { error });
    await transport.send({ jsonrpc: "2.0", id: "a", result: {} });
    assert.deepEqual(sent, [{
      jsonrpc: "2.0",
      id: "a",
      error: { code: -32603, message: "no", data: [1] },
    }]);
  });

  it("touches no other message: requests, notifications, other answers", async () => {
    const { sent, transport, reply, request } = await connect();
    reply(request(1).ctx, { result: { taskId: "t" } });
    const others = [
      { jsonrpc: "2.0", id: 1, method: "ping" },
      { jsonrpc: "2.0", method: "notifications/progress" },
      { jsonrpc: "2.0", id: "1", result: {} },
      { jsonrpc: "2.0", id: 2, result: {} },
    ];
    for (const message of others) await transport.send(message);
    assert.deepEqual(sent, others);
  });

  it("answers once, and never for a request that was cancelled", async () => {
    const { sent, transport, reply, request } = await connect();
    const answer = { jsonrpc: "2.0", id: 1, result: { content: [] } };
    const cancelled = request(1);
    reply(cancelled.ctx, { result: { taskId: "first" } });
    cancelled.abort();
    await transport.send(answer);

    const late = request(1);
    late.abort();
    reply(late.ctx, { result: { taskId: "second" } });
    await transport.send(answer);

    const answered = request(1);
    reply(answered.ctx, { result: { taskId: "third" } });
    await transport.send(answer);
    await transport.send(answer);

    const reused = request(1);
    reply(reused.ctx, { result: { taskId: "fourth" } });
    answered.abort(); // As the SDK does some time after the answer.
    await transport.send(answer);

    const ids = sent.map((m) =>
      (m as { result: { taskId?: string } }).result.taskId
    );
    assert.deepEqual(ids, [undefined, undefined, "third", undefined, "fourth"]);
  });
});
