/** What a store may hold: written down while it is used, compared after a crash. */

import type { TaskRecord } from "../../../mod.ts";
import { PAYLOAD_FIELDS } from "../../../src/model/record.ts";

/** The state of a task that is not there. */
export const ABSENT = "absent";

/**
 * Makes a text that is the same for records that hold the same.
 *
 * @param record The record, if there is one.
 * @returns Its JSON, its members in order.
 */
export function textOf(record: TaskRecord | undefined): string {
  return record === undefined ? ABSENT : JSON.stringify(sorted(record));
}

function sorted(value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value).sort(([one], [other]) => one < other ? -1 : 1)
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

/** The fields that a head is without. */
const PAYLOADS: ReadonlySet<string> = new Set(PAYLOAD_FIELDS);

/**
 * Makes the head of a record.
 *
 * @param record The record.
 * @returns It without its payloads.
 */
export function headOf(record: TaskRecord): TaskRecord {
  return Object.fromEntries(
    Object.entries(record).filter(([key]) => !PAYLOADS.has(key)),
  ) as unknown as TaskRecord;
}

/**
 * Makes the record of a state.
 *
 * @param state The state of a task that is there.
 * @returns Its record.
 */
export function parse(state: string): TaskRecord {
  return JSON.parse(state);
}

/** Tells a state in a few words, for messages. */
export function brief(state: string): string {
  if (!state.startsWith("{")) return state;
  const { version, status, ttlMs, statusMessage } = parse(state);
  const size = `${state.length} characters`;
  return `v${version} ${status} ${statusMessage} (TTL ${ttlMs}, ${size})`;
}

/** The states that one task may be in after a crash. */
export interface Allowed {
  /** The last that was acknowledged. */
  readonly acknowledged: string;
  /** Those that were asked for since, and not acknowledged: the crash decides. */
  readonly open: readonly string[];
  /** All since the system was known to have everything on the disk: what a power loss without `fsync` may leave. */
  readonly since: readonly string[];
}

/** What is known of every task at one moment. */
export interface Expected {
  /** Tells it from other moments. */
  readonly version: number;
  /** The tasks that were ever named. */
  readonly tasks: ReadonlyMap<string, Allowed>;
}

interface Known {
  states: string[];
  /** The place in `states`. */
  acknowledged: number;
  open: number[];
  /** What was acknowledged when the disk was known to have it. */
  settled: number;
}

/** Writes down what is asked for and what is acknowledged. */
export class Model {
  readonly #tasks = new Map<string, Known>();
  #version = 0;
  #expected: Expected | undefined;

  /**
   * A state is asked for.
   *
   * @param taskId The task.
   * @param state The state that it has if this is done.
   * @returns To be called if it is acknowledged.
   */
  ask(taskId: string, state: string): () => void {
    const known = this.#known(taskId);
    const at = known.states.push(state) - 1;
    known.open.push(at);
    this.#changed();
    return () => {
      known.acknowledged = Math.max(known.acknowledged, at);
      known.open = known.open.filter((open) => open > known.acknowledged);
      this.#changed();
    };
  }

  /** The last state that was acknowledged. */
  acknowledged(taskId: string): string {
    const { states, acknowledged } = this.#known(taskId);
    return states[acknowledged];
  }

  /** How many states were asked for before the one that was acknowledged last. */
  place(taskId: string): number {
    return this.#known(taskId).acknowledged;
  }

  /** The states from one place to another, both included. */
  between(taskId: string, from: number, to: number): string[] {
    return this.#known(taskId).states.slice(from, to + 1);
  }

  /**
   * A task was seen in a state that was allowed, and stays in it.
   *
   * @param taskId The task.
   * @param state The state.
   */
  pin(taskId: string, state: string): void {
    this.ask(taskId, state)();
  }

  /** The system has written everything back: also a power loss leaves what is acknowledged by now. */
  settle(): void {
    for (const known of this.#tasks.values()) {
      known.settled = known.acknowledged;
    }
    this.#changed();
  }

  /** The tasks that were ever named. */
  taskIds(): string[] {
    return [...this.#tasks.keys()];
  }

  /** What a crash at this moment may leave. */
  expected(): Expected {
    return this.#expected ??= {
      version: this.#version,
      tasks: new Map([...this.#tasks].map(([taskId, known]) => {
        const { states, acknowledged, open, settled } = known;
        return [taskId, {
          acknowledged: states[acknowledged],
          open: open.map((at) => states[at]),
          since: states.slice(settled),
        }];
      })),
    };
  }

  #changed(): void {
    this.#version++;
    this.#expected = undefined;
  }

  #known(taskId: string): Known {
    let known = this.#tasks.get(taskId);
    if (!known) {
      known = { states: [ABSENT], acknowledged: 0, open: [], settled: 0 };
      this.#tasks.set(taskId, known);
      this.#changed();
    }
    return known;
  }
}
