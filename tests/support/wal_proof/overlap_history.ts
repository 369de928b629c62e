/**
 * What many callers have asked of a store at the same time, and what the store
 * may hold by that. Nobody knows the order in which the store has taken what is
 * under way: all orders count, until an answer or a read tells.
 */

import { ABSENT, brief, type Expected, parse } from "./model.ts";

/** A change that was asked for. */
export class Attempt {
  /** What it is, for messages. */
  readonly name: string;
  /** The task; `undefined`: it may change any, more than once. */
  readonly taskId: string | undefined;
  /** Which of the stores, one after the other, it was asked of. */
  readonly store: number;
  /** When it was asked for. */
  readonly asked: number;
  /** When it was known to have failed, or to be done. */
  ended: number = Infinity;
  /** Whether nothing else was under way that may have changed what it is judged by. */
  isAlone = true;
  /** The store in which a state that stands on it was acknowledged or read. */
  seenIn: number | undefined;
  readonly #change: (state: string) => string | undefined;
  readonly #made = new Map<string, string | undefined>();

  /** @param init Whose it is, and the state that it makes of another; `undefined`: it does not fit. */
  constructor(
    init: Pick<Attempt, "name" | "taskId" | "store" | "asked"> & {
      readonly change: (state: string) => string | undefined;
    },
  ) {
    this.name = init.name;
    this.taskId = init.taskId;
    this.store = init.store;
    this.asked = init.asked;
    this.#change = init.change;
  }

  /** Makes the state after it; `undefined`: it does not fit. */
  after(state: string): string | undefined {
    if (!this.#made.has(state)) this.#made.set(state, this.#change(state));
    return this.#made.get(state);
  }
}

/** A state that a task may be in, and what has led to it. */
interface Reached {
  readonly state: string;
  /** Changes that are in it, of those that were under way. */
  readonly used: ReadonlySet<Attempt>;
  /** What it was before; absent: it was known. */
  readonly before?: Reached;
  readonly by?: Attempt;
}

/** The states that one task has had. Where nobody knows which it was, each counts. */
interface History {
  /** One place for each time that something was known. */
  readonly path: Set<string>[];
  /** What may be the last of them. */
  heads: readonly Reached[];
  /** The place on the path where the disk was known to have everything. */
  settled: number;
  /** Sweeps that have ended, and may have deleted the task. */
  sweeps: Attempt[];
}

/** When something was asked, and of which store. */
type Asked = Pick<Attempt, "asked" | "store">;

/** More would take for ever. */
const MOST_REACHED = 20_000;

/** Everything that was asked for and answered. */
export class Histories {
  /** What must not have happened. */
  readonly violations: string[] = [];
  readonly #histories = new Map<string, History>();
  readonly #pending = new Set<Attempt>();
  /** Failed, and maybe on the disk. */
  #failed: Attempt[] = [];
  /** Failed, and overwritten: there again after a power loss that takes what came later. */
  #void: Attempt[] = [];
  #clock = 0;

  /** @param taskIds The tasks. */
  constructor(taskIds: readonly string[]) {
    for (const taskId of taskIds) {
      this.#histories.set(taskId, {
        path: [new Set([ABSENT])],
        heads: [{ state: ABSENT, used: new Set() }],
        settled: 0,
        sweeps: [],
      });
    }
  }

  /** The time, which stands still between two calls of this. */
  tick(): number {
    return ++this.#clock;
  }

  /** How many changes of a task are under way, or may be on the disk; `undefined`: sweeps. */
  pendingOf(taskId: string | undefined): number {
    let count = 0;
    for (const one of [...this.#pending, ...this.#failed]) {
      if (one.taskId === taskId) count++;
    }
    return count;
  }

  /** The states that a task was known to be in last. */
  last(taskId: string): ReadonlySet<string> {
    return this.#of(taskId).path.at(-1)!;
  }

  /** The place on the path, for {@linkcode read}. */
  place(taskId: string): number {
    return this.#of(taskId).path.length - 1;
  }

  /** Asks for a change. */
  ask(attempt: Attempt): void {
    const { taskId, store } = attempt;
    const isNear = (other: Attempt) =>
      taskId === undefined || other.taskId === undefined ||
      other.taskId === taskId;
    for (const other of this.#pending) {
      if (isNear(other)) attempt.isAlone = other.isAlone = false;
    }
    // The store that it failed in has forgotten it.
    if (this.#failed.some((other) => other.store < store && isNear(other))) {
      attempt.isAlone = false;
    }
    if (taskId && this.#of(taskId).sweeps.length > 0) attempt.isAlone = false;
    this.#pending.add(attempt);
  }

  /**
   * It had no effect.
   *
   * @param attempt The change.
   * @param isJudged Whether the state of the task is why.
   */
  refused(attempt: Attempt, isJudged: boolean): void {
    if (!this.#pending.delete(attempt)) return;
    const taskId = attempt.taskId!;
    const { heads } = this.#of(taskId);
    if (isJudged && attempt.isAlone && heads.length === 1) {
      const [{ state }] = heads;
      if (attempt.after(state) !== undefined) {
        this.violations.push(`${attempt.name} is refused on ${brief(state)}`);
      }
    }
    const left = heads.filter(({ used }) => !used.has(attempt));
    if (left.length > 0) this.#narrow(taskId, left);
    else this.violations.push(`${attempt.name} is refused, and was seen`);
  }

  /** It has failed: it may be on the disk. A sweep may have deleted some tasks before it did. */
  failed(attempt: Attempt): void {
    if (!this.#pending.has(attempt)) return;
    if (attempt.taskId === undefined) {
      for (const taskId of this.#histories.keys()) {
        this.#maySweep(taskId, attempt);
      }
    }
    this.#pending.delete(attempt);
    attempt.ended = this.tick();
    if (attempt.seenIn === attempt.store) {
      this.violations.push(`${attempt.name} has failed, and was seen`);
    }
    this.#failed.push(attempt);
  }

  /** All that is under way has failed, since the process is dead. */
  killed(): void {
    for (const attempt of [...this.#pending]) {
      this.#pending.delete(attempt);
      attempt.ended = this.tick();
      this.#failed.push(attempt);
    }
  }

  /**
   * A change of one task is acknowledged.
   *
   * @param attempt The change.
   * @param state The state that was told with it.
   */
  done(attempt: Attempt, state?: string): void {
    if (!this.#pending.has(attempt)) return;
    const taskId = attempt.taskId!;
    const { heads } = this.#of(taskId);
    // Something that came later may have been answered first.
    const passed = heads.filter(({ used }) => used.has(attempt));
    const others = heads.filter(({ used }) => !used.has(attempt));
    const reached = this.#reach(taskId, attempt.store, others, attempt);
    const made: Reached[] = [];
    for (const before of reached) {
      const after = attempt.after(before.state);
      if (after === undefined || (state && after !== state)) continue;
      const used = new Set(before.used).add(attempt);
      made.push({ state: after, used, before, by: attempt });
    }
    this.#pending.delete(attempt);
    attempt.ended = this.tick();
    this.#overwrite(attempt);
    if (made.length > 0) this.#advance(taskId, made, passed, attempt);
    else if (passed.length > 0) this.#narrow(taskId, passed);
    else {
      const from = briefly(reached.map(({ state }) => state));
      const told = state ? `, which gives ${brief(state)},` : "";
      this.violations.push(`${attempt.name}${told} is acknowledged on ${from}`);
    }
  }

  /**
   * A sweep is acknowledged.
   *
   * @param attempt The sweep.
   * @param places Where the tasks were that had to be deleted by it.
   */
  swept(attempt: Attempt, places: ReadonlyMap<string, number>): void {
    if (!this.#pending.has(attempt)) return;
    const sure = new Map<string, Reached[]>();
    for (const [taskId, history] of this.#histories) {
      const place = places.get(taskId);
      if (place === undefined) {
        this.#maySweep(taskId, attempt);
        continue;
      }
      const reached = this.#reach(taskId, attempt.store);
      const since = history.path.slice(place);
      if (since.some((states) => states.has(ABSENT))) continue;
      const gone = reached.filter(({ state, by }) =>
        state === ABSENT && by === attempt
      );
      sure.set(taskId, gone);
    }
    this.#pending.delete(attempt);
    attempt.ended = this.tick();
    for (const [taskId, gone] of sure) {
      this.#advance(taskId, gone, [], attempt);
    }
  }

  /**
   * A read is answered: it gives what was acknowledged when it began, or anything
   * since that is acknowledged or under way. What was read has to stay.
   *
   * @param taskId The task.
   * @param place Where it was when the read began.
   * @param asked When that was, and of which store.
   * @param found What was read, and which states it may be.
   */
  read(
    taskId: string,
    place: number,
    asked: Asked,
    found: {
      readonly text: string;
      readonly isOf: (state: string) => boolean;
    },
  ): void {
    const { path, heads } = this.#of(taskId);
    const same = heads.filter(({ state }) => found.isOf(state));
    if (same.length > 0) {
      // What nobody was sure of is known now.
      this.#narrow(taskId, same);
      this.#endSweeps(taskId, asked);
      return;
    }
    const since = path.slice(place).flatMap((states) => [...states]);
    if (since.some(found.isOf)) return;
    const reached = this.#reach(taskId, asked.store);
    const made = reached.filter(({ state }) => found.isOf(state));
    if (made.length > 0) return this.#advance(taskId, made, [], asked);
    const all = [...since, ...reached.map(({ state }) => state)];
    this.violations.push(
      `a read of ${taskId} in store ${asked.store} gives ${
        brief(found.text)
      }, not ${briefly(all)}`,
    );
  }

  /**
   * Every store before this one is closed, and it was read in which state each
   * task is: nothing else of those is on the disk.
   *
   * @param store Which store.
   */
  known(store: number): void {
    this.#bury((one) => one.store < store);
  }

  /** The system has written everything back. */
  settle(): void {
    this.#void = [];
    for (const history of this.#histories.values()) {
      history.settled = history.path.length - 1;
    }
  }

  /** What a crash at this moment may leave. */
  expected(): Expected {
    const tasks = new Map(
      [...this.#histories].map(([taskId, { path, settled }]) => {
        const reached = this.#reach(taskId, Infinity);
        const states = new Set(reached.map(({ state }) => state));
        const [acknowledged] = path.at(-1)!;
        const since = path.slice(settled).flatMap((known) => [...known]);
        const left = this.#leftOf(taskId, [...since, ...states]);
        return [taskId, {
          acknowledged,
          open: [...states].filter((state) => state !== acknowledged),
          since: [...left],
        }];
      }),
    );
    return { version: this.tick(), tasks };
  }

  #of(taskId: string): History {
    return this.#histories.get(taskId)!;
  }

  /** A sweep that is under way may have deleted a task, if that may have been expired. */
  #maySweep(taskId: string, attempt: Attempt): void {
    const reached = this.#reach(taskId, attempt.store);
    if (!reached.some(({ by }) => by === attempt)) return;
    this.#of(taskId).sweeps.push(attempt);
  }

  /** What a failed change of before may have left is overwritten by one that came later. */
  #overwrite({ asked, store }: Attempt): void {
    this.#bury((one) => one.store === store && one.ended < asked);
  }

  #bury(isOver: (attempt: Attempt) => boolean): void {
    this.#void.push(...this.#failed.filter(isOver));
    this.#failed = this.#failed.filter((one) => !isOver(one));
  }

  /** Every state that a task may be in by what was asked for, each change used once. */
  #reach(
    taskId: string,
    store: number,
    from: readonly Reached[] = this.#of(taskId).heads,
    without?: Attempt,
  ): readonly Reached[] {
    const attempts = [
      ...this.#pending,
      // The store that has said no shows nothing of it.
      ...this.#failed.filter((one) => one.store < store),
      ...this.#of(taskId).sweeps,
    ].filter((one) =>
      one !== without && (one.taskId === taskId || one.taskId === undefined)
    );
    const reached = [...from];
    const seen = new Set<string>();
    const keyOf = (state: string, used: ReadonlySet<Attempt>) =>
      `${[...used].map(({ asked }) => asked).sort().join()} ${state}`;
    for (const { state, used } of from) seen.add(keyOf(state, used));
    // It grows while it is gone through.
    for (const before of reached) {
      for (const by of attempts) {
        if (by.taskId !== undefined && before.used.has(by)) continue;
        const state = by.after(before.state);
        if (state === undefined) continue;
        const used = new Set(before.used).add(by);
        const key = keyOf(state, used);
        if (seen.has(key)) continue;
        seen.add(key);
        reached.push({ state, used, before, by });
        if (reached.length > MOST_REACHED) throw new Error("too many orders");
      }
    }
    return reached;
  }

  /** Every state that a power loss without a flush may leave, and some more. */
  #leftOf(taskId: string, since: readonly string[]): Set<string> {
    const attempts = [...this.#pending, ...this.#failed, ...this.#void].filter(
      (one) => one.taskId === taskId || one.taskId === undefined,
    );
    const left = new Set(since);
    // It grows while it is gone through.
    for (const state of left) {
      for (const one of attempts) {
        const after = one.after(state);
        if (after !== undefined) left.add(after);
      }
    }
    return left;
  }

  /** One of some states is known to be there now, or what was known before still is. */
  #advance(
    taskId: string,
    made: readonly Reached[],
    stay: readonly Reached[],
    { asked, store }: Asked,
  ): void {
    const history = this.#of(taskId);
    const passed = new Set<string>();
    for (const end of made) {
      for (let at = end; at.before; at = at.before) {
        passed.add(at.before.state);
        if (made.length === 1 && stay.length === 0 && at.by!.taskId) {
          at.by!.seenIn ??= store;
        }
      }
    }
    const heads = [...stay];
    const keys = new Set<string>();
    for (const { state, used } of made) {
      // What is no longer under way cannot be used again.
      const left = [...used].filter((one) => this.#pending.has(one));
      const key = `${left.map((one) => one.asked).sort().join()} ${state}`;
      if (keys.has(key)) continue;
      keys.add(key);
      heads.push({ state, used: new Set(left) });
    }
    history.path.push(passed, new Set(heads.map(({ state }) => state)));
    history.heads = heads;
    this.#endSweeps(taskId, { asked, store });
  }

  /** Of what was last known, only some can be. */
  #narrow(taskId: string, heads: readonly Reached[]): void {
    const history = this.#of(taskId);
    history.heads = heads;
    const states = new Set(heads.map(({ state }) => state));
    history.path[history.path.length - 1] = states;
  }

  /** What was asked for after a sweep had ended tells what that has done. */
  #endSweeps(taskId: string, { asked }: Asked): void {
    const history = this.#of(taskId);
    history.sweeps = history.sweeps.filter((one) => one.ended > asked);
  }
}

function briefly(states: readonly string[]): string {
  return [...new Set(states)].map(brief).join(" | ");
}

/** The version of a state; 0: it is absent. */
export function versionOf(state: string): number {
  return state === ABSENT ? 0 : parse(state).version;
}
