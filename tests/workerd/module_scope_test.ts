/**
 * A Worker may not start a timer, draw a random number or see the clock while its modules load:
 * the entries load here at module scope, and a lifecycle is made there, under watch.
 */
import assert from "node:assert/strict";
import { describe, it } from "../support/runner.ts";

const calls: string[] = [];

/** Notes each call of a method until it is undone. */
function watch<T extends object>(owner: T, name: keyof T & string): () => void {
  const original = owner[name] as (...args: unknown[]) => unknown;
  const noted = (...args: unknown[]) => {
    calls.push(name);
    return Reflect.apply(original, owner, args);
  };
  owner[name] = noted as T[typeof name];
  return () => {
    owner[name] = original as T[typeof name];
  };
}

/** Notes each `new Date()` and `Date()` that reads the clock. */
function watchDates(): () => void {
  const original = globalThis.Date;
  globalThis.Date = new Proxy(original, {
    construct(target, args) {
      if (args.length === 0) calls.push("new Date");
      return Reflect.construct(target, args);
    },
    apply(target, self, args) {
      calls.push("Date");
      return Reflect.apply(target, self, args);
    },
  });
  return () => {
    globalThis.Date = original;
  };
}

/** What the platform says to a timer here; `undefined` if it took it. */
function refusal(): string | undefined {
  try {
    clearTimeout(setTimeout(() => {}, 0));
    return undefined;
  } catch (error) {
    return String(error);
  }
}

const refused = refusal();
const undo = [
  watch(globalThis, "setTimeout"),
  watch(globalThis, "setInterval"),
  watch(globalThis, "queueMicrotask"),
  watch(Date, "now"),
  watch(performance, "now"),
  watch(Math, "random"),
  watch(crypto, "randomUUID"),
  watch(crypto, "getRandomValues"),
  watchDates(),
];
const { MemoryTaskStore, TaskLifecycle } = await import("../../mod.ts");
await import("../../cloudflare.ts");
await import("../../deno_kv.ts");
await import("../../mcp.ts");
await import("../../testing.ts");
await import("../../wal.ts");
const lifecycle = new TaskLifecycle({
  store: new MemoryTaskStore(),
  sweepIntervalMs: 17_000,
});
const atLoad = [...calls];
for (const restore of undo.reverse()) restore();

describe("module scope", () => {
  it("refuses a timer, so what loads here would not load with one", () => {
    assert.match(refused ?? "the platform took it", /global scope/);
  });

  it("loads every entry and constructs a TaskLifecycle without a timer, a clock or a random number", () => {
    assert.deepEqual(atLoad, []);
  });

  it("leaves a lifecycle that works inside a request", async () => {
    const { taskId } = await lifecycle.createTask({ ttlMs: 41_000 });
    await lifecycle.handle(taskId).complete({ answer: 42 });
    const task = await lifecycle.getTask(taskId);
    assert.equal(task.status, "completed");
    await lifecycle.close();
  });
});
