import assert from "node:assert/strict";
import { spawn } from "node:child_process";
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
import { describe, it, runtime } from "../support/runner.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const PRINTED_PORT = "3000";

/**
 * A folder in which the example finds its packages as a user's project does:
 * by their names, the library's own among them.
 */
async function makeProject(port: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "hello-"));
  const text = await readFile(join(root, "examples/hello/server.ts"), "utf8");
  assert.ok(text.includes(PRINTED_PORT));
  await writeFile(
    join(folder, "server.ts"),
    text.replace(PRINTED_PORT, `${port}`),
  );
  const own = join(folder, "node_modules/@mcp-durable/tasks");
  await mkdir(own, { recursive: true });
  const { exports } = JSON.parse(
    await readFile(join(root, "deno.json"), "utf8"),
  ) as { exports: Record<string, string> };
  const entries: Record<string, string> = {};
  for (const [name, file] of Object.entries(exports)) {
    const stub = file.replace(/\.ts$/, ".js");
    const target = JSON.stringify(
      new URL(file, new URL("../../", import.meta.url)).href,
    );
    await writeFile(join(own, stub), `export * from ${target};\n`);
    entries[name] = stub;
  }
  const name = "@mcp-durable/tasks";
  await writeFile(
    join(own, "package.json"),
    JSON.stringify({ name, type: "module", exports: entries }),
  );
  await symlink(
    join(root, "node_modules/@modelcontextprotocol"),
    join(folder, "node_modules/@modelcontextprotocol"),
    "dir",
  );
  return folder;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, "close");
  return port;
}

/** Connects as soon as the server listens. */
async function connect(url: URL, exited: Promise<unknown>) {
  let ended = false;
  void exited.then(() => ended = true);
  for (;;) {
    try {
      await fetch(url).then((response) => response.body?.cancel());
      break;
    } catch (error) {
      if (ended) throw error;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }
  return await openTaskClient(new StreamableHTTPClientTransport(url), {
    endpointId: "hello",
  });
}

describe("examples/hello", () => {
  it("runs as printed, and its task says hello", async () => {
    const port = await freePort();
    const folder = await makeProject(port);
    const flags = runtime === "deno"
      ? ["run", "-A", "--no-check", "--config", join(root, "deno.json")]
      : [];
    const child = spawn(process.execPath, [...flags, "server.ts"], {
      cwd: folder,
      stdio: ["ignore", "ignore", "inherit"],
    });
    const exited = once(child, "exit");
    try {
      const url = new URL(`http://127.0.0.1:${port}/mcp`);
      const { session, close } = await connect(url, exited);
      const execution = await session.callTool("hello");
      assert.equal(execution.kind, "task");
      const { outcome } = await execution.settle();
      assert.equal(outcome.status, "completed");
      assert.deepEqual((outcome.result as { content: unknown }).content, [
        { type: "text", text: "Hello, world!" },
      ]);
      await close();
    } finally {
      child.kill("SIGKILL");
      await exited;
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("is at most 16 lines long", async () => {
    const text = await readFile(join(root, "examples/hello/server.ts"), "utf8");
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    assert.ok(lines.length <= 16, `${lines.length} lines`);
  });
});
