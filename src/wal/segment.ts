/** The files of the log: their names, their first lines, and their handles. */

import { join } from "node:path";
import { crc32 } from "node:zlib";
import { StoreFailedError } from "../errors.ts";
import type { Disk, DiskFile } from "./disk.ts";
import { encodeHead } from "./frame.ts";

const LOG_NAME = "@mcp-durable/tasks";
/** The format that this release reads and writes. */
const FORMAT = 2;
const NAME = /^tasks-([0-9a-f]{12})\.log$/;
/** Handles that are open for reading, beside the one that is written to. */
const MOST_HANDLES = 32;

/** One file of the log. */
export class Segment {
  /** Its place in the order of segments. */
  readonly number: number;
  /** Its path. */
  readonly path: string;
  /** Bytes of its entries. */
  size = 0;
  /** Tasks whose state stands on an entry in it. */
  bases = 0;
  /** Its handle, if it is open. */
  file: DiskFile | undefined;

  /**
   * @param dir The directory.
   * @param number Its place in the order of segments.
   */
  constructor(dir: string, number: number) {
    this.number = number;
    this.path = join(dir, segmentName(number));
  }
}

/**
 * Names a segment.
 *
 * @param number Its place in the order of segments.
 * @returns The name of its file.
 */
export function segmentName(number: number): string {
  return `tasks-${number.toString(16).padStart(12, "0")}.log`;
}

/**
 * Finds the segments in a directory.
 *
 * @param dir The directory.
 * @param names The names in it.
 * @returns The segments, in order.
 */
export function findSegments(dir: string, names: readonly string[]): Segment[] {
  return names.flatMap((name) => {
    const match = NAME.exec(name);
    return match ? [new Segment(dir, parseInt(match[1], 16))] : [];
  }).sort((a, b) => a.number - b.number);
}

/**
 * Encodes the first line of a segment.
 *
 * @param sequence The sequence number of the entry that comes next.
 * @param oldest The number of the oldest segment at the time.
 * @returns The line.
 */
export function headerLine(sequence: number, oldest: number): string {
  const body = JSON.stringify({ log: LOG_NAME, format: FORMAT });
  const head = encodeHead({
    kind: "h",
    sequence,
    born: 0,
    version: oldest,
    expiresAt: Infinity,
    ended: false,
    smallBytes: body.length,
    smallCrc: crc32(body),
    taskId: "",
    rows: [],
  });
  return `${head.text}${body}\n`;
}

/**
 * Checks the first line of a segment.
 *
 * @param body Its body.
 * @param path The file, for errors.
 * @throws {StoreFailedError} `ERR_STORE_FAILED`: it is of another format.
 */
export function checkHeader(body: string, path: string): void {
  const { log, format } = JSON.parse(body);
  if (log === LOG_NAME && format === FORMAT) return;
  throw new StoreFailedError(
    `read ${path}: it has format ${format} of ${log}, this release reads format ${FORMAT} of ${LOG_NAME}`,
  );
}

/** The handles of segments, no more than a few at a time. */
export class SegmentFiles {
  readonly #disk: Disk;
  /** Sealed segments that are open, the one used last at the end. */
  readonly #open = new Set<Segment>();
  /** How often a handle is in use by what takes its time. */
  readonly #inUse = new Map<DiskFile, number>();

  /** @param disk The file system. */
  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /**
   * Opens a segment for reading, if it is not open.
   *
   * @param segment The segment.
   * @returns Its handle, good until the next call.
   */
  handle(segment: Segment): DiskFile {
    if (segment.file) {
      if (this.#open.delete(segment)) this.#open.add(segment);
      return segment.file;
    }
    segment.file = this.#disk.openToRead(segment.path);
    this.keep(segment);
    return segment.file;
  }

  /**
   * Takes over the handle of a segment that is no longer written to.
   *
   * @param segment The segment, open.
   */
  keep(segment: Segment): void {
    this.#open.add(segment);
    if (this.#open.size <= MOST_HANDLES) return;
    const [oldest] = this.#open;
    closeSafely(() => this.close(oldest));
  }

  /**
   * Does something with an open segment, whose handle is closed no sooner than
   * that ends: its number may be another file's then.
   *
   * @param segment The segment, open.
   * @param work Takes its handle.
   */
  async using(
    segment: Segment,
    work: (file: DiskFile) => Promise<void>,
  ): Promise<void> {
    const file = segment.file!;
    this.#inUse.set(file, (this.#inUse.get(file) ?? 0) + 1);
    try {
      await work(file);
    } finally {
      const left = this.#inUse.get(file)! - 1;
      if (left > 0) this.#inUse.set(file, left);
      else {
        this.#inUse.delete(file);
        if (segment.file !== file) closeSafely(() => file.close());
      }
    }
  }

  /**
   * Gives a segment another handle.
   *
   * @param segment The segment, open.
   * @param file The handle.
   */
  replace(segment: Segment, file: DiskFile): void {
    const before = segment.file!;
    segment.file = file;
    if (!this.#inUse.has(before)) before.close();
  }

  /**
   * Closes a segment, if it is open.
   *
   * @param segment The segment.
   */
  close(segment: Segment): void {
    this.#open.delete(segment);
    const { file } = segment;
    segment.file = undefined;
    if (file && !this.#inUse.has(file)) file.close();
  }

  /** Closes what is open for reading. */
  closeAll(): void {
    for (const segment of [...this.#open]) this.close(segment);
  }
}

/** Closes what is sealed, or was copied: all of it is on the disk, whatever the system answers. */
function closeSafely(close: () => void): void {
  try {
    close();
  } catch {
    // The handle is given back all the same.
  }
}
