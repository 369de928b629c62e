import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  freePort,
  makeExampleProject,
  whileServing,
} from "../support/example_project.ts";
import { describe, it, skip } from "../support/runner.ts";
import { assertSaysHello } from "../support/say_hello.ts";

describe("examples/hello", () => {
  it("runs as printed, and its task says hello", async () => {
    const port = await freePort();
    const url = new URL(`http://127.0.0.1:${port}/mcp`);
    const project = await makeExampleProject("hello", { port });
    try {
      await whileServing(
        project,
        url,
        () => assertSaysHello(new StreamableHTTPClientTransport(url)),
      );
    } finally {
      await project.remove();
    }
  });

  const calls = "shows its task by the calls of its README";
  const shell = spawnSync("sh", ["-c", "command -v curl"]);
  if (shell.status !== 0) skip(calls, "there is no shell with curl");
  else {
    it(calls, async () => {
      const readme = await readFile(
        new URL("../../examples/hello/README.md", import.meta.url),
        "utf8",
      );
      const [, block] = /```sh\n(mcp\(\).*?)```/s.exec(readme)!;
      const port = await freePort();
      assert.ok(block!.includes(":3000/"));
      const script = block!.replace(":3000/", `:${port}/`);
      const project = await makeExampleProject("hello", { port });
      try {
        await whileServing(
          project,
          new URL(`http://127.0.0.1:${port}/`),
          async () => {
            const call = async (script: string) => {
              const shell = spawn("sh", ["-c", script], {
                stdio: ["ignore", "pipe", "inherit"],
              });
              return JSON.parse(await text(shell.stdout)).result;
            };
            let task = await call(script);
            const [definition] = script.split("task=");
            while (task.status === "working") {
              const { taskId } = task;
              const params = JSON.stringify({ taskId }).slice(1, -1);
              task = await call(
                `${definition} mcp tasks/get ${taskId} '${params}'`,
              );
            }
            assert.equal(task.status, "completed");
            assert.equal(task.result.content[0].text, "Hello, world!");
          },
        );
      } finally {
        await project.remove();
      }
    });
  }

  it("is at most 16 lines long", async () => {
    const source = await readFile(
      new URL("../../examples/hello/server.ts", import.meta.url),
      "utf8",
    );
    const lines = source.split("\n").filter((line) => line.trim() !== "");
    assert.ok(lines.length <= 16, `${lines.length} lines`);
  });
});
