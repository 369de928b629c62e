/** A log that has its new name, and what is known of it. */

import { join } from "node:path";
import type { Disk, DiskFile } from "./disk.ts";
import { ForeignDecoder, type ForeignEntry } from "./takeover_entry.ts";
import { type ForeignLine, readLines } from "./takeover_lines.ts";
import type { LogProgress } from "./takeover_progress.ts";

/** An entry in its line. */
export interface PlacedEntry {
  /** The line. */
  readonly line: ForeignLine;
  /** What it holds; `undefined`: it is empty. */
  readonly entry: ForeignEntry | undefined;
  /** Whether it counts no longer. */
  readonly isDone: boolean;
}

/** A log that has its new name. */
export class TakenLog {
  /** Its name. */
  readonly name: string;
  /** Its path. */
  readonly path: string;
  /** The open file. */
  readonly file: DiskFile;
  /** The sequence number up to which its first entries count no longer. */
  readonly checkpoint: number;
  /** How many bytes were read and taken over; `undefined`: it never was. */
  read: number | undefined;
  /** How long it was when it was last looked at. */
  seen = 0;

  /**
   * @param dir The directory.
   * @param name Its name.
   * @param progress How far it was read before.
   * @param disk The file system.
   */
  constructor(
    dir: string,
    name: string,
    { read, checkpoint }: LogProgress,
    disk: Disk,
  ) {
    this.name = name;
    this.path = join(dir, name);
    this.read = read;
    this.checkpoint = checkpoint;
    this.file = disk.openToRead(this.path);
  }

  /**
   * Reads the entries of a range.
   *
   * @param from Where a line starts.
   * @param to Where to stop.
   * @returns Each line, good until the next step.
   */
  async *entries(
    from: number,
    to: number,
  ): AsyncGenerator<PlacedEntry, void, undefined> {
    const decoder = new ForeignDecoder();
    // Only the first entries are those that the checkpoint is about: a lower
    // number behind a higher one is of a second writer, which must not be lost.
    let isDone = from === 0;
    for await (const lines of readLines(this.file, from, to)) {
      for (const line of lines) {
        const entry = decoder.decode(line.body);
        if (entry && "seq" in entry) isDone &&= entry.seq <= this.checkpoint;
        yield { line, entry, isDone };
      }
    }
  }
}
