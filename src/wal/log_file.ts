/** The file of a log: how it is opened, and how a compaction writes it anew. */

import { join } from "node:path";
import { setImmediate } from "node:timers";
import { StoreDamagedError } from "../errors.ts";
import type { Disk, DiskFile } from "./disk.ts";
import { encodeFrames } from "./frame.ts";
import { headerBody, type LogHeader, parseHeader } from "./header.ts";
import type { LiveEntries } from "./log.ts";
import { renameOver } from "./rename.ts";
import { scanLog } from "./scan.ts";

/** The name of the log in its directory. */
export const LOG_FILE = "tasks.log";
/** The name of the log that a compaction is writing. */
export const COMPACTION_FILE = "tasks.log.tmp";
/** UTF-16 code units of entries after which one write ends and the next begins. */
export const WRITE_LENGTH: number = 1024 * 1024;

/** Where a log is, and how safe it has to be. */
export interface FileLogOptions {
  /** The directory. It exists, and this store has its lock. */
  readonly dir: string;
  /** Whether an entry is settled only when it is on the disk itself. */
  readonly fsync: boolean;
  /** The file system. */
  readonly disk: Disk;
}

/** A log whose every byte is known. */
export interface LogFile {
  /** The file. */
  readonly file: DiskFile;
  /** Bytes of its lines. */
  readonly bytes: number;
  /** The sequence number of the line that comes next. */
  readonly nextSequence: number;
  /** Entries that were appended since the last compaction. */
  readonly appended: number;
}

/**
 * Opens the log of a directory, makes it if there is none, cuts a torn tail,
 * and removes what a compaction that was cut short has left. Where it finds
 * damage it changes nothing.
 *
 * @param options Where it is.
 * @param visit Takes each entry and its offset, in order.
 * @returns The file.
 * @throws {StoreDamagedError} `ERR_STORE_DAMAGED`: an entry fails its check.
 */
export async function openLogFile(
  options: FileLogOptions,
  visit: (body: string, offset: number) => void,
): Promise<LogFile> {
  const { dir, disk } = options;
  const path = join(dir, LOG_FILE);
  const file = disk.open(path);
  try {
    let header: LogHeader | undefined;
    let entries = 0;
    const { end, nextSequence } = await scanLog(file, path, (body, offset) => {
      if (!header) {
        header = parseHeader(body, path);
        return;
      }
      visit(body, offset);
      entries++;
    });
    const opened = header
      ? {
        file,
        bytes: end,
        nextSequence,
        appended: Math.max(0, entries - header.compacted),
      }
      : await startFile(file, path, options);
    if (file.size() > opened.bytes) file.truncate(opened.bytes);
    disk.remove(join(dir, COMPACTION_FILE));
    return opened;
  } catch (error) {
    file.close();
    throw error;
  }
}

/**
 * Writes the first line of a new log, or again if it was cut short. It is on
 * the disk itself before the first entry comes, so that a log that is longer
 * than its first line is no new one.
 */
async function startFile(
  file: DiskFile,
  path: string,
  { dir, disk, fsync }: FileLogOptions,
): Promise<LogFile> {
  const header = encodeFrames(1, [headerBody({ compacted: 0 })]);
  if (file.size() > header.length) {
    throw new StoreDamagedError(path, 0, "the first line is missing");
  }
  writeAll(file, header, 0);
  await file.sync();
  if (fsync) await disk.syncDir(dir);
  return { file, bytes: header.length, nextSequence: 2, appended: 0 };
}

/**
 * Writes all bytes, however many the disk takes at a time.
 *
 * @param file The file.
 * @param bytes The bytes.
 * @param position Where they go.
 */
export function writeAll(
  file: DiskFile,
  bytes: Uint8Array,
  position: number,
): void {
  for (let done = 0; done < bytes.length;) {
    const written = file.write(bytes.subarray(done), position + done);
    if (written === 0) throw new Error("the disk took no bytes");
    done += written;
  }
}

/**
 * Writes what is alive into a new log beside the old one, and puts it in its
 * place in one step. It is flushed even where entries are not: the old log may
 * have been on the disk for long.
 *
 * @param options Where the log is.
 * @param firstSequence The sequence number of the first line.
 * @param live What is alive.
 * @returns The new log. If it throws, the old one is as it was.
 */
export async function replaceLogFile(
  options: FileLogOptions,
  firstSequence: number,
  live: LiveEntries,
): Promise<LogFile> {
  const { dir, disk } = options;
  const path = join(dir, COMPACTION_FILE);
  disk.remove(path);
  const file = disk.open(path);
  try {
    const end = await writeEntries(file, firstSequence, live);
    await file.sync();
    await renameOver(disk, path, join(dir, LOG_FILE));
    return { file, ...end, appended: 0 };
  } catch (error) {
    file.close();
    try {
      disk.remove(path);
    } catch {
      // The next opening removes it.
    }
    throw error;
  }
}

/** Writes a header and entries, in slices, so that readers get their turn. */
async function writeEntries(
  file: DiskFile,
  firstSequence: number,
  live: LiveEntries,
): Promise<{ bytes: number; nextSequence: number }> {
  let bytes = 0;
  let nextSequence = firstSequence;
  let slice = [headerBody({ compacted: live.count })];
  let length = 0;
  const write = () => {
    const encoded = encodeFrames(nextSequence, slice);
    writeAll(file, encoded, bytes);
    bytes += encoded.length;
    nextSequence += slice.length;
    slice = [];
    length = 0;
  };
  for (const body of live.bodies) {
    slice.push(body);
    length += body.length;
    if (length < WRITE_LENGTH) continue;
    write();
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  write();
  return { bytes, nextSequence };
}
