/**
 * Which state of each task was last taken over: `takeover.known`, a line
 * `["id","digest"]` for each, `["id"]` where the task was deleted; the last line of an id
 * counts. With it an untouched record can be told from one that we have changed,
 * even when the other library has compacted its log, or the log is gone.
 */

import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { TaskRecord } from "../model/record.ts";
import type { Disk, DiskFile } from "./disk.ts";
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
  readonly #path: string;
  readonly #disk: Disk;
  #open: DiskFile | undefined;
  /** Bytes of its whole lines; `undefined`: not known yet. */
  #end: number | undefined;
  /** What the file holds; `undefined`: it has to be read. */
  #digests: Map<string, string | undefined> | undefined;

  /**
   * @param dir The directory.
   * @param disk The file system.
   */
  constructor(dir: string, disk: Disk) {
    this.#path = join(dir, KNOWN_FILE);
    this.#disk = disk;
  }

  /** The file, made if it is missing. */
  get #file(): DiskFile {
    return this.#open ??= this.#disk.open(this.#path);
  }

  /** Forgets everything, on the disk too. */
  clear(): void {
    this.#disk.remove(this.#path);
    this.#end = 0;
    this.#digests = new Map();
  }

  /**
   * Reads the file, if it was not read.
   *
   * @returns The digest of each task's state; `undefined`: it was deleted.
   */
  async read(): Promise<ReadonlyMap<string, string | undefined>> {
    if (this.#digests) return this.#digests;
    const digests = new Map<string, string | undefined>();
    this.#end = 0;
    for await (
      const lines of readLines(this.#file, 0, this.#file.size())
    ) {
      for (const { offset, bytes, body } of lines) {
        this.#end = offset + bytes + 1;
        const [taskId, digest] = parsed(body);
        // Whose note is damaged, that record counts as one of ours: it stays.
        if (typeof taskId === "string") digests.set(taskId, digest);
      }
    }
    return this.#digests = digests;
  }

  /**
   * Notes states. They are on the disk itself after `sync()`.
   *
   * @param states The digest of each task's state; `undefined`: it was deleted.
   */
  async note(
    states: ReadonlyMap<string, string | undefined>,
  ): Promise<void> {
    if (states.size === 0) return;
    const digests = await this.read();
    const bytes = Buffer.from(
      [...states].map((state) =>
        JSON.stringify(state[1] === undefined ? [state[0]] : state) + "\n"
      ).join(""),
    );
    for (let done = 0; done < bytes.length;) {
      done += this.#file.write(bytes.subarray(done), this.#end! + done);
    }
    // What an attempt that was cut short has left behind it.
    this.#file.truncate(this.#end! + bytes.length);
    this.#end! += bytes.length;
    states.forEach((digest, taskId) =>
      (digests as Map<string, string | undefined>).set(taskId, digest)
    );
  }

  /** Resolves when everything noted is on the disk. */
  sync(): Promise<void> {
    return this.#file.sync();
  }

  /** Frees the memory. What is asked for later is read again. */
  forget(): void {
    this.#digests = undefined;
  }

  /** Closes the file. */
  close(): void {
    this.#open?.close();
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
