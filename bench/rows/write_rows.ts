/** Rows about writing: creating, the whole life, progress. */
import { rawLimit, sqliteLimit, type Writing } from "../limits.ts";
import { questionsOf, textOf } from "../payloads.ts";
import { type Contender, rate, type Row } from "../rounds.ts";
import { MEMORY, type System, type TasksLike, WAL } from "../systems.ts";
import type { RowId } from "../targets.ts";

/** Writes that a round takes: enough for its rate, and no more. */
const COUNT = 8_192;

/** The same of flushes that nobody shares. */
const LONE_FLUSHES = 512;

interface Writers {
  readonly id: RowId;
  readonly callers: number;
  readonly fsync: boolean;
}

const countOf = ({ callers, fsync }: Writers) =>
  fsync && callers < 64 ? LONE_FLUSHES * callers : COUNT;

function limitsOf(writers: Writers): Contender[] {
  const writing: Writing = {
    count: countOf(writers),
    batch: writers.callers,
    fsync: writers.fsync,
  };
  return [rawLimit(writing), sqliteLimit(writing)];
}

const create = (tasks: TasksLike) =>
  tasks.createTask({ statusMessage: "waiting for its turn" });

const RESULT = textOf(2_048) as never;

/** A task from its creation to its end, and as its client sees it. */
async function live(tasks: TasksLike): Promise<void> {
  const { taskId } = await create(tasks);
  const task = tasks.handle(taskId);
  for (let step = 1; step <= 3; step++) {
    await tasks.getTask(taskId);
    await task.progress(`step ${step} of 3 is done`);
  }
  await task.complete(RESULT);
  await tasks.getTask(taskId);
  await tasks.getTask(taskId);
}

function runs(
  systems: readonly System[],
  writers: Writers,
  count: number,
  operation: (tasks: TasksLike) => Promise<unknown>,
): Contender[] {
  return systems.map((system) => ({
    name: system.name,
    round: () =>
      system.with(
        writers.fsync,
        (tasks) => rate(count, writers.callers, () => operation(tasks)),
      ),
  }));
}

/**
 * Makes the rows about creating and about whole lives.
 *
 * @param others The reference, if it is there.
 * @returns The rows.
 */
export function writeRows(others: readonly System[]): Row[] {
  const systems = [MEMORY, WAL, ...others];
  const creating: readonly Writers[] = [
    { id: "create-1", callers: 1, fsync: false },
    { id: "create-64", callers: 64, fsync: false },
    { id: "create-fsync-1", callers: 1, fsync: true },
    { id: "create-fsync-8", callers: 8, fsync: true },
    { id: "create-fsync-64", callers: 64, fsync: true },
  ];
  const living: readonly Writers[] = [
    { id: "life-1", callers: 1, fsync: false },
    { id: "life-fsync-64", callers: 64, fsync: true },
  ];
  return [
    ...creating.map((writers) => ({
      id: writers.id,
      contenders: [
        ...limitsOf(writers),
        ...runs(systems, writers, countOf(writers), create),
      ],
    })),
    ...living.map((writers) => ({
      id: writers.id,
      contenders: [
        limitsOf(writers)[0],
        ...runs(systems, writers, countOf(writers) >> 2, live),
      ],
    })),
  ];
}

/**
 * Makes the rows about progress on a record that holds much or little.
 *
 * @param others The reference, if it is there.
 * @returns The rows.
 */
export function progressRows(others: readonly System[]): Row[] {
  const sizes: readonly (readonly [RowId, number])[] = [
    ["progress-0", 0],
    ["progress-10k", 10 * 1024],
    ["progress-1m", 1024 * 1024],
  ];
  return sizes.map(([id, bytes]) => ({
    id,
    contenders: [
      rawLimit({ count: COUNT, batch: 1, fsync: false }),
      ...[MEMORY, WAL, ...others].map((system) => ({
        name: system.name,
        round: () =>
          system.with(false, (tasks) =>
            progressOn(
              tasks,
              bytes,
              // The whole record is written again by who knows no better.
              system === others[0] && bytes > 65_536 ? 64 : COUNT,
            )),
      })),
    ],
  }));
}

async function progressOn(
  tasks: TasksLike,
  bytes: number,
  count: number,
): Promise<number> {
  const { taskId } = await create(tasks);
  const task = tasks.handle(taskId);
  const asking = bytes > 0
    ? task.requestInput(questionsOf(bytes) as Record<string, never>)
    : undefined;
  asking?.catch(() => {}); // It ends with the lifecycle.
  await task.progress("asked");
  return await rate(
    count,
    1,
    (index) => task.progress(`step ${index} is done`),
  );
}
