/**
 * One writer for a directory, across processes, threads and stores of one
 * process. It is SQLite's lock on a file of its own: the system frees it when
 * the process dies, however it dies, and it works across runtimes.
 */

import type { DatabaseSync } from "node:sqlite";
import { showPath, StoreLockedError } from "../errors.ts";
import type { Disk } from "./disk.ts";

const FIRST_DELAY_MS = 10;
const LONGEST_DELAY_MS = 100;

/** What to lock, and how long to wait for it. */
export interface LockRequest {
  /** The lock file. Nothing but SQLite may open it: closing it elsewhere in this process would free the lock. */
  readonly file: string;
  /** The directory that it stands for, for errors. */
  readonly dir: string;
  /** How long to try, in milliseconds; 0 tries once. */
  readonly timeoutMs: number;
  /** Ends the waiting, with its reason. */
  readonly signal: AbortSignal;
  /** The file system. */
  readonly disk: Disk;
}

/** A lock that is held. Keep it: if it is garbage, so is the lock. */
export interface HeldLock {
  /** Whether the file is still the one that is locked: where it was removed, others may lock another. */
  isHeld(): boolean;
  /** Gives the lock away. */
  release(): void;
}

/**
 * Takes the lock, waiting for its holder to go without blocking the process.
 *
 * @param request What to lock.
 * @returns The lock.
 * @throws {StoreLockedError} `ERR_STORE_LOCKED`: it was held for the whole time.
 */
export async function acquireLock(request: LockRequest): Promise<HeldLock> {
  const deadline = performance.now() + request.timeoutMs;
  const openDatabase = await loadSqlite();
  for (let delay = FIRST_DELAY_MS;;) {
    const attempt = tryLock(request.file, openDatabase);
    if (attempt.database) {
      const { database } = attempt;
      const { file, disk } = request;
      try {
        disk.restrict(file);
        const identity = disk.identityOf(file);
        return {
          isHeld: () => disk.identityOf(file) === identity,
          release: () => database.close(),
        };
      } catch (error) {
        database.close();
        throw error;
      }
    }
    const left = deadline - performance.now();
    if (left <= 0) {
      throw new StoreLockedError(request.dir, { cause: attempt.error });
    }
    request.signal.throwIfAborted();
    await pause(Math.min(delay, left), request.signal);
    delay = Math.min(delay * 2, LONGEST_DELAY_MS);
  }
}

type Attempt =
  | { readonly database: DatabaseSync; readonly error?: undefined }
  | { readonly database?: undefined; readonly error: unknown };

/** Opens a database file. */
type OpenDatabase = (file: string) => DatabaseSync;

/** Loads SQLite when it is needed: a runtime that is too old is to say so, not to fail at an import. */
async function loadSqlite(): Promise<OpenDatabase> {
  try {
    const { DatabaseSync } = await import("node:sqlite");
    return (file) => new DatabaseSync(file);
  } catch (cause) {
    throw new Error(
      "the lock of the directory is SQLite's, and this runtime has no node:sqlite: Node 22.13, Deno 2.8, Bun 1.4.5 or a newer one is needed",
      { cause },
    );
  }
}

function tryLock(file: string, openDatabase: OpenDatabase): Attempt {
  let database: DatabaseSync | undefined;
  try {
    database = openDatabase(file);
    // A busy time-out of SQLite's own would block the whole process, and a
    // journal on the disk would stay after a kill.
    database.exec(
      "PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE",
    );
    return { database };
  } catch (error) {
    database?.close();
    if (isBusy(error)) return { error };
    throw new Error(`cannot lock ${showPath(file)}`, { cause: error });
  }
}

/** Not every runtime gives the number of SQLite's error (5, SQLITE_BUSY). */
function isBusy(error: unknown): boolean {
  const { errcode, message } = error as { errcode?: number; message: string };
  return errcode === 5 || message.includes("database is locked");
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal.addEventListener("abort", abort, { once: true });
  });
}
