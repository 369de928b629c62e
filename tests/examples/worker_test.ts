import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { serveWorker } from "../../tools/conformance/servers.ts";
import { describe, it } from "../support/runner.ts";
import { assertPushesHello, assertSaysHello } from "../support/say_hello.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const example = join(root, "examples/worker");

describe("examples/worker", () => {
  it("serves tasks from a Durable Object, with its own wrangler.jsonc", async () => {
    const config = JSON.parse(
      await readFile(join(example, "wrangler.jsonc"), "utf8"),
    );
    const folder = await mkdtemp(join(tmpdir(), "worker-"));
    try {
      const source = join(example, config.main);
      const server = await serveWorker(root, source, config, folder);
      try {
        const url = new URL(server.url);
        await assertSaysHello(new StreamableHTTPClientTransport(url));
        await assertPushesHello(new StreamableHTTPClientTransport(url));
      } finally {
        assert.equal(await server.stop(), undefined, server.stderr());
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
