/** Measures one figure in a process of its own, and prints it as JSON: `child.ts FIGURE DIR TASKS SYSTEM [--cpu]`. */
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setImmediate } from "node:timers";
import { crc32 } from "node:zlib";
import { clock } from "../clock.ts";
import { textOf } from "../payloads.ts";
import { MEMORY, reference, type TasksLike, WAL } from "../systems.ts";

const [figure, dir, count, name] = process.argv.slice(2);
const TASKS = Number(count);
const system = name === "reference"
  ? (await reference())!
  : name === "memory"
  ? MEMORY
  : WAL;

/** Makes a record of a working task about 1 KiB. */
const MESSAGE = "m".repeat(750);

/** Tasks that are changed: the others lie there, and have to be carried along. */
const WORKED_ON = 1_000;

/** Progress calls that are under way at the same time. */
const AT_ONCE = 32;

async function inBatches(
  length: number,
  batch: number,
  operation: (index: number) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < length; at += batch) {
    const size = Math.min(batch, length - at);
    await Promise.all(
      Array.from({ length: size }, (_, i) => operation(at + i)),
    );
  }
}

const prepareSmall = async (tasks: TasksLike): Promise<string[]> => {
  const taskIds: string[] = [];
  await inBatches(TASKS, 256, async () => {
    const created = await tasks.createTask({
      statusMessage: MESSAGE,
      ttlMs: 86_400_000,
    });
    taskIds.push(created.taskId);
  });
  return taskIds;
};

async function prepareLarge(tasks: TasksLike): Promise<void> {
  const result = textOf(10 * 1024 - 300) as never;
  await inBatches(TASKS, 64, async () => {
    const { taskId } = await tasks.createTask({ ttlMs: 86_400_000 });
    await tasks.handle(taskId).complete(result);
  });
}

/** What no opening can be faster than: each byte is read and checked. */
function readAll(): { ms: number } {
  const buffer = new Uint8Array(1 << 20);
  const started = clock();
  let check = 0;
  for (const name of readdirSync(dir)) {
    const file = openSync(join(dir, name), "r");
    let read: number;
    do {
      read = readSync(file, buffer);
      check = crc32(buffer.subarray(0, read), check);
    } while (read > 0);
    closeSync(file);
  }
  return { ms: clock() - started };
}

function collectGarbage(): void {
  const { gc, Bun } = globalThis as {
    gc?: () => void;
    Bun?: { gc(force: boolean): void };
  };
  for (let i = 0; i < 3; i++) {
    if (Bun) Bun.gc(true);
    else gc?.();
  }
}

async function open(): Promise<object> {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const started = clock();
  const tasks = await system.open(dir, false);
  // The first answer says that it is open.
  await tasks.getTask("none").catch(() => {});
  const ms = clock() - started;
  const rss = process.memoryUsage().rss;
  collectGarbage();
  const heap = process.memoryUsage().heapUsed - before;
  await tasks.close();
  return { ms, rssMb: rss / 1e6, heapBytes: heap / TASKS };
}

/** Bytes that this process has given to the system to write; only Linux counts them. */
function bytesWritten(): number {
  try {
    const io = readFileSync("/proc/self/io", "utf8");
    return Number(/^wchar: (\d+)$/m.exec(io)![1]);
  } catch {
    return NaN;
  }
}

/** Changes tasks all over the store, and watches how long the event loop is away. */
async function change(): Promise<object> {
  const tasks = await system.open(dir, false);
  const taskIds = await prepareSmall(tasks);
  const every = Math.max(1, Math.floor(TASKS / WORKED_ON));
  const worked = taskIds.filter((_, index) => index % every === 0);
  let longest = 0;
  let last = clock();
  let watching = true;
  const watch = () => {
    const now = clock();
    longest = Math.max(longest, now - last);
    last = now;
    if (watching) setImmediate(watch);
  };
  collectGarbage();
  await new Promise((resolve) => setTimeout(resolve, 200));
  last = clock();
  watch();
  const before = bytesWritten();
  let changed = 0;
  const calls = TASKS * 2;
  await inBatches(calls, AT_ONCE, async (index) => {
    const statusMessage = `${MESSAGE.slice(0, 100)} ${index}`;
    await tasks.handle(worked[index % worked.length]).progress(statusMessage);
    const lastUpdatedAt = new Date().toISOString();
    changed += JSON.stringify({ statusMessage, lastUpdatedAt }).length;
    // What the callers of a server do between two calls.
    if (index % AT_ONCE === 0) await new Promise((next) => setImmediate(next));
  });
  const written = bytesWritten() - before;
  watching = false;
  await tasks.close();
  return { stallMs: longest, writtenPerChanged: written / changed };
}

/** How much the folder takes. */
const folderMb = () =>
  readdirSync(dir)
    .reduce((sum, name) => sum + statSync(join(dir, name)).size, 0) / 1e6;

async function run(): Promise<object> {
  switch (figure) {
    case "prepare-1k":
    case "prepare-10k": {
      const tasks = await system.open(dir, false);
      if (figure === "prepare-1k") await prepareSmall(tasks);
      else await prepareLarge(tasks);
      await tasks.close();
      return { folderMb: folderMb() };
    }
    case "read":
      return readAll();
    case "open":
      return await open();
    case "change":
      return await change();
    default:
      throw new Error(`There is no figure ${figure}`);
  }
}

console.log(JSON.stringify(await run()));
