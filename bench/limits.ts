/** What the disk, SQLite and JSON do with the same bytes: the limits that a log of them has. */
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
import { clock } from "./clock.ts";
import type { Contender } from "./rounds.ts";

/** The size of a record, in bytes: about what a small task takes. */
export const RECORD_BYTES = 300;

/** How a limit of the disk writes. */
export interface Writing {
  /** Records in all. */
  readonly count: number;
  /** Records in one write, or in one transaction. */
  readonly batch: number;
  /** Whether each write is flushed. */
  readonly fsync: boolean;
}

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
  { count, batch }: Writing,
  writeBatch: () => void,
): number {
  const started = clock();
  for (let done = 0; done < count; done += batch) writeBatch();
  return count / (clock() - started) * 1_000;
}

/** Appends to a file. */
export function rawLimit(writing: Writing): Contender {
  const { batch, fsync } = writing;
  return {
    name: `writeSync${fsync ? " + fdatasync" : ""}, ${batch} at once`,
    round: () =>
      withFolder((folder) => {
        const file = openSync(join(folder, "log"), "a");
        const bytes = new Uint8Array(RECORD_BYTES * batch).fill(97);
        try {
          return perSecond(writing, () => {
            writeSync(file, bytes);
            if (fsync) fdatasyncSync(file);
          });
        } finally {
          closeSync(file);
        }
      }),
  };
}

/** Inserts into a table in SQLite's WAL mode: FULL with `fsync`, NORMAL without. */
export function sqliteLimit(writing: Writing): Contender {
  const { batch, fsync } = writing;
  const level = fsync ? "FULL" : "NORMAL";
  return {
    name: `node:sqlite ${level}, ${batch} at once`,
    round: () =>
      withFolder((folder) => {
        const db = new DatabaseSync(join(folder, "db"));
        try {
          db.exec(
            `PRAGMA journal_mode=WAL; PRAGMA synchronous=${level};
             CREATE TABLE records (id INTEGER PRIMARY KEY, body TEXT)`,
          );
          const insert = db.prepare("INSERT INTO records (body) VALUES (?)");
          const body = "a".repeat(RECORD_BYTES);
          return perSecond(writing, () => {
            db.exec("BEGIN");
            for (let index = 0; index < batch; index++) insert.run(body);
            db.exec("COMMIT");
          });
        } finally {
          db.close();
        }
      }),
  };
}

/** Encodes or decodes a value as JSON. */
export function jsonLimit(
  way: "stringify" | "parse",
  value: unknown,
  count: number,
): Contender {
  const text = JSON.stringify(value);
  let length = 0;
  return {
    name: `JSON.${way}`,
    round: () => {
      const started = clock();
      for (let done = 0; done < count; done++) {
        length += way === "parse"
          ? Object.keys(JSON.parse(text)).length
          : JSON.stringify(value).length;
      }
      if (length === 0) throw new Error("nothing was done");
      return Promise.resolve(count / (clock() - started) * 1_000);
    },
  };
}
