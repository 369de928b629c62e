import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { TaskView } from "@modelcontextprotocol/ext-tasks/client";
import {
  openTaskClient,
  type TaskClient,
} from "../../examples/crash_recovery/client.ts";
import { serveWorker } from "../../tools/conformance/servers.ts";
import { describe, it } from "../support/runner.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const example = join(root, "examples/worker");

/** Serves the variant on KV with its state in a folder, and kills it with SIGKILL after the body. */
async function withWorker(
  folder: string,
  body: (client: TaskClient) => Promise<void>,
) {
  const config = JSON.parse(
    await readFile(join(example, "wrangler.kv.jsonc"), "utf8"),
  );
  const source = join(example, config.main);
  const server = await serveWorker(root, source, config, folder);
  try {
    const transport = new StreamableHTTPClientTransport(new URL(server.url));
    const client = await openTaskClient(transport, { endpointId: "worker" });
    await body(client);
    await client.close();
  } finally {
    assert.equal(await server.stop(), undefined, server.stderr());
  }
}

/** Calls the tool as a task, and leaves it to itself. */
async function start({ session }: TaskClient) {
  const args = { upTo: 8_000, paceMs: 0 };
  const execution = await session.callTool("count_primes", args);
  assert.equal(execution.kind, "task");
  const reference = execution.serializeReference();
  await execution.detach();
  return reference;
}

/** How many numbers a task has looked at. */
function seen({ statusMessage = "" }: TaskView): number {
  return Number(/^(\d+) of /.exec(statusMessage)?.[1] ?? 0);
}

describe("examples/worker on Workers KV", () => {
  it("goes on where it was when workerd is killed in the middle of a task", async () => {
    const folder = await mkdtemp(join(tmpdir(), "worker-kv-"));
    try {
      let reference: Awaited<ReturnType<typeof start>>;
      let before = 0;
      await withWorker(folder, async (client) => {
        reference = await start(client);
        const task = client.session.task(reference.taskId);
        while (before < 2_000) {
          await pause(20);
          before = seen(await task.snapshot());
        }
      });
      await withWorker(folder, async ({ session }) => {
        const first = await session.task(reference.taskId).snapshot();
        assert.equal(first.status, "working");
        assert.ok(seen(first) >= before, `${seen(first)} after ${before}`);
        const execution = await session.resumeTask(reference);
        const { outcome } = await execution.settle();
        assert.equal(outcome.status, "completed");
        assert.deepEqual(
          (outcome.result as { structuredContent: unknown }).structuredContent,
          { primes: 1_007 },
        );
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
