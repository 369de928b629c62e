/** The server of the demo, as a process that can be killed and started again. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import {
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

/**
 * The official transport, but that a class derived from it asks the process
 * itself for its revision: for the original, the client first starts a second
 * process to ask, which here would be a second server on the same folder.
 */
export class OneProcessTransport extends StdioClientTransport {}

const script = fileURLToPath(new URL("server.ts", import.meta.url));

/** A server that runs. */
export interface ServerProcess {
  /** Where it listens, for people. */
  readonly where: string;
  /** A transport to it; over stdio it is the process's own. */
  readonly transport: Transport;
  /** Its process id, once the transport has started. */
  pid(): number;
  /** Kills it with SIGKILL, if it still runs, and waits until it is gone. */
  kill(): Promise<void>;
}

/** Starts the server, each time with the same folder. */
export type StartServer = (flags: readonly string[]) => Promise<ServerProcess>;

/**
 * Starts servers over Streamable HTTP.
 *
 * @param dir Where the server keeps its files.
 * @returns Starts one.
 */
export function overHttp(dir: string): StartServer {
  return async (flags) => {
    // Any free port: the server says which.
    const [program, args] = command(["--dir", dir, "--port", "0", ...flags]);
    const child = spawn(program, args, {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const gone = once(child, "exit");
    const url = await firstLine(child);
    return {
      where: url,
      transport: new StreamableHTTPClientTransport(new URL(url)),
      pid: () => child.pid!,
      async kill() {
        child.kill("SIGKILL");
        await gone;
      },
    };
  };
}

/**
 * Starts servers over stdio: the client's transport is what starts the process.
 *
 * @param dir Where the server keeps its files.
 * @returns Starts one.
 */
export function overStdio(dir: string): StartServer {
  return (flags) => {
    const [program, args] = command(["--dir", dir, "--stdio", ...flags]);
    const transport = new OneProcessTransport({
      command: program,
      args,
      env: { ...process.env as Record<string, string> },
    });
    return Promise.resolve({
      where: "stdio",
      transport,
      pid: () => transport.pid!,
      async kill() {
        const { pid } = transport;
        if (pid === null) return;
        const { promise, resolve } = Promise.withResolvers<void>();
        const onclose = transport.onclose;
        transport.onclose = () => {
          onclose?.();
          resolve();
        };
        process.kill(pid, "SIGKILL");
        await promise;
      },
    });
  };
}

/** The command line that runs the server on the runtime that runs the demo. */
function command(args: readonly string[]): [program: string, args: string[]] {
  const run = "Deno" in globalThis
    ? ["run", "-A"]
    : "Bun" in globalThis
    ? []
    : ["--disable-warning=ExperimentalWarning"];
  return [process.execPath, [...run, script, ...args]];
}

async function firstLine(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    return line.replace("listening on ", "");
  }
  throw new Error("the server ended before it listened");
}
