/**
 * Durable Objects and a Workers KV namespace for the files in `tests/workerd/`,
 * which run inside one Worker: the objects live in its isolate, so that a body
 * reaches them as it is, closures included. `tools/test/workerd.ts` makes the
 * Worker and its bindings.
 */

import type { DurableObjectStorageBinding } from "../../src/cloudflare/shape.ts";

/** What a Durable Object gets from the platform, as far as tests use it. */
export interface ObjectContext {
  readonly storage: DurableObjectStorageBinding & {
    deleteAll(): Promise<void>;
    deleteAlarm(): Promise<void>;
    sync(): Promise<void>;
  };
  /** Resets the object: what it holds in memory is gone, its storage stays. */
  abort(reason?: string): void;
  blockConcurrencyWhile<T>(body: () => Promise<T>): Promise<T>;
}

/** A Workers KV namespace, as far as tests use it. */
export interface KvNamespace {
  get(key: string, options?: object): Promise<unknown>;
  getWithMetadata(
    key: string,
    options?: object,
  ): Promise<{ value: unknown; metadata: unknown }>;
  put(
    key: string,
    value: string | ArrayBuffer | ArrayBufferView,
    options?: object,
  ): Promise<void>;
  delete(key: string): Promise<void>;
  list(options?: object): Promise<{
    keys: { name: string; expiration?: number; metadata?: unknown }[];
    list_complete: boolean;
    cursor?: string;
  }>;
}

interface ObjectNamespace {
  getByName(name: string): { fetch(url: string): Promise<Response> };
}

/** The bindings of the Worker. */
interface Bindings {
  readonly OBJECTS: ObjectNamespace;
  readonly WITHOUT_ALARM: ObjectNamespace;
  readonly KV: KvNamespace;
}

type Body = (ctx: ObjectContext) => unknown;
type AlarmHandler = (
  ctx: ObjectContext,
  info: object,
) => void | Promise<void>;

let bindings: Bindings | undefined;
/** What waits to run inside an object, by a number that its request carries. */
const bodies = new Map<string, Body>();
const outcomes = new Map<string, PromiseSettledResult<unknown>>();
/** What the objects do when their alarm goes off, by their names. */
const alarms = new Map<string, AlarmHandler>();
let count = 0;

/** Takes the bindings: the Worker's entry calls it before any case runs. */
export function useBindings(env: Bindings): void {
  bindings = env;
}

function bound(): Bindings {
  if (!bindings) throw new Error("the bindings are there inside a case alone");
  return bindings;
}

type Context = ObjectContext & { readonly id: { readonly name: string } };

/** A class without `alarm()`. */
export class TestObjectWithoutAlarm {
  protected readonly ctx: Context;

  constructor(ctx: Context) {
    this.ctx = ctx;
  }

  async fetch(request: Request): Promise<Response> {
    const number = new URL(request.url).pathname.slice(1);
    const body = bodies.get(number)!;
    const [outcome] = await Promise.allSettled([
      (async () => await body(this.ctx))(),
    ]);
    outcomes.set(number, outcome);
    return new Response();
  }
}

/** The class of the objects that tests have. */
export class TestObject extends TestObjectWithoutAlarm {
  async alarm(info: object): Promise<void> {
    await alarms.get(this.ctx.id.name)?.(this.ctx, info);
  }
}

/** One Durable Object. */
export interface TestDurableObject {
  /**
   * Runs a body inside the object, as an event of its own. What it returns or
   * throws comes back as it is; without I/O of the object, which is bound to it.
   */
  run<T>(body: (ctx: ObjectContext) => T | Promise<T>): Promise<T>;
  /** Resets the object. Its next event meets a new instance over the same storage. */
  reset(): Promise<void>;
  /** Says what the object does, in every instance of it, when its alarm goes off. */
  onAlarm(handler: AlarmHandler): void;
}

/**
 * A Durable Object of its own, with empty storage.
 *
 * @param binding Which class it is of.
 */
export function durableObject(
  binding: "OBJECTS" | "WITHOUT_ALARM" = "OBJECTS",
): TestDurableObject {
  const name = `object ${++count}`;
  const send = async (body: Body): Promise<unknown> => {
    const number = `${++count}`;
    bodies.set(number, body);
    try {
      await bound()[binding].getByName(name).fetch(`http://object/${number}`);
      const outcome = outcomes.get(number)!;
      if (outcome.status === "rejected") throw outcome.reason;
      return outcome.value;
    } finally {
      bodies.delete(number);
      outcomes.delete(number);
    }
  };
  return {
    run: <T>(body: (ctx: ObjectContext) => T | Promise<T>) =>
      send(body) as Promise<T>,
    async reset() {
      const reason = `reset ${++count}`;
      try {
        await send((ctx) => ctx.abort(reason));
      } catch (error) {
        if (!String(error).includes(reason)) throw error;
      }
    },
    onAlarm: (handler) => void alarms.set(name, handler),
  };
}

/** Runs a body inside a Durable Object of its own, with empty storage. */
export function inDurableObject<T>(
  body: (ctx: ObjectContext) => T | Promise<T>,
): Promise<T> {
  return durableObject().run(body);
}

/** The KV namespace, and a prefix of keys that nobody else uses. */
export function kvNamespace(): {
  readonly kv: KvNamespace;
  readonly prefix: string;
} {
  return { kv: bound().KV, prefix: `namespace ${++count}:` };
}
