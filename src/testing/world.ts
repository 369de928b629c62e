/** The stores that a case works with, opened and put away. */

import type { TaskStore, TaskStoreTraits } from "../store/contract.ts";
import type { CaseWorld } from "./case.ts";
import { Unmet } from "./failure.ts";
import {
  openFixture,
  takeInstance,
  type TaskStoreFactory,
  type TaskStoreFixture,
} from "./fixture.ts";
import { Recorder } from "./recorder.ts";

/** What all worlds of a run have in common. */
export interface WorldOptions {
  readonly factory: TaskStoreFactory;
  /** Every instance that this run has had. */
  readonly seen: WeakSet<TaskStore>;
  readonly seed: number;
}

/** One fixture, its instances, and what was done with them. */
export class World implements CaseWorld {
  readonly store: TaskStore;
  readonly bare: TaskStore;
  readonly seed: number;
  deadline = 0;
  readonly recorder: Recorder = new Recorder();
  readonly #options: WorldOptions;
  readonly #fixture: TaskStoreFixture;
  readonly #instances: TaskStore[];
  #current: TaskStore;
  #seconds = 0;

  private constructor(options: WorldOptions, fixture: TaskStoreFixture) {
    this.#options = options;
    this.#fixture = fixture;
    this.bare = fixture.store;
    this.#instances = [fixture.store];
    this.seed = options.seed;
    this.store = this.#current = this.recorder.watch(fixture.store, "store");
  }

  /**
   * Opens a fixture.
   *
   * @param options What all worlds of the run share.
   * @returns The world.
   */
  static async open(options: WorldOptions): Promise<World> {
    const fixture = await openFixture(options.factory, options.seen);
    return new World(options, fixture);
  }

  get traits(): TaskStoreTraits {
    return this.bare.traits ?? {};
  }

  get fixture(): TaskStoreFixture {
    return this.#fixture;
  }

  steps(): readonly string[] {
    return this.recorder.steps();
  }

  readonly reopen = async (): Promise<TaskStore> => {
    await this.#current.close();
    this.recorder.note("reopen()");
    const instance = await this.#fixture.reopen!();
    return this.#current = this.#take("reopen()", instance, "store");
  };

  readonly reopenLower = async (maxRecordBytes: number): Promise<TaskStore> => {
    await this.#current.close();
    const call = `reopenLower(${maxRecordBytes})`;
    this.recorder.note(call);
    const instance = await this.#fixture.reopenLower!(maxRecordBytes);
    const limit = instance?.traits?.maxRecordBytes;
    if (limit !== maxRecordBytes) {
      throw new Unmet(
        `${call} gives a store whose traits.maxRecordBytes is ${maxRecordBytes}`,
        `it is ${limit}`,
      );
    }
    return this.#current = this.#take(call, instance, "store");
  };

  readonly secondInstance = async (): Promise<TaskStore> => {
    this.recorder.note("secondInstance()");
    const instance = await this.#fixture.secondInstance!();
    const label = this.#seconds++ === 0 ? "second" : `second${this.#seconds}`;
    return this.#take("secondInstance()", instance, label);
  };

  readonly advanceTime = async (ms: number): Promise<void> => {
    this.recorder.note(`advanceTime(${ms})`);
    await this.#fixture.advanceTime!(ms);
  };

  readonly another = async <T>(
    body: (world: CaseWorld) => Promise<T>,
  ): Promise<T> => {
    const world = await World.open(this.#options);
    world.deadline = this.deadline;
    try {
      return await body(world);
    } finally {
      await world.dispose();
    }
  };

  /** Closes all instances, and lets the fixture remove what they have left. */
  async dispose(): Promise<void> {
    for (const instance of this.#instances) {
      try {
        await instance.close();
      } catch {
        // That close() resolves is for the cases about it to say.
      }
    }
    await this.#fixture.dispose?.();
  }

  #take(giver: string, given: unknown, label: string): TaskStore {
    const instance = takeInstance(giver, given, this.#options.seen);
    this.#instances.push(instance);
    return this.recorder.watch(instance, label);
  }
}
