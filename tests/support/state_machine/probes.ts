/** What a worker or a listener may see, and what it has seen. */

import { canonical } from "./canonical.ts";

/**
 * Something that happens at most once: a promise that settles, a signal that
 * aborts. What another process did may be noticed at any time, and has to be
 * once this one has looked; so the model says what is allowed and what is due.
 */
export class Probe {
  readonly what: string;
  readonly #look: () => string | undefined;
  /** What may have happened. */
  readonly allowed: Set<string> = new Set();
  /** Whether one of them has to have happened. */
  due = false;
  /** What has happened. */
  seen: string | undefined;

  constructor(what: string, look: () => string | undefined) {
    this.what = what;
    this.#look = look;
  }

  may(outcome: string): void {
    if (this.seen === undefined && !this.due) this.allowed.add(outcome);
  }

  /** Says what has to have happened now, unless something earlier already did. */
  must(outcome: string): void {
    if (this.seen !== undefined || this.due) return;
    this.allowed.add(outcome);
    this.due = true;
  }

  /** Says that one of the allowed outcomes, if there are any, has to have happened. */
  mustBeSeen(): void {
    if (this.seen === undefined && this.allowed.size > 0) this.due = true;
  }

  /** What was possible and has happened, that is not yet in `seen`. */
  news(): string | undefined {
    const now = this.#look();
    if (this.seen !== undefined || now === undefined) return undefined;
    return this.allowed.has(now) ? now : undefined;
  }

  /** Compares, once the model has caught up. */
  check(): void {
    const now = this.#look();
    if (this.seen !== undefined) {
      if (now === this.seen) return;
      throw new Error(`${this.what} was ${this.seen} and is ${now}`);
    }
    if (now === undefined) {
      if (!this.due) return;
      throw new Error(
        `${this.what} has not happened: ${
          [...this.allowed].join(" or ")
        } is due`,
      );
    }
    throw new Error(
      `${this.what} is ${now}; ${
        this.allowed.size ? [...this.allowed].join(" or ") : "nothing"
      } was possible`,
    );
  }
}

/** How a call ended. */
export type Outcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: string; readonly error: unknown };

/** Counts what happens, to tell afterwards what came first. */
let events = 0;

/** The number of what happens now. */
export function nextEvent(): number {
  return ++events;
}

/** A call that was made. */
export class Call {
  outcome: Outcome | undefined;
  /** When it ended, among all events. */
  endedAt = Infinity;

  constructor(running: Promise<unknown>) {
    running.then(
      (value) => this.#end({ ok: true, value }),
      (error) =>
        this.#end({
          ok: false,
          code: String(error?.code ?? error),
          error,
        }),
    );
  }

  /** The outcome as a text; `undefined` while there is none. */
  text(): string | undefined {
    return this.outcome &&
      (this.outcome.ok
        ? `ok ${canonical(this.outcome.value)}`
        : this.outcome.code);
  }

  #end(outcome: Outcome): void {
    if (this.outcome) throw new Error("a call ended twice");
    this.outcome = outcome;
    this.endedAt = nextEvent();
  }
}

interface Entry {
  readonly snapshot: string;
  due: boolean;
}

/** One subscription. */
export class Subscription {
  readonly what: string;
  readonly end: () => void;
  readonly #received: string[];
  readonly #entries: Entry[] = [];
  /** Whether it may have ended, so that nothing is due any more. */
  mayHaveEnded = false;
  /** Whether it has, so that nothing more may come. */
  ended = false;

  constructor(what: string, received: string[], end: () => void) {
    this.what = what;
    this.end = end;
    this.#received = received;
  }

  /** Notes a change that a client can see. */
  changed(snapshot: string, due: boolean): void {
    if (this.ended) return;
    this.#entries.push({ snapshot, due: due && !this.mayHaveEnded });
  }

  /** The last change was the task's end, and this process has looked. */
  mustHaveSeenEnd(): void {
    const last = this.#entries.at(-1);
    if (last && !this.mayHaveEnded && !this.ended) last.due = true;
  }

  /** Compares: the changes in their order, those that are due all there, none twice. */
  check(): void {
    let reached = new Set([0]);
    for (const snapshot of this.#received) {
      const next = new Set<number>();
      for (const from of reached) {
        for (let at = from; at < this.#entries.length; at++) {
          if (this.#entries[at].snapshot === snapshot) next.add(at + 1);
          if (this.#entries[at].due) break;
        }
      }
      if (next.size === 0) this.#fail(`unexpected ${snapshot}`);
      reached = next;
    }
    const complete = [...reached].some((from) =>
      this.#entries.slice(from).every(({ due }) => !due)
    );
    if (!complete) this.#fail("changes are missing");
  }

  #fail(problem: string): never {
    throw new Error(
      `${this.what}: ${problem}\n  heard ${
        this.#received.map((text) => `\n    ${text}`).join("")
      }\n  there were ${
        this.#entries.map(({ snapshot, due }) =>
          `\n    ${due ? "!" : "?"} ${snapshot}`
        ).join("")
      }`,
    );
  }
}
