/** The official client's transport over stdio, for tests: it leaves nothing behind. */

import process from "node:process";
import { OneProcessTransport } from "../../examples/crash_recovery/server_process.ts";

/**
 * Makes a transport that starts a server as a process of its own.
 *
 * @param command The program and its arguments.
 * @param cwd The server's folder; by default this process's.
 * @returns The transport.
 */
export function stdioTransport(
  [program, args]: readonly [program: string, args: readonly string[]],
  cwd?: string,
): OneProcessTransport {
  return new OneProcessTransport({
    command: program,
    args: [...args],
    cwd,
    env: { ...process.env as Record<string, string> },
    stderr: "ignore",
  });
}

/**
 * Ends the server of a transport. The transport's own `close()` leaves timers
 * of two seconds behind.
 *
 * @param transport The transport, connected.
 * @param signal How to end the server.
 */
export function endServer(
  transport: OneProcessTransport,
  signal: NodeJS.Signals = "SIGTERM",
): Promise<void> {
  return new Promise((resolve) => {
    const { onclose, pid } = transport;
    if (pid === null) return resolve();
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
    process.kill(pid, signal);
  });
}
