/** Plays a script on a store, and holds the store against what it has acknowledged. */

import { setImmediate } from "node:timers";
import {
  applyTaskPatch,
  type TaskRecord,
  type TaskStore,
} from "../../../mod.ts";
import { LogTaskStore } from "../../../src/wal/store.ts";
import { CREATED_MS } from "../records.ts";
import { ABSENT, brief, headOf, Model, parse, textOf } from "./model.ts";
import {
  type Heard,
  type ProofOptions,
  proofOptions,
} from "./proof_options.ts";
import {
  createdBy,
  EXPIRED_MS,
  type Operation,
  patchOf,
  type Step,
} from "./script.ts";
import type { SimDisk } from "./sim_disk.ts";

/** A store with what it may have beyond the five methods. */
type PlayedStore = TaskStore & Pick<LogTaskStore, "compact">;

/** The store, the script's host and the judge. */
export class Player {
  /** What the store may hold. */
  readonly model: Model;
  /** What must not have happened, and has. */
  readonly violations: string[] = [];
  /** Whether a call has met a fault, so that operations may fail. */
  faulted = false;
  /** What the host was told. */
  readonly heard: Heard = {
    compactionError: (error) => this.#failed("compaction", error),
    damages: [],
  };
  readonly #disk: SimDisk;
  readonly #options: ProofOptions;
  /** What every task is in now, for who writes next. */
  readonly #appended = new Map<string, string>();
  /** Tasks that could not be looked at after an operation on them had failed. */
  readonly #unsure = new Set<string>();
  /** How many changes of a task are under way. */
  readonly #underWay = new Map<string, number>();
  #store: LogTaskStore | undefined;
  #dying = false;
  #serial = 0;

  /**
   * @param disk The disk.
   * @param options How to open the store.
   * @param model What it may hold.
   */
  constructor(disk: SimDisk, options: ProofOptions, model = new Model()) {
    this.#disk = disk;
    this.#options = options;
    this.model = model;
  }

  /** The store, where it is open. */
  get store(): LogTaskStore | undefined {
    return this.#store;
  }

  /** Opens a store, and looks at every task in it. */
  async open(): Promise<boolean> {
    const store = new LogTaskStore(
      proofOptions(this.#options, this.heard),
      this.#disk.session(),
    );
    try {
      await store.ready();
    } catch (error) {
      await store.close();
      this.#failed("open", error);
      return false;
    }
    this.#store = store;
    for (const taskId of this.model.taskIds()) await this.#found(taskId);
    return true;
  }

  /** Plays a whole script, from the opening to the closing. */
  async play(script: readonly Step[]): Promise<void> {
    if (!await this.open()) await this.open();
    for (const step of script) await this.step(step);
    await this.close();
  }

  /** Closes the store. */
  async close(): Promise<void> {
    const store = this.#store;
    this.#store = undefined;
    if (!store) return;
    await store.close().catch((error) => this.#failed("close", error));
    if (this.#disk.openFiles !== 0) {
      this.violations.push(`${this.#disk.openFiles} files are still open`);
    }
  }

  /** What a kill leaves to the test: the lock is free, nothing is written any more. */
  async abandon(): Promise<void> {
    const store = this.#store;
    this.#store = undefined;
    this.#disk.kill();
    await store?.close().catch(() => {});
  }

  /** Plays one step. */
  async step(step: Step): Promise<void> {
    switch (step.do) {
      case "idle":
        for (let turn = 0; turn < step.turns; turn++) await nextTurn();
        return;
      case "settle":
        this.#disk.settle();
        this.model.settle();
        return;
      case "reopen":
        await this.close();
        if (!await this.open()) await this.open();
        return;
      case "kill":
        await this.#die(step.during, step.kept);
        if (!await this.open()) await this.open();
        return;
      case "together":
        await this.#together(step.steps, step);
        return;
      default:
        await this.#together([step]);
    }
  }

  /** Dies in the middle of the next write, if one comes. The system keeps what it was given. */
  async #die(during: readonly Operation[], kept: number): Promise<void> {
    if (!this.#store) return;
    this.#dying = true;
    this.#disk.killInWrite(kept);
    await this.#together(during);
    await this.abandon();
    this.#dying = false;
  }

  async #together(
    steps: readonly Operation[],
    { apart = 0, turns = 0 }: {
      readonly apart?: number;
      readonly turns?: number;
    } = {},
  ): Promise<void> {
    if (!this.#store) return;
    for (const taskId of this.#unsure) await this.#found(taskId, true);
    // Nobody writes to a task of which he does not know the version.
    const failed = new Set(this.#unsure);
    const running: Promise<void>[] = [];
    for (const step of steps) {
      running.push(this.#run(this.#store, step, failed));
      for (let hop = 0; hop < apart; hop++) await undefined;
      for (let turn = 0; turn < turns; turn++) await nextTurn();
    }
    await Promise.all(running);
    if (this.#dying) return;
    for (const taskId of failed) await this.#found(taskId, true);
  }

  /** Begins an operation before it returns, as a caller would. */
  #run(
    store: PlayedStore,
    step: Operation,
    failed: Set<string>,
  ): Promise<void> {
    const serial = ++this.#serial;
    const now = CREATED_MS;
    switch (step.do) {
      case "compact":
        return store.compact().then(
          () => {},
          (error) => this.#failed("compact", error),
        );
      case "sweep": {
        const expired = [...this.#appended].filter(([, state]) =>
          isExpired(state)
        ).map(([taskId]) => taskId);
        // What is under way may come after it: nobody could say what it counts.
        const isClear = [...this.#underWay.keys()].every((taskId) =>
          !isExpired(this.#state(taskId)) &&
          !isExpired(this.model.acknowledged(taskId))
        );
        if (!isClear) return Promise.resolve();
        // One that could not be looked at goes too, if its change to one that expires was made.
        const { tasks } = this.model.expected();
        for (const taskId of failed) {
          if (tasks.get(taskId)?.open.some(isExpired)) {
            this.model.ask(taskId, ABSENT);
          }
        }
        return this.#change(
          expired.map((taskId) => [taskId, ABSENT]),
          "sweep",
          () =>
            store.sweep(EXPIRED_MS).then((count) => {
              // What should have let a task expire may have failed, or a sweep before.
              if (count === expired.length || failed.size > 0) return;
              this.violations.push(
                `sweep() counts ${count}, expired are ${expired}`,
              );
            }),
          failed,
        );
      }
      case "get":
        return this.#read(step.id, (id) => store.get(id, now), textOf);
      case "head":
        return this.#read(
          step.id,
          (id) => store.head ? store.head(id, now) : store.get(id, now),
          (record) => textOf(record && headOf(record as TaskRecord)),
        );
      case "create": {
        if (failed.has(step.id) || this.#state(step.id) !== ABSENT) {
          return Promise.resolve();
        }
        const record = createdBy(step.id, serial, step.size);
        return this.#change(
          [[step.id, textOf(record)]],
          "create",
          () => store.create(record),
          failed,
        );
      }
      default: {
        const state = this.#state(step.id);
        if (failed.has(step.id) || state === ABSENT) return Promise.resolve();
        const before = parse(state);
        const patch = patchOf(step.id, serial, step.change, step.size);
        const after = textOf(applyTaskPatch(before, patch));
        const { version } = before;
        const commit = async () => {
          const made = await store.commit!(step.id, patch, version, now);
          if (made === version + 1) return;
          this.violations.push(`commit() gives ${made} after ${version}`);
        };
        const update = async () => {
          const record = await store.update(step.id, patch, version, now);
          if (textOf(record) === after) return;
          this.violations.push(
            `update() gives ${brief(textOf(record))}, not ${brief(after)}`,
          );
        };
        const change = step.do === "commit" && store.commit ? commit : update;
        return this.#change([[step.id, after]], step.do, change, failed);
      }
    }
  }

  async #change(
    states: readonly (readonly [taskId: string, state: string])[],
    name: string,
    change: () => Promise<void>,
    failed: Set<string>,
  ): Promise<void> {
    // A write may be on the disk before the call returns.
    const acknowledge = states.map(([taskId, state]) => {
      this.#appended.set(taskId, state);
      this.#underWay.set(taskId, (this.#underWay.get(taskId) ?? 0) + 1);
      return this.model.ask(taskId, state);
    });
    try {
      await change();
    } catch (error) {
      const doubtful = states.some(([taskId]) =>
        failed.has(taskId) || this.#unsure.has(taskId)
      );
      for (const [taskId] of states) failed.add(taskId);
      this.#failed(name, error, doubtful);
      return;
    } finally {
      for (const [taskId] of states) this.#settled(taskId);
    }
    for (const [index, [taskId, state]] of states.entries()) {
      // A later change may have failed before this one was safe. A sweep may
      // have spared a task that expires by a change which failed.
      if (state !== ABSENT || !failed.has(taskId)) acknowledge[index]();
    }
  }

  #settled(taskId: string): void {
    const left = this.#underWay.get(taskId)! - 1;
    if (left > 0) this.#underWay.set(taskId, left);
    else this.#underWay.delete(taskId);
  }

  /** A read may give what was acknowledged when it began, or anything since. */
  async #read<T extends object>(
    taskId: string,
    read: (taskId: string) => Promise<T | undefined>,
    text: (record: TaskRecord | undefined) => string,
  ): Promise<void> {
    const from = this.model.place(taskId);
    try {
      const found = text(await read(taskId) as TaskRecord | undefined);
      const possible = this.model
        .between(taskId, from, this.model.place(taskId))
        .map((state) => text(state === ABSENT ? undefined : parse(state)));
      if (possible.includes(found)) return;
      this.violations.push(
        `a read of ${taskId} gives ${brief(found)}, not ${possible.map(brief)}`,
      );
    } catch (error) {
      this.#failed(`read ${taskId}`, error);
    }
  }

  /** Looks which of its states a task is in, and stays with that. */
  async #found(taskId: string, judged = false): Promise<void> {
    const live = judged && !this.#unsure.has(taskId);
    const allowed = this.model.expected().tasks.get(taskId)!;
    const { acknowledged, open } = allowed;
    let state: string;
    try {
      state = textOf(await this.#store!.get(taskId, CREATED_MS));
    } catch (error) {
      this.#failed(`read ${taskId}`, error);
      this.#appended.set(taskId, acknowledged);
      this.#unsure.add(taskId);
      return;
    }
    this.#unsure.delete(taskId);
    // A sweep deletes in slices: one that fails may have deleted some.
    const possible = live
      ? [acknowledged, ...open.filter((one) => one === ABSENT)]
      : [acknowledged, ...open];
    if (!possible.includes(state)) {
      this.violations.push(
        `${taskId} is ${brief(state)}, allowed: ${possible.map(brief)}`,
      );
    }
    this.#appended.set(taskId, state);
    // What a reader sees is safe, also if nobody could be told.
    if (!live || state !== acknowledged) this.model.pin(taskId, state);
  }

  #state(taskId: string): string {
    return this.#appended.get(taskId) ?? ABSENT;
  }

  /** After a fault an operation may fail, with the error that says so. */
  #failed(name: string, error: unknown, doubtful = false): void {
    if (this.#dying) return;
    const { code } = error as { code?: string };
    if (this.faulted && code === "ERR_STORE_FAILED") return;
    // What stood on a change that failed may learn it from the state.
    if (this.faulted && doubtful) {
      if (code === "ERR_CONCURRENT_UPDATE") return;
      if (code === "ERR_TASK_NOT_FOUND") return;
      if (code === "ERR_DUPLICATE_TASK_ID") return;
    }
    this.violations.push(`${name}: ${(error as Error)?.stack ?? error}`);
  }
}

function isExpired(state: string): boolean {
  return state !== ABSENT && parse(state).ttlMs === EXPIRED_MS - CREATED_MS;
}

/** Waits for the next turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
