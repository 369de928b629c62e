/** The store on Workers KV, over a clock that tests can turn. */

import {
  ConcurrentUpdateError,
  DuplicateTaskIdError,
  StoreClosedError,
  StoreFailedError,
  TaskEntryTooLargeError,
  TaskNotFoundError,
} from "../errors.ts";
import { copyJson, jsonBytes, utf8Bytes } from "../model/json.ts";
import {
  patchRecord,
  type TaskPatch,
  type TaskRecord,
} from "../model/record.ts";
import type { TaskStore, TaskStoreTraits } from "../store/contract.ts";
import { DamageReports } from "../store/damage.ts";
import { isTooLarge } from "../store/record_size.ts";
import { idPart, isIdPart } from "./id_part.ts";
import type { KvClock } from "./workers_kv_clock.ts";
import { KvMemory, type KvMemoryLimits } from "./workers_kv_memory.ts";
import type { ResolvedWorkersKvOptions } from "./workers_kv_options.ts";
import type { WorkersKvBinding } from "./workers_kv_shape.ts";
import {
  isNewer,
  isSame,
  type KvVersion,
  readMetadata,
  readValue,
  versionOf,
} from "./workers_kv_value.ts";
import { KvWriter } from "./workers_kv_writer.ts";

/**
 * A sweep leaves what expired this recently. Who raises a TTL does so before it
 * ends, so ten minutes later every listing tells of it.
 */
const SWEEP_GRACE_MS = 10 * 60 * 1_000;
/** Deletions at the same time: a Worker has six connections. */
const SWEEP_WIDTH = 6;

/** What takes longer was begun by a request that has ended, and never settles. */
const LONGEST_CLOSE_MS = 4 * 60 * 1_000;

/** Keeps tasks in a Workers KV namespace. */
export class KvTaskStore implements TaskStore {
  readonly traits: TaskStoreTraits;
  readonly #kv: WorkersKvBinding;
  readonly #options: ResolvedWorkersKvOptions;
  readonly #memory: KvMemory;
  readonly #writer: KvWriter;
  readonly #damage: DamageReports;
  readonly #clock: KvClock;
  /** What is under way. */
  readonly #calls: Set<Promise<unknown>> = new Set();
  /** Drawn at the first write. */
  #writerName: string | undefined;
  #writes = 0;
  #closed = false;

  /**
   * @param kv The namespace.
   * @param options The options.
   * @param clock The clock of the waits.
   * @param limits How much is remembered.
   */
  constructor(
    kv: WorkersKvBinding,
    options: ResolvedWorkersKvOptions,
    clock: KvClock,
    limits: KvMemoryLimits,
  ) {
    const { maxRecordBytes, minWriteIntervalMs } = options;
    this.#kv = kv;
    this.#clock = clock;
    this.#options = options;
    this.#memory = new KvMemory(clock, limits);
    this.#damage = new DamageReports(options.onDamage);
    this.#writer = new KvWriter(kv, this.#memory, clock, minWriteIntervalMs);
    this.traits = Object.freeze({
      durable: true,
      compareAndSwap: false,
      reads: "eventual",
      minWriteIntervalMs,
      maxRecordBytes,
    });
  }

  create(record: TaskRecord): Promise<void> {
    return this.#call("create a task", () => {
      const { taskId, ttlMs } = record;
      const stamp = Math.floor(this.#options.now());
      const first = versionOf(record, stamp, this.#nextWrite());
      this.#refuseIfTooLarge(taskId, first.text);
      return this.#create(taskId, first, ttlMs);
    });
  }

  get(taskId: string, now?: number): Promise<TaskRecord | undefined> {
    return this.#call("read a task", () => this.#get(taskId, this.#at(now)));
  }

  update(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<TaskRecord> {
    return this.#call("update a task", () => {
      const change = copyJson(patch);
      return this.#update(taskId, change, expectedVersion, this.#at(now));
    });
  }

  sweep(now?: number): Promise<number> {
    return this.#call("sweep", () => this.#sweep(this.#at(now)));
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#calls.size > 0) {
      const settled = Promise.allSettled(this.#calls).then(() => {});
      await this.#clock.wait(LONGEST_CLOSE_MS, settled);
    }
    this.#memory.clear();
  }

  // deno-lint-ignore require-await -- a refusal has to be a rejection
  async #call<T>(operation: string, run: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new StoreClosedError(operation);
    const call = run();
    const settled = call.then(() => {}, () => {});
    this.#calls.add(settled);
    settled.then(() => this.#calls.delete(settled));
    return call;
  }

  async #create(
    taskId: string,
    first: KvVersion & { readonly text: string },
    ttlMs: number | null,
  ): Promise<void> {
    const key = await this.#keyOf(taskId);
    for (;;) {
      const known = this.#memory.get(key);
      if (!known || this.#writer.isIdle(known)) break;
      await this.#writer.settle(key, known);
    }
    // KV is not asked: it would remember for a minute that there is none.
    const entry = this.#memory.get(key) ?? this.#memory.add(key);
    if (entry.landed && !entry.landed.deleted) {
      throw new DuplicateTaskIdError(taskId);
    }
    const after = entry.landed?.stamp ?? -1;
    await this.#writer.write(key, entry, {
      ...first,
      stamp: Math.max(first.stamp, after + 1),
      taskId,
      first: true,
      ttlMs,
      batch: { landed: -Infinity, attempts: 0 },
    });
  }

  async #get(taskId: string, now: number): Promise<TaskRecord | undefined> {
    const key = await this.#keyOf(taskId);
    const { version, record } = await this.#look(taskId, key);
    if (!lives(version, now)) return undefined;
    return record ?? parseKept(version);
  }

  async #update(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now: number,
  ): Promise<TaskRecord> {
    const key = await this.#keyOf(taskId);
    for (;;) {
      const { version, record } = await this.#look(taskId, key);
      const entry = this.#memory.get(key);
      const { pending } = entry ?? {};
      if (
        entry &&
        (pending
          ? pending.version !== expectedVersion
          : !this.#writer.isIdle(entry))
      ) {
        // What it is judged by is not decided yet.
        await this.#writer.settle(key, entry);
        continue;
      }
      const base = pending ?? entry?.landed;
      if (!entry || !lives(base, now)) throw new TaskNotFoundError(taskId);
      if (base.version !== expectedVersion) {
        throw new ConcurrentUpdateError(taskId, expectedVersion, base.version);
      }
      const isFound = record && version && !isNewer(base, version);
      const before = isFound ? record : parseKept(base);
      const after = patchRecord(before, patch);
      // After a write that may have come to KV all the same, this one is the later.
      const { stamp } = base;
      const { givenUp } = entry;
      const next = versionOf(
        after,
        givenUp === undefined ? stamp : Math.max(stamp, givenUp + 1),
        this.#nextWrite(),
      );
      this.#refuseIfTooLarge(taskId, next.text, before);
      const batch = pending?.batch ?? { landed: -Infinity, attempts: 0 };
      const first = pending?.first ?? false;
      await this.#writer.write(key, entry, {
        ...next,
        taskId,
        first,
        ttlMs: after.ttlMs,
        batch,
      });
      return after;
    }
  }

  async #sweep(now: number): Promise<number> {
    const { prefix } = this.#options;
    let deleted = 0;
    for (let cursor: string | undefined, done = false; !done;) {
      const page = await this.#ask(
        "sweep",
        () =>
          this.#kv.list(cursor === undefined ? { prefix } : { prefix, cursor }),
      );
      const listed = page.keys
        // What begins with a longer prefix is another store's.
        .filter(({ name }) => isIdPart(name.slice(prefix.length)))
        .map(({ name, metadata }) =>
          [name, this.#listed(name, metadata)] as const
        );
      deleted += await this.#removeExpired(listed, now);
      ({ cursor } = page);
      done = page.list_complete || cursor === undefined;
    }
    // A listing may be late too.
    const known = this.#memory.keys().map((key) => [key, undefined] as const);
    return deleted + await this.#removeExpired(known, now);
  }

  /** The state that a listing tells of; what cannot be read is left, and told of. */
  #listed(key: string, metadata: unknown): KvVersion | undefined {
    try {
      return readMetadata(metadata);
    } catch (error) {
      this.#damage.tell(key, error);
      return undefined;
    }
  }

  async #removeExpired(
    candidates: readonly (readonly [string, KvVersion | undefined])[],
    now: number,
  ): Promise<number> {
    let deleted = 0;
    const due = candidates.map(([key, listed]) => {
      const isDue = () => {
        const landed = this.#memory.get(key)?.landed;
        const newest = listed && (!landed || isNewer(listed, landed))
          ? listed
          : landed;
        if (!newest || newest.deleted) return undefined;
        return now >= newest.expiresAt + SWEEP_GRACE_MS ? newest : undefined;
      };
      return [key, isDue] as const;
    }).filter(([, isDue]) => isDue());
    for (let from = 0; from < due.length; from += SWEEP_WIDTH) {
      const removed = await Promise.all(
        due.slice(from, from + SWEEP_WIDTH)
          .map(([key, isDue]) => this.#writer.remove(key, isDue)),
      );
      deleted += removed.filter(Boolean).length;
    }
    return deleted;
  }

  /**
   * The newest state of a task that KV gives or this instance knows; the record
   * with it, where it came from KV.
   */
  async #look(
    taskId: string,
    key: string,
  ): Promise<{
    readonly version?: KvVersion;
    readonly record?: TaskRecord;
  }> {
    const { value, metadata } = await this.#ask(
      "read a task",
      () => this.#kv.getWithMetadata(key, "text"),
    );
    if (value === null) return { version: this.#memory.get(key)?.landed };
    const found = readValue(taskId, key, value, metadata);
    const landed = this.#memory.note(key, found.version).landed!;
    const isOther = isNewer(landed, found.version) ||
      !isSame(landed, found.version);
    return isOther ? { version: landed } : found;
  }

  async #ask<T>(operation: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (cause) {
      throw new StoreFailedError(operation, { cause });
    }
  }

  /** Names a write: as no other of this instance, or of another. */
  #nextWrite(): string {
    this.#writerName ??= crypto.randomUUID();
    return `${this.#writerName}/${this.#writes++}`;
  }

  /** A key has 512 bytes. */
  async #keyOf(taskId: string): Promise<string> {
    return this.#options.prefix + await idPart(taskId);
  }

  #at(now: number | undefined): number {
    return now ?? this.#options.now();
  }

  #refuseIfTooLarge(taskId: string, text: string, before?: TaskRecord): void {
    const { maxRecordBytes } = this.#options;
    const bytes = utf8Bytes(text);
    const bytesBefore = () => before ? jsonBytes(before) : 0;
    if (!isTooLarge(bytes, maxRecordBytes, bytesBefore)) return;
    throw new TaskEntryTooLargeError(taskId, bytes, maxRecordBytes);
  }
}

function lives(
  version: KvVersion | undefined,
  now: number,
): version is KvVersion {
  return version !== undefined && !version.deleted && now < version.expiresAt;
}

/** The record of a state that KV did not give, or gave older. */
function parseKept({ text }: KvVersion): TaskRecord {
  if (text === undefined) {
    throw new StoreFailedError("read a task", {
      cause: new Error(
        "Workers KV gives an older version than this instance has seen, and the newer one is not kept any more; KV will have it within a minute or so",
      ),
    });
  }
  return JSON.parse(text);
}
