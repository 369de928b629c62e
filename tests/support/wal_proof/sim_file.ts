/** An open file of a {@linkcode SimDisk}. */

import type { DiskFile } from "../../../src/wal/disk.ts";
import { type CallKind, type CallMeter, systemError } from "./calls.ts";
import {
  applyWrite,
  type Inode,
  pendingOf,
  settleWrites,
  type Write,
} from "./inode.ts";

/** What is opened, and by whom. */
export interface SimFileOptions {
  /** The name by which it was opened. */
  readonly path: string;
  /** The file. */
  readonly inode: Inode;
  /** Whether writing is refused. */
  readonly readOnly: boolean;
  /** Counts the calls. */
  readonly meter: CallMeter;
  /** Throws if the process is dead. */
  readonly alive: () => void;
  /** How much of a write is done when the process dies in it; `undefined`: it does not. */
  readonly lastWrite: () => number | undefined;
  /** Whether the file has a name. */
  readonly hasName: () => boolean;
  /** Is told when it is closed. */
  readonly closed: () => void;
}

/**
 * Opens a file.
 *
 * @param options Which.
 * @returns The open file.
 */
export function openSimFile(options: SimFileOptions): DiskFile {
  const { path, inode, readOnly, meter, alive, lastWrite, hasName, closed } =
    options;
  const now = <T>(
    kind: CallKind,
    effect: (atMost: number) => T,
    more: { readonly bytes?: number; readonly failed?: () => void } = {},
  ): T => {
    alive();
    return meter.now({ kind, path, ...more }, effect);
  };
  const read = (into: Uint8Array, position: number) => {
    const part = inode.bytes.subarray(position, position + into.length);
    into.set(part);
    return part.length;
  };
  const change = (what: Omit<Write, "sequence" | "state">) => {
    if (readOnly) throw systemError("EBADF");
    const write = {
      sequence: meter.nextId(),
      state: "pending",
      ...what,
    } as const;
    inode.writes = [...inode.writes, write];
    inode.bytes = applyWrite(inode.bytes, write);
  };
  const startFlush = () => {
    const flushed = new Set(pendingOf(inode));
    return () => settleWrites(inode, "flushed", flushed);
  };
  // After a failed flush the system forgets the data that it could not write,
  // but not that a file was cut: that is in the journal of the file system.
  const failed = () => {
    const data = inode.writes.filter(({ bytes, state }) =>
      bytes && state === "pending"
    );
    const lost = new Set(data.map(({ sequence }) => sequence));
    settleWrites(inode, "lost", lost);
  };
  return {
    size: () => now("size", () => inode.bytes.length),
    read: (into, position) => {
      alive();
      return meter.later(
        { kind: "read", path },
        alive,
        () => () => read(into, position),
      );
    },
    readNow: (into, position) => now("readNow", () => read(into, position)),
    write: (bytes, position) =>
      now("write", (atMost) => {
        const last = lastWrite();
        const most = last === undefined ? atMost : bytes.length * last | 0;
        const length = Math.min(bytes.length, most);
        // A copy: the `slice` of a Buffer would be none.
        const copy = new Uint8Array(bytes.subarray(0, length));
        change({ position, bytes: copy });
        if (last !== undefined) alive();
        return length;
      }, { bytes: bytes.length }),
    truncate: (size) => now("truncate", () => change({ size })),
    sync: () => {
      alive();
      return meter.later({ kind: "sync", path, failed }, alive, startFlush);
    },
    syncNow: () => now("syncNow", () => startFlush()(), { failed }),
    hasName: () => now("hasName", hasName),
    close: () => {
      // The number is free whatever the system answers.
      closed();
      now("close", () => {});
    },
  };
}
