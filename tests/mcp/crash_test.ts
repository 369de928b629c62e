import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SerializedTaskReference } from "@modelcontextprotocol/ext-tasks/client";
import {
  openTaskClient,
  type TaskClient,
} from "../../examples/crash_recovery/client.ts";
import {
  overHttp,
  overStdio,
  type StartServer,
} from "../../examples/crash_recovery/server_process.ts";
import { describe, it } from "../support/runner.ts";

const TRANSPORTS: Readonly<Record<string, (dir: string) => StartServer>> = {
  "Streamable HTTP": overHttp,
  stdio: overStdio,
};

/** A folder with five files, and a place for the server's own. */
async function withFolders(
  body: (files: string, dir: string) => Promise<void>,
): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), "mcp-crash-"));
  const files = await mkdtemp(join(root, "files-"));
  for (const name of ["a.ts", "b.ts", "c.md", "d.ts", "e.md"]) {
    await writeFile(join(files, name), "readFolder\nwriteFolder readFolder\n");
  }
  try {
    await body(files, join(root, "server"));
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Runs the example's server, from its start to a SIGKILL. */
async function withServer<T>(
  start: StartServer,
  body: (client: TaskClient) => Promise<T>,
): Promise<T> {
  const server = await start([]);
  try {
    const client = await openTaskClient(server.transport, {
      endpointId: "crash",
      onInputRequest: () =>
        Promise.resolve(
          { action: "accept", content: { extension: ".md" } } as never,
        ),
    });
    const result = await body(client);
    await server.kill();
    await client.close();
    return result;
  } finally {
    await server.kill();
  }
}

/** Calls the tool and leaves as soon as the task shows something. */
async function leaveWhen(
  { session }: TaskClient,
  args: { readonly folder: string; readonly paceMs: number },
  shown: (status: string, message: string) => boolean,
): Promise<SerializedTaskReference> {
  const execution = await session.callTool("index_folder", { ...args });
  assert.equal(execution.kind, "task");
  const reference = execution.serializeReference();
  await execution.detach();
  for (;;) {
    const task = await session.task(reference.taskId).snapshot();
    if (shown(task.status, task.statusMessage ?? "")) return reference;
    assert.notEqual(task.status, "completed");
  }
}

/** Takes a task up again, and follows it to its end. */
async function resume(
  client: TaskClient,
  reference: SerializedTaskReference,
): Promise<Record<string, unknown>> {
  const execution = await client.session.resumeTask(reference);
  const { outcome } = await execution.settle();
  assert.equal(outcome.status, "completed");
  const result = outcome.result as {
    structuredContent: Record<string, unknown>;
  };
  return result.structuredContent;
}

for (const [name, over] of Object.entries(TRANSPORTS)) {
  describe(`kill -9 and resumeTask() over ${name}`, () => {
    it("in the middle of the work", () =>
      withFolders(async (folder, dir) => {
        const start = over(dir);
        const reference = await withServer(
          start,
          (client) =>
            leaveWhen(
              client,
              { folder, paceMs: 500 },
              (_status, message) => /^[1-4] of 5 files: /.test(message),
            ),
        );
        await withServer(start, async (client) => {
          assert.deepEqual(await resume(client, reference), {
            files: 5,
            lines: 10,
            bytes: 170,
            extension: ".md",
            answerFrom: "requestInput",
            top: ["readFolder", "writeFolder"],
          });
        });
      }));

    it("in the middle of an input round", () =>
      withFolders(async (folder, dir) => {
        const start = over(dir);
        const reference = await withServer(
          start,
          (client) =>
            leaveWhen(
              client,
              { folder, paceMs: 0 },
              (status) => status === "input_required",
            ),
        );
        await withServer(start, async (client) => {
          const { answerFrom } = await resume(client, reference);
          assert.equal(answerFrom, "resumeInput");
        });
        await withServer(start, async (client) => {
          const { extension, files } = await resume(client, reference);
          assert.deepEqual([extension, files], [".md", 5]);
        });
      }));
  });
}
