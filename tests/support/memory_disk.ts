/** Files in memory, for the log to read. */

import assert from "node:assert/strict";
import type { Buffer } from "node:buffer";
import { basename } from "node:path";
import type { Disk, DiskFile } from "../../src/wal/disk.ts";

/** A disk with one folder. It is only read, but that files are cut, and that what is there is written again. */
export class MemoryDisk implements Disk {
  /** The files, by name. */
  readonly files: Map<string, Buffer>;

  /** @param files The files, by name. */
  constructor(files: Iterable<readonly [name: string, bytes: Buffer]>) {
    this.files = new Map(files);
  }

  list(): string[] {
    return [...this.files.keys()];
  }

  open(path: string): DiskFile {
    return this.openToRead(path);
  }

  openToRead(path: string): DiskFile {
    const name = basename(path);
    const bytes = () => this.files.get(name)!;
    const readNow = (into: Uint8Array, position: number) =>
      bytes().copy(into, 0, position);
    return {
      size: () => bytes().length,
      read: (into, position) => Promise.resolve(readNow(into, position)),
      readNow,
      truncate: (size) => this.files.set(name, bytes().subarray(0, size)),
      write: (written, position) => {
        const end = position + written.length;
        assert.deepEqual(bytes().subarray(position, end), written);
        return written.length;
      },
      sync: () => Promise.resolve(),
      syncNow: no,
      hasName: () => true,
      close: () => {},
    };
  }

  makeDir(): string[] {
    return no();
  }

  rename(): void {
    no();
  }

  remove(): void {
    no();
  }

  restrict(): void {
    no();
  }

  identityOf(): undefined {}

  syncDir(): Promise<void> {
    return no();
  }
}

function no(): never {
  assert.fail("the log is only read");
}
