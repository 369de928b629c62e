/**
 * Kills an MCP server in the middle of its tasks and starts it again: what the
 * official client sees before and after. Everything shown is asserted.
 *
 *     deno task demo            over Streamable HTTP
 *     deno task demo --stdio    over stdio
 *     node examples/crash_recovery/demo.ts [--stdio]
 */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type {
  SerializedTaskReference,
  TaskOutcome,
  TaskView,
} from "@modelcontextprotocol/ext-tasks/client";
import { openTaskClient, type TaskClient } from "./client.ts";
import { readFolder } from "./index_folder.ts";
import {
  overHttp,
  overStdio,
  type ServerProcess,
  type StartServer,
} from "./server_process.ts";
import { createStage } from "./stage.ts";

/** What `index_folder` gives. */
interface IndexResult {
  readonly files: number;
  readonly lines: number;
  readonly bytes: number;
  readonly extension: string;
  readonly answerFrom: string;
  readonly top: readonly string[];
}

const source = fileURLToPath(new URL("../../src", import.meta.url));
const small = join(source, "model");
const stdio = process.argv.includes("--stdio");
const startedAt = performance.now();
const stage = createStage();
const folder = mkdtempSync(join(tmpdir(), "crash-recovery-"));
const running = new Set<Promise<ServerProcess>>();
let cleaning: Promise<void> | undefined;

// One Ctrl-C may come twice, from the terminal and from the program that
// started this one: the second must not end the clean-up of the first.
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
for (
  const name of process.platform === "win32" ? ["SIGINT"] as const : signals
) {
  const code = 128 + constants.signals[name];
  process.on(name, () => void cleanUp().finally(() => process.exit(code)));
}
try {
  await play(stdio ? overStdio(folder) : overHttp(folder));
} catch (error) {
  // Who takes the servers away makes the play fail.
  if (!cleaning) throw error;
} finally {
  await cleanUp();
}

async function play(start: StartServer): Promise<void> {
  stage.heading(
    `Tasks that outlive their server, over ${
      stdio ? "stdio" : "Streamable HTTP"
    }`,
  );
  const before = await connect(start, []);
  const firstPid = before.server.pid();
  stage.say(`The server is process ${firstPid} (${before.server.where}).`);

  const finished = await finish(before, small);
  const asking = await ask(before, small);
  const working = await work(before, source);

  stage.heading(`SIGKILL to process ${firstPid}`);
  await stop(before);
  await assert.rejects(Promise.resolve().then(() => process.kill(firstPid, 0)));
  stage.check("The process is gone; what it held in memory is lost.");

  stage.heading("The server is started again, with the same folder");
  const after = await connect(start, ["--hold"]);
  assert.notEqual(after.server.pid(), firstPid);
  stage.say(
    `It is process ${after.server.pid()}, and does not work on anything yet.`,
  );

  stage.heading("Act 1: the first task, which had finished");
  const again = await outcomeOf(after, finished.reference);
  assert.deepEqual(again, finished.result);
  stage.check(`The new process gives the same result: ${summary(again)}.`);

  stage.heading("Act 2: the second task, which waited for an answer");
  await answerWhileNobodyWorks(after, asking);

  stage.heading("Act 3: the third task, which was in the middle of its work");
  const atRest = await view(after, working.reference);
  assert.equal(atRest.status, "working");
  assert.ok(filesDone(atRest) >= working.seen);
  stage.check(`It still says: ${atRest.status}, "${atRest.statusMessage}".`);

  stage.heading(
    "The server reads its own list of what it was doing, and goes on",
  );
  const text = await callTool(after, "take_up_jobs");
  assert.equal(text, "took up 2 jobs");
  stage.say(`It ${text}.`);
  const answered = await outcomeOf(after, asking);
  assert.equal(answered.answerFrom, "resumeInput");
  assert.equal(answered.extension, ".ts");
  stage.check(
    `Act 2 ends: resumeInput() gave the worker its answer: ${
      summary(answered)
    }.`,
  );

  let next = Infinity;
  const completed = await outcomeOf(after, working.reference, (task) => {
    const done = filesDone(task);
    if (done > filesDone(atRest)) next = Math.min(next, done);
    stage.move(moving(task));
  });
  const { files, lines, bytes } = await readFolder(source, {
    paceMs: 0,
    skip: Infinity,
    signal: new AbortController().signal,
    onFile: () => Promise.resolve(),
  });
  assert.deepEqual(
    { files: completed.files, lines: completed.lines, bytes: completed.bytes },
    { files, lines, bytes },
  );
  assert.ok(
    next < files,
    "it went on where it was, and did not jump to the end",
  );
  assert.equal(completed.answerFrom, "requestInput");
  stage.check(
    `Act 3 ends: it went on after file ${
      filesDone(atRest)
    }, asked, and is right: ${summary(completed)}.`,
  );
  await stop(after);

  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  stage.heading(
    `Three tasks, one SIGKILL, nothing lost (${seconds} s, all of it asserted).`,
  );
}

/** A client on a server that was just started. */
interface Scene extends TaskClient {
  readonly server: ServerProcess;
}

async function connect(
  start: StartServer,
  flags: readonly string[],
): Promise<Scene> {
  if (cleaning) throw new Error("the demo was told to end");
  const starting = start(flags);
  running.add(starting);
  const server = await starting;
  const client = await openTaskClient(server.transport, {
    endpointId: "crash-recovery",
    onInputRequest: (request) => {
      assert.equal(request.kind, "elicitation");
      stage.say(
        `The task asks: "${request.params?.message}" The client says .ts`,
      );
      return Promise.resolve(
        { action: "accept", content: { extension: ".ts" } } as never,
      );
    },
  });
  return { ...client, server };
}

async function stop(scene: Scene): Promise<void> {
  await scene.server.kill();
  await scene.close();
}

/** Calls the tool, and waits for its end. */
async function finish(scene: Scene, path: string) {
  stage.say("A first task indexes a small folder, and finishes:");
  const execution = await scene.session.callTool("index_folder", {
    folder: path,
    paceMs: 20,
  });
  assert.equal(execution.kind, "task");
  const { outcome } = await execution.settle({
    onEvent: (event) => {
      if (event.type === "task") stage.move(moving(event.task));
    },
  });
  const result = resultOf(outcome);
  stage.check(`Finished: ${summary(result)}.`);
  return { reference: execution.serializeReference(), result };
}

/** Calls the tool, and leaves when it asks. */
async function ask(
  scene: Scene,
  path: string,
): Promise<SerializedTaskReference> {
  const reference = await leave(scene, path, 20);
  let task = await view(scene, reference);
  while (task.status === "working") {
    await pause(50);
    task = await view(scene, reference);
  }
  assert.equal(task.status, "input_required");
  stage.check("A second task waits for an answer, which it does not get yet.");
  return reference;
}

/** Calls the tool, and leaves when a part of the work is done. */
async function work(scene: Scene, path: string) {
  stage.say("A third task indexes the whole library:");
  const reference = await leave(scene, path, 40);
  let task = await view(scene, reference);
  while (filesDone(task) < 12) {
    await pause(50);
    task = await view(scene, reference);
    stage.move(moving(task));
  }
  assert.equal(task.status, "working");
  stage.check(`In the middle of it: "${task.statusMessage}".`);
  return { reference, seen: filesDone(task) };
}

/** Starts a task, and keeps nothing but its reference. */
async function leave(scene: Scene, path: string, paceMs: number) {
  const execution = await scene.session.callTool("index_folder", {
    folder: path,
    paceMs,
  });
  assert.equal(execution.kind, "task");
  const reference = execution.serializeReference();
  await execution.detach();
  return reference;
}

/** Answers a question that another process asked, and that nobody waits for. */
async function answerWhileNobodyWorks(
  scene: Scene,
  reference: SerializedTaskReference,
): Promise<void> {
  const open = await view(scene, reference);
  assert.equal(open.status, "input_required");
  const requests = open.raw.inputRequests as Record<string, unknown>;
  assert.deepEqual(Object.keys(requests), ["extension"]);
  stage.check("Its question is still open in the new process.");
  await scene.session.task(reference.taskId).update({
    extension: { action: "accept", content: { extension: ".ts" } },
  });
  assert.equal((await view(scene, reference)).status, "working");
  stage.check("The client answers now, while no worker is there to hear it.");
}

function view(
  scene: Scene,
  { taskId }: SerializedTaskReference,
): Promise<TaskView> {
  return scene.session.task(taskId).snapshot();
}

async function outcomeOf(
  scene: Scene,
  reference: SerializedTaskReference,
  onTask: (task: TaskView) => void = () => {},
): Promise<IndexResult> {
  const execution = await scene.session.resumeTask(reference);
  const { outcome } = await execution.settle({
    onEvent: (event) => {
      if (event.type === "task") onTask(event.task);
    },
  });
  return resultOf(outcome);
}

function resultOf(outcome: TaskOutcome<unknown>): IndexResult {
  assert.equal(outcome.status, "completed");
  const result = outcome.result as { structuredContent?: IndexResult };
  assert.ok(result.structuredContent);
  return result.structuredContent;
}

async function callTool(scene: Scene, name: string): Promise<string> {
  const { content } = await scene.client.callTool({ name });
  const [block] = content;
  assert.equal(block.type, "text");
  return block.text;
}

function summary({ files, lines, extension, top }: IndexResult): string {
  return `${files} files, ${lines} lines; most used in ${extension}: ${
    top.join(", ")
  }`;
}

function moving(task: TaskView): string {
  if (task.status === "input_required") return "waiting for an answer";
  return `${task.status}: ${task.statusMessage ?? "starting"}`;
}

function filesDone(task: TaskView): number {
  return Number(/^(\d+) of /.exec(task.statusMessage ?? "")?.[1] ?? 0);
}

/** Takes away every server, also one that is about to start, and the folder; once. */
function cleanUp(): Promise<void> {
  return cleaning ??= Promise.allSettled(
    [...running].map(async (server) => await (await server).kill()),
  ).then(() => rmSync(folder, { recursive: true, force: true }));
}
