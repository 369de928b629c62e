/** A log that has its new name, and what is known of it. */

import { join } from "node:path";
import type { TaskRecord } from "../model/record.ts";
import type { Disk, DiskFile } from "./disk.ts";
import { ForeignDecoder, type ForeignEntry } from "./takeover_entry.ts";
import { type ForeignLine, readLines } from "./takeover_lines.ts";
import type { LogProgress } from "./takeover_progress.ts";

/** In the place of an offset: the last entry of a task deletes it. */
export const DELETED = -1;

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
   * Where the last entry of each task is, of what was read; `undefined` if it
   * is not known at present.
   */
  places: Map<string, number> | undefined;

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
    this.places = read ? undefined : new Map();
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

  /**
   * Notes that a range was taken over.
   *
   * @param end Where it ends.
   * @param places Where the last entry of each of its tasks is.
   */
  noteRead(end: number, places: Map<string, number>): void {
    this.read = end;
    if (this.places?.size === 0) this.places = places;
    else places.forEach((place, taskId) => this.places?.set(taskId, place));
  }

  /** Reads once more what was read, to know where the entries are. */
  async findPlaces(): Promise<Map<string, number>> {
    if (this.places) return this.places;
    const places = new Map<string, number>();
    for await (
      const { line, entry, isDone } of this.entries(0, this.read ?? 0)
    ) {
      if (!entry || "problem" in entry || isDone) continue;
      places.set(entry.taskId, entry.record ? line.offset : DELETED);
    }
    return this.places = places;
  }

  /**
   * Reads a record.
   *
   * @param offset Where its line starts.
   * @returns The record.
   */
  async recordAt(offset: number): Promise<TaskRecord | undefined> {
    for await (const { entry } of this.entries(offset, this.file.size())) {
      return entry && "record" in entry ? entry.record : undefined;
    }
  }
}
