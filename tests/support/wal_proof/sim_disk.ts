/**
 * A disk in memory that knows what a power loss would leave. Like a real one it
 * keeps two of everything: what programs see, and what is on the platter. File
 * data gets there by a flush of the file, names by a flush of their folder. Data
 * whose flush has failed is forgotten: the same process cannot make up for it.
 * For the next process the system tries again. (A real one may have forgotten
 * for good what it still shows, and tells nobody: no program can know.)
 */

import { dirname } from "node:path";
import type { Disk, DiskFile } from "../../../src/wal/disk.ts";
import {
  applyName,
  type Inode,
  makeInode,
  type Names,
  type PendingName,
  retryLost,
} from "./inode.ts";
import { type CallKind, CallMeter, systemError } from "./calls.ts";
import { openSimFile } from "./sim_file.ts";
import type { InodeState, Snapshot } from "./snapshot.ts";

/** A process that uses the disk. */
interface Session {
  alive: boolean;
  openFiles: number;
  /** How much of its next write is done when it dies; absent: it lives. */
  diesInWrite?: number;
}

/** The disk. Processes, one after the other, have a session on it. */
export class SimDisk {
  /** Counts the calls, and lets them fail. */
  readonly meter: CallMeter = new CallMeter();
  readonly #names: Names = new Map();
  #durableNames: Names = new Map();
  #pendingNames: PendingName[] = [];
  #session: Session = { alive: false, openFiles: 0 };

  /** @param files What is on it, all of it on the platter. */
  constructor(files: ReadonlyMap<string, Uint8Array> = new Map()) {
    for (const [path, bytes] of files) {
      this.#names.set(path, makeInode(this.meter.nextId(), bytes));
      this.#names.set(dirname(path), this.#folder());
    }
    this.#durableNames = new Map(this.#names);
  }

  /** How many files the present process has open. */
  get openFiles(): number {
    return this.#session.openFiles;
  }

  /** The files as programs see them. */
  files(): Map<string, Uint8Array> {
    const files = new Map<string, Uint8Array>();
    for (const [path, { bytes, folder }] of this.#names) {
      if (!folder) files.set(path, bytes);
    }
    return files;
  }

  /**
   * All that a crash at this moment can leave.
   *
   * @param inWrite Whether the process is in the middle of its last write.
   */
  snapshot(inWrite: boolean): Snapshot {
    const inodes = new Map<Inode, InodeState>();
    const add = (inode: Inode) => {
      const { durable, writes, generation } = inode;
      inodes.set(inode, { durable, writes, generation });
    };
    this.#names.forEach(add);
    this.#durableNames.forEach(add);
    for (const { link } of this.#pendingNames) if (link) add(link);
    return {
      names: new Map(this.#durableNames),
      pendingNames: this.#pendingNames.slice(),
      inodes,
      inWrite,
    };
  }

  /** The system writes back what it holds, as it does after a while without being asked. */
  settle(): void {
    for (const inode of this.#names.values()) {
      inode.durable = inode.bytes;
      inode.writes = [];
      inode.generation++;
    }
    this.#durableNames = new Map(this.#names);
    this.#pendingNames = [];
  }

  /**
   * A file decays: what is open reads other bytes from now on.
   *
   * @param path The file.
   * @param bytes What is in it now.
   */
  decay(path: string, bytes: Uint8Array): void {
    const inode = this.#at(path);
    inode.bytes = inode.durable = bytes;
    inode.writes = [];
    inode.generation++;
  }

  /** Ends the process that uses the disk: each of its calls fails from now on. */
  kill(): void {
    this.#session.alive = false;
  }

  /**
   * Ends the process that uses the disk in the middle of its next write.
   *
   * @param kept How much of that write is done, from 0 to 1.
   */
  killInWrite(kept: number): void {
    this.#session.diesInWrite = kept;
  }

  /** Begins a process. The one before it is dead. */
  session(): Disk {
    this.kill();
    for (const inode of this.#names.values()) retryLost(inode);
    this.#session = { alive: true, openFiles: 0 };
    return this.#diskOf(this.#session);
  }

  /** Begins a process beside the one that uses the disk. It is not killed with it. */
  beside(): Disk {
    return this.#diskOf({ alive: true, openFiles: 0 });
  }

  #diskOf(session: Session): Disk {
    const alive = () => {
      if (!session.alive) throw new Error("the process is dead");
    };
    const now = <T>(kind: CallKind, path: string, effect: () => T): T => {
      alive();
      return this.meter.now({ kind, path }, effect);
    };
    const open = (path: string, inode: Inode, readOnly: boolean): DiskFile => {
      session.openFiles++;
      return openSimFile({
        path,
        inode,
        readOnly,
        meter: this.meter,
        alive,
        lastWrite: () => {
          if (session.diesInWrite !== undefined) session.alive = false;
          return session.diesInWrite;
        },
        hasName: () => [...this.#names.values()].includes(inode),
        closed: () => session.openFiles--,
      });
    };
    return {
      makeDir: (path) =>
        now("makeDir", path, () => {
          if (this.#names.has(path)) return [];
          this.#rename({ path, link: this.#folder() });
          return [dirname(path)];
        }),
      open: (path) => {
        const inode = now("open", path, () => {
          const found = this.#names.get(path);
          if (found) return found;
          const link = makeInode(this.meter.nextId(), new Uint8Array());
          this.#rename({ path, link });
          return link;
        });
        return open(path, inode, false);
      },
      openToRead: (path) =>
        open(path, now("openToRead", path, () => this.#at(path)), true),
      list: (path) =>
        now("list", path, () => {
          const paths = [...this.#names.keys()];
          return paths.filter((one) => dirname(one) === path)
            .map((one) => one.slice(path.length + 1));
        }),
      rename: (from, to) =>
        now(
          "rename",
          from,
          () => this.#rename({ path: to, link: this.#at(from), removed: from }),
        ),
      remove: (path) =>
        now("remove", path, () => {
          if (this.#names.has(path)) this.#rename({ path, removed: path });
        }),
      restrict: (path) => now("restrict", path, () => {}),
      // The lock is on a real disk, where nobody touches it.
      identityOf: () => "1",
      syncDir: (path) => {
        alive();
        return this.meter.later({ kind: "syncDir", path }, alive, () => {
          const flushed = new Set(
            this.#pendingNames.filter((one) => dirname(one.path) === path),
          );
          return () => {
            flushed.forEach((one) => applyName(this.#durableNames, one));
            this.#pendingNames = this.#pendingNames.filter((one) =>
              !flushed.has(one)
            );
          };
        });
      },
    };
  }

  #at(path: string): Inode {
    const inode = this.#names.get(path);
    if (!inode) throw systemError("ENOENT");
    return inode;
  }

  #folder(): Inode {
    return makeInode(this.meter.nextId(), new Uint8Array(), true);
  }

  #rename(change: Omit<PendingName, "sequence">): void {
    const pending = { sequence: this.meter.nextId(), ...change };
    this.#pendingNames.push(pending);
    applyName(this.#names, pending);
  }
}
