import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { TaskView } from "@modelcontextprotocol/ext-tasks/client";
import {
  openTaskClient,
  type TaskClient,
} from "../../examples/crash_recovery/client.ts";
import { serveWorker } from "../../tools/conformance/servers.ts";
import { startChild } from "../support/child.ts";
import { describe, it, skip } from "../support/runner.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const example = join(root, "examples/worker");

/** A folder for the state of a Worker, gone after the body. */
async function withFolder(body: (folder: string) => Promise<void>) {
  const folder = await mkdtemp(join(tmpdir(), "worker-"));
  try {
    await body(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Serves the example, and kills it with SIGKILL after the body. */
async function withWorker(
  folder: string,
  body: (client: TaskClient) => Promise<void>,
) {
  const config = JSON.parse(
    await readFile(join(example, "wrangler.jsonc"), "utf8"),
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
async function start({ session }: TaskClient, args: object) {
  const execution = await session.callTool("count_primes", { ...args });
  assert.equal(execution.kind, "task");
  const reference = execution.serializeReference();
  await execution.detach();
  return reference;
}

/** How many numbers a task has looked at. */
function seen({ statusMessage = "" }: TaskView): number {
  return Number(/^(\d+) of /.exec(statusMessage)?.[1] ?? 0);
}

describe("examples/worker", () => {
  it("counts primes in a Durable Object, after the answer, and pushes the end", () =>
    withFolder((folder) =>
      withWorker(folder, async (client) => {
        const { taskId } = await start(client, { upTo: 5_500, paceMs: 20 });
        const pushed: unknown[] = [];
        client.client.fallbackNotificationHandler = ({ method, params }) => {
          pushed.push([method, params?.taskId, params?.status]);
          return Promise.resolve();
        };
        const subscription = await client.client.listen(
          { taskIds: [taskId] } as Parameters<typeof client.client.listen>[0],
        );
        assert.equal(await subscription.closed, "graceful");
        assert.deepEqual(pushed.at(-1), [
          "notifications/tasks",
          taskId,
          "completed",
        ]);
        const { raw } = await client.session.task(taskId).snapshot();
        assert.deepEqual(
          (raw.result as { structuredContent: unknown }).structuredContent,
          { primes: 725 },
        );
      })
    ));

  it("goes on where it was when workerd is killed in the middle of a task", () =>
    withFolder(async (folder) => {
      let reference: Awaited<ReturnType<typeof start>>;
      let before = 0;
      await withWorker(folder, async (client) => {
        reference = await start(client, { upTo: 30_000, paceMs: 60 });
        const task = client.session.task(reference.taskId);
        while (before < 5_000) {
          await pause(20);
          before = seen(await task.snapshot());
        }
      });
      await withWorker(folder, async ({ session }) => {
        const first = await session.task(reference.taskId).snapshot();
        assert.equal(first.status, "working");
        assert.ok(seen(first) >= before, `${seen(first)} after ${before}`);
        const execution = await session.resumeTask(reference);
        const views: number[] = [];
        const { outcome } = await execution.settle({
          onEvent: (event) => {
            if (event.type === "task") views.push(seen(event.task));
          },
        });
        assert.equal(outcome.status, "completed");
        assert.deepEqual(
          (outcome.result as { structuredContent: unknown }).structuredContent,
          { primes: 3_245 },
        );
        assert.ok(
          views.some((n) => n > before && n < 30_000),
          `it jumped to its end: ${views}`,
        );
      });
      await withWorker(folder, async ({ session }) => {
        const { status } = await session.task(reference.taskId).snapshot();
        assert.equal(status, "completed");
      });
    }));

  it("ends a task that its client cancels, and does not take it up again", () =>
    withFolder(async (folder) => {
      let taskId: Awaited<ReturnType<typeof start>>["taskId"];
      await withWorker(folder, async (client) => {
        ({ taskId } = await start(client, { upTo: 900_000, paceMs: 30 }));
        const task = client.session.task(taskId);
        await task.cancel();
        while ((await task.snapshot()).status !== "cancelled") await pause(20);
      });
      await withWorker(folder, async ({ session }) => {
        const { status } = await session.task(taskId).snapshot();
        assert.equal(status, "cancelled");
      });
    }));

  it("runs by the command of its README", () =>
    withFolder(async (folder) => {
      const child = await startByCommand(folder);
      const line = await child.line((line) => line.startsWith("listening on "));
      const url = new URL(line.slice("listening on ".length));
      const client = await openTaskClient(
        new StreamableHTTPClientTransport(url),
        { endpointId: "worker" },
      );
      const { tools } = await client.client.listTools();
      assert.deepEqual(tools.map(({ name }) => name), ["count_primes"]);
      await client.close();
      // The kill() of the child would hide its exit code on Deno.
      process.kill(child.process.pid!, "SIGTERM");
      assert.deepEqual(await child.exited, { code: 0, signal: null });
    }));

  const killed = "ends with an error when its workerd ends, and says how";
  if (!existsSync("/proc/self/task")) {
    skip(killed, "this system does not tell whose children are whose");
    return;
  }
  it(killed, () =>
    withFolder(async (folder) => {
      const child = await startByCommand(folder);
      await child.line((line) => line.startsWith("listening on "));
      for (const pid of await childrenOf(child.process.pid!)) {
        process.kill(pid, "SIGKILL");
      }
      assert.deepEqual(await child.exited, { code: 1, signal: null });
      assert.match(child.stderr(), /workerd has ended by itself: SIGKILL/);
    }));
});

/** Serves the example by the command of its README, with its state in a folder. */
async function startByCommand(folder: string) {
  const config = JSON.parse(
    await readFile(join(example, "wrangler.jsonc"), "utf8"),
  );
  const file = join(folder, "wrangler.jsonc");
  const main = join(example, config.main);
  await writeFile(file, JSON.stringify({ ...config, main }));
  return startChild(
    new URL("../../tools/serve_worker.ts", import.meta.url),
    // As it stands there: seen from where one is.
    { args: [relative(process.cwd(), file), "--port=0"] },
  );
}

/** The processes that a process has started, of whichever of its threads. */
async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(
    threads.map((thread) =>
      readFile(`/proc/${pid}/task/${thread}/children`, "utf8")
    ),
  );
  return lists.join(" ").split(" ").filter((id) => id.trim()).map(Number);
}
