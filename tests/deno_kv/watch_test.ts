import assert from "node:assert/strict";
import { DenoKvTaskStore } from "../../deno_kv.ts";
import { TaskCancelled, TaskLifecycle } from "../../mod.ts";
import { MAX_WATCHES } from "../../src/deno_kv/limits.ts";
import { type KvFile, type TestKv, withKvFile } from "../support/deno_kv.ts";
import { aborted, ask, named, settled } from "../support/engine_world.ts";
import { aRecord } from "../support/records.ts";
import { describe, it, runtime, skip } from "../support/runner.ts";

/** A lifecycle that learns of others by the store's watch alone. */
function lifecycle(kv: TestKv): TaskLifecycle {
  return new TaskLifecycle({
    store: new DenoKvTaskStore(kv, { watch: true }),
    observeIntervalMs: null,
    sweepIntervalMs: null,
  });
}

describe("DenoKvTaskStore.watch()", () => {
  if (runtime !== "deno") {
    it("is absent: that of @deno/kv can block its process", () =>
      withKvFile((kv) => {
        assert.equal(typeof kv.watch, "function");
        const store = new DenoKvTaskStore(kv, { watch: true });
        assert.equal(store.watch, undefined);
        return Promise.resolve();
      }));
    skip(
      "makes others' changes known",
      "the store watches Deno's own KV alone",
    );
    return;
  }

  it("is absent where it was not asked for", () =>
    withKvFile((kv) => {
      assert.equal(new DenoKvTaskStore(kv).watch, undefined);
      return Promise.resolve();
    }));

  const withTwo = (
    body: (kv: TestKv, other: TestKv) => Promise<void>,
  ): Promise<void> =>
    withKvFile(async (kv: TestKv, file: KvFile) =>
      await body(kv, await file.open())
    );

  it("makes a cancel, an answer and an end known to another lifecycle", () =>
    withTwo(async (kv, other) => {
      const [worker, server] = [lifecycle(kv), lifecycle(other)];
      const { taskId } = await worker.createTask();
      const task = worker.handle(taskId);
      const ended = Promise.withResolvers<string>();
      server.onTaskChanged(taskId, ({ status }) => {
        if (status !== "working") ended.resolve(status);
      });
      // What it hears of is what changes behind its first look.
      await server.getTask(taskId);
      await settled();
      const answers = task.requestInput({ name: ask() });
      assert.equal(await ended.promise, "input_required");
      await server.updateTask(taskId, { name: named("Ada") });
      assert.deepEqual(await answers, { name: named("Ada") });
      await server.cancelTask(taskId);
      assert.ok(await aborted(task.signal) instanceof TaskCancelled);
      await worker.close();
      await server.close();
    }));

  it(`is for ${MAX_WATCHES} tasks at a time, and for others when one has ended`, () =>
    withTwo(async (kv, other) => {
      const store = new DenoKvTaskStore(kv, { watch: true });
      const writer = new DenoKvTaskStore(other);
      const heard = new Map<string, () => void>();
      const watch = (taskId: string) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        heard.set(taskId, resolve);
        return {
          promise,
          end: store.watch!(taskId, () => heard.get(taskId)!()),
        };
      };
      const first = watch("0");
      for (let i = 1; i < MAX_WATCHES; i++) watch(`${i}`);
      let late = 0;
      const ignored = store.watch!("late", () => late++);
      await writer.create(aRecord("late"));
      await writer.create(aRecord(`${MAX_WATCHES - 1}`));
      await first.promise;
      first.end();
      first.end();
      const next = watch("next");
      await writer.create(aRecord("next"));
      await next.promise;
      assert.equal(late, 0);
      ignored();
      await store.close();
      assert.equal(typeof store.watch!("0", () => {}), "function");
    }));

  it("ends quietly where the stream breaks off", () =>
    withKvFile(async (kv) => {
      const inner = await Deno.openKv(":memory:");
      const store = new DenoKvTaskStore(inner, { watch: true });
      const { promise, resolve } = Promise.withResolvers<void>();
      const end = store.watch!("a", resolve);
      await promise;
      inner.close();
      await new Promise((resolve) => setTimeout(resolve, 5));
      end();
      await store.close();
      const broken = new DenoKvTaskStore(
        Object.assign(Object.create(kv), {
          watch: () => {
            throw new Error("no streams left");
          },
        }),
        { watch: true },
      );
      broken.watch!("a", () => {})();
      broken.watch!("b", () => {});
      await new Promise((resolve) => setTimeout(resolve, 5));
      await broken.close();
    }));
});
