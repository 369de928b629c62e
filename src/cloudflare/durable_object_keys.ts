/** The keys under which the store in a Durable Object keeps things. */

import { expiresAt, type Expiring } from "../model/expiry.ts";
import { idPart } from "./id_part.ts";

/** Of times in keys, so that their order is that of the times. */
const DIGITS = 17;
const LATEST = 10 ** DIGITS - 1;

/** The keys of one task. */
export interface TaskKeys {
  /** Its entry: how the record is stored, and what of it is small. */
  readonly entry: string;
  /**
   * A part of a column that is too large for the entry.
   *
   * @param column The column.
   * @param index Which part, from 0.
   */
  part(column: string, index: number): string;
  /**
   * Its place in the order of expiry; `undefined` for what never expires.
   *
   * @param record The record, or its head.
   */
  expiry(record: Expiring): string | undefined;
}

/** The keys of a store. */
export class StoreKeys {
  /** What the store knows of the object's alarm. */
  readonly alarm: string;
  /** What the keys begin with that order the tasks by their expiry. */
  readonly expiries: string;
  /** What comes after all of these: other keys that begin so are of a store whose prefix goes on. */
  readonly expiriesEnd: string;
  readonly #tasks: string;

  /** @param prefix What all of them begin with. */
  constructor(prefix: string) {
    this.alarm = `${prefix}alarm`;
    this.expiries = `${prefix}expiry/`;
    this.expiriesEnd = `${this.expiries}:`; // ":" comes after "9"
    this.#tasks = `${prefix}task/`;
  }

  /**
   * The keys of a task. An id may be any string, and a key has 2,048 bytes of
   * UTF-8, so what is long or unusual stands there as its hash.
   *
   * @param taskId The id.
   * @returns Its keys; another id has others.
   */
  async task(taskId: string): Promise<TaskKeys> {
    return this.#keysOf(await idPart(taskId));
  }

  /**
   * The keys of the task that a key in the order of expiry is about.
   *
   * @param key A key that begins with `expiries`.
   * @returns The task's keys.
   */
  taskOfExpiry(key: string): TaskKeys {
    return this.#keysOf(key.slice(this.expiries.length + DIGITS + 1));
  }

  /**
   * Where the order of expiry has come to a time.
   *
   * @param now The time.
   * @returns A key after all of what has expired by then, and before what has a millisecond to go.
   */
  expiriesUntil(now: number): string {
    return `${this.expiries}${digits(now)}0`; // "0" comes after "/"
  }

  #keysOf(name: string): TaskKeys {
    const base = `${this.#tasks}${name}/`;
    return {
      entry: `${base}entry`,
      part: (column, index) =>
        `${base}${column}/${String(index).padStart(4, "0")}`,
      expiry: (record) => {
        const time = expiresAt(record);
        if (!Number.isFinite(time)) return undefined;
        return `${this.expiries}${digits(time)}/${name}`;
      },
    };
  }
}

function digits(time: number): string {
  const whole = Math.min(Math.max(Math.floor(time), 0), LATEST);
  return String(whole).padStart(DIGITS, "0");
}
