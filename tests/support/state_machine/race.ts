/**
 * Several workers, clients and processes at once on one task, over a store
 * that takes its time over each call and each answer. What has to hold is read
 * off the list of commits afterwards.
 */

import { MemoryTaskStore, type TaskHandle } from "../../../mod.ts";
import { canonical } from "./canonical.ts";
import { Latency } from "./latency.ts";
import { ModelTask } from "./model_task.ts";
import type { Actor, Move, Script } from "./moves.ts";
import { Hub } from "./ports.ts";
import { Call } from "./probes.ts";
import { checkRace } from "./race_rules.ts";
import { answerOf, KEYS, objectFrom, requestOf } from "./samples.ts";
import { OBSERVE_MS, Side } from "./side.ts";
import { drain, VirtualTime } from "./virtual_time.ts";

/** A call that an actor has made. */
export interface Made {
  readonly n: number;
  readonly side: string;
  readonly move: Move;
  readonly call: Call;
  /** How many commits there were when it was made. */
  readonly from: number;
  /** How many there were when it ended. */
  to: number;
}

/** All that is known at the end. */
export interface Race {
  readonly commits: Hub["commits"];
  readonly made: readonly Made[];
  /** What the listener of each engine has heard. */
  readonly heard: ReadonlyMap<string, readonly string[]>;
  /** Why the signal that each engine's workers hold has aborted. */
  readonly aborted: ReadonlyMap<string, string | undefined>;
  readonly faults: number;
}

const TASK_ID = "task-1";

/** So many steps of the store end any race, by far. */
const MAX_STEPS = 20_000;

/** Runs a race, and checks what came of it. */
export async function runRace(script: Script): Promise<void> {
  const running = new Running(script.delays);
  running.time.install();
  try {
    await running.run(script.actors);
  } finally {
    running.time.uninstall();
  }
}

class Running {
  readonly time = new VirtualTime(Date.UTC(2026, 4, 6, 7, 8, 9, 10));
  readonly #latency: Latency;
  readonly #hub: Hub;
  readonly #sides: readonly Side[];
  readonly #made: Made[] = [];
  #handles: readonly TaskHandle[] = [];
  #faults = 0;
  /** How many are at work that come to an end by themselves. */
  #busy = 0;

  constructor(delays: readonly number[]) {
    const latency = new Latency(delays);
    this.#latency = latency;
    const store = new MemoryTaskStore({ now: () => this.time.wall });
    this.#hub = new Hub(store, async (call) => {
      await latency.turn();
      try {
        return await call();
      } finally {
        await latency.turn();
      }
    });
    this.#sides = ["A", "B"].map((name) =>
      new Side(name, this.#hub, this.time, () => TASK_ID)
    );
  }

  async run(actors: readonly Actor[]): Promise<void> {
    const creating = this.#sides[0].tasks.createTask({ ttlMs: null });
    this.#work(creating);
    await this.#drive();
    await creating;

    const task = new ModelTask(TASK_ID, { ttlMs: null }, this.time.wall);
    this.#handles = this.#sides.map((side) => side.handle(task, false));
    const heard = new Map<string, string[]>();
    for (const { name, tasks } of this.#sides) {
      const list: string[] = [];
      heard.set(name, list);
      tasks.onTaskChanged(TASK_ID, (view) => list.push(canonical(view)));
    }
    // Both have seen the task before anything happens to it.
    await this.#drive();

    for (const actor of actors) this.#work(this.#act(actor));
    await this.#drive();
    for (let round = 0; round < 3; round++) {
      await this.#look();
      await this.#drive();
    }
    const aborted = new Map(this.#sides.map(({ name }, index) => {
      const { signal } = this.#handles[index];
      return [name, signal.aborted ? signal.reason.code : undefined];
    }));
    checkRace({
      commits: this.#hub.commits,
      made: this.#made,
      heard,
      aborted,
      faults: this.#faults,
    });
    await this.#close();
  }

  async #close(): Promise<void> {
    for (const { tasks } of this.#sides) {
      this.#work(tasks.close({ graceMs: 40 }));
    }
    await this.#drive();
    const left = this.#made.filter(({ call }) => !call.outcome);
    if (left.length > 0) {
      throw new Error(`calls are left: ${JSON.stringify(left)}`);
    }
    if (this.time.timers > 0) {
      throw new Error(`${this.time.timers} timers are left after close()`);
    }
  }

  #work(work: Promise<unknown>): void {
    this.#busy++;
    const end = () => void this.#busy--;
    work.then(end, end);
  }

  /** Lets the store answer, and time pass where somebody waits for it, until all is done. */
  async #drive(): Promise<void> {
    for (let step = 0; step < MAX_STEPS; step++) {
      await drain();
      if (this.#latency.held > 0) this.#latency.release();
      else if (this.#busy > 0) await this.time.advance(10, drain, false);
      else return;
    }
    throw new Error("the calls come to no end");
  }

  #look(): Promise<void> {
    return this.time.advance(OBSERVE_MS + 1, drain, false);
  }

  async #act({ side, atOnce, moves }: Actor): Promise<void> {
    for (const move of moves) {
      const ended = this.#start(side, move);
      // Who asks does not wait for the answers: nobody else may give them.
      if (move.move === "ask") continue;
      if (atOnce) this.#work(ended);
      else await ended;
    }
  }

  async #start(index: number, move: Move): Promise<void> {
    const side = this.#sides[index];
    switch (move.move) {
      case "fault":
        side.port.fault = move.when;
        this.#faults++;
        return;
      case "clock":
        this.time.wall += move.ms;
        return;
      case "look":
        return await this.#look();
    }
    const n = this.#made.length;
    const { commits } = this.#hub;
    const from = commits.length;
    const running = this.#call(index, move, n);
    const call = new Call(running);
    const made: Made = { n, side: side.name, move, call, from, to: from };
    this.#made.push(made);
    await running.catch(() => {});
    made.to = commits.length;
  }

  #call(index: number, move: Move, n: number): Promise<unknown> {
    const { tasks } = this.#sides[index];
    const handle = this.#handles[index];
    switch (move.move) {
      case "progress":
        return handle.progress(`working ${n}`);
      case "ask":
        return handle.requestInput(objectFrom(
          move.keys.map((key) => [KEYS[key], requestOf(KEYS[key])]),
        ));
      case "answer":
        return tasks.updateTask(
          TASK_ID,
          objectFrom(move.picks.map(({ key, good, variant }) => [
            KEYS[key],
            answerOf(KEYS[key], good, variant),
          ])),
        );
      case "resume":
        return handle.resumeInput();
      case "cancel":
        return tasks.cancelTask(TASK_ID);
      case "get":
        return tasks.getTask(TASK_ID);
      case "complete":
        return handle.complete({ content: [], n });
      case "fail":
        return handle.fail({ code: -32000, message: `failed ${n}` });
      case "cancelled":
        return handle.cancelled(`cancelled ${n}`);
      case "raw":
        return this.#raw(index, n);
      default:
        throw new Error(`${move.move} is no call`);
    }
  }

  async #raw(index: number, n: number): Promise<void> {
    const { port } = this.#sides[index];
    const record = await port.get(TASK_ID, this.time.wall);
    await port.update(
      TASK_ID,
      objectFrom([[`x-${n}`, n]]),
      record!.version,
      this.time.wall,
    );
  }
}
