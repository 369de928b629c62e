/** One engine of a test, and what its workers and listeners see. */

import { type TaskHandle, TaskLifecycle } from "../../../mod.ts";
import { canonical } from "./canonical.ts";
import {
  CANCELLED,
  CLOSED,
  DEFAULTS,
  type ModelTask,
  NOT_FOUND,
  TERMINAL,
} from "./model_task.ts";
import { type Hub, Port } from "./ports.ts";
import { type Call, nextEvent, Probe, type Subscription } from "./probes.ts";
import { objectFrom } from "./samples.ts";
import type { VirtualTime } from "./virtual_time.ts";

/** How often an engine looks for what others wrote. */
export const OBSERVE_MS = 900;
/** How often it sweeps. */
export const SWEEP_MS = 60_000;

/** A signal that somebody holds. */
export interface HeldSignal {
  readonly probe: Probe;
  /** Whether another engine has ended the task while it was held. */
  endedElsewhere: boolean;
  /** When it aborted, among all events. */
  readonly abortedAt: () => number;
  /** What its worker does when it aborts. */
  readonly then?: (reason: string) => Promise<void>;
}

/** A call of `requestInput()` that waits. */
export interface Waiter {
  readonly probe: Probe;
  readonly keys: readonly string[];
  readonly call: Call;
  /** What its worker does when it has settled. */
  readonly then?: (outcome: string) => Promise<void>;
}

/** What one engine has of one task. */
export interface Seat {
  handle: TaskHandle | undefined;
  readonly signals: HeldSignal[];
  readonly waiters: Waiter[];
  readonly subscriptions: Subscription[];
  /** The keys whose answers a waiter here has got. */
  readonly given: Set<string>;
  /** Whether the task was seen to be gone, and what was known of it with it. */
  forgotten: boolean;
}

/** Something that has happened to a worker. */
export interface News {
  /** When, among all events. */
  readonly at: number;
  /** Lets the model follow. */
  readonly follow: () => Promise<void>;
}

/** Whether `resumeInput()` may give an answer out. */
export type KeyState = "free" | "held" | "either";

/** One engine, until it is closed. */
export class Side {
  readonly name: string;
  readonly tasks: TaskLifecycle;
  readonly port: Port;
  readonly #time: VirtualTime;
  readonly #seats = new Map<ModelTask, Seat>();
  #signals = 0;

  constructor(
    name: string,
    hub: Hub,
    time: VirtualTime,
    generateTaskId: () => string,
  ) {
    this.name = name;
    this.port = new Port(hub, name);
    this.#time = time;
    this.tasks = new TaskLifecycle({
      store: this.port,
      defaultTtlMs: DEFAULTS.ttlMs,
      defaultPollIntervalMs: DEFAULTS.pollIntervalMs,
      observeIntervalMs: OBSERVE_MS,
      sweepIntervalMs: SWEEP_MS,
      now: () => time.wall,
      generateTaskId,
    });
  }

  seat(task: ModelTask): Seat {
    let seat = this.#seats.get(task);
    if (!seat) {
      seat = {
        handle: undefined,
        signals: [],
        waiters: [],
        subscriptions: [],
        given: new Set(),
        forgotten: false,
      };
      this.#seats.set(task, seat);
    }
    return seat;
  }

  /** The handle that this engine's worker holds, or a new one. */
  handle(task: ModelTask, fresh: boolean): TaskHandle {
    const seat = this.seat(task);
    if (seat.handle && !fresh) return seat.handle;
    seat.handle = this.tasks.handle(task.taskId);
    this.hold(task, seat.handle.signal);
    return seat.handle;
  }

  /** Follows a signal that was taken now. */
  hold(
    task: ModelTask,
    signal: AbortSignal,
    then?: HeldSignal["then"],
  ): void {
    const seat = this.seat(task);
    const probe = new Probe(
      `signal ${++this.#signals} of ${task.taskId} in ${this.name}`,
      () => signal.aborted ? String(signal.reason?.code) : undefined,
    );
    for (const held of seat.signals) {
      if (held.probe.seen !== undefined) probe.may(held.probe.seen);
      else held.probe.allowed.forEach((outcome) => probe.may(outcome));
    }
    const cancelled = task.cancelRequestedAt !== undefined;
    if (!task.exists(this.#time.wall)) probe.may(NOT_FOUND);
    if (task.terminal) {
      probe.may(TERMINAL);
      if (cancelled || task.status === "cancelled") probe.may(CANCELLED);
    } else if (cancelled) {
      probe.may(CANCELLED);
      // An engine that has nothing of the task yet looks at once; else in its time.
      const known = seat.subscriptions.length > 0 ||
        [...seat.signals, ...seat.waiters].some(({ probe }) =>
          probe.seen === undefined
        );
      if (task.exists(this.#time.wall) && !known) probe.mustBeSeen();
    }
    let at = 0;
    signal.addEventListener("abort", () => at = nextEvent());
    seat.signals.push({
      probe,
      endedElsewhere: false,
      abortedAt: () => at,
      then,
    });
  }

  /** Follows a `requestInput()` that the rules let through. */
  wait(
    task: ModelTask,
    keys: readonly string[],
    call: Call,
    then?: Waiter["then"],
  ): void {
    const probe = new Probe(
      `requestInput(${keys.join()}) of ${task.taskId} in ${this.name}`,
      () => call.text(),
    );
    this.seat(task).waiters.push({ probe, keys, call, then });
  }

  /** Whether an answer may be given to a caller of `resumeInput()`. */
  keyState(task: ModelTask, key: string): KeyState {
    const { given, waiters, forgotten } = this.seat(task);
    if (given.has(key)) return forgotten ? "either" : "held";
    let state: KeyState = "free";
    for (const { probe, keys } of waiters) {
      if (probe.seen !== undefined || !keys.includes(key)) continue;
      const outcomes = [...probe.allowed];
      const answered = outcomes.some((text) => text.startsWith("ok "));
      const rejected = outcomes.some((text) => !text.startsWith("ok "));
      if (!rejected) return "held";
      if (answered || !probe.due) state = "either";
    }
    return state;
  }

  /** A change that a client can see was made, by this engine or another. */
  changed(task: ModelTask, here: boolean): void {
    const due = here && task.exists(this.#time.wall);
    for (const subscription of this.seat(task).subscriptions) {
      subscription.changed(task.view(), due);
    }
  }

  /** Answers were taken, by this engine or another. */
  answered(task: ModelTask, here: boolean): void {
    const seat = this.seat(task);
    for (const { probe, keys } of seat.waiters) {
      if (!keys.every((key) => task.answers.has(key))) continue;
      const certain = here && probe.allowed.size === 0 &&
        probe.seen === undefined;
      if (here) probe.must(answersText(task, keys));
      else probe.may(answersText(task, keys));
      if (certain) keys.forEach((key) => seat.given.add(key));
    }
  }

  /** The client has cancelled, by this engine or another. */
  cancelled(task: ModelTask, here: boolean): void {
    const { signals, waiters } = this.seat(task);
    for (const { probe } of [...signals, ...waiters]) {
      if (here) probe.must(CANCELLED);
      else probe.may(CANCELLED);
    }
  }

  /** The task has ended, by this engine or another. */
  ended(task: ModelTask, here: boolean): void {
    const { signals, waiters } = this.seat(task);
    const reason = task.status === "cancelled" ? CANCELLED : TERMINAL;
    for (const { probe } of waiters) {
      if (here) probe.must(reason);
      else probe.may(reason);
    }
    for (const held of signals) {
      if (!here) {
        held.endedElsewhere = true;
        held.probe.may(reason);
      } else if (reason === CANCELLED) held.probe.must(reason);
    }
  }

  /** Time went on or back: what an engine that looks now may notice. */
  timePassed(): void {
    for (const [task, seat] of this.#seats) {
      if (task.exists(this.#time.wall)) continue;
      seat.forgotten = true;
      for (const { probe } of seat.waiters) probe.may(NOT_FOUND);
      for (const { probe, endedElsewhere } of seat.signals) {
        if (!task.terminal || endedElsewhere) probe.may(NOT_FOUND);
      }
      for (const subscription of seat.subscriptions) {
        subscription.mayHaveEnded = true;
      }
    }
  }

  /** Time went on, and the clock with it: a deadline that is known needs no look. */
  deadlinesPassed(): void {
    for (const [task, { signals, waiters }] of this.#seats) {
      if (task.terminal || !task.expired(this.#time.wall)) continue;
      if (task.ttlBy !== undefined && task.ttlBy !== this.name) continue;
      for (const { probe } of [...signals, ...waiters]) probe.mustBeSeen();
    }
  }

  /** The engine has looked at its tasks: what is so now has to be noticed. */
  looked(): void {
    for (const [task, seat] of this.#seats) {
      if (!task.exists(this.#time.wall)) {
        for (const { probe } of seat.waiters) probe.mustBeSeen();
        for (const { probe, endedElsewhere } of seat.signals) {
          if (!task.terminal || endedElsewhere) probe.mustBeSeen();
        }
        for (const subscription of seat.subscriptions) {
          if (!task.terminal) subscription.ended = true;
        }
      } else if (task.terminal) {
        for (const { probe } of seat.waiters) probe.mustBeSeen();
        for (const { probe, endedElsewhere } of seat.signals) {
          if (endedElsewhere) probe.mustBeSeen();
        }
        for (const subscription of seat.subscriptions) {
          subscription.mustHaveSeenEnd();
        }
      } else if (task.cancelRequestedAt !== undefined) {
        for (const { probe } of [...seat.waiters, ...seat.signals]) {
          probe.may(CANCELLED);
          probe.mustBeSeen();
        }
      } else {
        for (const { probe, keys } of seat.waiters) {
          if (keys.every((key) => task.answers.has(key))) probe.mustBeSeen();
        }
      }
    }
  }

  /** The engine was closed. */
  closed(): void {
    for (const [task, seat] of this.#seats) {
      const live = task.exists(this.#time.wall) && !task.terminal;
      for (const { probe } of seat.waiters) probe.must(CLOSED);
      for (const { probe } of seat.signals) {
        if (live) probe.must(CLOSED);
        else probe.may(CLOSED);
      }
      for (const subscription of seat.subscriptions) subscription.ended = true;
    }
  }

  /** Whether a worker waits that would then go on. */
  hasWorkers(): boolean {
    return [...this.#seats.values()].some(({ signals, waiters }) =>
      [...signals, ...waiters].some(({ probe, then }) =>
        then && probe.seen === undefined
      )
    );
  }

  /** The workers for which something has happened that the model has not yet followed. */
  news(): News[] {
    const news: News[] = [];
    for (const { signals, waiters, given } of this.#seats.values()) {
      for (const { probe, keys, call, then } of waiters) {
        const outcome = probe.news();
        if (outcome === undefined) continue;
        const follow = async () => {
          probe.seen = outcome;
          if (outcome.startsWith("ok ")) keys.forEach((key) => given.add(key));
          await then?.(outcome);
        };
        news.push({ at: call.endedAt, follow });
      }
      for (const { probe, abortedAt, then } of signals) {
        const outcome = probe.news();
        if (outcome === undefined) continue;
        const follow = async () => {
          probe.seen = outcome;
          await then?.(outcome);
        };
        news.push({ at: abortedAt(), follow });
      }
    }
    return news;
  }

  /** Compares what workers have seen, once the model has caught up. */
  checkWorkers(): void {
    for (const { waiters, signals } of this.#seats.values()) {
      for (const { probe } of [...waiters, ...signals]) probe.check();
    }
  }

  /** Compares what listeners have heard, once the model has caught up. */
  checkListeners(): void {
    for (const { subscriptions } of this.#seats.values()) {
      for (const subscription of subscriptions) subscription.check();
    }
  }
}

/** What a `requestInput()` for these keys resolves to. */
export function answersText(
  task: ModelTask,
  keys: readonly string[],
): string {
  return `ok ${
    canonical(objectFrom(keys.map((key) => [key, task.answers.get(key)])))
  }`;
}
