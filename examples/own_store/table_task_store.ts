// deno-lint-ignore-file require-await -- what an async method throws is a rejection
import { DatabaseSync } from "node:sqlite";
import {
  applyTaskPatch,
  ConcurrentUpdateError,
  DuplicateTaskIdError,
  isExpired,
  StoreClosedError,
  TaskEntryTooLargeError,
  TaskNotFoundError,
  type TaskPatch,
  type TaskRecord,
  type TaskStore,
  type TaskStoreTraits,
} from "@mcp-durable/tasks";

const MAX_RECORD_BYTES = 1024 * 1024;
/** A clock that is ahead of another instance's takes nothing that the other may still extend. */
const SWEEP_GRACE_MS = 60_000;

/** Keeps tasks in a table of SQLite, for any number of processes on one machine. */
export class TableTaskStore implements TaskStore {
  readonly traits: TaskStoreTraits = {
    durable: true,
    writers: "shared",
    maxRecordBytes: MAX_RECORD_BYTES,
  };
  readonly #db: DatabaseSync;
  readonly #now: () => number;
  #closed = false;

  constructor(file: string, now: () => number = Date.now) {
    this.#now = now;
    this.#db = new DatabaseSync(file, { timeout: 5_000 });
    this.#db.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      CREATE TABLE IF NOT EXISTS tasks (
        id TEXT PRIMARY KEY,
        version INTEGER NOT NULL,
        expires_at REAL,
        record TEXT NOT NULL
      );`);
  }

  async create(record: TaskRecord): Promise<void> {
    this.#refuseIfClosed("create a task");
    const text = encode(record);
    const { changes } = this.#db.prepare(
      "INSERT INTO tasks VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
    ).run(key(record.taskId), record.version, expiresAt(record), text);
    if (changes === 0) throw new DuplicateTaskIdError(record.taskId);
  }

  async get(
    taskId: string,
    now: number = this.#now(),
  ): Promise<TaskRecord | undefined> {
    this.#refuseIfClosed("read a task");
    return this.#living(taskId, now);
  }

  async update(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now: number = this.#now(),
  ): Promise<TaskRecord> {
    this.#refuseIfClosed("update a task");
    const record = this.#living(taskId, now);
    if (!record) throw new TaskNotFoundError(taskId);
    if (record.version !== expectedVersion) {
      throw new ConcurrentUpdateError(taskId, expectedVersion, record.version);
    }
    const next = applyTaskPatch(record, patch);
    const text = encode(next);
    // Another process may have been faster since the read: the database decides.
    const { changes } = this.#db.prepare(
      `UPDATE tasks SET version = ?, expires_at = ?, record = ?
       WHERE id = ? AND version = ?`,
    ).run(next.version, expiresAt(next), text, key(taskId), expectedVersion);
    if (changes === 0) throw new ConcurrentUpdateError(taskId, expectedVersion);
    return JSON.parse(text);
  }

  async sweep(now: number = this.#now()): Promise<number> {
    this.#refuseIfClosed("sweep");
    const { changes } = this.#db.prepare(
      "DELETE FROM tasks WHERE expires_at <= ?",
    ).run(now - SWEEP_GRACE_MS);
    return Number(changes);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#db.close();
  }

  #living(taskId: string, now: number): TaskRecord | undefined {
    const row = this.#db.prepare("SELECT record FROM tasks WHERE id = ?")
      .get(key(taskId));
    if (!row) return undefined;
    const record: TaskRecord = JSON.parse(row.record as string);
    return isExpired(record, now) ? undefined : record;
  }

  #refuseIfClosed(operation: string): void {
    if (this.#closed) throw new StoreClosedError(operation);
  }
}

/** SQLite takes well-formed text alone; JSON escapes what is not. */
function key(taskId: string): string {
  return JSON.stringify(taskId);
}

function expiresAt({ createdAt, ttlMs }: TaskRecord): number | null {
  return ttlMs === null ? null : Date.parse(createdAt) + ttlMs;
}

function encode(record: TaskRecord): string {
  const text = JSON.stringify(record);
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > MAX_RECORD_BYTES) {
    throw new TaskEntryTooLargeError(record.taskId, bytes, MAX_RECORD_BYTES);
  }
  return text;
}
