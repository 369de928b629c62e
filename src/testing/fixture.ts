/** How a store comes to the kit. */

import type { TaskStore } from "../store/contract.ts";
import { brief, describeError } from "./brief.ts";
import { Unmet } from "./failure.ts";

/** What only the author of a store can do for the kit. */
export type ConformanceSeam =
  | "reopen"
  | "reopenLower"
  | "advanceTime"
  | "secondInstance";

/** A store under test, with what the kit needs beyond the five methods. */
export interface TaskStoreFixture {
  /** The store: a new one, over new and empty data. */
  readonly store: TaskStore;
  /**
   * Opens the same data again. The kit has closed the store before. A store of
   * eventual reads lets arrive what was written before.
   *
   * @returns A new instance.
   */
  reopen?(): TaskStore | Promise<TaskStore>;
  /**
   * Does what `reopen` does, and sets `traits.maxRecordBytes` lower than before.
   * For a store whose users may do that.
   *
   * @param maxRecordBytes The limit.
   * @returns A new instance.
   */
  reopenLower?(maxRecordBytes: number): TaskStore | Promise<TaskStore>;
  /**
   * Opens the same data a second time, while the store is open. A store of one
   * process (`writers: "exclusive"`) refuses: the promise rejects with
   * `ERR_STORE_LOCKED`, or the instance's methods do.
   *
   * @returns A new instance.
   */
  secondInstance?(): TaskStore | Promise<TaskStore>;
  /**
   * Puts the store's own clock forward. Until then it shows the real time. For
   * a store of eventual reads that time passes for what is under way, too.
   *
   * @param ms By how much, in milliseconds.
   */
  advanceTime?(ms: number): void | Promise<void>;
  /** Removes what the store has left. The kit has closed all instances before. */
  dispose?(): void | Promise<void>;
}

/**
 * Makes a store for the kit. Each call gives a new store over new, empty data;
 * the kit calls it once for each case, and closes what it gets. The store
 * alone will do where nothing else can be given.
 */
export type TaskStoreFactory = () =>
  | TaskStore
  | TaskStoreFixture
  | Promise<TaskStore | TaskStoreFixture>;

const METHODS = ["create", "get", "update", "sweep", "close"] as const;

/**
 * Calls a factory, and checks what it gives.
 *
 * @param factory The factory.
 * @param seen The stores that the kit has had before; the new one is added.
 * @returns The fixture.
 */
export async function openFixture(
  factory: TaskStoreFactory,
  seen: WeakSet<TaskStore>,
): Promise<TaskStoreFixture> {
  let made: unknown;
  try {
    made = await factory();
  } catch (error) {
    throw new Unmet(
      "the factory gives a store",
      `it failed with ${describeError(error)}`,
      { thrown: error },
    );
  }
  const fixture = isStore(made)
    ? { store: made }
    : made as TaskStoreFixture | undefined | null;
  return {
    ...bindSeams(fixture),
    store: takeInstance("the factory", fixture?.store, seen),
  };
}

/**
 * Takes an instance that a factory or a seam gave.
 *
 * @param giver Who gave it.
 * @param instance What was given.
 * @param seen The instances that there were before; this one is added.
 * @returns The instance.
 */
export function takeInstance(
  giver: string,
  instance: unknown,
  seen: WeakSet<TaskStore>,
): TaskStore {
  if (!isStore(instance)) {
    throw new Unmet(
      `${giver} gives a store with ${METHODS.join(", ")}, or { store, … }`,
      `it gave ${brief(instance)}`,
    );
  }
  if (seen.has(instance)) {
    throw new Unmet(
      `${giver} gives a new instance each time`,
      "it gave one that it had given before",
    );
  }
  seen.add(instance);
  return instance;
}

function isStore(value: unknown): value is TaskStore {
  return typeof value === "object" && value !== null &&
    METHODS.every((method) =>
      typeof (value as Record<string, unknown>)[method] === "function"
    );
}

/** Keeps the seams callable without the fixture, which may be an instance of a class. */
function bindSeams(
  fixture: TaskStoreFixture | undefined | null,
): Omit<TaskStoreFixture, "store"> {
  const seams: Record<string, unknown> = {};
  for (
    const name of [
      "reopen",
      "reopenLower",
      "advanceTime",
      "secondInstance",
      "dispose",
    ] as const
  ) {
    if (fixture?.[name]) seams[name] = fixture[name].bind(fixture);
  }
  return seams as Omit<TaskStoreFixture, "store">;
}
