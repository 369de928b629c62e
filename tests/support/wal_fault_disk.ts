/** A real disk whose next operations a test can hold up or let fail. */

import { type Disk, type DiskFile, realDisk } from "../../src/wal/disk.ts";

/** The operations that can fail. */
export const FAULT_POINTS = [
  "makeDir",
  "list",
  "open",
  "openToRead",
  "rename",
  "remove",
  "restrict",
  "syncDir",
  "size",
  "read",
  "readNow",
  "write",
  "truncate",
  "sync",
  "syncNow",
  "hasName",
  "close",
] as const;

/** One of them. */
export type FaultPoint = typeof FAULT_POINTS[number];

/** One call of an operation, before it is carried out. */
export interface FaultCall {
  /** The path of the file or folder. */
  readonly path: string;
  /** Carries out part of a write, of so many bytes. */
  readonly partly: (bytes: number) => void;
}

/**
 * What an operation meets: it may throw, and for `read`, `sync` and `syncDir`
 * return a promise that is waited for. A number from a `write` makes it write
 * no more than that.
 */
export type Fault = (call: FaultCall) => void | number | Promise<void>;

/** The disk. */
export class FaultDisk implements Disk {
  /** What an operation meets from now on; without an entry, nothing. */
  readonly faults: { [point in FaultPoint]?: Fault } = {};
  /** How often each operation was called. */
  readonly calls: Record<FaultPoint, number> = Object.fromEntries(
    FAULT_POINTS.map((point) => [point, 0]),
  ) as Record<FaultPoint, number>;
  /** Whether flushes are counted, and take no time. */
  skipsFlushes = false;
  /** How many files are open. */
  openFiles = 0;

  makeDir(path: string): string[] {
    this.#meet("makeDir", path);
    return realDisk.makeDir(path);
  }

  list(path: string): string[] {
    this.#meet("list", path);
    return realDisk.list(path);
  }

  open(path: string): DiskFile {
    this.#meet("open", path);
    return this.#file(path, realDisk.open(path));
  }

  openToRead(path: string): DiskFile {
    this.#meet("openToRead", path);
    return this.#file(path, realDisk.openToRead(path));
  }

  rename(from: string, to: string): void {
    this.#meet("rename", from);
    realDisk.rename(from, to);
  }

  remove(path: string): void {
    this.#meet("remove", path);
    realDisk.remove(path);
  }

  restrict(path: string): void {
    this.#meet("restrict", path);
    realDisk.restrict(path);
  }

  identityOf(path: string): string | undefined {
    return realDisk.identityOf(path);
  }

  async syncDir(path: string): Promise<void> {
    await this.#meet("syncDir", path);
    await realDisk.syncDir(path);
  }

  #file(path: string, file: DiskFile): DiskFile {
    this.openFiles++;
    return {
      size: () => {
        this.#meet("size", path);
        return file.size();
      },
      read: async (into, position) => {
        await this.#meet("read", path);
        return await file.read(into, position);
      },
      readNow: (into, position) => {
        this.#meet("readNow", path);
        return file.readNow(into, position);
      },
      write: (bytes, position) => {
        const most = this.#meet("write", path, (length) => {
          file.write(bytes.subarray(0, length), position);
        });
        return file.write(
          typeof most === "number" ? bytes.subarray(0, most) : bytes,
          position,
        );
      },
      truncate: (size) => {
        this.#meet("truncate", path);
        file.truncate(size);
      },
      sync: async () => {
        await this.#meet("sync", path);
        if (!this.skipsFlushes) await file.sync();
      },
      syncNow: () => {
        this.#meet("syncNow", path);
        if (!this.skipsFlushes) file.syncNow();
      },
      hasName: () => {
        this.#meet("hasName", path);
        return file.hasName();
      },
      close: () => {
        this.openFiles--;
        // The system takes a file back, whatever it says of it.
        file.close();
        this.#meet("close", path);
      },
    };
  }

  #meet(
    point: FaultPoint,
    path: string,
    partly: FaultCall["partly"] = () => {},
  ): ReturnType<Fault> {
    this.calls[point]++;
    return this.faults[point]?.({ path, partly });
  }
}

/**
 * Makes an error as the system gives it.
 *
 * @param code Its code.
 * @returns The error.
 */
export function systemError(code: string): Error & { code: string } {
  return Object.assign(new Error(`${code}: made by the test`), { code });
}

/** A flush that waits until the test lets it go on. */
export class Gate {
  readonly #arrived = Promise.withResolvers<void>();
  readonly #released = Promise.withResolvers<void>();

  /** For `faults.sync`. */
  readonly wait: Fault = () => {
    this.#arrived.resolve();
    return this.#released.promise;
  };

  /** Resolves when a flush has come to the gate. */
  get arrived(): Promise<void> {
    return this.#arrived.promise;
  }

  /** Lets the flush, and all after it, go on. */
  open(): void {
    this.#released.resolve();
  }

  /** Lets the flush fail. */
  fail(error: Error): void {
    this.#released.reject(error);
  }
}
