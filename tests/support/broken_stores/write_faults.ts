/** Faults of `create()` and `update()`. */

import type { TaskPatch, TaskRecord } from "../../../mod.ts";
import {
  ConcurrentUpdateError,
  DuplicateTaskIdError,
  TaskNotFoundError,
} from "../../../src/errors.ts";
import { broken, type BrokenStore } from "./fault.ts";
import { type Fields, SoundStore } from "./sound_store.ts";

const edit = (record: TaskRecord, fields: Fields): TaskRecord => ({
  ...record,
  ...fields,
});

export const WRITE_FAULTS: readonly BrokenStore[] = [
  broken(
    "create() starts every record at version 1",
    ["create-keeps"],
    class extends SoundStore {
      override create(record: TaskRecord): Promise<void> {
        return super.create(edit(record, { version: 1 }));
      }
    },
  ),
  broken(
    "create() acknowledges more than it can write at once",
    ["create-many"],
    class extends SoundStore {
      #running = 0;
      override async create(record: TaskRecord): Promise<void> {
        if (this.#running >= 100) return await this.pause();
        this.#running++;
        try {
          await super.create(record);
        } finally {
          this.#running--;
        }
      }
    },
  ),
  broken(
    "create() overwrites what is there",
    ["create-duplicate", "create-duplicate-race", "shared-race-create"],
    class extends SoundStore {
      override async create(record: TaskRecord): Promise<void> {
        this.refuseIfClosed("create");
        const text = this.encode(record);
        this.refuseIfTooLarge(record.taskId, text);
        await this.pause();
        this.put(record.taskId, text);
      }
    },
  ),
  broken(
    "create() overwrites a task that has ended",
    ["create-duplicate"],
    class extends SoundStore {
      override async create(record: TaskRecord): Promise<void> {
        const found = await this.get(record.taskId, 0);
        if (found?.status === "completed") this.remove(record.taskId);
        await super.create(record);
      }
    },
  ),
  broken(
    "create() looks, waits and inserts",
    ["create-duplicate-race", "shared-race-create"],
    class extends SoundStore {
      override async create(record: TaskRecord): Promise<void> {
        this.refuseIfClosed("create");
        const { taskId } = record;
        const text = this.encode(record);
        this.refuseIfTooLarge(taskId, text);
        if (this.find(taskId) !== undefined) {
          throw new DuplicateTaskIdError(taskId);
        }
        await this.pause();
        this.put(taskId, text);
      }
    },
  ),
  broken(
    "get() gives null for what is unknown",
    ["get-unknown"],
    class extends SoundStore {
      override async get(taskId: string, now?: number) {
        return await super.get(taskId, now) ?? null as unknown as undefined;
      }
    },
  ),
  broken(
    "get() deletes what it finds expired",
    ["get-pure"],
    class extends SoundStore {
      override async get(taskId: string, now?: number) {
        const record = await super.get(taskId, now);
        if (!record) this.remove(taskId);
        return record;
      }
    },
  ),
  broken(
    "ids in upper and lower case are the same",
    ["ids"],
    class extends SoundStore {
      protected override key(taskId: string): string {
        return taskId.toLowerCase();
      }
    },
  ),
  broken(
    "ids lose lone surrogates",
    ["ids"],
    class extends SoundStore {
      protected override key(taskId: string): string {
        return taskId.toWellFormed();
      }
    },
  ),
  broken(
    "update() merges objects",
    ["update-sets"],
    class extends SoundStore {
      protected override apply(record: TaskRecord, patch: TaskPatch) {
        const next = super.apply(record, patch) as unknown as Fields;
        const { extra: before } = record as unknown as Fields;
        const { extra } = patch as Fields;
        if (before && extra) next.extra = { ...before, ...extra };
        return next as unknown as TaskRecord;
      }
    },
  ),
  broken(
    "update() passes over what is undefined",
    ["update-deletes", "random"],
    class extends SoundStore {
      protected override take(patch: TaskPatch): TaskPatch {
        return JSON.parse(JSON.stringify(patch));
      }
    },
  ),
  broken(
    "update() returns undefined members",
    ["update-deletes"],
    class extends SoundStore {
      override async update(
        taskId: string,
        patch: TaskPatch,
        version: number,
        now?: number,
      ) {
        const change = this.take(patch);
        const record = await super.update(taskId, patch, version, now);
        const { taskId: _, createdAt: __, version: ___, ...rest } =
          change as Fields;
        for (const key of Object.keys(rest)) {
          if (rest[key] === undefined) {
            (record as unknown as Fields)[key] = undefined;
          }
        }
        return record;
      }
    },
  ),
  broken(
    "update() deletes what is null",
    ["update-null"],
    class extends SoundStore {
      protected override take(patch: TaskPatch): TaskPatch {
        return Object.fromEntries(
          Object.entries(super.take(patch)).map(([key, value]) => [
            key,
            value === null && key !== "ttlMs" ? undefined : value,
          ]),
        );
      }
    },
  ),
  broken(
    "update() lets a patch change the version",
    ["update-fixed"],
    class extends SoundStore {
      protected override apply(record: TaskRecord, patch: TaskPatch) {
        const { version } = patch as { version?: number };
        const next = super.apply(record, patch);
        return version === undefined ? next : edit(next, { version });
      }
    },
  ),
  broken(
    "update() lets a patch change createdAt",
    ["update-fixed"],
    class extends SoundStore {
      protected override apply(record: TaskRecord, patch: TaskPatch) {
        const { createdAt = record.createdAt } = patch as Fields;
        return edit(super.apply(record, patch), { createdAt });
      }
    },
  ),
  broken(
    "update() takes inherited keys",
    ["update-own-keys"],
    class extends SoundStore {
      protected override take(patch: TaskPatch): TaskPatch {
        const all = super.take(patch) as Fields;
        for (const key in patch) {
          if (!Object.hasOwn(all, key)) all[key] = (patch as Fields)[key];
        }
        return all;
      }
    },
  ),
  broken(
    "update() counts by two",
    ["update-version"],
    class extends SoundStore {
      protected override apply(record: TaskRecord, patch: TaskPatch) {
        return edit(super.apply(record, patch), {
          version: record.version + 2,
        });
      }
    },
  ),
  broken(
    "update() writes nothing for an empty patch",
    ["update-version"],
    class extends SoundStore {
      protected override apply(record: TaskRecord, patch: TaskPatch) {
        return Object.keys(patch).length > 0
          ? super.apply(record, patch)
          : record;
      }
    },
  ),
  broken(
    "versions are compared as text of three digits",
    ["update-version"],
    class extends SoundStore {
      protected override apply(record: TaskRecord, patch: TaskPatch) {
        const next = super.apply(record, patch);
        return edit(next, { version: next.version % 1_000 });
      }
    },
  ),
  broken(
    "update() returns the record before",
    ["update-returns"],
    class extends SoundStore {
      override async update(
        taskId: string,
        patch: TaskPatch,
        version: number,
        now?: number,
      ) {
        const before = this.living(taskId, now)!;
        const after = await super.update(taskId, patch, version, now);
        return { ...before, version: after.version };
      }
    },
  ),
  broken(
    "update() takes versions that are too high",
    ["update-stale"],
    class extends SoundStore {
      protected override fits(version: number, expected: number): boolean {
        return expected >= version;
      }
    },
  ),
  broken(
    "update() never looks at the version",
    ["update-stale", "race-two", "race-fifty", "race-count"],
    class extends SoundStore {
      protected override fits(): boolean {
        return true;
      }
    },
  ),
  broken(
    "update() says of a stale version that the task is not there",
    ["update-stale"],
    class extends SoundStore {
      override async update(
        taskId: string,
        patch: TaskPatch,
        version: number,
        now?: number,
      ) {
        try {
          return await super.update(taskId, patch, version, now);
        } catch (error) {
          if (!(error instanceof ConcurrentUpdateError)) throw error;
          throw new TaskNotFoundError(taskId);
        }
      }
    },
  ),
  broken(
    "update() makes what is not there",
    ["update-unknown-id"],
    class extends SoundStore {
      override async update(
        taskId: string,
        patch: TaskPatch,
        version: number,
        now?: number,
      ) {
        if (!this.closed && this.find(taskId) === undefined) {
          this.put(taskId, JSON.stringify({ taskId, ...patch, version }));
        }
        return await super.update(taskId, patch, version, now);
      }
    },
  ),
  broken(
    "update() says of an unknown id that the version is another",
    ["update-unknown-id"],
    class extends SoundStore {
      override async update(
        taskId: string,
        patch: TaskPatch,
        version: number,
        now?: number,
      ) {
        try {
          return await super.update(taskId, patch, version, now);
        } catch (error) {
          if (!(error instanceof TaskNotFoundError)) throw error;
          throw new ConcurrentUpdateError(taskId, version);
        }
      }
    },
  ),
  broken(
    "update() changes all ids that start alike",
    ["update-others"],
    class extends SoundStore {
      protected override put(taskId: string, text: string): void {
        super.put(taskId, text);
        for (const other of [...this.database.texts.keys()]) {
          if (taskId && other !== taskId && other.startsWith(taskId)) {
            super.put(other, text);
          }
        }
      }
    },
  ),
  broken(
    "update() loses a field that is kept apart for its size",
    ["update-large"],
    class extends SoundStore {
      protected override apply(record: TaskRecord, patch: TaskPatch) {
        const next = super.apply(record, patch);
        const large = JSON.stringify(record.result)?.length > 12_000;
        return large && next.version > 4 ? edit(next, { result: {} }) : next;
      }
    },
  ),
  broken(
    "update() waits between the check and the write",
    [
      "race-two",
      "race-fifty",
      "race-count",
      "shared-race-two",
      "shared-race-fifty",
      "shared-race-count",
    ],
    class extends SoundStore {
      override async update(
        taskId: string,
        patch: TaskPatch,
        version: number,
        now?: number,
      ) {
        this.refuseIfClosed("update");
        const change = this.take(patch);
        const record = this.living(taskId, now);
        if (!record) throw new TaskNotFoundError(taskId);
        if (record.version !== version) {
          throw new ConcurrentUpdateError(taskId, version);
        }
        await this.pause();
        const text = this.encode(this.apply(record, change));
        this.refuseIfTooLarge(taskId, text);
        this.put(taskId, text);
        return this.decode(text);
      }
    },
  ),
  broken(
    "update() checks in a queue that each instance has for itself",
    ["shared-race-two", "shared-race-fifty", "shared-race-count"],
    class extends SoundStore {
      #queue: Promise<unknown> = Promise.resolve();
      override update(
        taskId: string,
        patch: TaskPatch,
        version: number,
        now?: number,
      ): Promise<TaskRecord> {
        const change = this.take(patch);
        const turn = this.#queue.then(async () => {
          this.refuseIfClosed("update");
          const record = this.living(taskId, now);
          if (!record) throw new TaskNotFoundError(taskId);
          if (record.version !== version) {
            throw new ConcurrentUpdateError(taskId, version);
          }
          for (let i = 0; i < 5; i++) await this.pause();
          const text = this.encode(this.apply(record, change));
          this.refuseIfTooLarge(taskId, text);
          this.put(taskId, text);
          return this.decode(text);
        });
        this.#queue = turn.catch(() => {});
        return turn;
      }
    },
  ),
  broken(
    "update() lets one write at a time through, whatever the task",
    ["race-tasks"],
    class extends SoundStore {
      #writing = false;
      override async update(
        taskId: string,
        patch: TaskPatch,
        version: number,
        now?: number,
      ) {
        this.refuseIfClosed("update");
        if (this.#writing) throw new ConcurrentUpdateError(taskId, version);
        this.#writing = true;
        try {
          return await super.update(taskId, patch, version, now);
        } finally {
          this.#writing = false;
        }
      }
    },
  ),
];
