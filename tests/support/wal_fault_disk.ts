/** A real disk whose next operations a test can hold up or let fail. */

import { type Disk, type DiskFile, realDisk } from "../../src/wal/disk.ts";

/** The operations that can fail. */
export type FaultPoint =
  | "write"
  | "sync"
  | "truncate"
  | "rename"
  | "syncDir"
  | "remove"
  | "makeDir";

/** One call of an operation, before it is carried out. */
export interface FaultCall {
  /** The path of the file or folder. */
  readonly path: string;
  /** Carries out part of a write, of so many bytes. */
  readonly partly: (bytes: number) => void;
}

/**
 * What an operation meets: it may throw, and for `sync` and `syncDir` return a
 * promise that is waited for. A number from a `write` makes it write no more
 * than that.
 */
export type Fault = (call: FaultCall) => void | number | Promise<void>;

/** The disk. */
export class FaultDisk implements Disk {
  /** What an operation meets from now on; without an entry, nothing. */
  readonly faults: { [point in FaultPoint]?: Fault } = {};
  /** How often each operation was called. */
  readonly calls: Record<FaultPoint, number> = {
    write: 0,
    sync: 0,
    truncate: 0,
    rename: 0,
    syncDir: 0,
    remove: 0,
    makeDir: 0,
  };
  /** How many files are open. */
  openFiles = 0;

  makeDir(path: string): string[] {
    this.#meet("makeDir", path);
    return realDisk.makeDir(path);
  }

  open(path: string): DiskFile {
    const file = realDisk.open(path);
    this.openFiles++;
    return {
      size: () => file.size(),
      read: (into, position) => file.read(into, position),
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
        await file.sync();
      },
      close: () => {
        this.openFiles--;
        file.close();
      },
    };
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
    realDisk.restrict(path);
  }

  async syncDir(path: string): Promise<void> {
    await this.#meet("syncDir", path);
    await realDisk.syncDir(path);
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
