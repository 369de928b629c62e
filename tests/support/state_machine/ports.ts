/** What stands between the engines of a test and the store that they share. */

import type { TaskPatch, TaskRecord, TaskStore } from "../../../mod.ts";
import { headOf } from "../../../src/model/record.ts";
import { drain } from "./virtual_time.ts";

/** A change that the store has applied. */
export interface Commit {
  /** Through which port. */
  readonly port: string;
  /** The record as it was then. */
  readonly record: TaskRecord;
}

/** Runs a call to the store when it is its turn. */
export type Gate = <Value>(call: () => Promise<Value>) => Promise<Value>;

/** What all ports of a store have in common. */
export class Hub {
  /** Every change, in the order in which the store applied it. */
  readonly commits: Commit[] = [];
  /** How many calls were made. */
  calls = 0;
  /** The calls that the store has not answered. */
  readonly inFlight: Set<Promise<unknown>> = new Set();
  /** The store. */
  base: TaskStore;
  /** When a call runs and when it is answered. */
  readonly gate: Gate | undefined;

  constructor(base: TaskStore, gate?: Gate) {
    this.base = base;
    this.gate = gate;
  }

  /** Resolves when nobody waits for the store and nothing follows from its answers. */
  async settle(): Promise<void> {
    for (;;) {
      const before = this.calls;
      await drain();
      if (this.inFlight.size > 0) await Promise.race(this.inFlight);
      else if (this.calls === before) return;
    }
  }

  /** Follows one call. */
  async track<Value>(call: () => Promise<Value>): Promise<Value> {
    this.calls++;
    const running = call();
    const ended = running.then(() => {}, () => {});
    this.inFlight.add(ended);
    try {
      return await running;
    } finally {
      this.inFlight.delete(ended);
    }
  }
}

/**
 * The store as one engine has it. Closing it leaves the store open, as the end
 * of a process leaves the disk.
 */
export class Port implements TaskStore {
  readonly #hub: Hub;
  readonly #name: string;
  /** Makes the next update fail, before or after the store has applied it. */
  fault: "before" | "after" | undefined;
  /** Of the port `A` alone, so that every run has an engine with the short cuts and one without. */
  readonly head: TaskStore["head"];
  /** The same. */
  readonly commit: TaskStore["commit"];

  constructor(hub: Hub, name: string) {
    this.#hub = hub;
    this.#name = name;
    if (name !== "A") return;
    this.head = (taskId, now) =>
      this.#call(async () => {
        const { base } = hub;
        if (base.head) return await base.head(taskId, now);
        const record = await base.get(taskId, now);
        return record && headOf(record);
      });
    this.commit = async (taskId, patch, expectedVersion, now) => {
      const { version } = await this.#write(async () => {
        const { base } = hub;
        const args = [taskId, patch, expectedVersion, now] as const;
        if (!base.commit) return await base.update(...args);
        await base.commit(...args);
        return (await base.get(taskId, 0))!;
      });
      return version;
    };
  }

  get traits(): TaskStore["traits"] {
    return this.#hub.base.traits;
  }

  create(record: TaskRecord): Promise<void> {
    return this.#call(async () => {
      await this.#hub.base.create(record);
      this.#hub.commits.push({ port: this.#name, record });
    });
  }

  get(taskId: string, now?: number): Promise<TaskRecord | undefined> {
    return this.#call(() => this.#hub.base.get(taskId, now));
  }

  update(
    taskId: string,
    patch: TaskPatch,
    expectedVersion: number,
    now?: number,
  ): Promise<TaskRecord> {
    return this.#write(() =>
      this.#hub.base.update(taskId, patch, expectedVersion, now)
    );
  }

  sweep(now?: number): Promise<number> {
    return this.#call(() => this.#hub.base.sweep(now));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #write(write: () => Promise<TaskRecord>): Promise<TaskRecord> {
    return this.#call(async () => {
      const { fault } = this;
      if (fault === "before") throw this.#break();
      const record = await write();
      this.#hub.commits.push({ port: this.#name, record });
      if (fault === "after") throw this.#break();
      return record;
    });
  }

  #break(): Error {
    this.fault = undefined;
    return new Error("the connection broke");
  }

  #call<Value>(call: () => Promise<Value>): Promise<Value> {
    const { gate } = this.#hub;
    return this.#hub.track(() => gate ? gate(call) : call());
  }
}
