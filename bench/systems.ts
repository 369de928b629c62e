/** The engines that are measured, each over its store. */
import process from "node:process";
import { MemoryTaskStore, TaskLifecycle, type TaskStore } from "../mod.ts";
import { WalTaskStore } from "../wal.ts";
import { withFolder } from "./limits.ts";

/** What the rows call of a handle. */
export interface TaskHandleLike {
  progress(statusMessage: string): Promise<void>;
  requestInput(requests: Record<string, never>): Promise<unknown>;
  complete(result: never): Promise<void>;
}

/** What the rows call of a lifecycle. */
export interface TasksLike {
  createTask(init?: object): Promise<{ readonly taskId: string }>;
  handle(taskId: string): TaskHandleLike;
  getTask(taskId: string): Promise<unknown>;
  close(): Promise<void>;
}

/** An engine over a store. */
export interface System {
  readonly name: string;
  /** Opens what is in a folder. */
  open(dir: string, fsync: boolean): Promise<TasksLike>;
  /** Calls `use` with new tasks, and removes them. */
  with<T>(fsync: boolean, use: (tasks: TasksLike) => Promise<T>): Promise<T>;
}

function system(name: string, open: System["open"]): System {
  return {
    name,
    open,
    with: (fsync, use) =>
      withFolder(async (dir) => {
        const tasks = await open(dir, fsync);
        try {
          return await use(tasks);
        } finally {
          await tasks.close();
        }
      }),
  };
}

const lifecycle = (store: TaskStore) =>
  new TaskLifecycle({ store }) as unknown as TasksLike;

/** The store in memory: what the engine alone costs. */
export const MEMORY: System = system(
  "MemoryTaskStore",
  () => Promise.resolve(lifecycle(new MemoryTaskStore())),
);

/** The log. */
export const WAL: System = system(
  "WalTaskStore",
  async (dir, fsync) => lifecycle(await WalTaskStore.open({ dir, fsync })),
);

/** The module of the reference; it is on no registry, so it takes part only where it was built. */
interface ReferenceModule {
  readonly TaskLifecycle: new (options: { store: unknown }) => TasksLike;
  readonly WalTaskStore: new (options: object) => unknown;
}

/**
 * The reference, mcp-durable-tasks: `REFERENCE` is the path of its built entry, or of several that
 * have `TaskLifecycle` and `WalTaskStore` between them, with a comma between the paths.
 *
 * @returns It; `undefined` where `REFERENCE` is not set.
 */
export async function reference(): Promise<System | undefined> {
  const paths = process.env.REFERENCE;
  if (!paths) return undefined;
  const modules = await Promise.all(
    paths.split(",").map((path) => import(new URL(path, base()).href)),
  );
  const { TaskLifecycle, WalTaskStore } = Object.assign(
    {},
    ...modules,
  ) as ReferenceModule;
  return system(
    "reference",
    (dir, fsync) => {
      const store = new WalTaskStore({ dir, fsync });
      return Promise.resolve(new TaskLifecycle({ store }));
    },
  );
}

/** Paths start from where the command was given. */
function base(): URL {
  return new URL(`file://${process.cwd()}/`);
}
