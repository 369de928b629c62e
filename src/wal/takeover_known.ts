/**
 * Which states were taken over: `takeover.known`, a line `["id","digest"]` for
 * each, `["id"]` where the task was deleted. With it an untouched record can be
 * told from one that we have changed, even when the other library has compacted
 * its log, or the log is gone.
 *
 * A state is noted before it is taken, so up to a place in the file the last
 * line of an id says what was taken, and behind it each line says what may
 * have been, if that was not cut short.
 */

import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { TaskRecord } from "../model/record.ts";
import { type Disk, type DiskFile, writeAll } from "./disk.ts";
import { rewrite } from "./rewrite.ts";
import { readLines } from "./takeover_lines.ts";

/** The file. */
const KNOWN_FILE = "takeover.known";

/**
 * Makes a digest of a record, whatever order its fields are in.
 *
 * @param record The record.
 * @returns Different for any two records that differ.
 */
export function digestOf(record: TaskRecord): string {
  const hash = createHash("sha256");
  const fields = record as unknown as Record<string, unknown>;
  for (const key of Object.keys(fields).sort()) {
    hash.update(`${JSON.stringify(key)}:${JSON.stringify(fields[key])},`);
  }
  return hash.digest("base64url");
}

/** The states that were taken over. */
export class KnownStates {
  readonly #dir: string;
  readonly #disk: Disk;
  /** Whether the file's name is on the disk itself, and all that was found in it. */
  #isSafe = false;
  #open: DiskFile | undefined;
  /** Up to where the lines are of what was taken. */
  #settledEnd: number;
  /** Bytes of all whole lines. */
  #end = 0;
  /** What was taken, by task; absent: the file has to be read. */
  #taken: Map<string, string | undefined> | undefined;
  /** What may have been taken since. */
  #perhaps = new Map<string, (string | undefined)[]>();

  /**
   * @param dir The directory.
   * @param disk The file system.
   * @param settledEnd Up to where the lines are of what was taken.
   */
  constructor(dir: string, disk: Disk, settledEnd: number) {
    this.#dir = dir;
    this.#disk = disk;
    this.#settledEnd = settledEnd;
  }

  /** The file, made if it is missing. */
  get #file(): DiskFile {
    return this.#open ??= this.#disk.open(join(this.#dir, KNOWN_FILE));
  }

  /** Bytes of all whole lines. */
  get end(): number {
    return this.#end;
  }

  /** Reads the file, if it was not read. What follows needs it. */
  async read(): Promise<void> {
    if (this.#taken) return;
    const file = this.#file;
    this.#end = 0;
    const taken = new Map<string, string | undefined>();
    this.#perhaps = new Map();
    for await (const lines of readLines(file, 0, file.size())) {
      for (const { offset, bytes, body } of lines) {
        this.#end = offset + bytes + 1;
        const [taskId, digest] = parsed(body);
        // Whose note is damaged, that record counts as one of ours: it stays.
        if (typeof taskId !== "string") continue;
        if (offset < this.#settledEnd) taken.set(taskId, digest);
        else this.#mayBe(taskId, digest);
      }
    }
    this.#taken = taken;
  }

  /**
   * Tells whether a state is the last that was taken.
   *
   * @param taskId The task.
   * @param digest The digest of the state.
   */
  isTaken(taskId: string, digest: string): boolean {
    return this.#taken!.get(taskId) === digest;
  }

  /**
   * Tells whether a state is the last that was taken, or may have been since.
   *
   * @param taskId The task.
   * @param digest The digest of the state.
   */
  isTheirs(taskId: string, digest: string): boolean {
    return this.isTaken(taskId, digest) ||
      this.#perhaps.get(taskId)?.includes(digest) === true;
  }

  /** Every task of which a state was taken, or may have been. */
  taskIds(): Set<string> {
    return new Set([...this.#taken!.keys(), ...this.#perhaps.keys()]);
  }

  /**
   * Notes what is about to be taken. It is on the disk itself when this resolves.
   *
   * @param states The digest of each task's state; `undefined`: it is to be deleted.
   */
  async note(
    states: ReadonlyMap<string, string | undefined>,
  ): Promise<void> {
    if (states.size === 0) return;
    const bytes = Buffer.from(
      [...states].map((state) =>
        JSON.stringify(state[1] === undefined ? [state[0]] : state) + "\n"
      ).join(""),
    );
    const file = this.#file;
    if (!this.#isSafe) await rewrite(file, this.#settledEnd, this.#end);
    writeAll(file, bytes, this.#end);
    // What an attempt that was cut short has left behind it.
    file.truncate(this.#end + bytes.length);
    await file.sync();
    if (!this.#isSafe) await this.#disk.syncDir(this.#dir);
    this.#isSafe = true;
    this.#end += bytes.length;
    states.forEach((digest, taskId) => this.#mayBe(taskId, digest));
  }

  /** Takes all that was noted for taken. */
  settle(): void {
    this.#settledEnd = this.#end;
    this.#perhaps.forEach((digests, taskId) =>
      this.#taken?.set(taskId, digests.at(-1))
    );
    this.#perhaps.clear();
  }

  /** Frees the memory. What is asked for later is read again. */
  forget(): void {
    this.#taken = undefined;
    this.#perhaps.clear();
  }

  /** Closes the file. */
  close(): void {
    this.#open?.close();
  }

  #mayBe(taskId: string, digest: string | undefined): void {
    const digests = this.#perhaps.get(taskId);
    if (digests) digests.push(digest);
    else this.#perhaps.set(taskId, [digest]);
  }
}

function parsed(
  body: Uint8Array | undefined,
): [taskId?: string, digest?: string] {
  try {
    const line = JSON.parse(Buffer.from(body ?? []).toString());
    return Array.isArray(line) ? line as [string, string?] : [];
  } catch {
    return [];
  }
}
