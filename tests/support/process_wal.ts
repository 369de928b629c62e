/**
 * A log in the format of process-wal, in a directory, with the same methods:
 * `wal.jsonl` has a line `{"seq":N,"value":…}` for each entry, `wal.checkpoint`
 * the number up to which they count no longer. Nothing locks it.
 */

import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

/** An entry. */
export interface WalLine<T> {
  /** Its number. */
  readonly seq: number;
  /** What was appended. */
  readonly value: T;
}

/** The log. */
export class ProcessWal<T> {
  readonly #path: string;
  readonly #checkpointPath: string;
  readonly #maxEntryBytes: number;
  #fd: number;
  #lastSeq: number;
  #checkpoint: number;
  #pending: number;
  #closed = false;

  /**
   * Opens it, makes it if it is missing, and cuts a last line without a newline.
   *
   * @param dir The directory.
   * @param maxEntryBytes The longest line, in bytes.
   */
  constructor(dir: string, maxEntryBytes = 1024 * 1024) {
    mkdirSync(dir, { recursive: true });
    this.#path = join(dir, "wal.jsonl");
    this.#checkpointPath = join(dir, "wal.checkpoint");
    this.#maxEntryBytes = maxEntryBytes;
    this.#checkpoint = existsSync(this.#checkpointPath)
      ? Number(readFileSync(this.#checkpointPath, "utf8"))
      : 0;
    this.#fd = openSync(this.#path, "a");
    const bytes = readFileSync(this.#path);
    const end = bytes.lastIndexOf("\n") + 1;
    if (fstatSync(this.#fd).size > end) ftruncateSync(this.#fd, end);
    const lines = this.#read();
    this.#lastSeq = Math.max(this.#checkpoint, lines.at(-1)?.seq ?? 0);
    this.#pending = this.replay().length;
  }

  /** Appends a value. */
  append(value: T): number {
    return this.appendMany([value])[0];
  }

  /** Appends values in one write. */
  appendMany(values: T[]): number[] {
    this.#refuseIfClosed();
    const lines = values.map((value, index) => {
      const seq = this.#lastSeq + 1 + index;
      const line = `{"seq":${seq},"value":${JSON.stringify(value)}}\n`;
      const bytes = new TextEncoder().encode(line).length;
      if (bytes > this.#maxEntryBytes) {
        throw Object.assign(
          new Error(`an entry of ${bytes} bytes is too long`),
          { code: "ERR_ENTRY_TOO_LARGE" },
        );
      }
      return line;
    });
    const bytes = new TextEncoder().encode(lines.join(""));
    for (let done = 0; done < bytes.length;) {
      done += writeSync(this.#fd, bytes, done);
    }
    this.#pending += lines.length;
    return lines.map(() => ++this.#lastSeq);
  }

  /** The entries after the checkpoint. */
  replay(): WalLine<T>[] {
    this.#refuseIfClosed();
    return this.#read().filter(({ seq }) => seq > this.#checkpoint);
  }

  /** Says that the entries up to a number count no longer. */
  checkpoint(seq: number): void {
    this.#refuseIfClosed();
    if (seq <= this.#checkpoint) return;
    writeFileSync(`${this.#checkpointPath}.tmp`, String(seq));
    renameSync(`${this.#checkpointPath}.tmp`, this.#checkpointPath);
    this.#checkpoint = seq;
    this.#lastSeq = Math.max(this.#lastSeq, seq);
    this.#pending = this.#lastSeq - seq;
  }

  /** Writes the log anew without the entries that count no longer. It fails where the file is gone. */
  compact(): void {
    this.beginCompact()();
  }

  /**
   * Does the first half of `compact()`.
   *
   * @returns The second half: it puts the new log in the place of the old one.
   */
  beginCompact(): () => void {
    this.#refuseIfClosed();
    const kept = this.#read().filter(({ seq }) => seq > this.#checkpoint);
    const text = kept.map((line) => JSON.stringify(line) + "\n").join("");
    writeFileSync(`${this.#path}.tmp`, text);
    return () => {
      closeSync(this.#fd);
      try {
        renameSync(`${this.#path}.tmp`, this.#path);
      } finally {
        this.#fd = openSync(this.#path, "a");
      }
    };
  }

  /** How far it is. */
  stats(): {
    lastSeq: number;
    checkpoint: number;
    pendingEntries: number;
    bytes: number;
  } {
    this.#refuseIfClosed();
    return {
      lastSeq: this.#lastSeq,
      checkpoint: this.#checkpoint,
      pendingEntries: this.#pending,
      bytes: fstatSync(this.#fd).size,
    };
  }

  /** Closes it. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#fd);
  }

  #read(): WalLine<T>[] {
    return readFileSync(this.#path, "utf8").split("\n").filter((line) => line)
      .map((line) => JSON.parse(line));
  }

  #refuseIfClosed(): void {
    if (this.#closed) throw new Error("the log is closed");
  }
}
