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
  /** The time before that, which rang when it was replaced; absent or `null`: none did. */
  readonly rang?: number | null;
  /** How often the host has set its time; absent: 0. */
  readonly sets?: number;
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
  /** How often the host had set its time by then. */
  readonly sets: number;
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
    const { state, current } = await this.#look();
    if (current !== null && current <= at) return;
    await this.#set(at, hostTime(state, current), state, current);
  }

  /**
   * The host's time; `null` if it has none.
   *
   * @param ringing What rings now: it is over for the host, and another time may be set.
   */
  async host(ringing: Ringing | undefined): Promise<number | null> {
    const { state, current } = await this.#look();
    return ringing && isOver(ringing, state, current)
      ? null
      : hostTime(state, current);
  }

  /**
   * Sets the host's time.
   *
   * @param at The store's time; `null` if it needs none.
   * @param host The host's time; `null` if it has none.
   */
  async setHost(at: number | null, host: number | null): Promise<void> {
    const { state, current } = await this.#look();
    const sets = (state.sets ?? 0) + 1;
    await this.#set(at, host, { ...state, sets }, current);
    // While it rings, that the host has set it is not forgotten.
    const isRinging = current === null && state.set !== null;
    if (at === null && host === null && isRinging) {
      await this.#write({ ...NONE, rang: state.set, sets });
    }
  }

  /**
   * Sets it anew after it rang.
   *
   * @param at The store's time; `null` if it needs none.
   * @param rang What it meant for the host.
   */
  async settle(at: number | null, rang: Ringing): Promise<void> {
    const { state, current } = await this.#look();
    const host = isOver(rang, state, current) ? null : hostTime(state, current);
    await this.#set(at, host, state, current);
  }

  /**
   * Says whose time has come. Where the host has set it past the store, that
   * is written down: until the host has done what it does then, it stays.
   *
   * @param scheduledTime For when the alarm that rings was set, where that is known.
   */
  async rings(scheduledTime: number | undefined): Promise<Ringing> {
    const { state } = await this.#look();
    const { set, rang, host, sets = 0 } = state;
    // Nobody but the host sets it to another time than the store.
    if (
      scheduledTime !== undefined && scheduledTime !== set &&
      scheduledTime !== rang
    ) {
      await this.#write({ ...state, host: scheduledTime });
      return { due: true, sets };
    }
    return { due: host !== null && host <= Date.now(), sets };
  }

  /** Sets it to the earlier of both times. */
  async #set(
    at: number | null,
    host: number | null,
    before: AlarmState,
    current: number | null,
  ): Promise<void> {
    const times = [at, host].filter((time) => time !== null);
    if (times.length === 0) {
      await this.#txn.deleteAlarm();
      await this.#txn.delete([this.#key]);
      return;
    }
    const isRinging = current === null;
    const rang = isRinging ? before.set : before.rang;
    await this.#txn.setAlarm(Math.min(...times));
    // Of a time that is past the platform makes another.
    const set = await this.#txn.getAlarm();
    const { sets } = before;
    await this.#write({ set, host, rang, sets });
  }

  async #write(state: AlarmState): Promise<void> {
    await this.#txn.put({ [this.#key]: state });
  }

  async #look(): Promise<{ state: AlarmState; current: number | null }> {
    const found = await this.#txn.get([this.#key]);
    const state = found.get(this.#key) as AlarmState | undefined ?? NONE;
    return { state, current: await this.#txn.getAlarm() };
  }
}

/** The host's time: what it has set past the store, else what was kept. */
function hostTime(state: AlarmState, current: number | null): number | null {
  return isPastStore(state, current) ? current : state.host;
}

function isPastStore({ set }: AlarmState, current: number | null): boolean {
  return current !== null && current !== set;
}

/** Whether the host has set no time since its own has come. */
function isOver(
  { due, sets }: Ringing,
  state: AlarmState,
  current: number | null,
): boolean {
  return due && sets === (state.sets ?? 0) && !isPastStore(state, current);
}
