import assert from "node:assert/strict";
import { tapRequests } from "../../src/mcp/requests.ts";
import { RpcError } from "../../src/mcp/rpc_error.ts";
import type { RequestContextLike } from "../../src/mcp/shapes.ts";
import { describe, it } from "../support/runner.ts";

type Receiver = (message: unknown) => void;

/** A server whose receiver notes what it gets, and its transport. */
async function connect() {
  const received: unknown[] = [];
  const sent: unknown[] = [];
  const transport = () => ({
    onmessage: undefined as Receiver | undefined,
    send(message: unknown): Promise<void> {
      sent.push(message);
      return Promise.resolve();
    },
  });
  const server = {
    registerCapabilities() {},
    assertCanSetRequestHandler() {},
    setRequestHandler() {},
    getNegotiatedProtocolVersion: () => "2026-07-28",
    getClientCapabilities: () => undefined,
    connect(transport: { onmessage?: Receiver }): Promise<void> {
      transport.onmessage = (message) => void received.push(message);
      return Promise.resolve();
    },
  };
  const refusal = new RpcError(-32021, "no", { needed: 1 });
  const params = tapRequests(
    server,
    (method) =>
      method === "kept"
        ? {}
        : method === "moved"
        ? { method: "elsewhere" }
        : method === "refused"
        ? { refusal }
        : undefined,
  );
  const open = async () => {
    const near = transport();
    await (server.connect as (t: unknown) => Promise<void>)(near);
    return near;
  };
  const of = (id: number | string) =>
    params({ mcpReq: { id } } as unknown as RequestContextLike);
  return { received, sent, open, of, near: await open() };
}

const request = (
  id: number | string,
  method: string,
  params?: object | null,
) => ({
  jsonrpc: "2.0",
  id,
  method,
  ...(params !== undefined && { params }),
});

describe("tapRequests()", () => {
  it("keeps the parameters of a request as they came until its answer", async () => {
    const { near, of, received } = await connect();
    const params = JSON.parse('{"__proto__":1,"a":[null]}');
    near.onmessage!(request(1, "kept", params));
    near.onmessage!(request("1", "kept", { b: 2 }));
    near.onmessage!(request(2, "other", { c: 3 }));
    assert.equal(of(1), params);
    assert.deepEqual([of("1"), of(2)], [{ b: 2 }, {}]);
    assert.equal(received.length, 3);
    await near.send(request(1, "notifications/progress"));
    assert.equal(of(1), params);
    await near.send({ jsonrpc: "2.0", id: 1, result: {} });
    assert.deepEqual([of(1), of("1")], [{}, { b: 2 }]);
    await near.send({ jsonrpc: "2.0", id: "1", error: {} });
    assert.deepEqual(of("1"), {});
  });

  it("forgets a request that is cancelled, and all when a new connection begins", async () => {
    const { near, of, open } = await connect();
    near.onmessage!(request(1, "kept", { a: 1 }));
    near.onmessage!(request(2, "kept", { b: 2 }));
    near.onmessage!({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: 1 },
    });
    assert.deepEqual([of(1), of(2)], [{}, { b: 2 }]);
    await open();
    assert.deepEqual(of(2), {});
  });

  it("gives a request to another handler, and touches nothing else of it", async () => {
    const { near, received, of } = await connect();
    const moved = request(1, "moved", { a: 1 });
    near.onmessage!(moved);
    assert.deepEqual(received, [{ ...moved, method: "elsewhere" }]);
    assert.equal(moved.method, "moved");
    assert.deepEqual(of(1), { a: 1 });
  });

  it("puts a refusal in the place of a result, not of an error, once", async () => {
    const { near, sent } = await connect();
    const result = { jsonrpc: "2.0", id: 1, result: {} };
    const error = { jsonrpc: "2.0", id: 1, error: { code: -1, message: "" } };
    near.onmessage!(request(1, "refused"));
    await near.send(result);
    await near.send(result);
    near.onmessage!(request(1, "refused"));
    await near.send(error);
    const refused = { code: -32021, message: "no", data: { needed: 1 } };
    assert.deepEqual(sent, [
      { jsonrpc: "2.0", id: 1, error: refused },
      result,
      error,
    ]);
  });

  it("lets anything through that is no request", async () => {
    const { near, received } = await connect();
    const odd = [
      {},
      { id: 1 },
      { id: 1, method: 5 },
      { method: "notifications/cancelled" },
      { method: "notifications/cancelled", params: null },
      request(1, "kept", null),
    ];
    for (const message of odd) near.onmessage!(message);
    assert.deepEqual(received, odd);
  });
});
