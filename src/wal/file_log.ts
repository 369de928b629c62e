/** A log in one file: its queue, its flushes and its failures. */

import { StoreFailedError } from "../errors.ts";
import type { DiskFile } from "./disk.ts";
import { encodeFrames } from "./frame.ts";
import type { LiveEntries, Log } from "./log.ts";
import {
  type FileLogOptions,
  type LogFile,
  replaceLogFile,
  WRITE_LENGTH,
  writeAll,
} from "./log_file.ts";

/** Entries that are appended in one write. */
interface Unit {
  readonly bodies: readonly string[];
  readonly settled: (error?: StoreFailedError) => void;
}

interface Compaction {
  readonly live: () => LiveEntries;
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A log in one file, which a compaction writes anew as a whole. */
export class FileLog implements Log {
  readonly #options: FileLogOptions;
  #file: DiskFile;
  #bytes: number;
  #nextSequence: number;
  #appended: number;
  #queue: Unit[] = [];
  #compaction: Compaction | undefined;
  #running = false;
  #idle: Promise<void> = Promise.resolve();
  /** Whether there may be bytes after the last entry that count. */
  #dirty = false;
  /** Why nothing is written any more. */
  #refusal: { readonly cause: unknown } | undefined;

  /**
   * @param options Where the log is.
   * @param opened Its file.
   */
  constructor(options: FileLogOptions, opened: LogFile) {
    this.#options = options;
    this.#file = opened.file;
    this.#bytes = opened.bytes;
    this.#nextSequence = opened.nextSequence;
    this.#appended = opened.appended;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get appended(): number {
    return this.#appended;
  }

  append(bodies: readonly string[], settled: Unit["settled"]): void {
    this.#queue.push({ bodies, settled });
    this.#start();
  }

  compact(live: () => LiveEntries): Promise<void> {
    if (!this.#compaction) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      this.#compaction = { live, promise, resolve, reject };
      this.#start();
    }
    return this.#compaction.promise;
  }

  async close(): Promise<void> {
    while (this.#running) await this.#idle;
    try {
      this.#file.close();
    } catch (cause) {
      throw new StoreFailedError("close the log", { cause });
    }
  }

  #start(): void {
    if (this.#running) return;
    this.#running = true;
    // What is appended in the same turn shares the write.
    this.#idle = Promise.resolve().then(() => this.#run());
  }

  async #run(): Promise<void> {
    for (;;) {
      if (this.#compaction) await this.#runCompaction();
      else if (this.#queue.length > 0) await this.#runBatch();
      else break;
    }
    this.#running = false;
  }

  async #runBatch(): Promise<void> {
    const batch = this.#takeBatch();
    const bodies = batch.flatMap((unit) => unit.bodies);
    try {
      if (bodies.length > 0) await this.#write(bodies);
    } catch (cause) {
      this.#cutIfPossible();
      const error = cause instanceof StoreFailedError
        ? cause
        : new StoreFailedError("write to the log", { cause });
      const queued = this.#queue.splice(0);
      for (const unit of [...batch, ...queued]) unit.settled(error);
      return;
    }
    for (const unit of batch) unit.settled();
  }

  async #write(bodies: readonly string[]): Promise<void> {
    this.#refuseIfUnsure();
    const bytes = encodeFrames(this.#nextSequence, bodies);
    this.#cut();
    this.#dirty = true;
    writeAll(this.#file, bytes, this.#bytes);
    if (this.#options.fsync) await this.#flush();
    this.#dirty = false;
    this.#bytes += bytes.length;
    this.#nextSequence += bodies.length;
    this.#appended += bodies.length;
  }

  #takeBatch(): Unit[] {
    let length = 0;
    let count = 0;
    while (count < this.#queue.length && length < WRITE_LENGTH) {
      for (const body of this.#queue[count++].bodies) length += body.length;
    }
    return this.#queue.splice(0, count);
  }

  /** After a failed flush nobody knows what is on the disk, and no second one tells. */
  async #flush(): Promise<void> {
    try {
      await this.#file.sync();
    } catch (cause) {
      this.#refusal = { cause };
      throw cause;
    }
  }

  #refuseIfUnsure(): void {
    if (!this.#refusal) return;
    throw new StoreFailedError(
      "write to the log (a flush to the disk has failed; open the store again)",
      this.#refusal,
    );
  }

  #cut(): void {
    if (!this.#dirty) return;
    this.#file.truncate(this.#bytes);
    this.#dirty = false;
  }

  #cutIfPossible(): void {
    try {
      this.#cut();
    } catch {
      // It stays dirty, and is cut before the next write.
    }
  }

  async #runCompaction(): Promise<void> {
    const { live, resolve, reject } = this.#compaction!;
    this.#compaction = undefined;
    try {
      this.#refuseIfUnsure();
      const replaced = this.#file;
      const written = await replaceLogFile(
        this.#options,
        this.#nextSequence,
        live(),
      );
      this.#file = written.file;
      this.#bytes = written.bytes;
      this.#nextSequence = written.nextSequence;
      this.#appended = 0;
      this.#dirty = false;
      try {
        if (this.#options.fsync) await this.#flushName();
      } finally {
        replaced.close();
      }
      resolve();
    } catch (cause) {
      reject(
        cause instanceof StoreFailedError
          ? cause
          : new StoreFailedError("compact the log", { cause }),
      );
    }
  }

  /** Until the name is on the disk, a power loss may bring back the old log without what comes now. */
  async #flushName(): Promise<void> {
    try {
      await this.#options.disk.syncDir(this.#options.dir);
    } catch (cause) {
      this.#refusal = { cause };
      throw cause;
    }
  }
}
