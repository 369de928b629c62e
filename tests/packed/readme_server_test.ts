import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdir,
  mkdtemp,
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
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { openTaskClient } from "../../examples/crash_recovery/client.ts";
import { programOf } from "../../tools/test/runtimes.ts";
import { describe, it } from "../support/runner.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const OWN_NAME = "@mcp-durable/tasks";
const SERVER = "@modelcontextprotocol/server";
const NODE = "@modelcontextprotocol/node";

/** The server that the README prints. */
async function printedServer(): Promise<string> {
  const readme = await readFile(join(root, "README.md"), "utf8");
  const block = readme.match(/```ts ignore\n(.*?)```/s);
  assert.ok(block, "the README prints a server");
  return block[1];
}

/** A user's folder, with the printed server on a port of our own. */
async function makeFolder(port: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "readme-"));
  const server = (await printedServer()).replace("3000", `${port}`);
  assert.ok(server.includes(`listen(${port}`));
  await writeFile(join(folder, "server.ts"), server);
  return folder;
}

/** What `npm install` would put there. */
async function installTarball(folder: string): Promise<void> {
  const tarball = join(folder, "package.tgz");
  execFileSync(
    process.execPath,
    ["pack", "--quiet", "--allow-dirty", "--no-source-maps", "-o", tarball],
    { cwd: root, stdio: "pipe" },
  );
  const modules = join(folder, "node_modules");
  const target = join(modules, OWN_NAME);
  await mkdir(target, { recursive: true });
  execFileSync("tar", ["xzf", tarball, "--strip-components=1", "-C", target]);
  const sdk = "@modelcontextprotocol";
  await symlink(join(root, "node_modules", sdk), join(modules, sdk), "dir");
}

/** What `deno add` would write there, with `jsr:` resolved to this checkout. */
async function addPackages(folder: string): Promise<void> {
  const { imports } = JSON.parse(
    await readFile(join(root, "deno.json"), "utf8"),
  );
  const config = {
    links: [root],
    imports: {
      [OWN_NAME]: `jsr:${OWN_NAME}@^0.1.0`,
      [SERVER]: imports[SERVER],
      [NODE]: imports[NODE],
    },
  };
  await writeFile(join(folder, "deno.json"), JSON.stringify(config));
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, "close");
  return port;
}

/** Starts the server, calls its tool with the official client, and stops it. */
async function callPrintedServer(
  folder: string,
  port: number,
  command: readonly [string, ...string[]],
): Promise<void> {
  const [program, ...args] = command;
  const child = spawn(program, args, { cwd: folder, stdio: "pipe" });
  let output = "";
  child.stderr.on("data", (text) => output += text);
  child.stdout.resume();
  const exited = once(child, "close");
  try {
    const url = new URL(`http://127.0.0.1:${port}/mcp`);
    while (!await answers(url)) {
      assert.equal(child.exitCode, null, output);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const { session, close } = await openTaskClient(
      new StreamableHTTPClientTransport(url),
      { endpointId: "readme" },
    );
    const execution = await session.callTool("hello");
    assert.equal(execution.kind, "task");
    const { outcome } = await execution.settle();
    assert.equal(outcome.status, "completed");
    const { content } = outcome.result as { content: unknown };
    assert.deepEqual(content, [{ type: "text", text: "Hello, world!" }]);
    await close();
  } finally {
    child.kill("SIGKILL");
    await exited;
  }
}

async function answers(url: URL): Promise<boolean> {
  try {
    await (await fetch(url)).body?.cancel();
    return true;
  } catch {
    return false;
  }
}

describe("the README's server", () => {
  it("is the one of examples/hello", async () => {
    const example = join(root, "examples/hello/server.ts");
    assert.equal(await printedServer(), await readFile(example, "utf8"));
  });

  for (const runtime of ["node22", "node24", "node26", "bun"] as const) {
    it(`runs as printed on ${runtime}, from the npm tarball`, async () => {
      const port = await freePort();
      const folder = await makeFolder(port);
      try {
        await installTarball(folder);
        await callPrintedServer(folder, port, [
          programOf(runtime),
          "server.ts",
        ]);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  }

  it("runs as printed on Deno, from jsr:", async () => {
    const port = await freePort();
    const folder = await makeFolder(port);
    try {
      await addPackages(folder);
      const flags = ["run", "-A", "--check", "server.ts"];
      await callPrintedServer(folder, port, [process.execPath, ...flags]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
