/** Rows about results: reading and storing them. */
import { jsonLimit } from "../limits.ts";
import { rowsOf, textOf } from "../payloads.ts";
import { rate, type Row } from "../rounds.ts";
import { MEMORY, type System, type TasksLike, WAL } from "../systems.ts";
import type { RowId } from "../targets.ts";

interface Payload {
  readonly id: RowId;
  readonly result: object;
  /** Operations of a round. */
  readonly count: number;
  /** Tasks that are read in turn. */
  readonly tasks: number;
}

const KIB = 1024;
const SMALL = { count: 2_000, tasks: 100 };
const LARGE = { count: 24, tasks: 3 };

const READ: readonly Payload[] = [
  { id: "get-rows-10k", result: rowsOf(10 * KIB), ...SMALL },
  { id: "get-rows-1m", result: rowsOf(KIB * KIB), ...LARGE },
  { id: "get-text-10k", result: textOf(10 * KIB), ...SMALL },
  { id: "get-text-1m", result: textOf(KIB * KIB), ...LARGE },
];

const STORED: readonly Payload[] = [
  { id: "complete-rows-10k", result: rowsOf(10 * KIB), ...SMALL },
  { id: "complete-rows-1m", result: rowsOf(KIB * KIB), ...LARGE },
];

async function complete(tasks: TasksLike, result: object): Promise<string> {
  const { taskId } = await tasks.createTask();
  await tasks.handle(taskId).complete(result as never);
  return taskId;
}

async function read(
  tasks: TasksLike,
  { result, count, tasks: held }: Payload,
): Promise<number> {
  const taskIds: string[] = [];
  for (let i = 0; i < held; i++) taskIds.push(await complete(tasks, result));
  return await rate(
    count,
    1,
    (index) => tasks.getTask(taskIds[index % held]),
  );
}

/**
 * Makes the rows about results.
 *
 * @param others The reference, if it is there.
 * @returns The rows.
 */
export function payloadRows(others: readonly System[]): Row[] {
  const rowOf = (
    payload: Payload,
    way: "parse" | "stringify",
    run: (tasks: TasksLike, payload: Payload) => Promise<number>,
  ): Row => ({
    id: payload.id,
    contenders: [
      jsonLimit(way, payload.result, payload.count),
      ...[MEMORY, WAL, ...others].map((system) => ({
        name: system.name,
        round: () => system.with(false, (tasks) => run(tasks, payload)),
      })),
    ],
  });
  return [
    ...READ.map((payload) => rowOf(payload, "parse", read)),
    ...STORED.map((payload) =>
      rowOf(
        payload,
        "stringify",
        (tasks, { result, count }) =>
          rate(count, 1, () => complete(tasks, result)),
      )
    ),
  ];
}
