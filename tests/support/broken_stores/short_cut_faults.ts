/** Faults of `head()` and `commit()`. */

import type { TaskHead, TaskPatch, TaskRecord } from "../../../mod.ts";
import {
  ConcurrentUpdateError,
  TaskNotFoundError,
} from "../../../src/errors.ts";
import { setOwn } from "../../../src/model/json.ts";
import { headOf } from "../../../src/model/record.ts";
import { broken, type BrokenStore } from "./fault.ts";
import { type Fields, SoundStore } from "./sound_store.ts";

/** A sound store with both short cuts. */
export class ShortCutStore extends SoundStore {
  async head(taskId: string, now?: number): Promise<TaskHead | undefined> {
    const record = await this.get(taskId, now);
    return record && headOf(record);
  }

  async commit(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<number> {
    return (await this.update(taskId, patch, expectedVersion, now)).version;
  }
}

const KNOWN: ReadonlySet<string> = new Set([
  "taskId",
  "status",
  "statusMessage",
  "createdAt",
  "lastUpdatedAt",
  "ttlMs",
  "pollIntervalMs",
  "owner",
  "takenInputKeys",
  "usedInputKeys",
  "version",
]);

/** The members of an object that a test picks. */
function pick(record: object, keeps: (key: string) => boolean): TaskHead {
  const entries = Object.entries(record).filter(([key]) => keeps(key));
  return Object.fromEntries(entries) as unknown as TaskHead;
}

export const SHORT_CUT_FAULTS: readonly BrokenStore[] = [
  broken(
    "head() gives the whole record",
    ["head-fields", "random"],
    class extends ShortCutStore {
      override head(taskId: string, now?: number) {
        return this.get(taskId, now);
      }
    },
  ),
  broken(
    "head() gives the fields that it knows",
    ["head-fields"],
    class extends ShortCutStore {
      override async head(taskId: string, now?: number) {
        const head = await super.head(taskId, now);
        return head && pick(head, (key) => KNOWN.has(key));
      }
    },
  ),
  broken(
    "head() leaves out what is long",
    ["head-fields"],
    class extends ShortCutStore {
      override async head(taskId: string, now?: number) {
        const head = await super.head(taskId, now);
        if (!head) return head;
        const values = head as unknown as Record<string, unknown>;
        return pick(head, (key) => JSON.stringify(values[key]).length < 512);
      }
    },
  ),
  broken(
    "head() leaves out the keys that were taken, too",
    ["head-fields"],
    class extends ShortCutStore {
      override async head(taskId: string, now?: number) {
        const head = await super.head(taskId, now);
        return head && pick(head, (key) => key !== "takenInputKeys");
      }
    },
  ),
  broken(
    "head() is kept from the first time on",
    ["head-latest", "head-shared"],
    class extends ShortCutStore {
      readonly #heads = new Map<string, TaskHead | undefined>();
      override async head(taskId: string, now?: number) {
        const head = this.#heads.get(taskId) ??
          await super.head(taskId, now);
        this.#heads.set(taskId, head);
        return structuredClone(head);
      }
    },
  ),
  broken(
    "head() forgets nothing that a sweep deletes",
    ["head-latest"],
    class extends ShortCutStore {
      readonly #deleted = new Map<string, string>();
      protected override remove(taskId: string): boolean {
        this.#deleted.set(taskId, this.find(taskId)!);
        return super.remove(taskId);
      }
      override async head(taskId: string, now?: number) {
        const text = this.#deleted.get(taskId);
        const head = await super.head(taskId, now);
        return head ?? (text === undefined ? head : headOf(this.decode(text)));
      }
    },
  ),
  broken(
    "head() is that of this instance alone",
    ["head-shared"],
    class extends ShortCutStore {
      readonly #own = new Set<string>();
      protected override put(taskId: string, text: string): void {
        this.#own.add(taskId);
        super.put(taskId, text);
      }
      override async head(taskId: string, now?: number) {
        return this.#own.has(taskId)
          ? await super.head(taskId, now)
          : undefined;
      }
    },
  ),
  broken(
    "head() gives what has expired",
    ["head-unknown", "head-clock"],
    class extends ShortCutStore {
      override head(taskId: string) {
        return super.head(taskId, 0);
      }
    },
  ),
  broken(
    "head() deletes what it finds expired",
    ["head-unknown"],
    class extends ShortCutStore {
      override async head(taskId: string, now?: number) {
        const head = await super.head(taskId, now);
        if (!head) this.remove(taskId);
        return head;
      }
    },
  ),
  broken(
    "head() needs a time to find anything",
    ["head-clock"],
    class extends ShortCutStore {
      override head(taskId: string, now = Infinity) {
        return super.head(taskId, now);
      }
    },
  ),
  broken(
    "head() gives out what it keeps",
    ["head-copies"],
    class extends ShortCutStore {
      readonly #heads = new Map<string, TaskHead>();
      override async head(taskId: string, now?: number) {
        const head = await super.head(taskId, now);
        const text = this.find(taskId);
        if (!head || text === undefined) return head;
        if (!this.#heads.has(text)) this.#heads.set(text, head);
        return this.#heads.get(text);
      }
    },
  ),
  broken(
    "head() and commit() work on after close()",
    ["head-refuses", "commit-refuses-closed"],
    class extends ShortCutStore {
      protected override refuseIfClosed(operation: string): void {
        if (operation !== "head") super.refuseIfClosed(operation);
      }
      override async head(taskId: string, now?: number) {
        await this.pause();
        const record = this.living(taskId, now);
        return record && headOf(record);
      }
      override async commit(taskId: string, patch: TaskPatch) {
        const { closed } = this;
        this.closed = false;
        try {
          return await super.commit(taskId, patch, 1);
        } finally {
          this.closed = closed;
        }
      }
    },
  ),
  broken(
    "head() and commit() throw after close()",
    ["head-refuses", "commit-refuses-closed"],
    class extends ShortCutStore {
      override head(taskId: string, now?: number) {
        this.refuseIfClosed("read a head");
        return super.head(taskId, now);
      }
      override commit(...args: Parameters<ShortCutStore["commit"]>) {
        this.refuseIfClosed("commit");
        return super.commit(...args);
      }
    },
  ),
  broken(
    "commit() puts the patch through JSON",
    ["commit-applies", "random"],
    class extends ShortCutStore {
      override commit(
        taskId: string,
        patch: TaskPatch,
        version: number,
        now?: number,
      ) {
        const copy = JSON.parse(JSON.stringify(patch));
        return super.commit(taskId, copy, version, now);
      }
    },
  ),
  broken(
    "commit() returns the version before",
    ["commit-applies", "random", "commit-reopen"],
    class extends ShortCutStore {
      override async commit(...args: Parameters<ShortCutStore["commit"]>) {
        return await super.commit(...args) - 1;
      }
    },
  ),
  broken(
    "commit() gives the whole record",
    ["commit-applies"],
    class extends ShortCutStore {
      override commit(...args: Parameters<ShortCutStore["commit"]>) {
        return this.update(...args) as unknown as Promise<number>;
      }
    },
  ),
  broken(
    "commit() takes all that a patch can reach",
    ["commit-names"],
    class extends ShortCutStore {
      override commit(
        taskId: string,
        patch: TaskPatch,
        version: number,
        now?: number,
      ) {
        const all: Fields = {};
        for (const key in patch) setOwn(all, key, (patch as Fields)[key]);
        return super.commit(taskId, all, version, now);
      }
    },
  ),
  broken(
    "commit() lets the patch say the version",
    ["commit-names"],
    class extends ShortCutStore {
      #commits = false;
      protected override apply(record: TaskRecord, patch: TaskPatch) {
        const next = super.apply(record, patch);
        return this.#commits ? { ...next, ...patch } : next;
      }
      override async commit(...args: Parameters<ShortCutStore["commit"]>) {
        this.#commits = true;
        try {
          return await super.commit(...args);
        } finally {
          this.#commits = false;
        }
      }
    },
  ),
  broken(
    "commit() asks nobody for the version",
    ["commit-refuses", "commit-race", "commit-shared", "random"],
    class extends ShortCutStore {
      override async commit(
        taskId: string,
        patch: TaskPatch,
        _version: number,
        now?: number,
      ) {
        const change = this.take(patch);
        const record = await this.get(taskId, now);
        if (!record) throw new TaskNotFoundError(taskId);
        const text = this.encode(this.apply(record, change));
        this.refuseIfTooLarge(taskId, text);
        this.put(taskId, text);
        return record.version + 1;
      }
    },
  ),
  broken(
    "commit() looks at the version, waits and writes",
    ["commit-race"],
    class extends ShortCutStore {
      override async commit(
        taskId: string,
        patch: TaskPatch,
        version: number,
        now?: number,
      ) {
        const change = this.take(patch);
        const record = await this.get(taskId, now);
        if (!record) throw new TaskNotFoundError(taskId);
        if (record.version !== version) {
          throw new ConcurrentUpdateError(taskId, version, record.version);
        }
        const text = this.encode(this.apply(record, change));
        this.refuseIfTooLarge(taskId, text);
        await this.pause();
        this.put(taskId, text);
        return record.version + 1;
      }
    },
  ),
  broken(
    "commit() does not know of the TTL",
    ["commit-refuses", "random"],
    class extends ShortCutStore {
      override commit(taskId: string, patch: TaskPatch, version: number) {
        return super.commit(taskId, patch, version, 0);
      }
    },
  ),
  broken(
    "commit() encodes the patch when its turn has come",
    ["commit-copies"],
    class extends ShortCutStore {
      override async commit(...args: Parameters<ShortCutStore["commit"]>) {
        await this.pause();
        return await super.commit(...args);
      }
    },
  ),
  broken(
    "commit() adds to the caller's patch",
    ["commit-copies"],
    class extends ShortCutStore {
      override commit(
        taskId: string,
        patch: TaskPatch,
        version: number,
        now?: number,
      ) {
        const committing = super.commit(taskId, patch, version, now);
        (patch as Fields).lastUpdatedAt ??= undefined;
        return committing;
      }
    },
  ),
  broken(
    "commit() measures the patch alone",
    ["commit-size"],
    class extends ShortCutStore {
      #commits = false;
      protected override refuseIfTooLarge(taskId: string, text: string): void {
        if (!this.#commits) super.refuseIfTooLarge(taskId, text);
      }
      override async commit(
        taskId: string,
        patch: TaskPatch,
        version: number,
        now?: number,
      ) {
        this.refuseIfTooLarge(taskId, JSON.stringify(patch));
        this.#commits = true;
        try {
          return await super.commit(taskId, patch, version, now);
        } finally {
          this.#commits = false;
        }
      }
    },
  ),
  broken(
    "commit() writes what the instance keeps, and the data later",
    ["commit-reopen", "commit-shared"],
    class extends ShortCutStore {
      readonly #ahead = new Map<string, string>();
      #commits = false;
      protected override find(taskId: string): string | undefined {
        return this.#ahead.get(taskId) ?? super.find(taskId);
      }
      protected override put(taskId: string, text: string): void {
        if (this.#commits) this.#ahead.set(taskId, text);
        else super.put(taskId, text);
      }
      override async commit(...args: Parameters<ShortCutStore["commit"]>) {
        this.#commits = true;
        try {
          return await super.commit(...args);
        } finally {
          this.#commits = false;
        }
      }
    },
  ),
];
