/** Faults that show when a store is opened again. */

import type { TaskPatch, TaskRecord } from "../../../mod.ts";
import { broken, type BrokenStore } from "./fault.ts";
import {
  type Database,
  EXCLUSIVE,
  type Fields,
  SoundStore,
} from "./sound_store.ts";

/** Loses something of each record when it is opened again. */
abstract class Forgetful extends SoundStore {
  protected abstract recover(record: Fields): Fields | undefined;
  protected override openedAgain(): void {
    const { texts } = this.database;
    for (const [key, text] of [...texts]) {
      const record = this.recover(JSON.parse(text));
      if (record) texts.set(key, JSON.stringify(record));
      else texts.delete(key);
    }
  }
}

const lose = (fault: string, foundBy: readonly string[], field: string) =>
  broken(
    fault,
    foundBy,
    class extends Forgetful {
      protected recover({ [field]: _, ...rest }: Fields): Fields {
        return rest;
      }
    },
    EXCLUSIVE,
  );

/** What was there before the last write of each record, by the database. */
const before = new WeakMap<Database, Map<string, string | undefined>>();

export const REOPEN_FAULTS: readonly BrokenStore[] = [
  lose(
    "the cancel intent is not written",
    ["reopen-fields"],
    "cancelRequestedAt",
  ),
  lose(
    "open questions are not written",
    ["reopen-input-round"],
    "inputRequests",
  ),
  lose("answers are not written", ["reopen-input-round"], "inputResponses"),
  lose("used keys are not written", ["reopen-terminal"], "usedInputKeys"),
  lose("errors are not written", ["reopen-terminal", "reopen-fields"], "error"),
  broken(
    "the last write is lost",
    ["reopen-last-write", "random-reopened"],
    class extends SoundStore {
      protected override put(taskId: string, text: string): void {
        let last = before.get(this.database);
        if (!last) before.set(this.database, last = new Map());
        last.clear();
        last.set(this.key(taskId), this.find(taskId));
        super.put(taskId, text);
      }
      protected override openedAgain(): void {
        for (const [key, text] of before.get(this.database) ?? []) {
          if (text !== undefined) this.database.texts.set(key, text);
        }
      }
    },
    EXCLUSIVE,
  ),
  broken(
    "close() drops what it has granted and not written",
    ["reopen-under-way"],
    class extends SoundStore {
      protected override put(taskId: string, text: string): void {
        if (!this.closed) super.put(taskId, text);
      }
    },
    EXCLUSIVE,
  ),
  broken(
    "sweeps are not written",
    ["reopen-deleted", "random-reopened"],
    class extends SoundStore {
      readonly #removed = new Map<string, string>();
      protected override remove(taskId: string): boolean {
        this.#removed.set(this.key(taskId), this.find(taskId)!);
        return super.remove(taskId);
      }
      override async close(): Promise<void> {
        const { texts } = this.database;
        for (const [key, text] of this.#removed) {
          if (!texts.has(key)) texts.set(key, text);
        }
        await super.close();
      }
    },
    EXCLUSIVE,
  ),
  broken(
    "versions start anew",
    ["reopen-rules", "reopen-fields"],
    class extends Forgetful {
      protected recover(record: Fields): Fields {
        return { ...record, version: 1 };
      }
    },
    EXCLUSIVE,
  ),
  broken(
    "create() knows the ids of its own instance alone",
    ["reopen-duplicate"],
    class extends SoundStore {
      readonly #created = new Set<string>();
      override async create(record: TaskRecord): Promise<void> {
        if (!this.closed && !this.#created.has(record.taskId)) {
          this.remove(record.taskId);
        }
        await super.create(record);
        this.#created.add(record.taskId);
      }
    },
    EXCLUSIVE,
  ),
  broken(
    "TTLs that were changed are the first ones again",
    ["reopen-rules"],
    class extends Forgetful {
      protected recover({ first, ...record }: Fields): Fields {
        return { ...record, ttlMs: first ?? record.ttlMs };
      }
      protected override decode(text: string): TaskRecord {
        const { first: _, ...record } = JSON.parse(text);
        return record;
      }
      protected override put(taskId: string, text: string): void {
        const found = this.find(taskId);
        const { first, ttlMs } = found ? JSON.parse(found) : JSON.parse(text);
        const record = JSON.parse(text);
        super.put(
          taskId,
          JSON.stringify({ ...record, first: first ?? ttlMs }),
        );
      }
    },
    EXCLUSIVE,
  ),
  broken(
    "what is written is in another encoding than what is read at once",
    ["reopen-json"],
    class extends Forgetful {
      protected recover(record: Fields): Fields {
        return JSON.parse(JSON.stringify(record).replaceAll("漢", "?"));
      }
    },
    EXCLUSIVE,
  ),
  broken(
    "updates are written wrong from the fourth opening on",
    ["random-reopened"],
    class extends SoundStore {
      override async update(
        taskId: string,
        patch: TaskPatch,
        version: number,
        now?: number,
      ) {
        const record = await super.update(taskId, patch, version, now);
        if (this.database.openings < 4) return record;
        this.put(taskId, this.encode({ ...record, owner: "nobody" }));
        return record;
      }
    },
    EXCLUSIVE,
  ),
];
