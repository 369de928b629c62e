/**
 * A Workers KV as production has it and a local one has not: one write a second
 * for each key, values and misses that are cached for a minute wherever they
 * were read, listings that lag behind. It is a simulation: production cannot be
 * reached from a test. Its time is virtual, and passes where somebody waits.
 */

import type { KvClock } from "../../src/cloudflare/workers_kv_clock.ts";
import type {
  WorkersKvBinding,
  WorkersKvListing,
  WorkersKvPutOptions,
} from "../../src/cloudflare/workers_kv_shape.ts";

const WRITE_INTERVAL_MS = 1_000;
const CACHE_MS = 60_000;
const MAX_VALUE_BYTES = 26_214_400;
const MAX_KEY_BYTES = 512;
const MAX_METADATA_BYTES = 1_024;
const MIN_TTL_S = 60;
const PAGE = 1_000;

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** A clock that jumps to the next who waits, when nobody has anything else to do. */
export class VirtualClock implements KvClock {
  /** When it began. */
  readonly start = 5_000;
  #now = this.start;
  #seed: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #sleepers: Set<Sleeper> = new Set();

  constructor(seed = 1) {
    this.#seed = seed;
  }

  now(): number {
    return this.#now;
  }

  random(): number {
    this.#seed = Math.imul(this.#seed ^ (this.#seed >>> 15), 0x2c1b3c6d) +
      0x12345;
    return (this.#seed >>> 8) / 2 ** 24;
  }

  wait(ms: number, until?: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const sleeper = { at: this.#now + ms, wake: resolve };
      this.#sleepers.add(sleeper);
      this.#pump();
      until?.then(() => {
        this.#sleepers.delete(sleeper);
        if (this.#sleepers.size === 0) this.#stop();
        resolve();
      });
    });
  }

  /** Lets time pass; who waits is woken on the way. */
  async advance(ms: number): Promise<void> {
    await this.wait(ms);
  }

  #pump(): void {
    if (this.#timer !== undefined || this.#sleepers.size === 0) return;
    // In a task of its own: all that can be done without time is done first.
    this.#timer = setTimeout(() => {
      this.#stop();
      const next = Math.min(...[...this.#sleepers].map(({ at }) => at));
      this.#now = Math.max(this.#now, next);
      for (const sleeper of this.#sleepers) {
        if (sleeper.at > this.#now) continue;
        this.#sleepers.delete(sleeper);
        sleeper.wake();
      }
      this.#pump();
    }, 0);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

interface Stored {
  readonly value: string;
  readonly metadata: unknown;
  /** When it is gone, by the clock of KV. */
  readonly endsAt: number;
}

interface Cached {
  readonly at: number;
  readonly stored: Stored | undefined;
}

/** What a test may do to a call before it is answered: throw, or say that only the answer is lost. */
export type Disturbance = (
  call: "get" | "put" | "delete" | "list",
  key: string,
) => "lose the answer" | void;

/** The namespace, and all that its users share. */
export class SimulatedKv {
  readonly clock: VirtualClock;
  /** How often each kind of call came. */
  readonly calls = { get: 0, put: 0, delete: 0, list: 0, refused: 0 };
  disturb: Disturbance = () => {};
  /** Whether values are cached at all. */
  caching = true;
  readonly #stored: Map<string, Stored> = new Map();
  readonly #writtenAt: Map<string, number> = new Map();
  /** What the listing shows: the same, but later. */
  readonly #listed: Map<string, { at: number; stored: Stored | undefined }[]> =
    new Map();

  constructor(clock: VirtualClock = new VirtualClock()) {
    this.clock = clock;
  }

  /** The keys that are there, without any cache. */
  keys(): string[] {
    return [...this.#stored.keys()].filter((key) => this.peek(key));
  }

  /** What is under a key, without any cache. */
  peek(key: string): Stored | undefined {
    const stored = this.#stored.get(key);
    return stored && stored.endsAt > this.clock.now() ? stored : undefined;
  }

  /**
   * Writes a value without any limit.
   *
   * @param key The key.
   * @param value The value.
   * @param metadata What is said of it.
   */
  force(key: string, value: string, metadata: unknown): void {
    this.#set(key, { value, metadata, endsAt: Infinity });
  }

  /** A binding. Its reads come from three caches, mostly from one of them. */
  bind(): WorkersKvBinding {
    const caches = [1, 2, 3].map(() => new Map<string, Cached>());
    return {
      getWithMetadata: async (key) => {
        checkKey(key);
        await this.#answer("get", key);
        const place = this.clock.random() < 0.5
          ? 0
          : Math.floor(this.clock.random() * caches.length);
        const stored = this.#read(caches[place], key);
        return {
          value: stored?.value ?? null,
          metadata: copy(stored?.metadata ?? null),
        };
      },
      put: async (key, value, options) => {
        checkKey(key);
        checkPut(value, options);
        await this.#answer("put", key, () => {
          const ttl = options.expirationTtl;
          this.#set(key, {
            value,
            metadata: copy(options.metadata ?? null),
            endsAt: ttl === undefined
              ? Infinity
              : this.clock.now() + ttl * 1_000,
          });
        });
      },
      delete: async (key) => {
        checkKey(key);
        await this.#answer("delete", key, () => this.#set(key, undefined));
      },
      list: async ({ prefix, cursor }) => {
        await this.#answer("list", prefix);
        return this.#list(prefix, cursor);
      },
    };
  }

  async #answer(
    call: "get" | "put" | "delete" | "list",
    key: string,
    write?: () => void,
  ): Promise<void> {
    for (let i = 0; i < 3; i++) await Promise.resolve();
    this.calls[call]++;
    const lost = this.disturb(call, key);
    if (write) {
      const since = this.clock.now() - (this.#writtenAt.get(key) ?? -Infinity);
      if (since < WRITE_INTERVAL_MS) {
        this.calls.refused++;
        throw new Error(
          `KV ${call.toUpperCase()} failed: 429 Too Many Requests`,
        );
      }
      this.#writtenAt.set(key, this.clock.now());
      write();
    }
    for (let i = 0; i < 3; i++) await Promise.resolve();
    if (lost) throw new Error("Network connection lost.");
  }

  #set(key: string, stored: Stored | undefined): void {
    if (stored) this.#stored.set(key, stored);
    else this.#stored.delete(key);
    let history = this.#listed.get(key);
    if (!history) this.#listed.set(key, history = []);
    history.push({ at: this.clock.now(), stored });
  }

  #read(cache: Map<string, Cached>, key: string): Stored | undefined {
    const now = this.clock.now();
    const cached = cache.get(key);
    if (this.caching && cached && now - cached.at < CACHE_MS) {
      return cached.stored;
    }
    const stored = this.peek(key);
    cache.set(key, { at: now, stored });
    return stored;
  }

  #list(prefix: string, cursor: string | undefined): WorkersKvListing {
    const now = this.clock.now();
    const shown: [string, Stored][] = [];
    for (const [key, history] of this.#listed) {
      if (!key.startsWith(prefix)) continue;
      const late = this.caching ? now - CACHE_MS : now;
      const stored = history.findLast(({ at }) => at <= late)?.stored;
      if (stored && stored.endsAt > now) shown.push([key, stored]);
    }
    shown.sort(([a], [b]) => a < b ? -1 : 1);
    const rest = shown.filter(([key]) => cursor === undefined || key > cursor);
    const page = rest.slice(0, PAGE);
    const keys = page.map(([name, { metadata }]) => ({
      name,
      metadata: copy(metadata),
    }));
    return rest.length > PAGE
      ? { keys, list_complete: false, cursor: page.at(-1)![0] }
      : { keys, list_complete: true };
  }
}

function copy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

const utf8 = new TextEncoder();

function checkKey(key: string): void {
  const { length } = utf8.encode(key);
  const named = length > 0 && key !== "." && key !== "..";
  if (!named || length > MAX_KEY_BYTES || !key.isWellFormed()) {
    throw new TypeError(`a key of ${length} bytes`);
  }
}

function checkPut(value: string, options: WorkersKvPutOptions): void {
  const { expirationTtl, metadata } = options;
  const refuse = (problem: string) => {
    throw new Error(`KV PUT failed: ${problem}`);
  };
  const { length } = utf8.encode(value);
  if (length > MAX_VALUE_BYTES) refuse("413 value too large");
  if (utf8.encode(JSON.stringify(metadata)).length > MAX_METADATA_BYTES) {
    refuse("413 metadata too large");
  }
  if (
    expirationTtl !== undefined &&
    (!Number.isSafeInteger(expirationTtl) || expirationTtl < MIN_TTL_S)
  ) refuse(`400 Invalid expiration_ttl of ${expirationTtl}`);
}
