/**
 * The official client with tasks, over any of its transports. The task session
 * needs a way to send a request as it is and to get the answer as it is, which
 * the client itself does not offer: `rawDispatch` puts it beside the client.
 */

import { Client, type Transport } from "@modelcontextprotocol/client";
import {
  createTaskSessionFromClient,
  DispatchError,
  type RawClientDispatch,
  type TaskEnabledSession,
  type WithTasksOptions,
} from "@modelcontextprotocol/ext-tasks/client";

type Message = Parameters<NonNullable<Transport["onmessage"]>>[0];
type RpcResponse = Awaited<ReturnType<RawClientDispatch>>;

/** A connected client and its task session. */
export interface TaskClient {
  /** The client. */
  readonly client: Client;
  /** Calls tools and drives their tasks. */
  readonly session: TaskEnabledSession;
  /** Sends a request as it is. */
  readonly dispatch: RawClientDispatch;
  /** Ends both. */
  close(): Promise<void>;
}

/** How to open a session. */
export interface TaskClientOptions {
  /** Names the server in the references that outlive a session. */
  readonly endpointId: string;
  /** Answers the questions of tasks. */
  readonly onInputRequest?: WithTasksOptions["onInputRequest"];
}

/**
 * Connects a client, and opens a task session on it.
 *
 * @param transport A transport that nobody has started.
 * @param options How.
 * @returns The client and its session.
 */
export async function openTaskClient(
  transport: Transport,
  options: TaskClientOptions,
): Promise<TaskClient> {
  const clientInfo = { name: "crash-recovery-demo", version: "1.0.0" };
  const clientCapabilities = {
    elicitation: { form: {} },
    extensions: { "io.modelcontextprotocol/tasks": {} },
  };
  const client = new Client(clientInfo, {
    capabilities: clientCapabilities,
    versionNegotiation: { mode: "auto" },
  });
  await client.connect(transport);
  const protocolVersion = client.getNegotiatedProtocolVersion();
  if (protocolVersion === undefined) throw new Error("no revision negotiated");
  const dispatch = rawDispatch(transport);
  const session = createTaskSessionFromClient(client, {
    ...options,
    rawDispatch: dispatch,
    v2RequestFraming: { protocolVersion, clientInfo, clientCapabilities },
  });
  return {
    client,
    session,
    dispatch,
    async close() {
      await session.close();
      await client.close();
    },
  };
}

/**
 * Sends requests as they are over a transport that a client is connected to.
 * Answers are told apart by their ids, which no client gives; everything else
 * goes on to the client.
 *
 * @param transport The transport, started.
 * @returns Sends a request and waits for its answer.
 */
function rawDispatch(transport: Transport): RawClientDispatch {
  const pending = new Map<string, (answer: RpcResponse) => void>();
  let sent = 0;

  const toClient = transport.onmessage;
  transport.onmessage = (message: Message, extra) => {
    const isAnswer = "result" in message || "error" in message;
    const settle = isAnswer ? pending.get(String(message.id)) : undefined;
    if (!isAnswer || !settle) return toClient?.(message, extra);
    settle(
      ("error" in message
        ? { kind: "error", error: message.error }
        : { kind: "result", result: message.result }) as RpcResponse,
    );
  };

  return async (request, options = {}) => {
    const { signal, context } = options;
    signal?.throwIfAborted();
    const { method } = request as { method: string };
    const id = `demo-${++sent}`;
    const { promise, resolve, reject } = Promise.withResolvers<RpcResponse>();
    pending.set(id, resolve);

    const onAbort = () => reject(signal!.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    const timeoutMs = context?.requestTimeoutMs ?? 30_000;
    const timer = setTimeout(
      () => reject(new DispatchError(`no answer to ${method}`)),
      timeoutMs,
    );
    try {
      // What was sent may have been heard: only a read may be sent again.
      transport.send(
        { jsonrpc: "2.0", id, ...request as { method: string } },
        { headers: context?.headers, requestSignal: signal },
      ).catch((cause) =>
        reject(
          new DispatchError(`cannot send ${method}`, method === "tasks/get", {
            cause,
          }),
        )
      );
      return await promise;
    } finally {
      pending.delete(id);
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  };
}
