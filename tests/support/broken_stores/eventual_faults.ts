/** Faults of stores whose reads are eventual. */

import type { TaskPatch, TaskRecord } from "../../../mod.ts";
import { eventualFactoryOf, EventualStore } from "./eventual_store.ts";
import type { BrokenStore } from "./fault.ts";

const broken = (
  fault: string,
  foundBy: readonly string[],
  Store: typeof EventualStore,
): BrokenStore => ({ fault, foundBy, factory: eventualFactoryOf(Store) });

export const EVENTUAL_FAULTS: readonly BrokenStore[] = [
  broken(
    "an instance does not know what it wrote itself",
    ["eventual-own-writes"],
    class extends EventualStore {
      protected override wrote(): void {}
    },
  ),
  broken(
    "an instance forgets what it has read",
    ["eventual-never-back"],
    class extends EventualStore {
      protected override read(): void {}
    },
  ),
  broken(
    "what was read once is never read again",
    ["eventual-arrives"],
    class extends EventualStore {
      protected override choose(place: number, seen?: number): number {
        return seen !== undefined && seen >= 0 ? seen : place;
      }
    },
  ),
  broken(
    "update() asks one replica, whatever was read before",
    ["eventual-refuses"],
    class extends EventualStore {
      override async update(
        taskId: string,
        patch: TaskPatch,
        version: number,
        now?: number,
      ): Promise<TaskRecord> {
        this.seen.delete(taskId);
        return await super.update(taskId, patch, version, now);
      }
    },
  ),
  broken(
    "create() asks one replica, whatever was read before",
    ["eventual-refuses"],
    class extends EventualStore {
      override async create(record: TaskRecord): Promise<void> {
        this.seen.delete(record.taskId);
        await super.create(record);
      }
    },
  ),
];
