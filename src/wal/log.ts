/**
 * The end of the log: what is appended, its flushes and its failures. It knows
 * nothing of what the entries say.
 */

import { nextTick } from "node:process";
import { setImmediate } from "node:timers";
import { showPath, StoreClosedError, StoreFailedError } from "../errors.ts";
import { BatchEncoder } from "./batch_encoder.ts";
import { type Disk, writeAll } from "./disk.ts";
import { FlushTimes } from "./flush_times.ts";
import { copyNameless } from "./nameless.ts";
import { headerLine, Segment, type SegmentFiles } from "./segment.ts";

/** Bytes after which one write ends and the next begins. */
const WRITE_BYTES = 4 * 1024 * 1024;
/** More bytes of several callers are flushed through the pool of threads. */
const FLUSHED_AT_ONCE_BYTES = 128 * 1024;
/** A segment that is no longer has no entry. */
const MOST_HEADER_BYTES = 200;
/** How long writes may follow each other before everything else has its turn, in milliseconds. */
const TURN_MS = 3;
/** After so many writes of one entry each, a caller is taken to be alone. */
const LONE_WRITES = 8;
/** How often it is looked whether the file still has its name, in milliseconds. */
const NAME_CHECK_MS = 25;

const FLUSH_FAILED = "a flush to the disk has failed";

/** Is called once: without an error when the entries are as safe as the log makes them. It must not throw. */
export type Settled = (error?: StoreFailedError) => void;

/** Why nothing is written any more. */
export interface Refusal {
  /** For messages. */
  readonly why: string;
  /** The error that has shown it. */
  readonly cause: unknown;
}

/** Where an entry will be. */
export interface Place {
  /** The segment. */
  readonly segment: Segment;
  /** Where it starts. */
  readonly offset: number;
}

/** Where a log is, and how safe it has to be. */
export interface LogOptions {
  /** The directory. It exists, and this store has its lock. */
  readonly dir: string;
  /** Whether an entry is settled only when it is on the disk itself. */
  readonly fsync: boolean;
  /** The file system. */
  readonly disk: Disk;
  /** Tells after how many bytes a segment ends. */
  readonly segmentBytes: () => number;
  /** Tells whether the store still has the lock of the directory. */
  readonly isOwner: () => boolean;
}

/** What was found when the directory was opened. */
export interface FoundLog {
  /** The segments, in order. The last is the one that is written to, if `isLastOpen`. */
  readonly segments: Segment[];
  /** Whether the last segment can be written to: its file is open. */
  readonly isLastOpen: boolean;
  /** The sequence number of the entry that comes next. */
  readonly nextSequence: number;
}

/** Entries that are written together. They are in one segment. */
interface Batch {
  readonly segment: Segment;
  /** Whether it makes the segment. */
  readonly isFirst: boolean;
  readonly offset: number;
  readonly firstSequence: number;
  readonly pieces: (string | Uint8Array)[];
  bytes: number;
  entries: number;
  readonly settled: Settled[];
}

/** The end of a log that is open. */
export class Log {
  readonly #options: LogOptions;
  readonly #files: SegmentFiles;
  /** All segments that are on the disk, in order. */
  readonly segments: Segment[];
  /** Bytes of all segments. */
  bytes = 0;
  /** Entries appended since this was last set to 0. */
  appended = 0;
  #nextSequence: number;
  /** The segment that is written to. */
  #active: Segment | undefined;
  /** Where the next entry goes. */
  #tail: Segment | undefined;
  #tailEnd = 0;
  #sealAsked = false;
  /** The highest number that a segment has, or is planned with. */
  #lastNumber: number;
  /** The highest number that a segment has had: no later one may have it too. */
  #madeNumber: number;
  readonly #queue: Batch[] = [];
  #scheduled = false;
  /** How many of the last writes, one after the other, had one entry. */
  #loneWrites = 0;
  #draining: Promise<void> | undefined;
  /** Where the file of the active segment has to be cut before it is written to. */
  #cutAt: number | undefined;
  /** Whether it was cut, and not flushed since: what was cut may come back. */
  #isCut = false;
  /** A segment that could not be begun. It has to be gone for good before its sequence numbers are used. */
  #leftover: Segment | undefined;
  /** Why nothing is written any more. */
  #refusal: Refusal | undefined;
  readonly #flushes = new FlushTimes();
  #nameCheckedAt = 0;
  #turnEndsAt = 0;
  /** Is called when entries are settled, once for each write. It must not throw. */
  onCommit: () => void = () => {};
  #held: PromiseWithResolvers<void> | undefined;
  #isClosed = false;
  readonly #encoder = new BatchEncoder();

  /**
   * @param options Where the log is.
   * @param files The handles of its segments.
   * @param found What is there.
   */
  constructor(options: LogOptions, files: SegmentFiles, found: FoundLog) {
    this.#options = options;
    this.#files = files;
    this.segments = found.segments;
    this.#nextSequence = found.nextSequence;
    for (const segment of this.segments) this.bytes += segment.size;
    const last = this.segments.at(-1);
    this.#lastNumber = this.#madeNumber = last?.number ?? 0;
    if (last && found.isLastOpen) {
      this.#active = this.#tail = last;
      this.#tailEnd = last.size;
    }
  }

  /** The sequence number of the next entry. */
  get nextSequence(): number {
    return this.#nextSequence;
  }

  /** The segment that is written to; `undefined`: the next entry makes one. */
  get active(): Segment | undefined {
    return this.#active;
  }

  /** Why nothing is written any more. */
  get refusal(): Refusal | undefined {
    return this.#refusal;
  }

  /**
   * Appends an entry with the next sequence number.
   *
   * @param pieces The entry.
   * @param bytes Bytes of all pieces.
   * @returns Where it will be. {@linkcode settle} tells when.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after {@linkcode Log.close}.
   */
  add(pieces: readonly (string | Uint8Array)[], bytes: number): Place {
    this.#refuseIfClosed();
    let batch = this.#queue.at(-1);
    const limit = this.#options.segmentBytes();
    if (
      !this.#tail || this.#sealAsked ||
      (this.#tailEnd + bytes > limit && this.#tailEnd > MOST_HEADER_BYTES)
    ) batch = this.#planSegment();
    else if (!batch || batch.bytes >= WRITE_BYTES) {
      batch = this.#planBatch(this.#tail, this.#tailEnd, false);
    }
    const place = { segment: batch.segment, offset: this.#tailEnd };
    for (const piece of pieces) batch.pieces.push(piece);
    batch.bytes += bytes;
    batch.entries++;
    this.#tailEnd += bytes;
    this.#nextSequence++;
    return place;
  }

  /**
   * Waits for what was appended. On an error it is called, in one go, for all
   * that is not yet settled, so that nothing stays whose predecessor is gone.
   *
   * @param settled Takes the outcome, from outside this call, in the order of the calls.
   * @throws {StoreClosedError} `ERR_STORE_CLOSED`: after {@linkcode Log.close}.
   */
  settle(settled: Settled): void {
    this.#refuseIfClosed();
    const batch = this.#queue.at(-1);
    if (batch) batch.settled.push(settled);
    else {
      // What is under way is settled before the next batch.
      const end = this.#tailEnd;
      this.#planBatch(this.#tail, end, false).settled.push(settled);
    }
    this.#schedule();
  }

  /**
   * Writes what was just appended, if it is all that there is to write, and its
   * caller seems to be alone: to wait for others would be in vain. A write that
   * waits for a turn of the event loop, every few milliseconds, shows whether
   * it still is.
   *
   * @returns Whether it did, and the entry is settled; else {@linkcode Log.settle} tells when it is.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: it failed, and the entry is gone.
   */
  writeAtOnce(): boolean {
    const batch = this.#queue[0];
    if (
      this.#loneWrites < LONE_WRITES || this.#options.fsync ||
      this.#scheduled || this.#draining ||
      this.#queue.length > 1 || batch.entries > 1 || batch.settled.length > 0
    ) return false;
    const now = performance.now();
    if (now > this.#turnEndsAt || !this.#canWriteNow(batch, now)) return false;
    this.#queue.shift();
    try {
      this.#write(batch);
    } catch (cause) {
      throw this.#fail(batch, cause);
    }
    this.#commit(batch);
    return true;
  }

  /** Holds up writers that ask {@linkcode Log.held}, so that a compaction keeps step with them. */
  hold(): void {
    this.#held ??= Promise.withResolvers();
  }

  /** Ends that. */
  release(): void {
    const held = this.#held;
    if (!held) return;
    held.resolve();
    // Who comes before those that wait have had their turn waits behind them.
    held.promise.then(() => {
      if (this.#held === held) this.#held = undefined;
    });
  }

  /** What a writer has to wait for before it judges and appends; `undefined`: nothing. */
  get held(): Promise<void> | undefined {
    return this.#held?.promise;
  }

  /** Makes the next entry start a segment, unless the last one has none. */
  seal(): void {
    this.#sealAsked = true;
  }

  /**
   * Sees to it that nothing is touched that may be another's by now: somebody has
   * removed the directory, or its lock, and whoever opens it next has a lock too.
   *
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: the lock is lost, and nothing is written any more.
   */
  refuseIfLost(): void {
    if (!this.#options.isOwner()) {
      this.#refusal ??= {
        why: "its lock file was removed, so it may be another's",
        cause: new Error(`the lock of ${this.#options.dir} is gone`),
      };
    }
    this.refuseIfUnsure();
  }

  /**
   * Refuses what would go on with bytes that may not be on the disk, or may be another's.
   *
   * @param operation What is refused, as in "Cannot write to the log".
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: nothing is written any more.
   */
  refuseIfUnsure(operation = "write to the log"): void {
    if (!this.#refusal) return;
    throw new StoreFailedError(
      `${operation} (${this.#refusal.why}; open the store again)`,
      { cause: this.#refusal.cause },
    );
  }

  /** Flushes what no append has flushed. */
  async flush(): Promise<void> {
    await this.#draining;
    this.refuseIfUnsure();
    const active = this.#active;
    if (!active) return;
    try {
      // It may be sealed meanwhile.
      await this.#files.using(active, (file) => file.sync());
    } catch (cause) {
      this.#refusal = { why: FLUSH_FAILED, cause };
      throw cause;
    }
  }

  /**
   * Forgets a segment whose file is gone.
   *
   * @param segment The segment.
   */
  removed(segment: Segment): void {
    const index = this.segments.indexOf(segment);
    if (index < 0) throw new Error(`${segment.path} was removed before`);
    this.segments.splice(index, 1);
    this.bytes -= segment.size;
  }

  /** Waits until everything is settled, and takes nothing more: the directory may be another's then. */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#scheduled || this.#draining || this.#queue.length > 0) {
      if (this.#draining) await this.#draining;
      else await nextTurn();
    }
  }

  #planSegment(): Batch {
    this.#sealAsked = false;
    const number = ++this.#lastNumber;
    const segment = new Segment(this.#options.dir, number);
    const oldest = this.segments[0]?.number ?? number;
    const line = headerLine(this.#nextSequence, oldest);
    const batch = this.#planBatch(segment, 0, true);
    batch.pieces.push(line);
    batch.bytes = line.length;
    this.#tail = segment;
    this.#tailEnd = line.length;
    return batch;
  }

  #planBatch(
    segment: Segment | undefined,
    offset: number,
    isFirst: boolean,
  ): Batch {
    const batch: Batch = {
      // Without a segment nothing is written: it only waits.
      segment: segment!,
      isFirst,
      offset,
      firstSequence: this.#nextSequence,
      pieces: [],
      bytes: 0,
      entries: 0,
      settled: [],
    };
    this.#queue.push(batch);
    return batch;
  }

  /**
   * What arrives in the same turn shares the write. A flush is worth a turn of
   * the event loop: what other sockets bring shares it.
   */
  #schedule(): void {
    if (this.#scheduled || this.#draining) return;
    this.#scheduled = true;
    if (
      this.#options.fsync || performance.now() > this.#turnEndsAt
    ) setImmediate(this.#runInTurn);
    // Behind everything that the callers of this turn have to do before they come here.
    else nextTick(this.#run);
  }

  readonly #runInTurn = (): void => {
    this.#turnEndsAt = performance.now() + TURN_MS;
    this.#run();
  };

  readonly #run = (): void => {
    this.#scheduled = false;
    // What it answers may have scheduled this before it came to wait.
    if (this.#draining) return;
    while (this.#queue.length > 0) {
      const batch = this.#queue[0];
      if (!this.#canWriteNow(batch)) {
        this.#draining = this.#writeLater();
        return;
      }
      this.#queue.shift();
      try {
        this.#write(batch);
        if (this.#options.fsync && batch.bytes > 0) this.#flushNow();
      } catch (cause) {
        this.#fail(batch, cause);
        return;
      }
      this.#commit(batch);
    }
  };

  #canWriteNow(batch: Batch, now = performance.now()): boolean {
    if (batch.bytes > 0 && !this.#refusal) {
      if (batch.isFirst || this.#leftover || !this.#hasName(now)) return false;
    }
    if (!this.#options.fsync || batch.bytes === 0) return true;
    if (this.#queue.length > 1) return false;
    return batch.entries === 1
      ? this.#flushes.areShort
      : batch.bytes <= FLUSHED_AT_ONCE_BYTES && this.#flushes.areVeryShort;
  }

  /** Writes the first batch, and goes on when those that it answers had their turn. */
  async #writeLater(): Promise<void> {
    // Nothing else starts before this is known to be under way.
    await undefined;
    const batch = this.#queue.shift()!;
    let failed: { readonly cause: unknown } | undefined;
    try {
      if (batch.bytes > 0) await this.#prepare(batch);
      this.#write(batch);
      if (this.#options.fsync && batch.bytes > 0) await this.#flush(batch);
    } catch (cause) {
      failed = { cause };
    }
    this.#draining = undefined;
    if (failed) this.#fail(batch, failed.cause);
    else this.#commit(batch);
    if (this.#queue.length > 0) this.#schedule();
  }

  async #prepare(batch: Batch): Promise<void> {
    this.refuseIfLost();
    if (batch.isFirst) return await this.#startSegment(batch);
    if (this.#leftover) await this.#removeLeftover(this.#leftover);
    if (!this.#active!.file!.hasName()) await this.#giveName(this.#active!);
  }

  /**
   * The segment before is on the disk before the next one is: else a power loss
   * could leave a hole in the middle of the log.
   */
  async #startSegment(batch: Batch): Promise<void> {
    if (this.#cutAt !== undefined) this.#cut();
    if (this.#active && !this.#active.file!.hasName()) {
      await this.#giveName(this.#active);
    }
    if (this.#active && (!this.#options.fsync || this.#isCut)) {
      try {
        await this.#active.file!.sync();
        this.#isCut = false;
      } catch (cause) {
        this.#refusal = { why: FLUSH_FAILED, cause };
        throw cause;
      }
    }
    const { segment } = batch;
    const file = this.#options.disk.open(segment.path);
    segment.file = file;
    // What an attempt that failed has left.
    if (file.size() > 0) file.truncate(0);
  }

  async #removeLeftover({ path }: Segment): Promise<void> {
    const { disk, dir, fsync } = this.#options;
    disk.remove(path);
    if (fsync) await disk.syncDir(dir);
    this.#leftover = undefined;
  }

  #write(batch: Batch): void {
    if (batch.bytes === 0) return;
    this.refuseIfUnsure();
    const bytes = this.#encoder.encode(batch.pieces, batch.bytes);
    if (!batch.isFirst && this.#cutAt !== undefined) this.#cut();
    writeAll(batch.segment.file!, bytes, batch.offset);
  }

  #flushNow(): void {
    const start = performance.now();
    try {
      this.#active!.file!.syncNow();
    } catch (cause) {
      this.#refusal = { why: FLUSH_FAILED, cause };
      throw cause;
    }
    this.#flushes.add(performance.now() - start);
  }

  /** After a failed flush nobody knows what is on the disk, and no second one tells. */
  async #flush({ segment, isFirst }: Batch): Promise<void> {
    const start = performance.now();
    try {
      await segment.file!.sync();
      if (isFirst) await this.#options.disk.syncDir(this.#options.dir);
    } catch (cause) {
      this.#refusal = { why: FLUSH_FAILED, cause };
      throw cause;
    }
    if (isFirst) return;
    this.#isCut = false;
    this.#flushes.add(performance.now() - start);
  }

  #commit(batch: Batch): void {
    const { segment, isFirst, bytes, entries } = batch;
    if (bytes > 0) {
      if (isFirst) {
        this.#leftover = undefined;
        if (this.#active) this.#files.keep(this.#active);
        this.#active = segment;
        this.#madeNumber = segment.number;
        this.segments.push(segment);
      }
      segment.size = batch.offset + bytes;
      this.bytes += bytes;
      this.appended += entries;
      this.#loneWrites = entries === 1 ? this.#loneWrites + 1 : 0;
    }
    for (const settled of batch.settled) settled();
    if (entries > 0) this.onCommit();
  }

  #fail(batch: Batch, cause: unknown): StoreFailedError {
    const queued = this.#queue.splice(0);
    const active = this.#active;
    if (batch.isFirst) {
      this.#leftover = batch.segment;
      this.#discard(batch.segment);
    } else if (batch.bytes > 0) {
      this.#cutAt = batch.offset;
      try {
        this.#cut();
      } catch {
        // It is cut before the next write.
      }
    }
    this.#lastNumber = this.#madeNumber;
    this.#tail = active;
    this.#tailEnd = active?.size ?? 0;
    this.#nextSequence = batch.firstSequence;
    const error = cause instanceof StoreFailedError
      ? cause
      : new StoreFailedError(
        `write to the log in ${showPath(this.#options.dir)}`,
        { cause },
      );
    for (const failed of [batch, ...queued]) {
      for (const settled of failed.settled) settled(error);
    }
    return error;
  }

  /** Removes a segment that holds nothing yet. */
  #discard(segment: Segment): void {
    const { disk, isOwner } = this.#options;
    const { file } = segment;
    segment.file = undefined;
    const remove = () => {
      if (isOwner()) disk.remove(segment.path);
    };
    for (const step of [() => file?.close(), remove]) {
      try {
        step();
      } catch {
        // The next attempt starts it anew, and an opening takes it for what it is.
      }
    }
  }

  #refuseIfClosed(): void {
    if (this.#isClosed) throw new StoreClosedError("write to the log");
  }

  #cut(): void {
    this.#active!.file!.truncate(this.#cutAt!);
    this.#cutAt = undefined;
    this.#isCut = true;
  }

  /** A file that somebody has deleted takes every write, and is gone after a restart. */
  #hasName(now: number): boolean {
    if (now - this.#nameCheckedAt < NAME_CHECK_MS) return true;
    this.#nameCheckedAt = now;
    try {
      return this.#active!.file!.hasName() && this.#options.isOwner();
    } catch {
      return false; // The same call tells why, where that can be answered.
    }
  }

  async #giveName(active: Segment): Promise<void> {
    const { disk, dir, fsync } = this.#options;
    const copy = await copyNameless(active, disk);
    try {
      if (fsync) {
        await copy.sync();
        await disk.syncDir(dir);
      }
    } catch (error) {
      copy.close();
      throw error;
    }
    this.#files.replace(active, copy);
  }
}

/** Lets everything have its turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
