/** Runs a script on engines and on the model, and compares them after every step. */

import type { TaskLifecycle, TaskStore } from "../../../mod.ts";
import { canonical } from "./canonical.ts";
import { expectCall, judgeCall, makeCall } from "./calls.ts";
import type { Command, Op, Script } from "./commands.ts";
import {
  CANCELLED,
  CLOSED,
  DUPLICATE_KEY,
  ModelTask,
  NOT_FOUND,
  recordText,
  Refusal,
  STORE_FAILED,
} from "./model_task.ts";
import { Hub } from "./ports.ts";
import { Call, Subscription } from "./probes.ts";
import { KEYS, objectFrom, requestOf } from "./samples.ts";
import { OBSERVE_MS, Side, SWEEP_MS } from "./side.ts";
import { VirtualTime } from "./virtual_time.ts";
import { runWorker } from "./worker_step.ts";

/** Where the records are. */
export interface Storage {
  /** Opens the store, again too. */
  open(now: () => number): Promise<TaskStore>;
  /** Whether a restart closes the store and opens it again. */
  readonly reopens: boolean;
}

const MAX_TASKS = 3;

/** One run. */
export class World {
  readonly time = new VirtualTime(Date.UTC(2026, 0, 2, 3, 4, 5, 678));
  readonly hub: Hub;
  readonly tasks: ModelTask[] = [];
  /** The calls of `run()` whose workers have to come to an end. */
  readonly workers: Call[] = [];
  readonly #storage: Storage;
  readonly #closed: Side[] = [];
  #sides: Side[] = [];
  #reader!: TaskLifecycle;
  #subscriptions: Subscription[] = [];
  #clockWasSet = false;
  #count = 0;
  #ids = 0;

  constructor(storage: Storage, base: TaskStore) {
    this.#storage = storage;
    this.hub = new Hub(base);
  }

  /** Runs a script from its beginning to the closing of everything. */
  static async run(storage: Storage, script: Script): Promise<void> {
    let now = () => 0;
    const world = new World(storage, await storage.open(() => now()));
    now = () => world.time.wall;
    world.time.install();
    let at = "the start";
    try {
      world.#boot();
      for (const init of script.inits) {
        await world.step({ step: "create", side: 0, init });
      }
      for (const [index, command] of script.commands.entries()) {
        at = `step ${index + 1}, ${JSON.stringify(command)}`;
        await world.step(command);
      }
      at = "the end";
      await world.step({ step: "look" });
      await world.#end();
    } catch (error) {
      (error as Error).message = `After ${at}: ${(error as Error).message}`;
      throw error;
    } finally {
      world.time.uninstall();
      await world.hub.base.close();
    }
  }

  get now(): number {
    return this.time.wall;
  }

  /** A number that nothing else in this run has. */
  count(): number {
    return ++this.#count;
  }

  settle = (): Promise<void> => this.hub.settle();

  /** One step, on the engines first, then on the model; then all is compared. */
  async step(command: Command): Promise<void> {
    switch (command.step) {
      case "calls":
        await this.#calls(this.#sides[command.side], command.ops);
        break;
      case "create":
        await this.#create(this.#sides[command.side], command.init);
        break;
      case "fault":
        await this.#fault(command);
        break;
      case "run":
        // Another worker of this engine might go on first.
        await this.#lookForWorkers();
        await runWorker(
          this,
          this.#sides[command.side],
          this.task(command.task),
          command.worker,
          KEYS[command.key],
        );
        break;
      case "listen":
        this.#listen(
          this.#sides[command.side],
          this.task(command.task),
          command.throws,
        );
        await this.settle();
        break;
      case "unlisten": {
        const all = this.#subscriptions;
        if (all.length === 0) break;
        const [one] = all.splice(command.pick % all.length, 1);
        one.end();
        one.ended = true;
        break;
      }
      case "raw":
        await this.#raw(this.task(command.task), command.what);
        break;
      case "clock":
        this.#clockWasSet = true;
        this.time.wall += command.ms;
        this.#timePassed();
        break;
      case "pass":
        // A worker that goes on in between would write at a time that is not known.
        await this.#lookForWorkers();
        await this.#pass(command.ms);
        break;
      case "look":
        this.#timePassed();
        await this.time.advance(OBSERVE_MS + 1, this.settle, false);
        for (const side of this.#sides) side.looked();
        break;
      case "sweep":
        await this.hub.base.sweep(this.now);
        break;
      case "stale":
        await this.#stale(command.pick, command.which);
        break;
      case "restart":
        await this.#restart(command.side);
        break;
    }
    await this.#compare();
  }

  /** What a change that a client can see brings about. */
  changed(by: Side | undefined, task: ModelTask): void {
    task.changedBy = by?.name;
    for (const side of this.#sides) side.changed(task, side === by);
  }

  /** What a cancel brings about: nothing that a client can see. */
  cancelled(by: Side | undefined, task: ModelTask): void {
    for (const side of this.#sides) side.cancelled(task, side === by);
  }

  /** What answers bring about. */
  answered(by: Side | undefined, task: ModelTask): void {
    this.changed(by, task);
    for (const side of this.#sides) side.answered(task, side === by);
  }

  /** What the end of a task brings about. */
  ended(by: Side | undefined, task: ModelTask): void {
    this.changed(by, task);
    for (const side of this.#sides) side.ended(task, side === by);
  }

  /** Asks for input in the model. */
  ask(
    by: Side | undefined,
    task: ModelTask,
    keys: readonly string[],
  ): Refusal | undefined {
    const refusal = task.refusal(this.now);
    if (refusal) return refusal;
    const used = keys.some((key) => task.used.has(key));
    if (task.cancelRequestedAt !== undefined) return new Refusal(CANCELLED);
    if (used) return new Refusal(DUPLICATE_KEY);
    task.ask(new Map(keys.map((key) => [key, requestOf(key)])), this.now);
    this.changed(by, task);
  }

  /** The record as the store has it, expired or not. */
  async stored(
    task: ModelTask,
  ): Promise<Record<string, unknown> | undefined> {
    return await this.hub.base.get(task.taskId, 0) as unknown as
      | Record<string, unknown>
      | undefined;
  }

  task(index: number): ModelTask {
    return this.tasks[index % this.tasks.length];
  }

  #boot(): void {
    this.#sides = ["A", "B"].map((name) => this.#side(name));
    this.#reader = this.#side("reader").tasks;
  }

  #side(name: string): Side {
    return new Side(
      name,
      this.hub,
      this.time,
      () => `task-${++this.#ids}`,
    );
  }

  async #create(
    side: Side,
    init: Parameters<TaskLifecycle["createTask"]>[0] & object,
  ): Promise<void> {
    if (this.tasks.length === MAX_TASKS) return;
    const call = new Call(side.tasks.createTask(init));
    await this.settle();
    const task = new ModelTask(`task-${this.#ids}`, init, this.now);
    this.tasks.push(task);
    expectCall("createTask()", call, `ok ${task.createView()}`);
  }

  async #calls(side: Side, ops: readonly Op[]): Promise<void> {
    const made = ops.map((op) => makeCall(this, side, op));
    await this.settle();
    for (const one of made) judgeCall(this, side, one);
  }

  async #fault(
    { side: index, op, when }: Command & { step: "fault" },
  ): Promise<void> {
    const side = this.#sides[index];
    // A worker that goes on may write first and meet the fault.
    if (side.hasWorkers()) return await this.#calls(side, [op]);
    side.port.fault = when;
    const made = makeCall(this, side, op);
    await this.settle();
    if (side.port.fault) {
      side.port.fault = undefined;
      judgeCall(this, side, made);
      return;
    }
    expectCall(`${op.op} with a store that fails`, made.call, STORE_FAILED);
    if (when === "before") return;
    if (op.op === "resume") await this.#lose(made.task);
    else judgeCall(this, undefined, made);
  }

  /** Answers were taken by a caller that did not get them. */
  async #lose(task: ModelTask): Promise<void> {
    const { takenInputKeys } = await this.stored(task) ?? {};
    for (const key of takenInputKeys as readonly string[]) task.taken.add(key);
    task.version++;
  }

  #listen(side: Side, task: ModelTask, throws: boolean): void {
    const received: string[] = [];
    const end = side.tasks.onTaskChanged(task.taskId, (snapshot) => {
      received.push(canonical(snapshot));
      // What a listener does to its snapshot must not reach anyone else.
      for (const key of Object.keys(snapshot)) {
        delete (snapshot as unknown as Record<string, unknown>)[key];
      }
      if (throws) throw new Error("a listener's own");
    });
    const subscription = new Subscription(
      `listener of ${task.taskId} in ${side.name}`,
      received,
      end,
    );
    // What has ended is told once more, and what was not yet noticed still is.
    if (task.terminal || task.changedBy !== side.name) {
      subscription.changed(task.view(), false);
    }
    side.seat(task).subscriptions.push(subscription);
    this.#subscriptions.push(subscription);
  }

  /** Another release writes the record, past every engine. */
  async #raw(
    task: ModelTask,
    what: "unknown" | "ahead" | "stale",
  ): Promise<void> {
    const { base } = this.hub;
    const { now } = this;
    const n = this.count();
    const exists = task.exists(now);
    if (what === "stale" || !exists) {
      const code = exists ? "ERR_CONCURRENT_UPDATE" : NOT_FOUND;
      const call = new Call(
        base.update(
          task.taskId,
          { statusMessage: "stale" },
          task.version + (n % 2 === 0 ? 1 : -1),
          now,
        ),
      );
      await this.settle();
      expectCall("a stale update", call, code);
      return;
    }
    if (what === "unknown") {
      const field = n % 3 === 0 ? "__proto__" : `x-${n % 3}`;
      task.unknown.set(field, { n });
      task.version++;
      await base.update(
        task.taskId,
        objectFrom([[field, { n }]]),
        task.version - 1,
        now,
      );
    } else if (!task.terminal) {
      // A writer whose clock is ahead.
      task.statusMessage = `ahead ${n}`;
      task.touch(Math.max(task.updatedAt, now) + 60_000);
      await base.update(
        task.taskId,
        {
          statusMessage: task.statusMessage,
          lastUpdatedAt: new Date(task.updatedAt).toISOString(),
        },
        task.version - 1,
        now,
      );
      this.changed(undefined, task);
    }
  }

  async #pass(ms: number): Promise<void> {
    const expired = this.tasks.filter((task) => task.expired(this.now));
    await this.time.advance(ms, this.settle);
    this.#timePassed();
    if (!this.#clockWasSet) {
      for (const side of this.#sides) side.deadlinesPassed();
    }
    if (ms <= SWEEP_MS) return;
    for (const task of expired) {
      if (await this.stored(task)) {
        throw new Error(`${task.taskId} has expired and was not swept`);
      }
    }
  }

  async #lookForWorkers(): Promise<void> {
    if (this.#sides.some((side) => side.hasWorkers())) {
      await this.step({ step: "look" });
    }
  }

  #timePassed(): void {
    for (const side of this.#sides) side.timePassed();
  }

  /** Old handles and an old engine after a restart. */
  async #stale(pick: number, which: number): Promise<void> {
    if (this.#closed.length === 0) return;
    const side = this.#closed[pick % this.#closed.length];
    const task = this.task(pick);
    const { tasks } = side;
    const handle = side.seat(task).handle;
    const calls = [
      () => tasks.getTask(task.taskId, { owner: task.owner }),
      () => tasks.updateTask(task.taskId, {}, { owner: task.owner }),
      () => tasks.cancelTask(task.taskId, { owner: task.owner }),
      () => tasks.createTask(),
      () => handle?.progress("late"),
      () => handle?.requestInput({ late: requestOf("name") }),
      () => handle?.resumeInput(),
      () => handle?.complete({ content: [] }),
    ];
    const running = calls[which % calls.length]();
    if (!running) return;
    const call = new Call(running);
    await this.settle();
    expectCall("a call after close()", call, CLOSED);
  }

  async #restart(index: number): Promise<void> {
    const { reopens } = this.#storage;
    const ending = reopens ? this.#sides : [this.#sides[index]];
    for (const side of ending) {
      side.closed();
      const call = new Call(side.tasks.close({ graceMs: 40 }));
      const again = new Call(side.tasks.close({ graceMs: 40 }));
      await this.settle();
      await this.time.advance(50, this.settle, false);
      expectCall("close()", call, "ok undefined");
      expectCall("close() again", again, "ok undefined");
      this.#closed.push(side);
      this.#sides[this.#sides.indexOf(side)] = this.#side(side.name);
    }
    if (!reopens) return;
    await this.hub.base.close();
    this.hub.base = await this.#storage.open(() => this.now);
  }

  /** Compares workers, records, views and listeners with the model. */
  async #compare(): Promise<void> {
    this.#timePassed();
    await this.#compareWorkers([...this.#sides, ...this.#closed]);
    for (const task of this.tasks) {
      const record = await this.stored(task);
      if (!record && task.expired(this.now)) task.swept = true;
      const actual = record && recordText(record);
      const expected = task.swept ? undefined : task.record();
      if (actual !== expected) {
        throw new Error(
          `the record of ${task.taskId} is\n  ${actual}\nand not\n  ${expected}`,
        );
      }
      const call = new Call(
        this.#reader.getTask(task.taskId, { owner: task.owner }),
      );
      await this.settle();
      expectCall(
        `getTask(${task.taskId})`,
        call,
        task.exists(this.now) ? `ok ${task.view()}` : NOT_FOUND,
      );
    }
    for (const side of [...this.#sides, ...this.#closed]) {
      side.checkListeners();
    }
  }

  async #compareWorkers(sides: readonly Side[]): Promise<void> {
    for (;;) {
      const news = sides.flatMap((side) => side.news());
      if (news.length === 0) break;
      // One after the other, as it happened: the first may end the task.
      await news.reduce((a, b) => a.at <= b.at ? a : b).follow();
    }
    for (const side of sides) side.checkWorkers();
  }

  async #end(): Promise<void> {
    for (const side of this.#sides) side.closed();
    const closing = [...this.#sides.map(({ tasks }) => tasks), this.#reader]
      .map((tasks) => new Call(tasks.close({ graceMs: 40 })));
    await this.settle();
    await this.time.advance(50, this.settle, false);
    for (const call of closing) expectCall("close()", call, "ok undefined");
    await this.#compareWorkers(this.#sides);
    for (const call of this.workers) expectCall("run()", call, "ok undefined");
    if (this.time.timers > 0) {
      throw new Error(`${this.time.timers} timers are left after close()`);
    }
  }
}
