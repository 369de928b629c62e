/**
 * What a task costs: `deno task bench [--rounds=N]`, or `node bench/wal_bench.ts`, `bun bench/wal_bench.ts`.
 *
 * `createTask()`, `progress()` and `complete()` of a `TaskLifecycle` over `MemoryTaskStore` and
 * `WalTaskStore`, beside the disk's own limit and SQLite in the same run. The number in brackets is
 * the ratio to the limit, the median over the rounds.
 */
import process from "node:process";
import { MemoryTaskStore, TaskLifecycle, type TaskStore } from "../mod.ts";
import { WalTaskStore } from "../wal.ts";
import { rawLimit, sqliteLimit, withFolder } from "./limits.ts";
import { compare, type Contender, type Group, rate } from "./rounds.ts";

const PHASES = ["create", "progress", "complete"] as const;

/** A result that makes a record of about the size that the limits write. */
const RESULT = { content: [{ type: "text", text: "a".repeat(120) }] };

/** The life of `count` tasks over a store, from so many callers. */
async function lives(
  store: TaskStore,
  count: number,
  callers: number,
): Promise<number[]> {
  const tasks = new TaskLifecycle({ store });
  const ids: string[] = [];
  try {
    return [
      await rate(count, callers, async () => {
        ids.push(
          (await tasks.createTask({ statusMessage: "waiting for its turn" }))
            .taskId,
        );
      }),
      await rate(
        count,
        callers,
        (index) =>
          tasks.handle(ids[index]).progress(
            `step ${index} of the work is done`,
          ),
      ),
      await rate(
        count,
        callers,
        (index) => tasks.handle(ids[index]).complete(RESULT),
      ),
    ];
  } finally {
    await tasks.close();
  }
}

function memory(count: number, callers: number): Contender {
  return {
    name: "MemoryTaskStore",
    round: () => lives(new MemoryTaskStore(), count, callers),
  };
}

function wal(count: number, callers: number, fsync: boolean): Contender {
  return {
    name: "WalTaskStore",
    round: () =>
      withFolder(async (dir) =>
        await lives(await WalTaskStore.open({ dir, fsync }), count, callers)
      ),
  };
}

function group(callers: number, fsync: boolean): Group {
  const count = fsync && callers === 1 ? 256 : 2_048;
  return {
    name: `fsync ${fsync ? "on" : "off"}, ${callers} ${
      callers === 1 ? "caller" : "callers"
    }`,
    contenders: [
      rawLimit(count, callers, fsync),
      sqliteLimit(count, callers, fsync),
      memory(count, callers),
      wal(count, callers, fsync),
    ],
  };
}

const option = process.argv[2] ?? "--rounds=7";
const rounds = Number(/^--rounds=(\d+)$/.exec(option)?.[1]);
if (!(rounds > 0)) {
  console.error(`Cannot take ${option}: the option is --rounds=N`);
  process.exit(1);
}
console.log(
  await compare(
    [group(1, false), group(64, false), group(1, true), group(64, true)],
    PHASES,
    rounds,
  ),
);
