/** Writes down what a case does to its stores, so that a failure can be followed. */

import type { TaskStore } from "../store/contract.ts";
import { describeError } from "./brief.ts";
import { briefRecord, briefTime } from "./brief_record.ts";

/** Of long runs the first and the last steps are kept. */
const FIRST = 6;
const LAST = 24;

interface Step {
  readonly number: number;
  readonly text: string;
  outcome: string;
}

/** The steps of a case. */
export class Recorder {
  readonly #first: Step[] = [];
  readonly #last: Step[] = [];
  readonly #pending = new Set<Step>();
  #count = 0;
  /** The call that rejected last, and with what. */
  lastRejected: { readonly call: string; readonly error: unknown } | undefined;

  /**
   * Puts itself in front of a store. Refusals become rejections here, so that
   * a store that throws fails the case which is about that, and no other.
   *
   * @param store The store.
   * @param label What the steps call it.
   * @returns A store that does the same.
   */
  watch(store: TaskStore, label: string): TaskStore {
    const call = <T>(
      method: string,
      args: readonly unknown[],
      run: () => Promise<T>,
    ): Promise<T> => {
      const given = args.map((arg, i) =>
        i > 0 && i === args.length - 1 || method === "sweep"
          ? briefTime(arg)
          : briefRecord(arg)
      );
      while (args[given.length - 1] === undefined && given.length > 0) {
        given.pop();
      }
      const text = `${label}.${method}(${given.join(", ")})`;
      const step = this.#add(text, "has not settled");
      this.#pending.add(step);
      const promise = (async () => {
        try {
          const value = await run();
          step.outcome = briefRecord(value);
          return value;
        } catch (error) {
          step.outcome = `rejects with ${describeError(error)}`;
          this.lastRejected = { call: text, error };
          throw error;
        } finally {
          this.#pending.delete(step);
        }
      })();
      promise.catch(() => {}); // a case that has failed already does not wait for it
      return promise;
    };
    return {
      traits: store.traits,
      create: (record) => call("create", [record], () => store.create(record)),
      get: (taskId, now) =>
        call(
          "get",
          [taskId, now],
          () => now === undefined ? store.get(taskId) : store.get(taskId, now),
        ),
      update: (taskId, patch, version, now) =>
        call(
          "update",
          [taskId, patch, version, now],
          () =>
            now === undefined
              ? store.update(taskId, patch, version)
              : store.update(taskId, patch, version, now),
        ),
      ...(store.head && {
        head: (taskId, now) =>
          call(
            "head",
            [taskId, now],
            () =>
              now === undefined
                ? store.head!(taskId)
                : store.head!(taskId, now),
          ),
      }),
      ...(store.commit && {
        commit: (taskId, patch, version, now) =>
          call(
            "commit",
            [taskId, patch, version, now],
            () =>
              now === undefined
                ? store.commit!(taskId, patch, version)
                : store.commit!(taskId, patch, version, now),
          ),
      }),
      ...(store.watch && {
        watch: (taskId, changed) => {
          this.note(`${label}.watch(${JSON.stringify(taskId)})`);
          return store.watch!(taskId, changed);
        },
      }),
      sweep: (now) =>
        call(
          "sweep",
          [now],
          () => now === undefined ? store.sweep() : store.sweep(now),
        ),
      close: () => call("close", [], () => store.close()),
    };
  }

  /**
   * Writes down what is no call of a store.
   *
   * @param text What was done.
   */
  note(text: string): void {
    this.#add(text, "");
  }

  /** How many steps there were. */
  get count(): number {
    return this.#count;
  }

  /** The calls that have not settled. */
  pending(): readonly string[] {
    return [...this.#pending].map(({ text }) => text);
  }

  /** All steps, one line each; of long runs the first and the last. */
  steps(): readonly string[] {
    const left = this.#count - this.#first.length - this.#last.length;
    return [
      ...this.#first.map(line),
      ...(left > 0 ? [`… ${left} more`] : []),
      ...this.#last.map(line),
    ];
  }

  #add(text: string, outcome: string): Step {
    const step = { number: ++this.#count, text, outcome };
    if (this.#first.length < FIRST) this.#first.push(step);
    else {
      this.#last.push(step);
      if (this.#last.length > LAST) this.#last.shift();
    }
    return step;
  }
}

function line({ number, text, outcome }: Step): string {
  return `${number}. ${text}${outcome && ` → ${outcome}`}`;
}
