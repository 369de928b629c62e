/** Faults of expiry and of `sweep()`. */

import type { TaskPatch, TaskRecord } from "../../../mod.ts";
import { isExpired } from "../../../mod.ts";
import { broken, type BrokenStore } from "./fault.ts";
import { EXCLUSIVE, SoundStore } from "./sound_store.ts";

const DAY_MS = 86_400_000;

export const TIME_FAULTS: readonly BrokenStore[] = [
  broken(
    "a TTL lasts a millisecond too long",
    ["expiry-get", "expiry-update", "random"],
    class extends SoundStore {
      protected override isExpired(record: TaskRecord, now: number): boolean {
        return isExpired(record, now - 1);
      }
    },
  ),
  broken(
    "get() gives what is expired until it is swept",
    ["expiry-get", "clock-of-caller", "clock-of-store"],
    class extends SoundStore {
      override async get(taskId: string) {
        return await super.get(taskId, 0);
      }
    },
  ),
  broken(
    "update() extends what is expired",
    ["expiry-update"],
    class extends SoundStore {
      override async update(taskId: string, patch: TaskPatch, version: number) {
        return await super.update(taskId, patch, version, 0);
      }
    },
  ),
  broken(
    "the end of a TTL is reckoned when the record is created",
    ["expiry-changed"],
    class extends SoundStore {
      readonly #ttls = new Map<string, number | null>();
      override async create(record: TaskRecord): Promise<void> {
        await super.create(record);
        this.#ttls.set(record.taskId, record.ttlMs);
      }
      protected override isExpired(record: TaskRecord, now: number): boolean {
        const ttlMs = this.#ttls.get(record.taskId) ?? record.ttlMs;
        return isExpired({ ...record, ttlMs }, now);
      }
    },
  ),
  broken(
    "a TTL that is null is a year",
    ["expiry-never", "expiry-changed"],
    class extends SoundStore {
      protected override isExpired(record: TaskRecord, now: number): boolean {
        const { ttlMs = 0 } = record;
        return isExpired({ ...record, ttlMs: ttlMs ?? 365 * DAY_MS }, now);
      }
    },
  ),
  broken(
    "a TTL has 31 bits",
    ["expiry-long"],
    class extends SoundStore {
      protected override isExpired(record: TaskRecord, now: number): boolean {
        const ttlMs = record.ttlMs && record.ttlMs % 2 ** 31;
        return isExpired({ ...record, ttlMs }, now);
      }
    },
  ),
  broken(
    "the store's own clock decides",
    ["clock-of-caller"],
    class extends SoundStore {
      override async get(taskId: string, now?: number) {
        const late = now !== undefined && now < Date.UTC(2000, 0);
        return await super.get(taskId, late ? this.clock() : now);
      }
    },
  ),
  broken(
    "without the caller's time nothing expires",
    ["clock-of-store", "clock-goes-on"],
    class extends SoundStore {
      protected override clock(): number {
        return 0;
      }
    },
  ),
  broken(
    "the clock stands still from the opening on",
    ["clock-goes-on"],
    class extends SoundStore {
      readonly #openedAt = Date.now() + this.database.skewMs;
      protected override clock(): number {
        return this.#openedAt;
      }
    },
  ),
  broken(
    "sweep() counts what it has looked at",
    ["sweep-counts", "random"],
    class extends SoundStore {
      override async sweep(now?: number): Promise<number> {
        const before = this.database.texts.size;
        const swept = await super.sweep(now);
        return swept && before;
      }
    },
  ),
  broken(
    "sweep() counts, and deletes nothing",
    ["sweep-counts"],
    class extends SoundStore {
      override async sweep(now?: number): Promise<number> {
        this.refuseIfClosed("sweep");
        await this.pause();
        return this.expired(now).length;
      }
    },
  ),
  broken(
    "sweep() takes what lives for another millisecond",
    ["sweep-boundary"],
    class extends SoundStore {
      protected override expired(now = this.clock()): string[] {
        return super.expired(now + 1);
      }
    },
  ),
  broken(
    "sweep() leaves what ends this millisecond",
    ["sweep-boundary"],
    class extends SoundStore {
      protected override expired(now = this.clock()): string[] {
        return super.expired(now - 1);
      }
    },
    EXCLUSIVE,
  ),
  broken(
    "sweep() deletes a page at most",
    ["sweep-many"],
    class extends SoundStore {
      protected override expired(now?: number): string[] {
        return super.expired(now).slice(0, 1_000);
      }
    },
  ),
  broken(
    "sweep() hides, and create() finds the hidden",
    ["sweep-frees"],
    class extends SoundStore {
      readonly #hidden = new Map<string, string>();
      protected override remove(taskId: string): boolean {
        this.#hidden.set(taskId, this.find(taskId)!);
        return super.remove(taskId);
      }
      override async create(record: TaskRecord): Promise<void> {
        const hidden = this.#hidden.get(record.taskId);
        if (!hidden) return await super.create(record);
        await super.create({ ...this.decode(hidden), ...record });
      }
    },
  ),
  broken(
    "sweep() spares what has not ended",
    ["sweep-ended"],
    class extends SoundStore {
      protected override expired(now?: number): string[] {
        return super.expired(now).filter((taskId) => {
          const { status } = this.decode(this.find(taskId)!);
          return status !== "input_required";
        });
      }
    },
  ),
  broken(
    "sweep() takes all that has ended",
    ["sweep-ended"],
    class extends SoundStore {
      protected override expired(now?: number): string[] {
        return [
          ...super.expired(now),
          ...super.expired(Infinity).filter((taskId) =>
            this.decode(this.find(taskId)!).status === "failed"
          ),
          ...[...this.database.texts.values()]
            .map((text) => this.decode(text))
            .filter((record) =>
              record.ttlMs === null && record.status === "failed"
            )
            .map(({ taskId }) => taskId),
        ];
      }
    },
  ),
  broken(
    "sweep() counts what it has found, not what it has deleted",
    ["sweep-twice", "shared-sweep"],
    class extends SoundStore {
      override async sweep(now?: number): Promise<number> {
        this.refuseIfClosed("sweep");
        const found = this.expired(now);
        await this.pause();
        for (const taskId of found) this.remove(taskId);
        return found.length;
      }
    },
  ),
  broken(
    "sweep() deletes what it has found, whatever has become of it",
    ["sweep-race"],
    class extends SoundStore {
      override async sweep(now?: number): Promise<number> {
        this.refuseIfClosed("sweep");
        const found = this.expired(now);
        for (let i = 0; i < 4; i++) await this.pause();
        return found.filter((taskId) => this.remove(taskId)).length;
      }
    },
  ),
];
