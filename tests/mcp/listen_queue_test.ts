import assert from "node:assert/strict";
import {
  FrameQueue,
  MAX_WAITING_BYTES,
  MAX_WAITING_FRAMES,
} from "../../src/mcp/listen_queue.ts";
import { describe, it } from "../support/runner.ts";

/** Whether a promise has settled by now. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  const not = Symbol();
  await Promise.resolve();
  return await Promise.race([promise, Promise.resolve(not)]) !== not;
}

describe("FrameQueue", () => {
  it("gives frames in order, to a reader that comes late or waits", async () => {
    const queue = new FrameQueue<number>();
    queue.push(1, 10);
    queue.push(2, 10);
    assert.equal(await queue.take(), 1);
    assert.equal(await queue.take(), 2);
    const waiting = queue.take();
    assert.equal(await settled(waiting), false);
    queue.push(3, 10);
    assert.equal(await waiting, 3);
    assert.ok(queue.isEmpty);
  });

  it("has room for 256 frames, and one more for each that was read", async () => {
    const queue = new FrameQueue<number>();
    for (let i = 0; i < 256; i++) assert.ok(queue.push(i, 1));
    assert.equal(MAX_WAITING_FRAMES, 256);
    assert.equal(queue.push(256, 1), false);
    assert.equal(await queue.take(), 0);
    assert.ok(queue.push(257, 1));
    assert.equal(queue.push(258, 1), false);
  });

  it("has room while less than 1 MiB waits, whatever the size of the frame", async () => {
    const queue = new FrameQueue<string>();
    assert.equal(MAX_WAITING_BYTES, 2 ** 20);
    assert.ok(queue.push("a", 2 ** 20 - 1));
    assert.ok(queue.push("b", 2 ** 22));
    assert.equal(queue.push("c", 1), false);
    assert.equal(await queue.take(), "a");
    assert.equal(queue.push("d", 1), false);
    assert.equal(await queue.take(), "b");
    assert.ok(queue.push("e", 2 ** 20));
    assert.equal(queue.push("f", 0), false);
    assert.equal(await queue.take(), "e");
  });

  it("end() lets what waits be read, then the last frame, and takes no more", async () => {
    const queue = new FrameQueue<string>();
    for (let i = 0; i < 256; i++) queue.push(`${i}`, 1);
    queue.end("last");
    queue.end("later");
    assert.equal(queue.push("more", 1), true);
    for (let i = 0; i < 256; i++) assert.equal(await queue.take(), `${i}`);
    assert.equal(await queue.take(), "last");
    assert.equal(await queue.take(), undefined);
    assert.equal(await queue.take(), undefined);
  });

  it("end() wakes a reader that waits", async () => {
    const queue = new FrameQueue<string>();
    const waiting = queue.take();
    queue.end("last");
    assert.equal(await waiting, "last");
    assert.equal(await queue.take(), undefined);
  });

  it("drop() throws away what waits", async () => {
    const queue = new FrameQueue<string>();
    queue.push("a", 1);
    queue.end("last");
    queue.drop();
    assert.equal(await queue.take(), undefined);
  });

  it("whenEmpty() waits for the reader, or for the end", async () => {
    const queue = new FrameQueue<string>();
    await queue.whenEmpty();
    queue.push("a", 1);
    queue.push("b", 1);
    const empty = queue.whenEmpty();
    await queue.take();
    assert.equal(await settled(empty), false);
    await queue.take();
    await empty;
    queue.push("c", 1);
    const ended = queue.whenEmpty();
    queue.drop();
    await ended;
  });
});
