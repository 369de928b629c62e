/** The fixture server, on each of the runtimes. */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { run } from "../test/child.ts";
import type { RuntimeName } from "../test/files.ts";
import { programOf } from "../test/runtimes.ts";
import { bundleCommand, CONFIG } from "../test/workerd.ts";

/** A server that runs. */
export interface Server {
  /** Its endpoint. */
  readonly url: string;
  /** What it wrote to its standard error so far. */
  stderr(): string;
  /** Settles when it has ended, with its exit code or the signal. */
  readonly ended: Promise<string>;
  /** Ends it, and waits until it is gone; tells how, if it had ended by itself. */
  stop(): Promise<string | undefined>;
}

/** How long a server may take to listen, and a bundle to be made. */
const START_MS = 60_000;

const WORKER = {
  name: "conformance",
  compatibility_date: CONFIG.compatibility_date,
  durable_objects: { bindings: [{ name: "TASKS", class_name: "Tasks" }] },
  migrations: [{ tag: "v1", new_sqlite_classes: ["Tasks"] }],
};

/** The file that serves the fixture on a runtime, and the arguments in front of it. */
const SCRIPTS: Readonly<
  Record<
    Exclude<RuntimeName, "workerd">,
    readonly [script: string, ...before: string[]]
  >
> = {
  deno: ["deno.ts", "run", "--no-check", "--allow-net"],
  node22: ["node.ts"],
  node24: ["node.ts"],
  node26: ["node.ts"],
  bun: ["bun.ts"],
};

/**
 * Starts the fixture server on a free port.
 *
 * @param runtime Where.
 * @param root The folder that holds `tests/`.
 * @param folder An empty folder for what it needs.
 * @throws {Error} It does not listen.
 */
export async function startServer(
  runtime: RuntimeName,
  root: string,
  folder: string,
): Promise<Server> {
  const sources = join(root, "tests/conformance");
  if (runtime === "workerd") {
    return await serveWorker(root, join(sources, "worker.ts"), WORKER, folder);
  }
  const [script, ...before] = SCRIPTS[runtime];
  const args = [...before, join(sources, script)];
  return await listen(runtime, args, root, (line) => line);
}

/** How to serve a Worker. */
export interface WorkerOptions {
  /** Where to listen; a free port by default. */
  readonly port?: number;
  /** Gets what the Worker writes to its console. */
  readonly tell?: (text: string) => void;
}

/**
 * Serves a Worker.
 *
 * @param root The folder with the packages that it imports.
 * @param source Its main module.
 * @param config Its `wrangler.jsonc`.
 * @param folder A folder for what it needs; its state stays there, for the next time.
 * @param options How.
 * @throws {Error} It does not listen.
 */
export async function serveWorker(
  root: string,
  source: string,
  config: object,
  folder: string,
  { port = 0, tell }: WorkerOptions = {},
): Promise<Server> {
  let output = "";
  const bundle = bundleCommand(root, source, join(folder, CONFIG.main));
  const { code } = await run(bundle, START_MS, (text) => output += text);
  if (code !== 0) throw new Error(`the Worker cannot be bundled: ${output}`);
  const { main, no_bundle } = CONFIG;
  const file = join(folder, "wrangler.json");
  writeFileSync(file, JSON.stringify({ ...config, main, no_bundle }));
  const args = [
    "serve",
    "--experimental",
    `--socket-addr=http=127.0.0.1:${port}`,
    "--control-fd=1",
    file,
  ];
  const urlOf = (line: string) => {
    const { port } = JSON.parse(line) as { readonly port: number };
    return `http://127.0.0.1:${port}/mcp`;
  };
  return await listen("workerd", args, folder, urlOf, tell);
}

/** Starts a server and waits for the line that says where it listens. */
async function listen(
  runtime: RuntimeName,
  args: readonly string[],
  cwd: string,
  urlOf: (line: string) => string,
  tell: (text: string) => void = () => {},
): Promise<Server> {
  const child = spawn(programOf(runtime), args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = new Promise<string>((resolve) =>
    child.once("exit", (code, signal) => resolve(`${signal ?? `code ${code}`}`))
  );
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  let errors = "";
  child.stderr.setEncoding("utf8");
  child.stderr.on("data", (text: string) => {
    errors += text;
    tell(text);
  });
  const timer = setTimeout(kill, START_MS);
  try {
    const line = await firstLine(child);
    if (line === undefined) {
      throw new Error(`the server ended with ${await exited}: ${errors}`);
    }
    // It would stand still with its pipe full.
    child.stdout.setEncoding("utf8").on("data", tell).resume();
    return {
      url: urlOf(line),
      stderr: () => errors,
      ended: exited,
      async stop() {
        const { exitCode, signalCode } = child;
        const early = exitCode !== null || signalCode !== null;
        kill();
        const how = await exited;
        process.off("exit", kill);
        return early ? how : undefined;
      },
    };
  } catch (error) {
    kill();
    await exited;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function firstLine(child: ChildProcess): Promise<string | undefined> {
  for await (const line of createInterface({ input: child.stdout! })) {
    return line;
  }
  return undefined;
}
