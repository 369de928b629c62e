/**
 * An MCP server whose tool takes long, and whose tasks survive a SIGKILL.
 *
 *     server.ts --dir DIR --port PORT [--hold]     over Streamable HTTP
 *     server.ts --dir DIR --stdio [--hold]         over stdio
 *
 * After a start it takes up the jobs that the process before it left behind.
 * With `--hold` it waits until the tool `take_up_jobs` is called, so that the
 * demo can look at the moment in between.
 */

import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import {
  ANONYMOUS_OWNER,
  attachTasks,
  type TaskToolContext,
  toolWorker,
} from "../../mcp.ts";
import {
  isDuplicateInputKeyError,
  isTaskNotFoundError,
  isTerminalStatus,
  type TaskHandle,
  TaskLifecycle,
} from "../../mod.ts";
import { WalTaskStore } from "../../wal.ts";
import { type FolderIndex, rank, readFolder } from "./index_folder.ts";
import { type Job, JobFile } from "./jobs.ts";

const { values: options } = parseArgs({
  options: {
    dir: { type: "string" },
    port: { type: "string" },
    stdio: { type: "boolean" },
    hold: { type: "boolean" },
  },
});
if (options.dir === undefined) throw new Error("--dir is needed");
mkdirSync(options.dir, { recursive: true });

const jobs = new JobFile(join(options.dir, "jobs.json"));
const tasks = new TaskLifecycle({
  store: new WalTaskStore({ dir: join(options.dir, "tasks") }),
  onEvent: (event) => console.error(event),
});

/** What the tool is, for the servers that offer it and for the jobs that are taken up. */
const INDEX_FOLDER = {
  description: "Counts what is in a folder, and ranks its identifiers",
  inputSchema: z.object({
    folder: z.string(),
    paceMs: z.number().int().min(0).default(50),
  }),
  outputSchema: z.object({
    files: z.number(),
    lines: z.number(),
    bytes: z.number(),
    extension: z.string(),
    answerFrom: z.string(),
    top: z.array(z.string()),
  }),
  task: { support: "required", ttlMs: 600_000, pollIntervalMs: 100 },
} as const;

/** The work, from its beginning or from where the process before got to. */
async function indexFolder(
  { folder, paceMs }: z.output<typeof INDEX_FOLDER.inputSchema>,
  task: TaskHandle,
  { call }: TaskToolContext,
): Promise<void> {
  const { taskId } = task;
  let job = jobs.find(taskId) ?? keepJob({ taskId, call, done: 0 });
  const index = await readFolder(folder, {
    paceMs,
    skip: job.done,
    signal: task.signal,
    onFile: async (done, of, path) => {
      await task.progress(`${done} of ${of} files: ${path}`);
      job = { ...job, done };
      jobs.put(job);
    },
  });
  const answer = job.extension === undefined
    ? await askExtension(task, index)
    : { extension: job.extension, from: "jobs file" };
  const { extension } = answer;
  jobs.put({ ...job, extension });
  const top = rank(index, extension);
  const { files, lines, bytes } = index;
  await task.complete({
    content: [{
      type: "text",
      text: `${files} files, ${lines} lines; most used in ${extension}: ${
        top.join(", ")
      }`,
    }],
    structuredContent: {
      files,
      lines,
      bytes,
      extension,
      answerFrom: answer.from,
      top: [...top],
    },
  });
}

/** Keeps a job for as long as its task lives, however that ends. */
function keepJob(job: Job): Job {
  jobs.put(job);
  tasks.onTaskChanged(job.taskId, () => {}, {
    onEnd: () => removeIfEnded(job.taskId),
  });
  return job;
}

/**
 * Takes a job out if its task has ended or is gone, and never before: a crash
 * in between leaves a job too many, not a task without one.
 */
async function removeIfEnded(taskId: string): Promise<boolean> {
  // A server with authentication has to keep the owner in the job: to anybody
  // else its task is as one that is gone.
  const ended = await tasks.getTask(taskId, { owner: ANONYMOUS_OWNER }).then(
    ({ status }) => isTerminalStatus(status),
    // Anything else, such as a server that closes, says nothing of the task.
    isTaskNotFoundError,
  );
  if (ended) jobs.remove(taskId);
  return ended;
}

/** Asks once in the life of the task, whichever process is alive when the answer comes. */
async function askExtension(task: TaskHandle, index: FolderIndex) {
  const extensions = [...index.identifiers.keys()].sort();
  const early = await task.resumeInput();
  if (early?.extension) {
    return { ...chosen(early.extension), from: "resumeInput" };
  }
  try {
    const answers = await task.requestInput({
      extension: {
        method: "elicitation/create",
        params: {
          mode: "form",
          message: "Which files' identifiers shall be ranked?",
          requestedSchema: {
            type: "object",
            properties: { extension: { type: "string", enum: extensions } },
            required: ["extension"],
          },
        },
      },
    });
    return { ...chosen(answers.extension), from: "requestInput" };
  } catch (error) {
    if (!isDuplicateInputKeyError(error)) throw error;
  }
  // The process before asked, and nobody has answered yet.
  for (;;) {
    const changed = nextChange(task);
    const late = await task.resumeInput();
    if (late?.extension) {
      return { ...chosen(late.extension), from: "resumeInput" };
    }
    await changed;
    task.signal.throwIfAborted();
  }
}

function nextChange(task: TaskHandle): Promise<void> {
  return new Promise((resolve) => {
    const stop = tasks.onTaskChanged(task.taskId, () => {
      stop();
      resolve();
    });
    task.signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function chosen(answer: unknown): { readonly extension: string } {
  const { action, content } = answer as {
    readonly action: string;
    readonly content?: { readonly extension: string };
  };
  if (action !== "accept" || !content) {
    throw new Error("no extension was chosen");
  }
  return content;
}

/** Takes up what the process before left behind. */
async function takeUpJobs(): Promise<number> {
  let taken = 0;
  for (const job of jobs.list()) {
    if (await removeIfEnded(job.taskId)) continue;
    const { taskId, call } = keepJob(job);
    void tasks.run(
      taskId,
      toolWorker("index_folder", INDEX_FOLDER, indexFolder, call),
    );
    taken++;
  }
  return taken;
}

/** Makes the server of one connection. What outlives it is outside. */
function makeServer(): McpServer {
  const mcp = new McpServer({ name: "crash-recovery", version: "1.0.0" });
  const { registerTool } = attachTasks(mcp, tasks, {
    onError: (error, where) => console.error(where, error),
  });
  registerTool("index_folder", INDEX_FOLDER, indexFolder);
  mcp.registerTool("take_up_jobs", {
    description: "Takes up the jobs of the process before",
  }, async () => ({
    content: [{ type: "text", text: `took up ${await takeUpJobs()} jobs` }],
  }));
  return mcp;
}

if (!options.hold) await takeUpJobs();

if (options.stdio) serveStdio(makeServer);
else {
  const http = createServer(toNodeHandler(createMcpHandler(makeServer)));
  http.listen(Number(options.port ?? 3000), "127.0.0.1", () => {
    const { port } = http.address() as { port: number };
    console.log(`listening on http://127.0.0.1:${port}/mcp`);
  });
}
process.on("SIGTERM", () => {
  tasks.close({ graceMs: 1_000 }).finally(() => process.exit(0));
});
