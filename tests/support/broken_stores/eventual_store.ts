/** A store that is right over replicas that lag behind. */

import type { TaskStoreTraits } from "../../../src/store/contract.ts";
import type { TaskStoreFactory, TaskStoreFixture } from "../../../testing.ts";
import { Database, factoryOf, SoundStore } from "./sound_store.ts";

/** How long a replica may lag behind, in milliseconds. */
const LAG_MS = 60_000;

/** The traits of such a store. */
export const EVENTUAL: TaskStoreTraits = Object.freeze({
  durable: true,
  compareAndSwap: false,
  reads: "eventual",
  maxRecordBytes: 90_000,
});

/** A state of a record: its text, or that there is none. */
interface State {
  readonly at: number;
  readonly text: string | undefined;
}

/** What every record has been, by database. */
const histories = new WeakMap<Database, Map<string, State[]>>();

/** A store that is right. A place in the history of a record is what it has seen of it. */
export class EventualStore extends SoundStore {
  protected readonly seen: Map<string, number> = new Map();
  #reads = 0;

  protected override put(taskId: string, text: string): void {
    super.put(taskId, text);
    this.wrote(taskId, this.#add(taskId, text));
  }

  protected override remove(taskId: string): boolean {
    if (!super.remove(taskId)) return false;
    this.wrote(taskId, this.#add(taskId, undefined));
    return true;
  }

  protected override find(taskId: string): string | undefined {
    const place = this.choose(this.replica(taskId), this.seen.get(taskId));
    this.read(taskId, place);
    return this.states(taskId)[place]?.text;
  }

  /** Takes note of what this instance has written. */
  protected wrote(taskId: string, place: number): void {
    this.seen.set(taskId, place);
  }

  /** Takes note of what this instance has read. */
  protected read(taskId: string, place: number): void {
    this.seen.set(taskId, place);
  }

  /** What counts: what a replica gives, or what was seen before. */
  protected choose(place: number, seen = -1): number {
    return Math.max(place, seen);
  }

  /** What one of the replicas gives: two in three lag behind as far as they may. */
  protected replica(taskId: string): number {
    const states = this.states(taskId);
    if (this.#reads++ % 3 === 2) return states.length - 1;
    return states.findLastIndex(({ at }) => at <= this.clock() - LAG_MS);
  }

  protected states(taskId: string): State[] {
    let history = histories.get(this.database);
    if (!history) histories.set(this.database, history = new Map());
    let states = history.get(taskId);
    if (!states) history.set(taskId, states = []);
    return states;
  }

  #add(taskId: string, text: string | undefined): number {
    return this.states(taskId).push({ at: this.clock(), text }) - 1;
  }
}

/**
 * Makes the factory of such a store. What was written has arrived when it is
 * opened again.
 *
 * @param Store The kind.
 * @returns The factory.
 */
export function eventualFactoryOf(
  Store: typeof EventualStore,
): TaskStoreFactory {
  return () => {
    const database = new Database();
    const fixture = factoryOf(
      Store,
      EVENTUAL,
      () => database,
    )() as TaskStoreFixture;
    return {
      ...fixture,
      reopen() {
        database.skewMs += LAG_MS;
        return fixture.reopen!();
      },
      reopenLower(maxRecordBytes) {
        database.skewMs += LAG_MS;
        return fixture.reopenLower!(maxRecordBytes);
      },
    };
  };
}
