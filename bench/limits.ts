/** What the disk and SQLite do with records of the same size, as the limit for a log of them. */
import {
  closeSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Contender } from "./rounds.ts";

/** The size of a record, in bytes: about what a small task takes. */
export const RECORD_BYTES = 300;

/** Calls `use` with a fresh folder, and removes it. */
export async function withFolder<T>(
  use: (folder: string) => T | Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function perSecond(
  count: number,
  batch: number,
  writeBatch: () => void,
): number {
  const started = performance.now();
  for (let done = 0; done < count; done += batch) writeBatch();
  return count / (performance.now() - started) * 1_000;
}

/** Appends to a file, `batch` records in one write, each write flushed with `fsync`. */
export function rawLimit(
  count: number,
  batch: number,
  fsync: boolean,
): Contender {
  return {
    name: `writeSync${fsync ? " + fdatasync" : ""}, ${batch} at once`,
    round: () =>
      withFolder((folder) => {
        const file = openSync(join(folder, "log"), "a");
        const bytes = new Uint8Array(RECORD_BYTES * batch).fill(97);
        try {
          return [perSecond(count, batch, () => {
            writeSync(file, bytes);
            if (fsync) fdatasyncSync(file);
          })];
        } finally {
          closeSync(file);
        }
      }),
  };
}

/** Inserts into a table, `batch` rows in one transaction, in SQLite's WAL mode: FULL with `fsync`, NORMAL without. */
export function sqliteLimit(
  count: number,
  batch: number,
  fsync: boolean,
): Contender {
  return {
    name: `node:sqlite ${fsync ? "FULL" : "NORMAL"}, ${batch} at once`,
    round: () =>
      withFolder((folder) => {
        const db = new DatabaseSync(join(folder, "db"));
        try {
          db.exec(
            `PRAGMA journal_mode=WAL; PRAGMA synchronous=${
              fsync ? "FULL" : "NORMAL"
            };
             CREATE TABLE records (id INTEGER PRIMARY KEY, body TEXT)`,
          );
          const insert = db.prepare("INSERT INTO records (body) VALUES (?)");
          const body = "a".repeat(RECORD_BYTES);
          return [perSecond(count, batch, () => {
            db.exec("BEGIN");
            for (let index = 0; index < batch; index++) insert.run(body);
            db.exec("COMMIT");
          })];
        } finally {
          db.close();
        }
      }),
  };
}
