/** The messages of a server's connections, seen on their way. */

import type { ServerLike } from "./shapes.ts";

/** What is done to messages. */
export interface MessageTap {
  /** Hears of each new connection. */
  readonly connect?: () => void;
  /** Gives what the server is to receive. */
  readonly receive?: (message: unknown) => unknown;
  /** Gives what the client is to receive. */
  readonly send?: (message: unknown) => unknown;
}

type Receiver = (message: unknown, ...rest: readonly unknown[]) => void;

interface TransportLike {
  onmessage?: Receiver;
  send(message: unknown, options?: unknown): Promise<void>;
}

/**
 * Taps every connection that a server makes from now on. The low-level server
 * is tapped, since a host may connect it alone, and its transport before it is
 * started, since some deliver messages at once.
 *
 * @param server The low-level server.
 * @param tap What is done to messages.
 */
export function tapMessages(server: ServerLike, tap: MessageTap): void {
  const tapped = server as { connect(transport: unknown): Promise<void> };
  const connect = tapped.connect.bind(server);
  tapped.connect = (transport) => {
    tap.connect?.();
    const target = transport as TransportLike;
    if (tap.send) tapSend(target, tap.send);
    if (tap.receive) tapReceive(target, tap.receive);
    return connect(transport);
  };
}

function tapSend(target: TransportLike, change: (m: unknown) => unknown): void {
  const send = target.send.bind(target);
  target.send = (message, options) => send(change(message), options);
}

/** The SDK sets the receiver when it connects, in some transports through a setter. */
function tapReceive(
  target: TransportLike,
  change: (message: unknown) => unknown,
): void {
  const own = setterOf(target);
  let receiver = target.onmessage;
  Object.defineProperty(target, "onmessage", {
    configurable: true,
    enumerable: true,
    get: () => own ? own.get?.call(target) : receiver,
    set(next: Receiver | undefined) {
      const changed = next &&
        ((message: unknown, ...rest: readonly unknown[]) =>
          next(change(message), ...rest));
      if (own) own.set!.call(target, changed);
      else receiver = changed;
    },
  });
}

function setterOf(target: object): PropertyDescriptor | undefined {
  for (let at: object | null = target; at; at = Object.getPrototypeOf(at)) {
    const found = Object.getOwnPropertyDescriptor(at, "onmessage");
    if (found) return found.set && found;
  }
}
