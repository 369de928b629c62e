/** Examples run as a person would run them: in a folder of their own, from their packages' names. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { runtime } from "./runner.ts";

const ROOT = new URL("../../", import.meta.url);
const OWN_NAME = "@mcp-durable/tasks";

/** The port that the examples print. */
const PRINTED_PORT = "3000";

/** An example in a folder of its own. */
export interface ExampleProject {
  /** The folder. */
  readonly folder: string;
  /** The program that runs its `server.ts` on this runtime, and all of its arguments. */
  readonly command: readonly [program: string, args: readonly string[]];
  /** Deletes it. */
  remove(): Promise<void>;
}

/** How to run an example. */
export interface ExampleOptions {
  /** The port to listen on instead of the printed one; none where it prints none. */
  readonly port?: number;
  /** What Deno is to permit; by default everything. */
  readonly permissions?: readonly string[];
}

/**
 * Copies an example to a folder in which it finds its packages as a user's
 * project does: by their names, the library's own among them.
 *
 * @param name The folder in `examples/`.
 * @param options How to run it.
 * @returns The folder.
 */
export async function makeExampleProject(
  name: string,
  { port, permissions = ["-A"] }: ExampleOptions = {},
): Promise<ExampleProject> {
  const folder = await mkdtemp(join(tmpdir(), `${name}-`));
  const source = new URL(`examples/${name}/`, ROOT);
  for (const file of await readdir(source)) {
    if (!file.endsWith(".ts")) continue;
    let text = await readFile(new URL(file, source), "utf8");
    if (file === "server.ts" && port !== undefined) {
      if (!text.includes(PRINTED_PORT)) throw new Error("no port is printed");
      text = text.replace(PRINTED_PORT, `${port}`);
    }
    await writeFile(join(folder, file), text);
  }

  const own = join(folder, "node_modules", OWN_NAME);
  await mkdir(own, { recursive: true });
  const config = fileURLToPath(new URL("deno.json", ROOT));
  const { exports } = JSON.parse(await readFile(config, "utf8")) as {
    readonly exports: Readonly<Record<string, string>>;
  };
  const entries: Record<string, string> = {};
  for (const [entry, file] of Object.entries(exports)) {
    const stub = file.replace(/\.ts$/, ".js");
    const target = JSON.stringify(new URL(file, ROOT).href);
    await writeFile(join(own, stub), `export * from ${target};\n`);
    entries[entry] = stub;
  }
  await writeFile(
    join(own, "package.json"),
    JSON.stringify({ name: OWN_NAME, type: "module", exports: entries }),
  );
  for (const name of ["@modelcontextprotocol", "@opentelemetry", "zod"]) {
    await symlink(
      fileURLToPath(new URL(`node_modules/${name}`, ROOT)),
      join(folder, "node_modules", name),
      "dir",
    );
  }
  const before = runtime === "deno"
    ? ["run", ...permissions, "--no-check", "--config", config]
    : [];
  return {
    folder,
    command: [process.execPath, [...before, join(folder, "server.ts")]],
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Below the ports that systems give to whoever asks for any free one. */
const FIRST_PORT = 20_000;
const PORTS = 12_000;

/**
 * A port that was free a moment ago, of those that nobody is given who does
 * not ask for it: until the example listens, other tests take many of the rest.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    const probe = createServer();
    const isFree = await new Promise((resolve) => {
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    probe.close();
    await once(probe, "close");
    return port;
  }
}

/**
 * Runs a project's server over HTTP while a body runs.
 *
 * @param project The project.
 * @param url Where it will listen.
 * @param body Starts as soon as it listens.
 */
export async function whileServing(
  { folder, command: [program, args] }: ExampleProject,
  url: URL,
  body: () => Promise<void>,
): Promise<void> {
  const child = spawn(program, args, {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const exited = once(child, "exit");
  try {
    await untilItListens(url, child);
    await body();
  } finally {
    child.kill("SIGKILL");
    await exited;
  }
}

async function untilItListens(url: URL, child: ChildProcess): Promise<void> {
  for (;;) {
    try {
      const response = await fetch(url);
      return await response.body?.cancel();
    } catch (error) {
      if (child.exitCode !== null || child.signalCode !== null) throw error;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }
}
