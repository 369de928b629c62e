/**
 * The storage of a Durable Object without SQLite behind it, which workerd does
 * not have: a read is no matter of the same turn, and the limits are narrow.
 * It is a simulation: production cannot be reached from a test.
 */

import type {
  DurableObjectReadWrite,
  DurableObjectStorageBinding,
} from "../../src/cloudflare/shape.ts";
import { limitStorage } from "./durable_object_storage.ts";

/** What is stored, in the order of its keys. */
class State {
  alarm: number | null = null;
  readonly #values: Map<string, unknown> = new Map();
  readonly #keys: string[] = [];

  get(key: string): unknown {
    return this.#values.get(key);
  }

  /** Sets a value; `undefined` takes it away. */
  set(key: string, value: unknown): void {
    const at = this.#firstFrom(key);
    const there = this.#values.has(key);
    if (value === undefined) {
      if (there) this.#keys.splice(at, 1);
      this.#values.delete(key);
    } else {
      if (!there) this.#keys.splice(at, 0, key);
      this.#values.set(key, value);
    }
  }

  *from(start: string): Generator<[string, unknown]> {
    for (let i = this.#firstFrom(start); i < this.#keys.length; i++) {
      yield [this.#keys[i], this.#values.get(this.#keys[i])];
    }
  }

  #firstFrom(key: string): number {
    let [low, high] = [0, this.#keys.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#keys[middle] < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Lets other things happen first. */
async function turns(): Promise<void> {
  for (let i = 0; i < 5; i++) await undefined;
}

/**
 * Reads and writes a state.
 *
 * @param state The state.
 * @param ready Waits until it may be.
 * @param undo Takes what would undo a write.
 */
function readWrite(
  state: State,
  ready: () => Promise<unknown>,
  undo: (step: () => void) => void = () => {},
): DurableObjectReadWrite {
  const set = (key: string, value: unknown) => {
    const before = state.get(key);
    undo(() => state.set(key, before));
    state.set(key, value);
  };
  const setAlarm = async (alarm: number | null) => {
    await ready();
    const before = state.alarm;
    undo(() => state.alarm = before);
    state.alarm = alarm;
  };
  return {
    async get(keys) {
      await ready();
      const found = new Map<string, unknown>();
      for (const key of keys) {
        const value = state.get(key);
        if (value !== undefined) found.set(key, structuredClone(value));
      }
      await turns();
      return found;
    },
    async list({ prefix = "", startAfter, end, limit = Infinity }) {
      await ready();
      const found = new Map<string, unknown>();
      for (const [key, value] of state.from(startAfter ?? prefix)) {
        if (!key.startsWith(prefix) && key > prefix) break;
        if (end !== undefined && key >= end || found.size >= limit) break;
        if (key !== startAfter) found.set(key, structuredClone(value));
      }
      await turns();
      return found;
    },
    async put(entries) {
      const copies = structuredClone(entries);
      await ready();
      for (const [key, value] of Object.entries(copies)) set(key, value);
    },
    async delete(keys) {
      await ready();
      const there = keys.filter((key) => state.get(key) !== undefined);
      for (const key of there) set(key, undefined);
      return there.length;
    },
    async getAlarm() {
      await ready();
      return state.alarm;
    },
    setAlarm,
    deleteAlarm: () => setAlarm(null),
  };
}

/** Makes an empty storage. */
export function simulatedStorage(): DurableObjectStorageBinding {
  const state = new State();
  let last: Promise<unknown> = Promise.resolve();
  return limitStorage({
    ...readWrite(state, () => last),
    transaction<T>(body: (txn: DurableObjectReadWrite) => Promise<T>) {
      const run = last.then(async () => {
        const steps: (() => void)[] = [];
        const txn = readWrite(state, turns, (step) => void steps.push(step));
        try {
          return await body(txn);
        } catch (error) {
          for (const step of steps.reverse()) step();
          throw error;
        }
      });
      last = run.catch(() => {});
      return run;
    },
  });
}
