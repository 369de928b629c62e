/** What waits for a reader of notifications, and when the reader has fallen behind. */

/** Frames that may wait for a reader. */
export const MAX_WAITING_FRAMES = 256;

/** Bytes that may wait for a reader, before the frame that goes over. */
export const MAX_WAITING_BYTES = 1_048_576;

interface Waiting<Frame> {
  readonly frame: Frame;
  readonly bytes: number;
}

/**
 * A queue with one reader, bounded by what waits in it. A frame that is larger
 * than the bound by itself passes, so that a task with a large result can be
 * told.
 */
export class FrameQueue<Frame> {
  readonly #waiting: Waiting<Frame>[] = [];
  #bytes = 0;
  #ended = false;
  #reader: ((frame: Frame | undefined) => void) | undefined;
  readonly #whenEmpty: Set<() => void> = new Set();

  /** Whether nothing waits. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /**
   * Adds a frame; after the end, nothing.
   *
   * @param frame The frame.
   * @param bytes Its size.
   * @returns Whether there was room; if not, the reader has fallen behind and
   * the frame was not added.
   */
  push(frame: Frame, bytes: number): boolean {
    if (this.#ended) return true;
    const reader = this.#reader;
    if (reader) {
      this.#reader = undefined;
      reader(frame);
      return true;
    }
    if (
      this.#waiting.length >= MAX_WAITING_FRAMES ||
      this.#bytes >= MAX_WAITING_BYTES
    ) return false;
    this.#waiting.push({ frame, bytes });
    this.#bytes += bytes;
    return true;
  }

  /**
   * Takes the oldest frame, or waits for one. There is one reader, which calls
   * again only after it got an answer.
   *
   * @returns The frame; `undefined` after the last one.
   */
  take(): Promise<Frame | undefined> {
    const next = this.#waiting.shift();
    if (next) {
      this.#bytes -= next.bytes;
      this.#tellIfEmpty();
      return Promise.resolve(next.frame);
    }
    if (this.#ended) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#reader = resolve);
  }

  /**
   * Waits until nothing waits, so that one who can choose when to add does not
   * make a reader fall behind.
   *
   * @returns Resolves then, or at the end.
   */
  whenEmpty(): Promise<void> {
    if (this.isEmpty || this.#ended) return Promise.resolve();
    return new Promise((resolve) => this.#whenEmpty.add(resolve));
  }

  /**
   * Ends it: what waits is still read, and after it the last frame.
   *
   * @param last The last frame, for which there is always room.
   */
  end(last?: Frame): void {
    if (this.#ended) return;
    this.#ended = true;
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader) reader(last);
    else if (last !== undefined) this.#waiting.push({ frame: last, bytes: 0 });
    this.#tellIfEmpty();
  }

  /** Ends it at once: what waits is thrown away. */
  drop(): void {
    this.#waiting.length = 0;
    this.#bytes = 0;
    this.end();
  }

  #tellIfEmpty(): void {
    if (!this.isEmpty && !this.#ended) return;
    for (const resolve of this.#whenEmpty) resolve();
    this.#whenEmpty.clear();
  }
}
