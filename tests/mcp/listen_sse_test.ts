import assert from "node:assert/strict";
import {
  commentFrame,
  messageFrame,
  readMessages,
} from "../../src/mcp/listen_sse.ts";
import { describe, it } from "../support/runner.ts";

const MESSAGES = [
  { jsonrpc: "2.0", method: "a", params: { text: "ein Ü, ein 🐟\n\n" } },
  { jsonrpc: "2.0", id: 0, result: {} },
];

/** A stream of the messages with a comment between them, in pieces. */
function inPieces(length: number): ReadableStream<Uint8Array> {
  const [first, last] = MESSAGES.map(messageFrame);
  const bytes = new Uint8Array([...first, ...commentFrame(), ...last]);
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += length) {
        controller.enqueue(bytes.slice(at, at + length));
      }
      controller.close();
    },
  });
}

describe("readMessages()", () => {
  it("gives the messages, wherever the stream is cut into pieces", async () => {
    for (const length of [1, 2, 3, 7, 64, 1_000]) {
      const read = [];
      const reader = inPieces(length).getReader();
      for await (const message of readMessages(reader)) read.push(message);
      assert.deepEqual(read, MESSAGES);
    }
  });

  it("ends when its reader is cancelled while it waits", async () => {
    const reader = new ReadableStream<Uint8Array>().getReader();
    const next = readMessages(reader).next();
    await reader.cancel();
    assert.equal((await next).done, true);
  });
});
