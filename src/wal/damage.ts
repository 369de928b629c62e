/** What was found damaged, and the copies of it. */

import { basename, join } from "node:path";
import { StoreDamagedError } from "../errors.ts";
import { copyBytes } from "./copy_bytes.ts";
import { type Disk, type DiskFile, isMissing } from "./disk.ts";
import type { Segment } from "./segment.ts";

/** The folder that the copies are in. */
export const DAMAGED_DIR = "damaged";

/** A place in the log that fails its check. */
export interface WalDamage {
  /** The file. */
  readonly file: string;
  /** Where in the file, in bytes. */
  readonly offset: number;
  /** How many bytes; 0: entries that should be there are not. */
  readonly bytes: number;
  /** What is wrong. */
  readonly reason: string;
  /** The tasks that it has taken: they answer with `ERR_STORE_DAMAGED`. */
  readonly taskIds: readonly string[];
  /** The bytes as they were found, copied aside; `undefined`: there are none, or the copy failed. */
  readonly copy: string | undefined;
}

/** Damage that may still touch tasks. */
export class Damage {
  /** The segment, if it is there. */
  readonly segment: Segment | undefined;
  readonly file: string;
  readonly offset: number;
  readonly bytes: number;
  readonly reason: string;
  readonly taskIds: Set<string> = new Set();
  copy: string | undefined;

  /** @param found Where it is, and what is wrong. */
  constructor(
    found: {
      readonly segment?: Segment;
      readonly file: string;
      readonly offset: number;
      readonly bytes: number;
      readonly reason: string;
    },
  ) {
    this.segment = found.segment;
    this.file = found.file;
    this.offset = found.offset;
    this.bytes = found.bytes;
    this.reason = found.reason;
  }

  /** What the log notes of it with a task that it has taken, as JSON. */
  note(): string {
    const { file, offset, reason } = this;
    return JSON.stringify({ file: basename(file), offset, reason });
  }

  /** As the host sees it. */
  report(): WalDamage {
    const { file, offset, bytes, reason, copy } = this;
    return { file, offset, bytes, reason, taskIds: [...this.taskIds], copy };
  }
}

/** All damage that is known, and the tasks that it has taken. */
export class Damages {
  readonly #dir: string;
  readonly #disk: Disk;
  /** By file and offset. */
  readonly #all = new Map<string, Damage>();
  readonly #byTask = new Map<string, Damage>();
  /** The copies that are being made. */
  readonly #copying = new Map<Damage, Promise<void>>();
  /** What nobody was told of. */
  readonly #untold = new Set<Damage>();
  #observer: ((damage: Damage) => void) | undefined;

  /**
   * @param dir The directory of the store.
   * @param disk The file system.
   */
  constructor(dir: string, disk: Disk) {
    this.#dir = dir;
    this.#disk = disk;
  }

  /** All of it, in the order in which it was found. */
  get all(): readonly Damage[] {
    return [...this.#all.values()];
  }

  /**
   * Takes note of damage, once.
   *
   * @param found The damage.
   * @returns The same, or what was noted before of that place.
   */
  add(found: Damage): Damage {
    const place = placeOf(found);
    const known = this.#all.get(place);
    if (known) return known;
    this.#all.set(place, found);
    this.#untold.add(found);
    return found;
  }

  /**
   * Takes note of damage that may be known as part of a larger one, or for a
   * part of it.
   *
   * @param found The damage.
   * @param isEntry Whether it is one entry, so that who knows of a part knows of it.
   * @returns All that is known of the place.
   */
  addWithin(found: Damage, isEntry: boolean): Damage {
    const near = this.all.filter((known) =>
      known.segment === found.segment && known.bytes > 0
    );
    const around = near.find((known) => contains(known, found));
    if (around) return around;
    const inside = near.filter((known) => contains(found, known));
    const isTold = isEntry &&
      inside.some((known) => !this.#untold.has(known));
    for (const known of inside) {
      this.#all.delete(placeOf(known));
      this.#untold.delete(known);
    }
    const damage = this.add(found);
    if (isTold) this.#untold.delete(damage);
    for (const known of inside) {
      for (const taskId of [...known.taskIds]) this.take(taskId, damage);
    }
    return damage;
  }

  /**
   * Tells of all that is known, and of what is found later.
   *
   * @param observer Is told. It does not throw.
   */
  observe(observer: (damage: Damage) => void): void {
    this.#observer = observer;
    this.tell();
  }

  /** Tells of what nobody was told of, now that it is known what it has taken. */
  tell(): void {
    if (!this.#observer) return;
    for (const damage of this.#untold) {
      this.#untold.delete(damage);
      this.#observer(damage);
    }
  }

  /** Takes note of a task that damage has taken. */
  take(taskId: string, damage: Damage): void {
    this.release(taskId);
    this.#byTask.set(taskId, damage);
    damage.taskIds.add(taskId);
  }

  /** Takes note that a task has a sound state again, or is gone. */
  release(taskId: string): void {
    const damage = this.#byTask.get(taskId);
    if (!damage) return;
    this.#byTask.delete(taskId);
    damage.taskIds.delete(taskId);
  }

  /** What has taken a task. */
  of(taskId: string): Damage | undefined {
    return this.#byTask.get(taskId);
  }

  /** The error with which a damaged task answers. */
  errorOf(taskId: string): StoreDamagedError {
    const damage = this.#byTask.get(taskId);
    return new StoreDamagedError(
      damage?.file ?? this.#dir,
      damage?.offset ?? 0,
      `the state of task ${JSON.stringify(taskId)} is lost: ${
        damage?.reason ?? "it was damaged"
      }`,
    );
  }

  /**
   * Copies damaged bytes aside, for whoever may read more out of them. The copy
   * is not flushed: the bytes are still in the log.
   *
   * @param damage The damage.
   */
  copyAside(damage: Damage): Promise<void> {
    const { segment, bytes, copy } = damage;
    if (!segment || bytes === 0 || copy !== undefined) return Promise.resolve();
    let copying = this.#copying.get(damage);
    if (!copying) {
      copying = this.#copy(damage, segment)
        .finally(() => this.#copying.delete(damage));
      this.#copying.set(damage, copying);
    }
    return copying;
  }

  /**
   * Makes sure that the copies of all damage in a segment are on the disk,
   * before the segment goes.
   *
   * @param segment The segment.
   */
  async secure(segment: Segment): Promise<void> {
    let isAny = false;
    for (const damage of this.all) {
      if (damage.segment !== segment) continue;
      await this.copyAside(damage);
      if (damage.copy === undefined) continue;
      const file = this.#disk.open(damage.copy);
      try {
        await file.sync();
      } finally {
        file.close();
      }
      isAny = true;
    }
    if (!isAny) return;
    await this.#disk.syncDir(join(this.#dir, DAMAGED_DIR));
    await this.#disk.syncDir(this.#dir);
  }

  /** Waits for the copies that are being made. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#copying.values());
  }

  async #copy(damage: Damage, segment: Segment): Promise<void> {
    const { bytes, offset } = damage;
    const dir = join(this.#dir, DAMAGED_DIR);
    this.#disk.makeDir(dir);
    const name = `${basename(segment.path, ".log")}-${offset}.bin`;
    const path = join(dir, name);
    let from: DiskFile;
    try {
      from = this.#disk.openToRead(segment.path);
    } catch (error) {
      if (isMissing(error)) return; // There is nothing to copy.
      throw error;
    }
    try {
      const to = this.#disk.open(path);
      try {
        // It may be there from an opening before, and never have been flushed.
        await copyBytes(from, to, { from: offset, bytes, to: 0 });
      } finally {
        to.close();
      }
    } finally {
      from.close();
    }
    damage.copy = path;
  }
}

function placeOf({ offset, file }: Damage): string {
  return `${offset} ${file}`;
}

function contains(outer: Damage, inner: Damage): boolean {
  return outer.offset <= inner.offset &&
    inner.offset + inner.bytes <= outer.offset + outer.bytes;
}
