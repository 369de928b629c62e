/**
 * One writer for a directory, across processes, threads and stores of one
 * process. It is SQLite's lock on a file of its own: the system frees it when
 * the process dies, however it dies, and it works across runtimes.
 */

import { DatabaseSync } from "node:sqlite";
import { StoreLockedError } from "../errors.ts";
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
  for (let delay = FIRST_DELAY_MS;;) {
    request.signal.throwIfAborted();
    const attempt = tryLock(request.file);
    if (attempt.database) {
      const { database } = attempt;
      try {
        request.disk.restrict(request.file);
      } catch (error) {
        database.close();
        throw error;
      }
      return { release: () => database.close() };
    }
    const left = deadline - performance.now();
    if (left <= 0) {
      throw new StoreLockedError(request.dir, { cause: attempt.error });
    }
    await pause(Math.min(delay, left), request.signal);
    delay = Math.min(delay * 2, LONGEST_DELAY_MS);
  }
}

type Attempt =
  | { readonly database: DatabaseSync; readonly error?: undefined }
  | { readonly database?: undefined; readonly error: unknown };

function tryLock(file: string): Attempt {
  const database = new DatabaseSync(file);
  try {
    // A busy time-out of SQLite's own would block the whole process, and a
    // journal on the disk would stay after a kill.
    database.exec(
      "PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE",
    );
    return { database };
  } catch (error) {
    database.close();
    if (isBusy(error)) return { error };
    throw error;
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
