/** What makes calls of a {@linkcode SimDisk} overtake each other, and tells whose they are. */

import type { Disk, DiskFile } from "../../../src/wal/disk.ts";
import type { Random } from "./script.ts";

/** Calls that are under way. They arrive in the order that a seed says. */
export class Arrivals {
  readonly #random: Random;
  readonly #waiting: (() => void)[] = [];

  /** @param random Says which comes next. */
  constructor(random: Random) {
    this.#random = random;
  }

  /** How many are under way. */
  get count(): number {
    return this.#waiting.length;
  }

  /** For {@linkcode CallMeter.arrival}. */
  readonly wait = (): Promise<void> =>
    new Promise((resolve) => void this.#waiting.push(resolve));

  /** Lets some arrive: none, one, or many in one turn of the event loop. */
  step(): void {
    const random = this.#random;
    const count = this.#waiting.length;
    if (count === 0) return;
    const most = [0, 1, 1, random(count + 1), count][random(5)];
    for (let left = Math.min(most, count); left > 0; left--) {
      const [arrive] = this.#waiting.splice(random(this.#waiting.length), 1);
      arrive();
    }
  }

  /** Lets all arrive. */
  flush(): void {
    for (const arrive of this.#waiting.splice(0)) arrive();
  }
}

/** The disk as one store has it. */
export interface OwnDisk extends Disk {
  /** How many files the store has open. */
  openFiles: number;
  /** Whether the store has got the lock of its directory. */
  hasLock: boolean;
  /** The store is closed: it may do nothing more. */
  isClosed: boolean;
}

/**
 * Gives a store a disk of its own, which tells of what is done after the store is closed.
 *
 * @param disk The disk of the process.
 * @param late Is told of such calls.
 * @returns The same disk.
 */
export function ownDisk(disk: Disk, late: (call: string) => void): OwnDisk {
  const ofFile = (path: string, file: DiskFile): DiskFile => {
    own.openFiles++;
    let isOpen = true;
    let underWay = 0;
    const counted = <T>(call: Promise<T>): Promise<T> => {
      underWay++;
      return call.finally(() => underWay--);
    };
    const busy: DiskFile = {
      ...file,
      read: (into, position) => counted(file.read(into, position)),
      sync: () => counted(file.sync()),
    };
    return watched(busy, (method) => {
      if (!isOpen) late(`${method} of ${path}, which is not open`);
      if (own.isClosed) late(`${method} of ${path} after close()`);
      if (method !== "close") return;
      // Its number may be another file's by the time that they begin.
      if (underWay > 0) late(`close of ${path}, which is in use,`);
      isOpen = false;
      own.openFiles--;
    });
  };
  const calls = watched(disk, (method) => {
    // The first that is done with the lock.
    if (method === "restrict") own.hasLock = true;
    if (own.isClosed) late(`${method} after close()`);
  });
  const own: OwnDisk = {
    ...calls,
    open: (path) => ofFile(path, calls.open(path)),
    openToRead: (path) => ofFile(path, calls.openToRead(path)),
    openFiles: 0,
    hasLock: false,
    isClosed: false,
  };
  return own;
}

/** Makes an object with the methods of another, which are told of before they run. */
function watched<T extends object>(
  target: T,
  told: (method: string) => void,
): T {
  return Object.fromEntries(
    Object.entries(target).map(([name, method]) => [
      name,
      (...args: unknown[]) => {
        told(name);
        return method.apply(target, args);
      },
    ]),
  ) as T;
}
