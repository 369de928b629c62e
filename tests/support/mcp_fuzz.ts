/** Hostile frames, sent to a server that must not mind them. */

import assert from "node:assert/strict";
import fc from "./fast_check.ts";
import { startChild } from "./child.ts";
import { send } from "./mcp_frames.ts";
import { type FuzzFrame, fuzzFrames } from "./mcp_fuzz_frames.ts";
import type { FuzzReport } from "./mcp_fuzz_server.ts";

/** How many are on their way at once. */
const AT_ONCE = 25;

/** A program's own, which no client is to see. */
const LEAK = /\.ts:\d|\.m?js:\d|node_modules|\bat \S+ \(/;

/** After how long a frame counts as not answered. */
const ANSWER_MS = 100_000;

/** An answer, as far as it was read. */
export interface Answer {
  /** The HTTP status. */
  readonly status: number;
  /** The body. */
  readonly body: string;
}

/** Sends a frame; of a stream it reads as far as what says that the request was taken. */
async function answerTo(url: URL, frame: FuzzFrame): Promise<Answer> {
  const { headers, body } = frame;
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new Error(`no answer after ${ANSWER_MS} ms`)),
    ANSWER_MS,
  );
  try {
    const { signal } = late;
    const init = { method: "POST", headers, body, signal };
    const response = await fetch(url, init);
    const { status } = response;
    const type = response.headers.get("content-type");
    return type?.startsWith("text/event-stream")
      ? { status, body: await readStream(response.body!) }
      : { status, body: await response.text() };
  } finally {
    clearTimeout(timer);
  }
}

async function readStream(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += decoder.decode(value, { stream: true });
    const taken = text.indexOf("notifications/subscriptions/acknowledged");
    if (taken >= 0 && text.includes("\n\n", taken)) {
      await reader.cancel();
      return text;
    }
  }
}

/**
 * Throws where an answer is none of JSON-RPC.
 *
 * @param answer The answer.
 * @param frame What it answers.
 */
export function checkAnswer({ status, body }: Answer, frame: FuzzFrame): void {
  if (body === "") {
    assert.equal(status, 202, "an empty answer");
    assert.ok(frame.silent, "a request is answered");
    return;
  }
  const messages = body.startsWith("event:") || body.startsWith(":")
    ? body.slice(0, body.lastIndexOf("\n\n")).split("\n")
      .filter((line) => line.startsWith("data: {"))
      .map((line) => JSON.parse(line.slice("data: ".length)))
    : [JSON.parse(body)].flat();
  assert.ok(messages.length > 0, body);
  for (const message of messages) {
    assert.equal(message.jsonrpc, "2.0", body);
    if ("method" in message) continue;
    assert.ok("id" in message || "error" in message, body);
    const { result, error } = message;
    if (error === undefined) assert.equal(typeof result, "object", body);
    else {
      assert.ok(Number.isInteger(error.code), body);
      assert.equal(typeof error.message, "string", body);
      assert.notEqual(error.message, "Internal error", body);
      assert.doesNotMatch(error.message, LEAK);
    }
  }
  assert.ok(
    messages.some((message) =>
      "result" in message || "error" in message ||
      message.method === "notifications/subscriptions/acknowledged"
    ),
    body,
  );
}

function show({ headers, body }: FuzzFrame): string {
  const text = `${JSON.stringify(headers)} ${body}`;
  return text.length > 3_000 ? `${text.slice(0, 3_000)}…` : text;
}

/** What the frames are about: a task that asks, and a call that does. */
async function begin(
  url: URL,
): Promise<[taskId: string, requestState: string]> {
  const call = (name: string) => send(url, "tools/call", { name });
  const [task, asked] = await Promise.all([call("sum"), call("ask_first")]);
  return [task.result.taskId, asked.result.requestState];
}

/** Sends as many frames, and checks each answer. */
async function fuzz(url: URL, frames: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fuzzFrames, { minLength: AT_ONCE, maxLength: AT_ONCE }),
      async (makers) => {
        const [taskId, requestState] = await begin(url);
        await Promise.all(makers.map(async (make) => {
          const frame = make(taskId, requestState);
          try {
            checkAnswer(await answerTo(url, frame), frame);
          } catch (error) {
            throw new Error(`${(error as Error).message}\n${show(frame)}`);
          }
        }));
      },
    ),
    { numRuns: Math.ceil(frames / AT_ONCE), endOnFailure: true },
  );
}

async function servesAGoodTask(url: URL): Promise<void> {
  const { taskId } = (await send(url, "tools/call", { name: "good" })).result;
  for (;;) {
    const { result } = await send(url, "tasks/get", { taskId });
    if (result.status === "working") continue;
    assert.equal(result.status, "completed");
    assert.deepEqual(result.result.content, [{ type: "text", text: "good" }]);
    return;
  }
}

/** Waits until the tasks of the frames are gone: they live 1.5 s, and a sweep comes every 250 ms. */
function rest(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 2_000));
}

/** What a server was like, before the frames and after. */
export interface FuzzResult {
  /** The bytes on its heap before. */
  readonly before: number;
  /** The bytes on its heap after. */
  readonly after: number;
}

/**
 * Sends frames to a server over HTTP that is a process of its own, and shows
 * that each is answered and that the server is what it was before.
 *
 * @param args The arguments of `mcp_fuzz_server.ts`.
 * @param frames How many.
 * @param slackBytes How much more than before may be on its heap: code that
 * was not compiled before, for the most part.
 * @returns What the server was like.
 */
export async function fuzzServer(
  args: readonly string[],
  frames: number,
  slackBytes: number,
): Promise<FuzzResult> {
  const server = startChild(
    new URL("mcp_fuzz_server.ts", import.meta.url),
    { args, gc: true },
  );
  let asked = 0;
  const report = async (): Promise<FuzzReport> => {
    for (;;) {
      await rest();
      const question = `report ${++asked}`;
      server.send(question);
      const start = `{"question":"${question}",`;
      const answer = await server.line((line) => line.startsWith(start));
      const report: FuzzReport = JSON.parse(answer);
      // As long as somebody listens to them, they are not gone.
      if (report.listeners === 0) return report;
    }
  };
  try {
    const url = new URL(await server.line((line) => line.startsWith("http")));
    await fuzz(url, Math.min(10_000, frames / 2)); // What is made once is made now.
    await servesAGoodTask(url);
    const before = await report();
    await fuzz(url, frames);
    await servesAGoodTask(url);
    const after = await report();
    assert.deepEqual(after.unhandled, []);
    assert.deepEqual(after.hidden, []);
    assert.ok(
      after.heapBytes <= before.heapBytes + slackBytes,
      `the heap grew from ${before.heapBytes} to ${after.heapBytes} bytes`,
    );
    return { before: before.heapBytes, after: after.heapBytes };
  } finally {
    await server.kill();
  }
}
