import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  freePort,
  makeExampleProject,
  whileServing,
} from "../support/example_project.ts";
import { envelope } from "../support/mcp_frames.ts";
import { describe, it, runtime } from "../support/runner.ts";
import { assertPushesHello, assertSaysHello } from "../support/say_hello.ts";
import { endServer, stdioTransport } from "../support/stdio_transport.ts";

/** The permissions that the Deno example says it needs. */
async function printedPermissions(): Promise<string[]> {
  const text = await readFile(
    new URL("../../examples/http_deno/server.ts", import.meta.url),
    "utf8",
  );
  const flags = /`deno run (.+) server\.ts`/.exec(text)?.[1].split(" ");
  assert.ok(flags);
  return flags;
}

/** What a client asks first. */
const DISCOVER = {
  jsonrpc: "2.0",
  id: "one",
  method: "server/discover",
  params: { _meta: envelope() },
};

const http = `http_${runtime}`;

describe(`examples/${http}`, () => {
  it("serves tasks over Streamable HTTP", async () => {
    const port = await freePort();
    const url = new URL(`http://127.0.0.1:${port}/mcp`);
    const project = await makeExampleProject(http, {
      port,
      ...(runtime === "deno" && { permissions: await printedPermissions() }),
    });
    try {
      await whileServing(
        project,
        url,
        async () => {
          await assertSaysHello(new StreamableHTTPClientTransport(url));
          await assertPushesHello(new StreamableHTTPClientTransport(url));
        },
      );
    } finally {
      await project.remove();
    }
  });
});

describe(`examples/stdio on ${runtime}`, () => {
  it("serves tasks over stdio", async () => {
    const project = await makeExampleProject("stdio");
    try {
      for (const does of [assertSaysHello, assertPushesHello]) {
        const transport = stdioTransport(project.command, project.folder);
        await does(transport, () => endServer(transport));
      }
    } finally {
      await project.remove();
    }
  });

  it("says why it cannot start in a folder that another process has", async () => {
    const project = await makeExampleProject("stdio");
    const [program, args] = project.command;
    const start = () =>
      spawn(program, args, { cwd: project.folder, stdio: "pipe" });
    const first = start();
    try {
      first.stdin.write(`${JSON.stringify(DISCOVER)}\n`);
      await once(first.stdout, "data");
      const second = start();
      const exited = once(second, "exit");
      assert.match(
        await text(second.stderr),
        /Cannot open .*: another process/,
      );
      const [code] = await exited;
      assert.equal(code, 1);
    } finally {
      const exited = once(first, "exit");
      first.stdin.end();
      await exited;
      await project.remove();
    }
  });

  it("exits with 0 when the client closes its end", async () => {
    const project = await makeExampleProject("stdio");
    const [program, args] = project.command;
    try {
      const child = spawn(program, args, {
        cwd: project.folder,
        stdio: ["pipe", "pipe", "inherit"],
      });
      const exited = once(child, "exit");
      child.stdin.write(`${JSON.stringify(DISCOVER)}\n`);
      const [answer] = await once(child.stdout, "data");
      const { result } = JSON.parse(`${answer}`);
      assert.deepEqual(result.capabilities.extensions, {
        "io.modelcontextprotocol/tasks": {},
      });
      child.stdin.end();
      assert.deepEqual(await exited, [0, null]);
    } finally {
      await project.remove();
    }
  });
});
