/** A store that is right, in small steps, each of which a broken store puts its fault in. */

import type { TaskPatch, TaskRecord, TaskStore } from "../../../mod.ts";
import { applyTaskPatch, isExpired } from "../../../mod.ts";
import {
  ConcurrentUpdateError,
  DuplicateTaskIdError,
  StoreClosedError,
  StoreLockedError,
  TaskEntryTooLargeError,
  TaskNotFoundError,
} from "../../../src/errors.ts";
import { copyJson, setOwn, utf8Bytes } from "../../../src/model/json.ts";
import type { TaskStoreTraits } from "../../../src/store/contract.ts";
import type { TaskStoreFactory } from "../../../testing.ts";

/** What is there whether a store is open or not. */
export class Database {
  /** The JSON of each record. */
  readonly texts: Map<string, string> = new Map();
  /** The stores that are open. */
  readonly open: Set<SoundStore> = new Set();
  /** How far the clock was put forward. */
  skewMs = 0;
  /** How often it was opened. */
  openings = 0;
}

/** A record as any object. */
export type Fields = Record<string, unknown>;

/** The traits of a store for several instances. */
export const SHARED: TaskStoreTraits = Object.freeze({
  durable: true,
  writers: "shared",
  compareAndSwap: true,
  maxRecordBytes: 90_000,
});

/** The traits of a store for one. */
export const EXCLUSIVE: TaskStoreTraits = Object.freeze({
  ...SHARED,
  writers: "exclusive",
});

/** A store that is right. */
export class SoundStore implements TaskStore {
  readonly traits: TaskStoreTraits;
  protected readonly database: Database;
  protected closed = false;

  constructor(database: Database, traits: TaskStoreTraits) {
    this.database = database;
    this.traits = traits;
    this.lock();
    database.open.add(this);
    if (database.openings++ > 0) this.openedAgain();
  }

  async create(record: TaskRecord): Promise<void> {
    this.refuseIfClosed("create a task");
    const { taskId } = record;
    const text = this.encode(record);
    this.refuseIfTooLarge(taskId, text);
    await this.pause();
    if (this.find(taskId) !== undefined) throw new DuplicateTaskIdError(taskId);
    this.put(taskId, text);
  }

  async get(taskId: string, now?: number): Promise<TaskRecord | undefined> {
    this.refuseIfClosed("read a task");
    await this.pause();
    return this.living(taskId, now);
  }

  async update(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<TaskRecord> {
    this.refuseIfClosed("update a task");
    const change = this.take(patch);
    await this.pause();
    const record = this.living(taskId, now);
    if (!record) throw new TaskNotFoundError(taskId);
    if (!this.fits(record.version, expectedVersion)) {
      throw new ConcurrentUpdateError(taskId, expectedVersion, record.version);
    }
    const text = this.encode(this.apply(record, change));
    this.refuseIfTooLarge(taskId, text);
    this.put(taskId, text);
    return this.decode(text);
  }

  async sweep(now?: number): Promise<number> {
    this.refuseIfClosed("sweep");
    await this.pause();
    return this.expired(now).filter((taskId) => this.remove(taskId)).length;
  }

  close(): Promise<void> {
    this.closed = true;
    this.database.open.delete(this);
    return Promise.resolve();
  }

  /** As a call to a database would: others run meanwhile. */
  protected async pause(): Promise<void> {
    await Promise.resolve();
  }

  protected lock(): void {
    if (this.traits.writers === "exclusive" && this.database.open.size > 0) {
      throw new StoreLockedError("the database");
    }
  }

  /** Is called when there may be records already. */
  protected openedAgain(): void {}

  protected key(taskId: string): string {
    return taskId;
  }

  protected find(taskId: string): string | undefined {
    return this.database.texts.get(this.key(taskId));
  }

  protected put(taskId: string, text: string): void {
    this.database.texts.set(this.key(taskId), text);
  }

  protected remove(taskId: string): boolean {
    return this.database.texts.delete(this.key(taskId));
  }

  protected encode(record: TaskRecord): string {
    return JSON.stringify(record);
  }

  protected decode(text: string): TaskRecord {
    return JSON.parse(text);
  }

  protected take(patch: TaskPatch): TaskPatch {
    const copy: Fields = {};
    for (const [key, value] of Object.entries(patch)) {
      setOwn(copy, key, copyJson(value as unknown));
    }
    return copy;
  }

  protected apply(record: TaskRecord, patch: TaskPatch): TaskRecord {
    return applyTaskPatch(record, patch);
  }

  protected fits(version: number, expectedVersion: number): boolean {
    return version === expectedVersion;
  }

  protected isExpired(record: TaskRecord, now: number): boolean {
    return isExpired(record, now);
  }

  protected clock(): number {
    return Date.now() + this.database.skewMs;
  }

  protected living(taskId: string, now = this.clock()): TaskRecord | undefined {
    const text = this.find(taskId);
    if (text === undefined) return undefined;
    const record = this.decode(text);
    return this.isExpired(record, now) ? undefined : record;
  }

  /** The ids of what is expired. */
  protected expired(now = this.clock()): string[] {
    return [...this.database.texts.values()]
      .map((text) => this.decode(text))
      .filter((record) => this.isExpired(record, now))
      .map(({ taskId }) => taskId);
  }

  protected bytes(text: string): number {
    return utf8Bytes(text);
  }

  protected refuseIfTooLarge(taskId: string, text: string): void {
    const { maxRecordBytes = Infinity } = this.traits;
    const bytes = this.bytes(text);
    if (bytes <= maxRecordBytes) return;
    const before = this.bytes(this.find(taskId) ?? "");
    if (this.isOver(before) && bytes <= this.mostAfter(before)) return;
    throw new TaskEntryTooLargeError(taskId, bytes, maxRecordBytes);
  }

  /** Whether a record is over the limit, which was higher then. */
  protected isOver(bytes: number): boolean {
    return bytes > this.traits.maxRecordBytes!;
  }

  /** What a record that is over the limit may grow to. */
  protected mostAfter(bytes: number): number {
    return bytes + 1_024;
  }

  protected refuseIfClosed(operation: string): void {
    if (this.closed) throw new StoreClosedError(operation);
  }
}

/** A kind of store. */
export type StoreClass = new (
  database: Database,
  traits: TaskStoreTraits,
) => SoundStore;

/**
 * Makes the factory of a kind of store, with all seams.
 *
 * @param Store The kind.
 * @param traits What it says of itself.
 * @param makeDatabase The data of each store.
 * @returns The factory.
 */
export function factoryOf(
  Store: StoreClass,
  traits: TaskStoreTraits,
  makeDatabase: () => Database = () => new Database(),
): TaskStoreFactory {
  return () => {
    const database = makeDatabase();
    const open = () => new Store(database, traits);
    return {
      store: open(),
      reopen: open,
      reopenLower: (maxRecordBytes) =>
        new Store(database, { ...traits, maxRecordBytes }),
      secondInstance: open,
      advanceTime(ms) {
        database.skewMs += ms;
      },
    };
  };
}
