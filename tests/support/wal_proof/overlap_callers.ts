/** What callers ask of a store, and what becomes of the answers. */

import { applyTaskPatch, type TaskRecord } from "../../../mod.ts";
import type { LogTaskStore } from "../../../src/wal/store.ts";
import { CREATED_MS } from "../records.ts";
import { ABSENT, headOf, parse, textOf } from "./model.ts";
import type { OwnDisk } from "./overlap_disk.ts";
import { Attempt, type Histories, versionOf } from "./overlap_history.ts";
import type { OldProcess } from "./overlap_old.ts";
import {
  type Change,
  createdBy,
  EXPIRED_MS,
  patchOf,
  type Random,
} from "./script.ts";

/** Changes of one task that are under way at the same time, at most. */
const MOST_PENDING = 4;

/** A store that is open, or was. */
export interface Opened {
  /** Which of the stores, one after the other, it is. */
  readonly number: number;
  readonly store: LogTaskStore;
  readonly disk: OwnDisk;
  /** It did not open, or takes no writes. */
  isBroken: boolean;
  /** Its process was killed: what it answers counts no more. */
  isDead: boolean;
}

/** What callers have in common. */
export interface Run {
  readonly random: Random;
  readonly taskIds: readonly string[];
  readonly histories: Histories;
  /** The process that was there before, in some of the runs. */
  readonly old: OldProcess | undefined;
  /** Judges an error. */
  readonly unexpected: (what: string, error: unknown, opened: Opened) => void;
}

/** The callers. Each method begins what it does before it returns. */
export class Callers {
  readonly #run: Run;
  /** Is told that something was answered. */
  readonly onAnswer: () => void;
  /** The version that the next caller takes for the appended one. */
  readonly #guesses = new Map<string, number>();
  readonly #creating = new Set<string>();
  #serial = 0;

  constructor(run: Run, onAnswer: () => void) {
    this.#run = run;
    this.onAnswer = onAnswer;
  }

  create(taskId: string, opened: Opened): Promise<void> {
    // Two lives of one task would have no order.
    if (this.#creating.has(taskId)) return Promise.resolve();
    if (this.#run.histories.pendingOf(taskId) >= MOST_PENDING) {
      return Promise.resolve();
    }
    const record = createdBy(taskId, ++this.#serial, this.#size());
    const text = textOf(record);
    this.#creating.add(taskId);
    return this.#change(
      opened,
      `create ${this.#serial} of ${taskId}`,
      taskId,
      (state) => state === ABSENT ? text : undefined,
      () => opened.store.create(record),
      () => undefined,
    ).finally(() => this.#creating.delete(taskId));
  }

  update(taskId: string, opened: Opened): Promise<void> {
    const random = this.#run.random;
    if (this.#run.histories.pendingOf(taskId) >= MOST_PENDING) {
      return Promise.resolve();
    }
    const [known] = this.#run.histories.last(taskId);
    const guess = this.#guesses.get(taskId) ?? versionOf(known);
    const version = random(8) ? guess : versionOf(known);
    if (version === 0) return Promise.resolve();
    const changes: readonly Change[] = [
      ...["progress", "progress", "progress", "ask", "answer"] as const,
      ...["complete", "expire"] as const,
    ];
    const change = changes[random(changes.length)];
    // So that each state tells what has made it.
    const patch = {
      ...patchOf(taskId, ++this.#serial, change, this.#size()),
      statusMessage: `é漢😀 ${this.#serial}`,
    };
    this.#guesses.set(taskId, version + 1);
    const isCommit = random(2) > 0;
    return this.#change<TaskRecord | number>(
      opened,
      `${change} ${this.#serial} of v${version} of ${taskId}`,
      taskId,
      (state) =>
        versionOf(state) === version
          ? textOf(applyTaskPatch(parse(state), patch))
          : undefined,
      () =>
        isCommit
          ? opened.store.commit(taskId, patch, version, CREATED_MS)
          : opened.store.update(taskId, patch, version, CREATED_MS),
      (made) => typeof made === "number" ? undefined : textOf(made),
    );
  }

  async #change<T>(
    opened: Opened,
    name: string,
    taskId: string,
    change: (state: string) => string | undefined,
    run: () => Promise<T>,
    told: (made: T) => string | undefined,
  ): Promise<void> {
    const { histories } = this.#run;
    const attempt = new Attempt({
      name,
      taskId,
      store: opened.number,
      asked: histories.tick(),
      change,
    });
    histories.ask(attempt);
    try {
      const made = await run();
      this.onAnswer();
      histories.done(attempt, told(made));
    } catch (error) {
      this.onAnswer();
      this.#guesses.delete(taskId);
      const { code } = error as { code?: string };
      if (
        code === "ERR_CONCURRENT_UPDATE" || code === "ERR_TASK_NOT_FOUND" ||
        code === "ERR_DUPLICATE_TASK_ID" || code === "ERR_STORE_CLOSED"
      ) return histories.refused(attempt, code !== "ERR_STORE_CLOSED");
      histories.failed(attempt);
      this.#run.unexpected(name, error, opened);
    }
  }

  async sweep(opened: Opened): Promise<void> {
    const { histories } = this.#run;
    if (histories.pendingOf(undefined) >= 2) return;
    const attempt = new Attempt({
      name: `sweep ${++this.#serial}`,
      taskId: undefined,
      store: opened.number,
      asked: histories.tick(),
      change: (state) => isExpired(state) ? ABSENT : undefined,
    });
    const places = new Map<string, number>();
    for (const taskId of this.#run.taskIds) {
      if (![...histories.last(taskId)].every(isExpired)) continue;
      places.set(taskId, histories.place(taskId));
    }
    histories.ask(attempt);
    try {
      await opened.store.sweep(EXPIRED_MS);
      this.onAnswer();
      histories.swept(attempt, places);
    } catch (error) {
      this.onAnswer();
      histories.failed(attempt);
      this.#run.unexpected(attempt.name, error, opened);
    }
  }

  async read(
    taskId: string,
    opened: Opened,
    isWhole: boolean,
  ): Promise<boolean> {
    const { histories } = this.#run;
    const { store, number } = opened;
    const place = histories.place(taskId);
    const asked = histories.tick();
    try {
      const text = isWhole
        ? textOf(await store.get(taskId, CREATED_MS))
        : textOf(
          await store.head(taskId, CREATED_MS) as TaskRecord | undefined,
        );
      this.onAnswer();
      const isOf = (state: string) =>
        isWhole || state === ABSENT
          ? state === text
          : textOf(headOf(parse(state))) === text;
      // What it shows is not looked at: it may not outlive it.
      if (opened.isDead) return false;
      histories.read(taskId, place, { asked, store: number }, { text, isOf });
      return true;
    } catch (error) {
      this.onAnswer();
      this.#run.unexpected(`a read of ${taskId}`, error, opened);
      return false;
    }
  }

  appendOld(): void {
    const old = this.#run.old!;
    const taskId = old.taskIds[this.#run.random(old.taskIds.length)];
    old.append(taskId, `old ${++this.#serial}`);
  }

  /** @param least The place of the oldest state that may be found; by default any that was found before. */
  async readOld(
    old: OldProcess,
    opened: Opened,
    taskId = old.taskIds[this.#run.random(old.taskIds.length)],
    least = old.seen(taskId),
  ): Promise<void> {
    try {
      const record = await opened.store.get(taskId, CREATED_MS);
      const wrong = old.judge(taskId, record, least);
      if (wrong && !opened.isDead) this.#run.histories.violations.push(wrong);
    } catch (error) {
      this.#run.unexpected(`a read of ${taskId}`, error, opened);
    }
  }

  /** What a store says of itself is so. */
  async look(opened: Opened): Promise<void> {
    try {
      const health = await opened.store.health();
      if (health.damage.length > 0) {
        this.#run.histories.violations.push(
          `store ${opened.number} reports damage`,
        );
      }
      if (!health.writable) opened.isBroken = true;
    } catch (error) {
      this.#run.unexpected("health()", error, opened);
    }
  }

  #size(): number {
    return [0, 0, 30, 600, 3_000][this.#run.random(5)];
  }
}

function isExpired(state: string): boolean {
  return state !== ABSENT && parse(state).ttlMs === EXPIRED_MS - CREATED_MS;
}
