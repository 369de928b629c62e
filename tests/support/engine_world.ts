/** What the engine's tests share: a clock to turn, a store to watch and to trip, an operator that remembers. */
import assert from "node:assert/strict";
import {
  hasErrorCode,
  type InputRequest,
  type TaskErrorCode,
  type TaskEvent,
  TaskLifecycle,
  type TaskLifecycleOptions,
  type TaskPatch,
  type TaskRecord,
  type TaskStoreTraits,
} from "../../mod.ts";
import { PlainStore } from "./plain_store.ts";

/** A clock that stands until it is turned. */
export class Clock {
  /** The time, in milliseconds since the epoch. */
  time = Date.parse("2026-08-01T12:00:00.000Z");

  /** Gives the time. */
  readonly now = (): number => this.time;

  /** Turns the clock. */
  turn(ms: number): void {
    this.time += ms;
  }
}

type Method = "create" | "get" | "update" | "sweep" | "close";

/** A memory store that counts its calls, and fails or waits when it is told to. */
export class ProbeStore extends PlainStore {
  /** How often each method was called. */
  readonly calls: Record<Method, number> = {
    create: 0,
    get: 0,
    update: 0,
    sweep: 0,
    close: 0,
  };
  /** What a method throws, for as long as it stands here. */
  readonly failures: Map<Method, unknown> = new Map();
  readonly #gates: Map<Method, Promise<void>> = new Map();
  /** What the store says of itself. */
  override readonly traits: TaskStoreTraits;

  constructor(traits: TaskStoreTraits = {}) {
    super();
    this.traits = traits;
  }

  /** Lets the calls of a method wait until the returned function is called. */
  hold(method: Method): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gates.set(method, promise);
    return () => {
      this.#gates.delete(method);
      resolve();
    };
  }

  /** The record as it is stored, whatever the time. */
  raw(taskId: string): Promise<TaskRecord | undefined> {
    return super.get(taskId, 0);
  }

  override create(record: TaskRecord): Promise<void> {
    return this.#call("create", () => super.create(record));
  }

  /** Called with each read. */
  onGet: () => void = () => {};

  override get(taskId: string, now?: number): Promise<TaskRecord | undefined> {
    this.onGet();
    return this.#call("get", () => super.get(taskId, now));
  }

  override update(
    taskId: string,
    patch: TaskPatch,
    version: number,
    now?: number,
  ): Promise<TaskRecord> {
    return this.#call(
      "update",
      () => super.update(taskId, patch, version, now),
    );
  }

  override sweep(now?: number): Promise<number> {
    return this.#call("sweep", () => super.sweep(now));
  }

  override close(): Promise<void> {
    return this.#call("close", () => super.close());
  }

  async #call<T>(method: Method, call: () => Promise<T>): Promise<T> {
    this.calls[method]++;
    await this.#gates.get(method);
    if (this.failures.has(method)) throw this.failures.get(method);
    return await call();
  }
}

/** What the operator saw, and a way to wait for it. */
export class Operator {
  /** Everything, in order. */
  readonly events: TaskEvent[] = [];
  readonly #waiting = new Set<(event: TaskEvent) => void>();

  /** Goes into the options. */
  readonly onEvent = (event: TaskEvent): void => {
    this.events.push(event);
    for (const tell of this.#waiting) tell(event);
  };

  /** The next event of a kind that comes. */
  next<Type extends TaskEvent["type"]>(
    type: Type,
  ): Promise<Extract<TaskEvent, { type: Type }>> {
    return new Promise((resolve) => {
      const tell = (event: TaskEvent) => {
        if (event.type !== type) return;
        this.#waiting.delete(tell);
        resolve(event as Extract<TaskEvent, { type: Type }>);
      };
      this.#waiting.add(tell);
    });
  }
}

/** A lifecycle and what is around it. */
export interface World {
  readonly tasks: TaskLifecycle;
  readonly store: ProbeStore;
  readonly clock: Clock;
  readonly operator: Operator;
}

/**
 * Runs a test with a lifecycle over a store in memory, by a clock that stands,
 * without a sweep and without looking at what others wrote unless asked to.
 */
export async function inWorld(
  options: Partial<Omit<TaskLifecycleOptions, "store">> & {
    readonly store?: ProbeStore;
  },
  body: (world: World) => Promise<void>,
): Promise<void> {
  const clock = new Clock();
  const operator = new Operator();
  const store = options.store ?? new ProbeStore();
  const tasks = new TaskLifecycle({
    now: clock.now,
    onEvent: operator.onEvent,
    sweepIntervalMs: null,
    observeIntervalMs: null,
    ...options,
    store,
  });
  // The engine's own timers keep no process alive; a test waits for them.
  const { promise: late, reject } = Promise.withResolvers<never>();
  const alive = setTimeout(
    () => reject(new Error("The test did not end in 200 s")),
    200_000,
  );
  try {
    await Promise.race([body({ tasks, store, clock, operator }), late]);
  } finally {
    store.failures.clear();
    await Promise.race([tasks.close({ graceMs: 0 }), late])
      .finally(() => clearTimeout(alive));
  }
}

/**
 * A second lifecycle over the store of a world, as another process has it. The
 * store is still open when it has been closed.
 */
export function another(
  { store, clock }: Pick<World, "store" | "clock">,
  options: Partial<Omit<TaskLifecycleOptions, "store">> = {},
): TaskLifecycle {
  return new TaskLifecycle({
    now: clock.now,
    sweepIntervalMs: null,
    observeIntervalMs: null,
    ...options,
    store: {
      create: (record) => store.create(record),
      get: (taskId, now) => store.get(taskId, now),
      update: (...args) => store.update(...args),
      sweep: (now) => store.sweep(now),
      close: () => Promise.resolve(),
    },
  });
}

/**
 * Checks that a call gives a promise (it does not throw at once) which rejects
 * with an error of ours.
 */
export async function refuses(
  call: () => Promise<unknown>,
  code: TaskErrorCode,
  message: RegExp = /./,
): Promise<Error> {
  const promise = call();
  assert.ok(promise instanceof Promise, "no promise");
  let error: unknown;
  try {
    const value = await promise;
    assert.fail(`not refused: ${JSON.stringify(value)}`);
  } catch (thrown) {
    error = thrown;
  }
  checkError(error, code, message);
  return error as Error;
}

/** Checks that a call throws an error of ours at once. */
export function throws(
  call: () => unknown,
  code: TaskErrorCode,
  message: RegExp = /./,
): void {
  assert.throws(call, (error) => {
    checkError(error, code, message);
    return true;
  });
}

const BAD_ARGUMENTS = [
  "ERR_INVALID_ARGUMENT",
  "ERR_NOT_JSON",
  "ERR_INVALID_INPUT_REQUEST",
];

function checkError(error: unknown, code: TaskErrorCode, message: RegExp) {
  assert.ok(hasErrorCode(error, code), `${code} expected, not ${error}`);
  assert.ok(error instanceof Error);
  assert.match(error.message, message);
  assert.equal(error instanceof TypeError, BAD_ARGUMENTS.includes(code));
}

/** Checks that a call leaves a record exactly as it is, `version` included. */
export async function unchanged(
  store: ProbeStore,
  taskId: string,
  call: () => Promise<unknown>,
): Promise<void> {
  const before = await store.raw(taskId);
  await call();
  assert.deepEqual(await store.raw(taskId), before);
}

/** Lets everything that is ready run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** Resolves when a signal aborts, with its reason. */
export function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    else {
      signal.addEventListener("abort", () => resolve(signal.reason), {
        once: true,
      });
    }
  });
}

/** A question with a free text for an answer. */
export function ask(message = "What is it called?"): InputRequest {
  return {
    method: "elicitation/create",
    params: {
      message,
      requestedSchema: {
        type: "object",
        properties: { name: { type: "string" } },
        required: ["name"],
      },
    },
  };
}

/** The answer to {@linkcode ask}. */
export function named(name: string): {
  action: "accept";
  content: { name: string };
} {
  return { action: "accept", content: { name } };
}
