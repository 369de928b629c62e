/**
 * How far the logs of a takeover were read, in a file of its own. It is written
 * when what was read is on the disk, so that a crash at most makes it read
 * again, which changes nothing.
 */

import { Buffer } from "node:buffer";
import { join } from "node:path";
import { StoreDamagedError } from "../errors.ts";
import { type Disk, writeAll } from "./disk.ts";
import { retried } from "./retry.ts";

/** The file. */
export const PROGRESS_FILE = "takeover.json";
const TEMPORARY_FILE = "takeover.json.tmp";
const FORMAT = 1;

/** How far a log was read. */
export interface LogProgress {
  /** How many bytes; absent: it is about to get its new name, or was not read to its end yet. */
  readonly read?: number;
  /** The checkpoint when it got its new name: a later one may be of another process. */
  readonly checkpoint: number;
}

/** How far each log was read. */
export class TakeoverProgress {
  readonly #dir: string;
  readonly #disk: Disk;
  readonly #logs: Map<string, LogProgress>;
  #knownBytes: number;

  private constructor(
    dir: string,
    disk: Disk,
    logs: Iterable<[string, LogProgress]>,
    knownBytes: number,
  ) {
    this.#dir = dir;
    this.#disk = disk;
    this.#logs = new Map(logs);
    this.#knownBytes = knownBytes;
  }

  /**
   * Reads the file of a directory.
   *
   * @param dir The directory.
   * @param names The names in it.
   * @param disk The file system.
   * @returns How far each log was read.
   * @throws {StoreDamagedError} `ERR_STORE_DAMAGED`: the file is none that was written here.
   */
  static async load(
    dir: string,
    names: readonly string[],
    disk: Disk,
  ): Promise<TakeoverProgress> {
    if (!names.includes(PROGRESS_FILE)) {
      return new TakeoverProgress(dir, disk, [], 0);
    }
    const path = join(dir, PROGRESS_FILE);
    const file = disk.openToRead(path);
    try {
      const bytes = Buffer.alloc(file.size());
      await file.read(bytes, 0);
      const { format, logs, known } = JSON.parse(bytes.toString("utf8"));
      const entries: [string, LogProgress][] = Object.entries(logs);
      if (
        format === FORMAT && isCount(known) &&
        entries.every(([, { read = 0, checkpoint }]) =>
          isCount(read) && isCount(checkpoint)
        )
      ) return new TakeoverProgress(dir, disk, entries, known);
    } catch (cause) {
      if (!(cause instanceof SyntaxError || cause instanceof TypeError)) {
        throw cause;
      }
    } finally {
      file.close();
    }
    throw new StoreDamagedError(
      path,
      0,
      "it does not say how far a log was read",
    );
  }

  /** Up to where the notes of {@linkcode KnownStates} are of what was taken. */
  get knownBytes(): number {
    return this.#knownBytes;
  }

  /** The logs that are known, by name. */
  get names(): readonly string[] {
    return [...this.#logs.keys()];
  }

  /**
   * Says how far a log was read.
   *
   * @param name The log.
   * @returns How far; `undefined` if it is not known.
   */
  of(name: string): LogProgress | undefined {
    return this.#logs.get(name);
  }

  /**
   * Finds a log that was about to get its name, and did not.
   *
   * @param names The names in the directory.
   * @returns The name.
   */
  unnamed(names: readonly string[]): string | undefined {
    for (const [name, { read }] of this.#logs) {
      if (read === undefined && !names.includes(name)) return name;
    }
  }

  /** Notes that no log was read, though their names and checkpoints stay. */
  async forgetReads(): Promise<void> {
    if (this.#logs.size === 0) return;
    for (const [name, { checkpoint }] of this.#logs) {
      this.#logs.set(name, { checkpoint });
    }
    this.#knownBytes = 0;
    await this.#write(this.#logs, 0);
  }

  /**
   * Notes how far a log was read.
   *
   * @param name The log.
   * @param progress How far.
   * @param knownBytes Up to where the notes are of what was taken.
   */
  async save(
    name: string,
    progress: LogProgress,
    knownBytes: number = this.#knownBytes,
  ): Promise<void> {
    const logs = new Map(this.#logs).set(name, progress);
    await this.#write(logs, knownBytes);
    this.#logs.set(name, progress);
    this.#knownBytes = knownBytes;
  }

  async #write(
    progress: ReadonlyMap<string, LogProgress>,
    known: number,
  ): Promise<void> {
    const logs = Object.fromEntries(progress);
    const text = Buffer.from(
      JSON.stringify({ format: FORMAT, known, logs }) + "\n",
    );
    const path = join(this.#dir, TEMPORARY_FILE);
    const file = this.#disk.open(path);
    try {
      file.truncate(0);
      writeAll(file, text, 0);
      file.syncNow();
    } finally {
      file.close();
    }
    await retried(() =>
      this.#disk.rename(path, join(this.#dir, PROGRESS_FILE))
    );
    await this.#disk.syncDir(this.#dir);
  }
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && value as number >= 0;
}
