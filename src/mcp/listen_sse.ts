/** The frames of an event stream, as the SDK writes them and as a client reads them. */

/** A message of JSON-RPC, as far as a listener looks into it. */
export interface SseMessage {
  /** The id, of a request or an answer. */
  readonly id?: unknown;
  /** The method, of a request or a notification. */
  readonly method?: string;
  /** The parameters. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** The result, of an answer. */
  readonly result?: unknown;
}

/**
 * Reads the messages of an event stream; comments are passed over.
 *
 * @param reader Reads the stream; whoever has it may cancel it, which ends this.
 * @returns The messages, one by one.
 */
export async function* readMessages(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): AsyncGenerator<SseMessage, void> {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const frames = text.split("\n\n");
    text = frames.pop()!;
    for (const frame of frames) {
      const data = frame.split("\n").filter((line) => line.startsWith("data:"))
        .map((line) => line.slice("data:".length)).join("\n");
      if (data !== "") yield JSON.parse(data) as SseMessage;
    }
  }
}

/**
 * Writes a message as a frame.
 *
 * @param message The message.
 * @returns The frame.
 */
export function messageFrame(message: object): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(
    `event: message\ndata: ${JSON.stringify(message)}\n\n`,
  );
}

/**
 * Writes a frame that says nothing, so that nobody on the way closes the
 * connection.
 *
 * @returns The frame.
 */
export function commentFrame(): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(": keep-alive\n\n");
}
