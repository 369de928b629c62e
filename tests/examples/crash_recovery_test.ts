import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  openTaskClient,
  type TaskClient,
} from "../../examples/crash_recovery/client.ts";
import { overHttp } from "../../examples/crash_recovery/server_process.ts";
import { type Child, startChild } from "../support/child.ts";
import { describe, it } from "../support/runner.ts";

const demo = new URL("../../examples/crash_recovery/demo.ts", import.meta.url);

/** Plays the demo to its end, with a temporary folder of its own to leave traces in. */
async function play(
  args: readonly string[],
  meanwhile: (child: Child) => Promise<void> = () => Promise.resolve(),
) {
  const temporary = await mkdtemp(join(tmpdir(), "demo-test-"));
  const child = startChild(demo, {
    args,
    env: { TMPDIR: temporary, TEMP: temporary, TMP: temporary },
  });
  await meanwhile(child);
  const { code } = await child.exited;
  const left = readdirSync(temporary).filter((name) =>
    name.startsWith("crash-recovery-")
  );
  await rm(temporary, { recursive: true, force: true });
  return { code, left, lines: child.lines, stderr: child.stderr() };
}

for (const [name, args] of [["HTTP", []], ["stdio", ["--stdio"]]] as const) {
  describe(`examples/crash_recovery over ${name}`, () => {
    it("shows its three acts, exits 0 and leaves nothing behind", async () => {
      const { code, left, lines, stderr } = await play(args);
      const shown = lines.join("\n");
      assert.equal(code, 0, `${shown}\n${stderr}`);
      assert.match(shown, /Act 1: the first task, which had finished\n {2}ok /);
      assert.match(shown, /still says: working, "\d+ of \d+ files: /);
      assert.match(
        shown,
        /its own list of what it was doing, and goes on\n {2}It took up 2 jobs/,
      );
      assert.match(shown, /Act 2 ends: resumeInput\(\) gave the worker/);
      assert.match(shown, /Act 3 ends: it went on after file \d+/);
      assert.ok(!shown.includes("input_required"), shown);
      assert.match(lines.at(-1)!, /nothing lost/);
      assert.ok(!shown.includes("\x1b"), "no colour where nobody looks");
      assert.deepEqual(left, []);
    });

    if (process.platform !== "win32") {
      it("leaves nothing behind where two signals end it", async () => {
        const { code, left, lines } = await play(args, async (child) => {
          await child.line((line) => line.includes("The server is process"));
          // Deno's kill() of a child sends but the first signal.
          process.kill(child.process.pid!, "SIGINT");
          process.kill(child.process.pid!, "SIGTERM");
        });
        assert.notEqual(code, 0);
        assert.doesNotMatch(lines.join("\n"), /nothing lost/);
        assert.deepEqual(left, []);
      });
    }
  });
}

/** The tasks in the jobs file of a server. */
async function jobsIn(dir: string): Promise<readonly string[]> {
  const text = await readFile(join(dir, "jobs.json"), "utf8");
  return JSON.parse(text).map((job: { taskId: string }) => job.taskId);
}

/** Waits until a task has a status. */
async function until(
  task: ReturnType<TaskClient["session"]["task"]>,
  status: string,
): Promise<void> {
  while ((await task.snapshot()).status !== status) await pause(10);
}

/** A server and a client over a folder, to the end of the body. */
async function withServer(
  dir: string,
  flags: readonly string[],
  body: (client: TaskClient) => Promise<void>,
) {
  const server = await overHttp(dir)(flags);
  try {
    const client = await openTaskClient(server.transport, {
      endpointId: "jobs",
    });
    await body(client);
    await client.close();
  } finally {
    await server.kill();
  }
}

describe("examples/crash_recovery/server.ts", () => {
  it("keeps a job as long as its task, and takes up no other", async () => {
    const dir = await mkdtemp(join(tmpdir(), "demo-jobs-"));
    const folder = fileURLToPath(new URL(".", demo));
    try {
      await withServer(dir, [], async ({ session }) => {
        const [cancelled, declined, open] = await Promise.all(
          [1, 2, 3].map(async () => {
            const execution = await session.callTool("index_folder", {
              folder,
              paceMs: 0,
            });
            assert.equal(execution.kind, "task");
            const { taskId } = execution.serializeReference();
            await execution.detach();
            await until(session.task(taskId), "input_required");
            return taskId;
          }),
        );
        assert.equal((await jobsIn(dir)).length, 3);
        await session.task(cancelled).cancel();
        await until(session.task(cancelled), "cancelled");
        await session.task(declined).update({
          extension: { action: "decline" },
        });
        await until(session.task(declined), "completed");
        while ((await jobsIn(dir)).length > 1) await pause(10);
        assert.deepEqual(await jobsIn(dir), [open]);

        // As after a crash between the end of a task and that of its job.
        const [job] = JSON.parse(
          await readFile(join(dir, "jobs.json"), "utf8"),
        );
        const left = [cancelled, open, "of-another-folder"];
        await writeFile(
          join(dir, "jobs.json"),
          JSON.stringify(left.map((taskId) => ({ ...job, taskId }))),
        );
      });
      await withServer(dir, ["--hold"], async ({ client }) => {
        const { content } = await client.callTool({ name: "take_up_jobs" });
        assert.deepEqual(content, [{ type: "text", text: "took up 1 jobs" }]);
        assert.equal((await jobsIn(dir)).length, 1);
      });
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });
});
