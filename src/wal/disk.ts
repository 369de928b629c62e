/** The file system as the log needs it: the only file that touches `node:fs`. */

import {
  chmodSync,
  closeSync,
  existsSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsync,
  ftruncateSync,
  mkdirSync,
  openSync,
  read,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import process from "node:process";

/** An open file. Positions and sizes are in bytes. */
export interface DiskFile {
  /** How long the file is. */
  size(): number;
  /**
   * Reads from a position into the whole of a buffer, or as much as there is.
   *
   * @returns How many bytes were read; 0 at the end of the file.
   */
  read(into: Uint8Array, position: number): Promise<number>;
  /** The same, and the process waits for it. */
  readNow(into: Uint8Array, position: number): number;
  /**
   * Writes to the page cache.
   *
   * @returns How many bytes were written: maybe fewer than were given.
   */
  write(bytes: Uint8Array, position: number): number;
  /** Cuts the file. */
  truncate(size: number): void;
  /** Resolves when everything written is on the disk. */
  sync(): Promise<void>;
  /** The same, and the process waits for it. */
  syncNow(): void;
  /** Whether the file still has a name: without one, nothing finds it after a restart. */
  hasName(): boolean;
  /** Closes the file. */
  close(): void;
}

/** The file system. Every method throws the error of the system as it is. */
export interface Disk {
  /**
   * Makes a folder, and those above it, for the owner alone.
   *
   * @returns The folders whose list of names changed, from the inside out.
   */
  makeDir(path: string): string[];
  /** Opens a file for reading and writing, and makes it, for the owner alone, if it is missing. */
  open(path: string): DiskFile;
  /** Opens a file that is there, for reading alone. */
  openToRead(path: string): DiskFile;
  /** The names in a folder, in no order; none if there is no folder. */
  list(path: string): string[];
  /** Renames a file over another in one step. */
  rename(from: string, to: string): void;
  /** Removes a file, if it is there. */
  remove(path: string): void;
  /** Takes a file's permissions away from all but the owner, without opening it. */
  restrict(path: string): void;
  /** Tells a file from every other that its name may stand for; `undefined`: there is none. */
  identityOf(path: string): string | undefined;
  /** Resolves when the names in a folder are on the disk. */
  syncDir(path: string): Promise<void>;
}

/** The real file system. */
export const realDisk: Disk = {
  makeDir(path) {
    const missing: string[] = [];
    for (let at = path; !existsSync(at); at = dirname(at)) missing.unshift(at);
    // One by one: in a folder that takes none, Node before 26 tries for ever.
    for (const one of missing) makeFolder(one);
    // Says so where there is a file.
    if (missing.length === 0) mkdirSync(path, { recursive: true });
    return missing.map((one) => dirname(one)).reverse();
  },
  open: (path) => openFile(path),
  openToRead: (path) => diskFile(openSync(path, "r")),
  list(path) {
    try {
      return readdirSync(path);
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  },
  rename: (from, to) => renameSync(from, to),
  remove: (path) => rmSync(path, { force: true }),
  restrict: (path) => chmodSync(path, 0o600),
  identityOf(path) {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found && `${found.dev} ${found.ino}`;
  },
  async syncDir(path) {
    // Windows opens no folders, and keeps names in order by itself.
    if (process.platform === "win32") return;
    const fd = openSync(path, "r");
    try {
      await settled((done) => fsync(fd, done));
    } finally {
      closeSync(fd);
    }
  },
};

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
    const written = file.write(
      done === 0 ? bytes : bytes.subarray(done),
      position + done,
    );
    if (written === 0) throw new Error("the disk took no bytes");
    done += written;
  }
}

/**
 * Tells whether an error of a disk says that there is no such file.
 *
 * @param error The error.
 * @returns Whether it does.
 */
export function isMissing(error: unknown): boolean {
  return codeOf(error) === "ENOENT";
}

/**
 * Tells whether an error of a disk says that this user may not do it.
 *
 * @param error The error.
 * @returns Whether it does.
 */
export function isForbidden(error: unknown): boolean {
  const code = codeOf(error);
  return code === "EACCES" || code === "EPERM";
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    // Another process was faster; or it is no folder, which this says.
    mkdirSync(path, { recursive: true });
  }
}

function openFile(path: string): DiskFile {
  // "a+" would write at the end whatever the position, "r+" needs the file.
  try {
    return diskFile(openSync(path, "r+"));
  } catch (error) {
    if (!isMissing(error)) throw error;
    return diskFile(openSync(path, "wx+", 0o600));
  }
}

function diskFile(fd: number): DiskFile {
  return {
    size: () => fstatSync(fd).size,
    async read(into, position) {
      let length = 0;
      while (length < into.length) {
        const more = await settled<number>((done) =>
          read(fd, into, length, into.length - length, position + length, done)
        );
        if (more === 0) break;
        length += more;
      }
      return length;
    },
    readNow(into, position) {
      let length = 0;
      while (length < into.length) {
        const left = into.length - length;
        const more = readSync(fd, into, length, left, position + length);
        if (more === 0) break;
        length += more;
      }
      return length;
    },
    write: (bytes, position) => writeSync(fd, bytes, 0, bytes.length, position),
    truncate: (size) => ftruncateSync(fd, size),
    sync: () => settled((done) => fdatasync(fd, done)),
    syncNow: () => fdatasyncSync(fd),
    hasName: () => fstatSync(fd).nlink > 0,
    close: () => closeSync(fd),
  };
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null | undefined)?.code;
}

/** Makes a promise of a callback. */
function settled<T = void>(
  start: (done: (error: Error | null, value?: T) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => error ? reject(error) : resolve(value as T));
  });
}
