/** The records of a store in a Durable Object, and the alarm that is due to them. */

import {
  ConcurrentUpdateError,
  DuplicateTaskIdError,
  StoreFailedError,
  TaskEntryTooLargeError,
  TaskNotFoundError,
} from "../errors.ts";
import { expiresAt, isExpired } from "../model/expiry.ts";
import {
  applyTaskPatch,
  type TaskHead,
  type TaskPatch,
  type TaskRecord,
} from "../model/record.ts";
import { DamageReports } from "../store/damage.ts";
import { isTooLarge } from "../store/record_size.ts";
import { SharedAlarm, sweepTime } from "./durable_object_alarm.ts";
import {
  changeColumns,
  type Column,
  decode,
  decodeHead,
  encode,
  joinRecord,
  recordBytes,
  splitFields,
} from "./durable_object_entry.ts";
import { StoreKeys, type TaskKeys } from "./durable_object_keys.ts";
import type { ResolvedDurableObjectOptions } from "./durable_object_options.ts";
import {
  deleteExpired,
  isCut,
  readColumns,
  readEntry,
  writeEntry,
  writeParts,
} from "./durable_object_task.ts";
import type {
  DurableObjectReadWrite,
  DurableObjectStorageBinding,
} from "./shape.ts";

/** What a transaction came to. A refusal is returned, since what is thrown is the storage's failure. */
type Decision<T> = { readonly refusal: Error } | { readonly value: T };

/** What a change is made of, beside the options. */
export interface Change {
  readonly taskId: string;
  readonly patch: TaskPatch;
  readonly expectedVersion: number;
  /** The caller's time. */
  readonly now: number | undefined;
  /** Whether the columns that do not change are wanted too. */
  readonly whole: boolean;
}

/** Keeps records in the storage of an object. */
export class ObjectRecords {
  readonly #storage: DurableObjectStorageBinding;
  readonly #options: ResolvedDurableObjectOptions;
  readonly #keys: StoreKeys;
  readonly #damage: DamageReports;
  /** Up to here in the order of expiry is only what the last sweep had to leave: the alarm does not ring for it. */
  #left: string | undefined;

  /**
   * @param storage The `ctx.storage` of the object.
   * @param options The options of the store.
   */
  constructor(
    storage: DurableObjectStorageBinding,
    options: ResolvedDurableObjectOptions,
  ) {
    this.#storage = storage;
    this.#options = options;
    this.#keys = new StoreKeys(options.prefix);
    this.#damage = new DamageReports(options.onDamage);
  }

  /**
   * Keeps a new record.
   *
   * @param record The record.
   */
  async create(record: TaskRecord): Promise<void> {
    const { taskId } = record;
    const { head, payloads } = splitFields(record);
    const changes = new Map(payloads).set("head", encode(head));
    const columns = changeColumns({}, changes);
    const bytes = recordBytes(columns);
    const { maxRecordBytes } = this.#options;
    if (isTooLarge(bytes, maxRecordBytes)) {
      throw new TaskEntryTooLargeError(taskId, bytes, maxRecordBytes);
    }
    const keys = await this.#keys.task(taskId);
    await this.#transact("create a task", async (txn) => {
      if (await readEntry(txn, keys)) {
        return { refusal: new DuplicateTaskIdError(taskId) };
      }
      await writeParts(txn, keys, {}, columns, changes);
      await this.#place(txn, keys, undefined, head);
      await writeEntry(txn, keys, columns);
      return { value: undefined };
    });
  }

  /**
   * Reads a record.
   *
   * @param taskId The id.
   * @param now The caller's time.
   * @param wanted Which columns to read.
   * @returns What was found; `undefined` if it is unknown or expired.
   */
  async read(
    taskId: string,
    now: number = this.#options.now(),
    wanted: (column: Column) => boolean,
  ): Promise<TaskRecord | undefined> {
    const keys = await this.#keys.task(taskId);
    return await this.#attempt("read a task", async () => {
      const bytes = await this.#readColumns(keys, wanted);
      if (!bytes) return undefined;
      const head = decodeHead(bytes.get("head")!);
      return isExpired(head, now) ? undefined : joinRecord(head, bytes);
    });
  }

  async #readColumns(
    keys: TaskKeys,
    wanted: (column: Column) => boolean,
  ): Promise<Map<Column, Uint8Array> | undefined> {
    const storage = this.#storage;
    const entry = await readEntry(storage, keys);
    if (!entry) return undefined;
    if (!isCut(entry.columns, wanted)) {
      return await readColumns(storage, keys, entry.columns, wanted);
    }
    // The entry and the parts have to be of one moment.
    return await storage.transaction(async (txn) => {
      const entry = await readEntry(txn, keys);
      return entry && await readColumns(txn, keys, entry.columns, wanted);
    });
  }

  /**
   * Changes a record by compare-and-swap.
   *
   * @param change The change.
   * @returns The record after it; its head where no more was asked for.
   */
  async change(change: Change): Promise<TaskRecord> {
    const { taskId, expectedVersion, whole } = change;
    const { now = this.#options.now() } = change;
    const { maxRecordBytes } = this.#options;
    const patch = splitFields(change.patch);
    const keys = await this.#keys.task(taskId);
    return await this.#transact<TaskRecord>("update a task", async (txn) => {
      const entry = await readEntry(txn, keys);
      if (!entry) return { refusal: new TaskNotFoundError(taskId) };
      const read = await readColumns(
        txn,
        keys,
        entry.columns,
        (column) => column === "head" || whole && !patch.payloads.has(column),
      );
      const before = decodeHead(read.get("head")!);
      if (isExpired(before, now)) {
        return { refusal: new TaskNotFoundError(taskId) };
      }
      const { version } = before;
      if (version !== expectedVersion) {
        return {
          refusal: new ConcurrentUpdateError(taskId, expectedVersion, version),
        };
      }
      const head = encode(applyTaskPatch(before, patch.head));
      const changes = new Map(patch.payloads).set("head", head);
      const columns = changeColumns(entry.columns, changes);
      const bytes = recordBytes(columns);
      const bytesBefore = () => recordBytes(entry.columns);
      if (isTooLarge(bytes, maxRecordBytes, bytesBefore)) {
        return {
          refusal: new TaskEntryTooLargeError(taskId, bytes, maxRecordBytes),
        };
      }
      const after = decode<TaskHead>(head);
      const value: TaskRecord = whole
        ? joinRecord(after, new Map([...read, ...patch.payloads]))
        : after;
      await writeParts(txn, keys, entry.columns, columns, changes);
      await this.#place(txn, keys, before, after);
      await writeEntry(txn, keys, columns);
      return { value };
    });
  }

  /**
   * Deletes what is expired.
   *
   * @param now The caller's time.
   * @returns How many records were deleted.
   */
  async sweep(now: number = this.#options.now()): Promise<number> {
    let deleted = 0;
    let after: string | undefined;
    let left: string | undefined;
    do {
      const slice = await this.#transact("sweep", async (txn) => ({
        value: await deleteExpired(txn, this.#keys, now, after),
      }));
      deleted += slice.deleted;
      left = slice.left ?? left;
      for (const [key, error] of slice.unreadable) {
        this.#damage.tell(key, error);
      }
      after = slice.after;
    } while (after !== undefined);
    this.#left = left;
    return deleted;
  }

  /**
   * Reads or sets the alarm of the object.
   *
   * @param operation What for.
   * @param body Does it. It gets the alarm, and what tells when the store needs to be woken.
   * @returns What the body returns.
   */
  withAlarm<T>(
    operation: string,
    body: (
      alarm: SharedAlarm,
      sweepAt: () => Promise<number | null>,
    ) => Promise<T>,
  ): Promise<T> {
    return this.#transact(operation, async (txn) => ({
      value: await body(
        new SharedAlarm(txn, this.#keys.alarm),
        () => this.#sweepAt(txn),
      ),
    }));
  }

  /** Puts a task where it belongs in the order of expiry, and has the alarm ring for the first of them. */
  async #place(
    txn: DurableObjectReadWrite,
    keys: TaskKeys,
    before: TaskHead | undefined,
    after: TaskHead,
  ): Promise<void> {
    const [from, to] = [before && keys.expiry(before), keys.expiry(after)];
    const time = expiresAt(after);
    if (from === to && (!before || expiresAt(before) === time)) return;
    if (from !== undefined && from !== to) await txn.delete([from]);
    if (to === undefined) return;
    await txn.put({ [to]: time });
    if (this.#left !== undefined && to <= this.#left) this.#left = undefined;
    const at = await this.#sweepAt(txn);
    if (at !== null) await new SharedAlarm(txn, this.#keys.alarm).ringBy(at);
  }

  /** When the store needs to be woken. */
  async #sweepAt(txn: DurableObjectReadWrite): Promise<number | null> {
    if (!this.#options.alarm) return null;
    const first = await txn.list({
      prefix: this.#keys.expiries,
      end: this.#keys.expiriesEnd,
      limit: 1,
      ...(this.#left !== undefined && { startAfter: this.#left }),
    });
    for (const time of first.values()) {
      return sweepTime(time as number, this.#options.now());
    }
    return null;
  }

  /**
   * Runs a body as a transaction. No other event of the object, and no other
   * transaction, runs meanwhile; and the body waits for nothing but storage.
   */
  async #transact<T>(
    operation: string,
    body: (txn: DurableObjectReadWrite) => Promise<Decision<T>>,
  ): Promise<T> {
    const decision = await this.#attempt(
      operation,
      () => this.#storage.transaction(body),
    );
    if ("refusal" in decision) throw decision.refusal;
    return decision.value;
  }

  async #attempt<T>(operation: string, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (cause) {
      throw new StoreFailedError(operation, { cause });
    }
  }
}
