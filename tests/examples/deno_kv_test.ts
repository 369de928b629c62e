import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { TaskView } from "@modelcontextprotocol/ext-tasks/client";
import {
  openTaskClient,
  type TaskClient,
} from "../../examples/crash_recovery/client.ts";
import {
  type ExampleProject,
  freePort,
  makeExampleProject,
  whileServing,
} from "../support/example_project.ts";
import { describe, it } from "../support/runner.ts";

/** Runs the example on a KV file, as often as the body says, each time on another port. */
async function withExample(
  body: (
    serve: (use: (client: TaskClient) => Promise<void>) => Promise<void>,
  ) => Promise<void>,
): Promise<void> {
  const projects: ExampleProject[] = [];
  try {
    await body(async (use) => {
      const port = await freePort();
      const project = await makeExampleProject("deno_kv", { port });
      projects.push(project);
      process.env.KV_PATH = join(projects[0].folder, "tasks.db");
      const url = new URL(`http://127.0.0.1:${port}/mcp`);
      await whileServing(project, url, async () => {
        const transport = new StreamableHTTPClientTransport(url);
        const client = await openTaskClient(transport, {
          endpointId: "deno-kv",
        });
        await use(client);
        await client.close();
      });
    });
  } finally {
    delete process.env.KV_PATH;
    for (const project of projects) await project.remove();
  }
}

/** Calls the tool as a task, and leaves it to itself. */
async function start({ session }: TaskClient, slices: number) {
  const execution = await session.callTool("estimate_pi", { slices });
  assert.equal(execution.kind, "task");
  const reference = execution.serializeReference();
  await execution.detach();
  return reference;
}

/** How many points a task has drawn. */
function drawn({ statusMessage = "" }: TaskView): number {
  return Number(/^(\d+) of /.exec(statusMessage)?.[1] ?? 0);
}

describe("examples/deno_kv", () => {
  it("goes on where it was when it is killed in the middle of a task", () =>
    withExample(async (serve) => {
      let reference: Awaited<ReturnType<typeof start>>;
      let before = 0;
      await serve(async (client) => {
        reference = await start(client, 40);
        const task = client.session.task(reference.taskId);
        while (before < 50_000) {
          await pause(20);
          before = drawn(await task.snapshot());
        }
      });
      await serve(async ({ session }) => {
        const first = await session.task(reference.taskId).snapshot();
        assert.equal(first.status, "working");
        assert.ok(drawn(first) >= before, `${drawn(first)} after ${before}`);
        const execution = await session.resumeTask(reference);
        const views: number[] = [];
        const { outcome } = await execution.settle({
          onEvent: (event) => {
            if (event.type === "task") views.push(drawn(event.task));
          },
        });
        assert.equal(outcome.status, "completed");
        const { structuredContent } = outcome.result as unknown as {
          structuredContent: { pi: number; drawn: number };
        };
        assert.equal(structuredContent.drawn, 400_000);
        assert.ok(Math.abs(structuredContent.pi - Math.PI) < 0.1);
        assert.ok(
          views.some((n) => n > before && n < 400_000),
          `it jumped to its end: ${views}`,
        );
      });
    }));

  it("serves a task from every instance, and cancels it through another", () =>
    withExample((serve) =>
      serve(async (one) => {
        const { taskId } = await start(one, 5_000);
        await serve(async (other) => {
          const task = other.session.task(taskId);
          assert.equal((await task.snapshot()).status, "working");
          await task.cancel();
        });
        const task = one.session.task(taskId);
        let status: TaskView["status"] = "working";
        while (status === "working") {
          await pause(20);
          ({ status } = await task.snapshot());
        }
        assert.equal(status, "cancelled");
      })
    ));
});
