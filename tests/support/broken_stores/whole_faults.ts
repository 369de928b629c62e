/** Faults of the store as a whole. */

import type { TaskPatch, TaskRecord } from "../../../mod.ts";
import { DuplicateTaskIdError } from "../../../src/errors.ts";
import { broken, type BrokenStore } from "./fault.ts";
import {
  Database,
  EXCLUSIVE,
  factoryOf,
  SHARED,
  SoundStore,
} from "./sound_store.ts";

function oneDatabase(): BrokenStore["factory"] {
  let database = new Database();
  let calls = 0;
  return factoryOf(SoundStore, SHARED, () => {
    // Fresh for each case, but not for a second store within one.
    if (calls++ % 2 === 0) database = new Database();
    return database;
  });
}

export const WHOLE_FAULTS: readonly BrokenStore[] = [
  {
    fault: "the factory gives stores over the same data",
    foundBy: ["factory-fresh"],
    factory: oneDatabase(),
  },
  broken(
    "throws instead of rejecting",
    ["promises"],
    class extends SoundStore {
      override create(record: TaskRecord): Promise<void> {
        if (this.find(record.taskId) !== undefined) {
          throw new DuplicateTaskIdError(record.taskId);
        }
        return super.create(record);
      }
    },
  ),
  broken("says durable: 1", ["traits"], SoundStore, {
    ...SHARED,
    durable: 1 as unknown as boolean,
  }),
  broken("says minWriteIntervalMs: -1", ["traits"], SoundStore, {
    ...SHARED,
    minWriteIntervalMs: -1,
  }),
  broken('says reads: "soon"', ["traits"], SoundStore, {
    ...SHARED,
    reads: "soon" as unknown as "latest",
  }),
  broken(
    "says something else of itself when it is closed",
    ["traits"],
    class extends SoundStore {
      override close(): Promise<void> {
        Object.assign(this, { traits: { ...this.traits, durable: false } });
        return super.close();
      }
    },
  ),
  broken(
    "close() fails the second time",
    ["close-again"],
    class extends SoundStore {
      override close(): Promise<void> {
        if (this.closed) return Promise.reject(new Error("not open"));
        return super.close();
      }
    },
  ),
  broken(
    "close() fails where nothing was done",
    ["close-unused"],
    class extends SoundStore {
      override close(): Promise<void> {
        if (this.closed || this.database.texts.size > 0) return super.close();
        return Promise.reject(new Error("not connected"));
      }
    },
  ),
  broken(
    "reads after close()",
    ["close-refuses"],
    class extends SoundStore {
      override get(taskId: string, now?: number) {
        return Promise.resolve(this.living(taskId, now));
      }
    },
  ),
  broken(
    "refuses only when close() is done",
    ["close-refuses"],
    class extends SoundStore {
      override async close(): Promise<void> {
        await this.pause();
        await super.close();
      }
    },
  ),
  broken(
    "leaves what is under way at close() unsettled",
    ["close-under-way"],
    class extends SoundStore {
      protected override async pause(): Promise<void> {
        await super.pause();
        if (this.closed) await new Promise(() => {});
      }
    },
    { ...SHARED, durable: false },
  ),
  broken(
    "breaks off what is under way at close() with any error",
    ["close-under-way"],
    class extends SoundStore {
      protected override async pause(): Promise<void> {
        await super.pause();
        if (this.closed) throw new Error("the socket has ended");
      }
    },
  ),
  broken(
    "a second instance opens what belongs to one",
    ["exclusive-refused"],
    class extends SoundStore {
      protected override lock(): void {}
    },
    EXCLUSIVE,
  ),
  broken(
    "an instance that closes closes the others",
    ["shared-close"],
    class extends SoundStore {
      override async close(): Promise<void> {
        const { open } = this.database;
        await super.close();
        for (const other of [...open]) await other.close();
      }
    },
  ),
  broken(
    "keeps what it has read for itself",
    ["shared-sees", "shared-expiry", "random-shared"],
    class extends SoundStore {
      readonly #read = new Map<string, string>();
      protected override find(taskId: string): string | undefined {
        const text = this.#read.get(taskId) ?? super.find(taskId);
        if (text !== undefined) this.#read.set(taskId, text);
        return text;
      }
      protected override put(taskId: string, text: string): void {
        this.#read.set(taskId, text);
        super.put(taskId, text);
      }
      protected override remove(taskId: string): boolean {
        this.#read.delete(taskId);
        return super.remove(taskId);
      }
    },
  ),
  broken(
    "sweeps by the TTL that it has read itself",
    ["shared-expiry"],
    class extends SoundStore {
      readonly #ttls = new Map<string, number | null>();
      override async get(taskId: string, now?: number) {
        const record = await super.get(taskId, now);
        if (record) this.#ttls.set(taskId, record.ttlMs);
        return record;
      }
      override async update(
        taskId: string,
        patch: TaskPatch,
        version: number,
        now?: number,
      ) {
        const record = await super.update(taskId, patch, version, now);
        this.#ttls.set(taskId, record.ttlMs);
        return record;
      }
      protected override expired(now = this.clock()): string[] {
        return [...this.database.texts.values()]
          .map((text) => this.decode(text))
          .filter((record) => {
            const ttlMs = this.#ttls.get(record.taskId) ?? record.ttlMs;
            return this.isExpired({ ...record, ttlMs }, now);
          })
          .map(({ taskId }) => taskId);
      }
    },
  ),
];
