import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  freePort,
  makeExampleProject,
  whileServing,
} from "../support/example_project.ts";
import { describe, it } from "../support/runner.ts";
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

  it("is at most 16 lines long", async () => {
    const text = await readFile(
      new URL("../../examples/hello/server.ts", import.meta.url),
      "utf8",
    );
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    assert.ok(lines.length <= 16, `${lines.length} lines`);
  });
});
