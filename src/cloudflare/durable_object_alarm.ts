/**
 * A Durable Object has one alarm. The store and its host share it: the earlier
 * of their two times is set, and the later one is kept until its turn comes.
 */

import { InvalidArgumentError } from "../errors.ts";
import { checkPositiveInteger } from "../model/limits.ts";
import type { DurableObjectReadWrite } from "./shape.ts";

/**
 * What expires within a minute of each other is swept at once, a little after:
 * a time that a host is unlikely to choose, so that the two can be told apart.
 */
const SWEEP_EVERY_MS = 60_000;
const SWEEP_OFFSET_MS = 741;
/** Rather than wait for longer, the alarm rings for nothing and is set again. */
const FARTHEST_MS = 30 * 24 * 60 * 60 * 1_000;
/** The platform takes no alarm of 2189 or later. */
const LATEST_MS = Date.UTC(2189, 0, 1) - 1;

/** What is kept of the alarm beside the platform's own. */
interface AlarmState {
  /** The time that the store has set last, its own or the host's; `null`: none. */
  readonly set: number | null;
  /** The host's time; `null`: none. */
  readonly host: number | null;
  /** The time before that, which rang when it was replaced; absent: none did. */
  readonly rang?: number;
}

const NONE: AlarmState = { set: null, host: null };

/**
 * When to sweep what expires at a time.
 *
 * @param expiresAt The time.
 * @param now The same clock's time now.
 * @returns When the alarm has to ring, by the platform's clock.
 */
export function sweepTime(expiresAt: number, now: number): number {
  const wait = Math.ceil(expiresAt / SWEEP_EVERY_MS) * SWEEP_EVERY_MS +
    SWEEP_OFFSET_MS -
    now;
  return Date.now() + Math.min(Math.max(wait, 0), FARTHEST_MS);
}

/**
 * Checks the time of an alarm.
 *
 * @param scheduledTimeMs The time.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: the platform takes no such time.
 */
export function checkAlarmTime(scheduledTimeMs: number): void {
  checkPositiveInteger("scheduledTimeMs", scheduledTimeMs);
  if (scheduledTimeMs > LATEST_MS) {
    throw new InvalidArgumentError(
      `Cannot use scheduledTimeMs: the value is ${scheduledTimeMs}, at most ${LATEST_MS} (the end of 2188) is possible`,
    );
  }
}

/** What a ringing alarm means for the host. */
export interface Ringing {
  /** Whether the host's time has come. */
  readonly due: boolean;
  /** The host's time as it was kept when it rang. */
  readonly host: number | null;
}

/** The alarm of an object, within a transaction. */
export class SharedAlarm {
  readonly #txn: DurableObjectReadWrite;
  readonly #key: string;

  /**
   * @param txn The transaction.
   * @param key Where its state is kept.
   */
  constructor(txn: DurableObjectReadWrite, key: string) {
    this.#txn = txn;
    this.#key = key;
  }

  /**
   * Makes it ring by a time, if it does not ring before anyway.
   *
   * @param at The store's time.
   */
  async ringBy(at: number): Promise<void> {
    const current = await this.#txn.getAlarm();
    if (current !== null && current <= at) return;
    await this.reset(at, hostTime(await this.#read(), current));
  }

  /** The host's time; `null` if it has none. */
  async host(): Promise<number | null> {
    return hostTime(await this.#read(), await this.#txn.getAlarm());
  }

  /**
   * Sets it to the earlier of both times.
   *
   * @param at The store's time; `null` if it needs none.
   * @param host The host's time; `null` if it has none.
   */
  async reset(at: number | null, host: number | null): Promise<void> {
    const times = [at, host].filter((time) => time !== null);
    if (times.length === 0) {
      await this.#txn.deleteAlarm();
      await this.#txn.delete([this.#key]);
      return;
    }
    const before = await this.#read();
    const isRinging = await this.#txn.getAlarm() === null;
    const rang = isRinging ? before.set ?? undefined : before.rang;
    await this.#txn.setAlarm(Math.min(...times));
    // Of a time that is past the platform makes another.
    const set = await this.#txn.getAlarm();
    const state: AlarmState = {
      set,
      host,
      ...(rang !== undefined && { rang }),
    };
    await this.#txn.put({ [this.#key]: state });
  }

  /**
   * Says whose time has come.
   *
   * @param scheduledTime For when the alarm that rings was set, where that is known.
   */
  async rings(scheduledTime: number | undefined): Promise<Ringing> {
    const { set, host, rang } = await this.#read();
    // Nobody but the host sets it to another time than the store.
    const direct = scheduledTime !== undefined && scheduledTime !== set &&
      scheduledTime !== rang;
    return { due: direct || host !== null && host <= Date.now(), host };
  }

  async #read(): Promise<AlarmState> {
    const found = await this.#txn.get([this.#key]);
    return found.get(this.#key) as AlarmState | undefined ?? NONE;
  }
}

/** The host's time: what it has set past the store, else what was kept. */
function hostTime(state: AlarmState, current: number | null): number | null {
  return current === null || current === state.set ? state.host : current;
}
