import assert from "node:assert/strict";
import {
  type GetTaskResult,
  LifecycleClosedError,
  StoreFailedError,
  TaskAlreadyTerminalError,
  type TaskEvent,
  TaskFailure,
  type TaskHandle,
  TaskNotFoundError,
  type TaskWorker,
} from "../../mod.ts";
import { describe, it } from "../support/runner.ts";
import {
  another,
  ask,
  inWorld,
  ProbeStore,
  settled,
  type World,
} from "../support/engine_world.ts";

interface Ran {
  readonly shown: GetTaskResult;
  readonly events: readonly TaskEvent[];
}

/** Runs a worker to its end and shows what became of its task. */
async function ran(worker: TaskWorker, world?: World): Promise<Ran> {
  if (world) {
    const { taskId } = await world.tasks.createTask();
    await world.tasks.run(taskId, worker);
    return {
      shown: await world.tasks.getTask(taskId),
      events: world.operator.events,
    };
  }
  let result: Ran;
  await inWorld({}, async (world) => {
    result = await ran(worker, world);
  });
  return result!;
}

/** What a client reads of a completed task. */
function resultOf(shown: GetTaskResult): unknown {
  assert.equal(shown.status, "completed");
  return shown.status === "completed" && shown.result;
}

/** What a client reads of a failed task. */
function errorOf(shown: GetTaskResult): unknown {
  assert.equal(shown.status, "failed");
  return shown.status === "failed" && shown.error;
}

/** A tool result that says what went wrong. */
const broken = (text: string) => ({
  content: [{ type: "text", text }],
  isError: true,
});

/** Throws any value, at once or later. */
const throwing: Record<string, (value: unknown) => TaskWorker> = {
  "at once": (value) => () => {
    throw value;
  },
  "later": (value) => async () => {
    await settled();
    throw value;
  },
};

describe("run()", () => {
  it("completes the task with what the worker returns, at once or later", async () => {
    assert.deepEqual(resultOf((await ran(() => ({ pages: 7 }))).shown), {
      pages: 7,
    });
    const later: TaskWorker = async (task) => {
      await task.progress("1 of 2");
      return { pages: 8 };
    };
    const { shown, events } = await ran(later);
    assert.deepEqual(resultOf(shown), { pages: 8 });
    assert.equal(shown.statusMessage, "1 of 2");
    assert.deepEqual(events, []);
  });

  it("completes the task with {} when the worker returns nothing", async () => {
    assert.deepEqual(resultOf((await ran(() => {})).shown), {});
  });

  it("leaves a task alone that its worker has ended", async () => {
    const ends: Record<string, (task: TaskHandle) => Promise<void>> = {
      completed: (task) => task.complete({ by: "hand" }),
      failed: (task) => task.fail({ code: -32_050, message: "by hand" }),
      cancelled: (task) => task.cancelled("by hand"),
    };
    for (const [status, end] of Object.entries(ends)) {
      const { shown, events } = await ran(async (task) => {
        await end(task);
        return { ignored: true };
      });
      assert.equal(shown.status, status);
      assert.deepEqual(events, []);
    }
  });

  it("waits for an end that its worker has not awaited", async () => {
    const ends: Record<string, (task: TaskHandle) => Promise<void>> = {
      completed: (task) => task.complete({ by: "hand" }),
      failed: (task) => task.fail({ code: -32_050, message: "by hand" }),
      cancelled: (task) => task.cancelled("by hand"),
    };
    for (const [status, end] of Object.entries(ends)) {
      for (const result of [undefined, { ignored: true }]) {
        const { shown, events } = await ran((task) => {
          void end(task);
          return result;
        });
        assert.equal(shown.status, status);
        assert.deepEqual(events, []);
      }
    }
    const { shown, events } = await ran((task) => {
      void task.complete({ by: "hand" });
      throw new Error("after it");
    });
    assert.deepEqual(resultOf(shown), { by: "hand" });
    assert.equal(events.length, 1);
  });

  it("ends with what an end has failed with, where nothing else ends it", async () => {
    const bad = { when: new Date(0) } as never;
    const { shown, events } = await ran(async (task) => {
      void task.complete(bad);
      // Long enough for a rejection that nobody handles to be one.
      await new Promise((resolve) => setTimeout(resolve));
    });
    const { content: [{ text }] } = resultOf(shown) as ReturnType<
      typeof broken
    >;
    assert.match(text, /^Cannot store result\.when: it is an instance of Date/);
    const [event] = events;
    assert.equal(event.type === "worker_error" && event.outcome, "completed");

    const other = await ran(async (task) => {
      await task.complete(bad).catch(() => {});
      return { smaller: true };
    });
    assert.deepEqual(resultOf(other.shown), { smaller: true });
    const again = await ran(async (task) => {
      await task.complete(bad).catch(() => {});
      await task.complete({ smaller: true });
    });
    assert.deepEqual(resultOf(again.shown), { smaller: true });
  });

  it("leaves a task alone that was ended through another handle", () =>
    inWorld({}, async (world) => {
      const { shown, events } = await ran(async (task) => {
        await world.tasks.handle(task.taskId).complete({ by: "another" });
      }, world);
      assert.deepEqual(resultOf(shown), { by: "another" });
      assert.deepEqual(events, []);
    }));

  it("tells the operator of a result that came after the end", () =>
    inWorld({}, async (world) => {
      const { shown, events } = await ran(async (task) => {
        await world.tasks.handle(task.taskId).complete({ by: "another" });
        return { lost: true };
      }, world);
      assert.deepEqual(resultOf(shown), { by: "another" });
      assert.equal(events.length, 1);
      const [event] = events;
      assert.equal(event.type === "worker_error" && event.outcome, "none");
    }));

  it("tells the operator of a throw after the end, and the end stands", async () => {
    const error = new Error("while cleaning up");
    const { shown, events } = await ran(async (task) => {
      await task.complete({ done: true });
      throw error;
    });
    assert.deepEqual(resultOf(shown), { done: true });
    assert.deepEqual(events, [{
      type: "worker_error",
      taskId: shown.taskId,
      error,
      outcome: "none",
    }]);
  });

  const gRpc = Object.assign(new Error("unavailable"), { code: 14 });
  const noEntry = Object.assign(new Error("no file"), { code: "ENOENT" });
  const outOfRange = Object.assign(new Error("almost"), { code: -31_999 });
  const tooFar = Object.assign(new Error("too far"), { code: -32_769 });
  const fraction = Object.assign(new Error("half"), { code: -32_000.5 });
  const namedOnly = Object.assign(new Error("no code"), {
    name: "ProtocolError",
  });
  const ordinary: [string, unknown, string][] = [
    ["an Error", new Error("out of paper"), "out of paper"],
    ["an Error without a message", new Error(), ""],
    ["undefined", undefined, "undefined"],
    ["null", null, "null"],
    ["a string", "out of ink", "out of ink"],
    ["a number", 42, "42"],
    ["a symbol", Symbol("jam"), "Symbol(jam)"],
    ["an object", { text: "jam" }, "[object Object]"],
    ["an object without a prototype", Object.create(null), "Unknown error"],
    ["an object whose toString throws", {
      toString() {
        throw new Error("no words");
      },
    }, "Unknown error"],
    ["an object whose getters throw", {
      get code() {
        throw new Error("no code");
      },
      get message() {
        throw new Error("no message");
      },
      toString: () => "named anyway",
    }, "named anyway"],
    [
      "a proxy that throws",
      new Proxy({}, {
        get() {
          throw new Error("no traps");
        },
        getPrototypeOf() {
          throw new Error("no traps");
        },
      }),
      "Unknown error",
    ],
    [
      "an Error whose message is no string",
      Object.assign(new Error(), { message: { a: 1 } }),
      "[object Object]",
    ],
    [
      "a DOMException, code 23",
      new DOMException("slow", "TimeoutError"),
      "slow",
    ],
    ["an error with a gRPC code", gRpc, "unavailable"],
    ["an error with a system's code", noEntry, "no file"],
    ["an error with code -31999", outOfRange, "almost"],
    ["an error with code -32769", tooFar, "too far"],
    ["an error with a code that is no integer", fraction, "half"],
    ["an error that is a ProtocolError by name alone", namedOnly, "no code"],
    [
      "TaskNotFoundError of another task",
      new TaskNotFoundError("another"),
      String(new TaskNotFoundError("another").message),
    ],
    [
      "TaskAlreadyTerminalError of another task",
      new TaskAlreadyTerminalError("another", "failed"),
      String(new TaskAlreadyTerminalError("another", "failed").message),
    ],
  ];
  for (const [when, throws] of Object.entries(throwing)) {
    for (const [what, error, text] of ordinary) {
      it(`completes with isError when its worker throws ${what} ${when}`, async () => {
        const { shown, events } = await ran(throws(error));
        assert.deepEqual(resultOf(shown), broken(text));
        assert.deepEqual(events.map(({ type }) => type), ["worker_error"]);
        const [event] = events;
        assert.ok(event.type === "worker_error");
        assert.equal(event.outcome, "completed");
        assert.equal(event.error, error);
        assert.equal(event.taskId, shown.taskId);
      });
    }
  }

  const data = { reason: "jam", pages: [7] };
  const failures: [string, unknown, unknown][] = [
    [
      "TaskFailure",
      new TaskFailure({ code: -32_602, message: "no such folder", data }),
      { code: -32_602, message: "no such folder", data },
    ],
    [
      "TaskFailure with a code of the host's own",
      new TaskFailure({ code: 7, message: "seven" }),
      { code: 7, message: "seven" },
    ],
    [
      "TaskFailure of another copy of the package",
      Object.assign(new Error("copy"), {
        code: "ERR_TASK_FAILURE",
        error: { code: -32_011, message: "copied" },
      }),
      { code: -32_011, message: "copied" },
    ],
    [
      "TaskFailure whose data is no JSON",
      new TaskFailure({
        code: -32_012,
        message: "odd",
        data: new Map([[1, 2]]),
      }),
      { code: -32_012, message: "odd" },
    ],
    [
      "TaskFailure whose data is undefined",
      new TaskFailure({ code: -32_013, message: "none", data: undefined }),
      { code: -32_013, message: "none" },
    ],
    [
      "TaskFailure whose code is no integer",
      new TaskFailure({ code: 0.5, message: "half a code" }),
      { code: -32_603, message: "half a code" },
    ],
    [
      "TaskFailure that carries no error",
      Object.assign(new Error("empty"), { code: "ERR_TASK_FAILURE" }),
      { code: -32_603, message: "empty" },
    ],
    [
      "the SDK's ProtocolError",
      Object.assign(new Error("bad params"), {
        name: "ProtocolError",
        code: -32_602,
        data,
      }),
      { code: -32_602, message: "bad params", data },
    ],
    [
      "a ProtocolError with a code of its own",
      Object.assign(new Error("mine"), { name: "ProtocolError", code: 400 }),
      { code: 400, message: "mine" },
    ],
    [
      "an error with code -32050",
      Object.assign(new Error("busy"), { code: -32_050 }),
      { code: -32_050, message: "busy" },
    ],
    [
      "an error with the first code of the range",
      Object.assign(new Error("first"), { code: -32_768 }),
      { code: -32_768, message: "first" },
    ],
    [
      "an object with the last code of the range",
      { code: -32_000, message: "last" },
      { code: -32_000, message: "last" },
    ],
    [
      "an object with a code and no message",
      { code: -32_000 },
      { code: -32_000, message: "" },
    ],
  ];
  for (const [when, throws] of Object.entries(throwing)) {
    for (const [what, error, expected] of failures) {
      it(`fails the task when its worker throws ${what} ${when}`, async () => {
        const { shown, events } = await ran(throws(error));
        assert.deepEqual(errorOf(shown), expected);
        const [event] = events;
        assert.ok(event.type === "worker_error");
        assert.equal(event.outcome, "failed");
      });
    }
  }

  const results: [string, unknown, RegExp][] = [
    ["a Map inside", { map: new Map() }, /^Cannot store result.map: it is/],
    ["a member that is undefined", { a: undefined }, /^Cannot store result.a/],
    ["a string", "text", /^Cannot store result: the value is "text"/],
    ["an array", [1], /^Cannot store result: the value is an array of 1/],
  ];
  for (const [what, value, text] of results) {
    it(`completes with isError when the result is ${what}`, async () => {
      const { shown } = await ran((() => value) as unknown as TaskWorker);
      // deno-lint-ignore no-explicit-any -- read as a client would
      const result = resultOf(shown) as any;
      assert.equal(result.isError, true);
      assert.match(result.content[0].text, text);
    });
  }

  it("completes with isError when the result is too large", () =>
    inWorld({ limits: { maxRecordBytes: 3_000 } }, async (world) => {
      const { shown } = await ran(() => ({ text: "x".repeat(3_000) }), world);
      // deno-lint-ignore no-explicit-any -- read as a client would
      const result = resultOf(shown) as any;
      assert.equal(result.isError, true);
      assert.match(result.content[0].text, /at most 3000 are allowed/);
    }));

  it("ends the task when the worker's message is too large for it", () =>
    inWorld({ limits: { maxRecordBytes: 3_000 } }, async (world) => {
      const { shown } = await ran(() => {
        throw new Error("y".repeat(9_000));
      }, world);
      assert.deepEqual(resultOf(shown), broken(`${"y".repeat(255)}…`));
    }));

  it("ends the task when not even a short message fits", () =>
    inWorld({ limits: { maxRecordBytes: 500 } }, async (world) => {
      const { shown, events } = await ran(() => {
        throw new Error("\u0001".repeat(9_000));
      }, world);
      assert.deepEqual(errorOf(shown), { code: -32_603, message: "" });
      const [event] = events;
      assert.equal(event.type === "worker_error" && event.outcome, "failed");
    }));

  it("ends a cancelled task as cancelled, whatever its worker throws", () =>
    inWorld({}, async (world) => {
      for (
        const error of [
          new Error("stop"),
          new TaskFailure({ code: -32_000, message: "m" }),
          undefined,
        ]
      ) {
        const { shown } = await ran(async (task) => {
          await world.tasks.cancelTask(task.taskId);
          throw error;
        }, world);
        assert.equal(shown.status, "cancelled");
        const event = world.operator.events.at(-1);
        assert.ok(event?.type === "worker_error");
        assert.equal(event.outcome, "cancelled");
      }
    }));

  it("ends a task as cancelled whose cancel another has stored, unseen here", () =>
    inWorld({}, async (world) => {
      // So that the record alone tells of it.
      Object.assign(world.store, { watch: undefined });
      const other = another(world);
      const { shown, events } = await ran(async (task) => {
        await other.cancelTask(task.taskId);
        assert.equal(task.signal.aborted, false);
        throw new Error("gave up");
      }, world);
      assert.equal(shown.status, "cancelled");
      const [event] = events;
      assert.equal(event.type === "worker_error" && event.outcome, "cancelled");
      await other.close();
    }));

  it("ends a cancelled task as cancelled when its worker waits for input", () =>
    inWorld({}, async (world) => {
      const { shown } = await ran(async (task) => {
        const answers = task.requestInput({ name: ask() });
        await world.tasks.cancelTask(task.taskId);
        await answers;
      }, world);
      assert.equal(shown.status, "cancelled");
    }));

  it("completes a cancelled task whose worker returns all the same", () =>
    inWorld({}, async (world) => {
      const { shown } = await ran(async (task) => {
        await world.tasks.cancelTask(task.taskId);
        return { done: "anyway" };
      }, world);
      assert.deepEqual(resultOf(shown), { done: "anyway" });
    }));

  it("does not take TaskCancelled for a cancel that nobody asked for", async () => {
    const { shown } = await ran(async (task) => {
      const { TaskCancelled } = await import("../../mod.ts");
      throw new TaskCancelled(task.taskId);
    });
    assert.equal(shown.status, "completed");
  });

  it("writes nothing when the store fails under the worker", () =>
    inWorld({}, async ({ tasks, store, operator }) => {
      const { taskId } = await tasks.createTask();
      const cause = new Error("disk full");
      await tasks.run(taskId, async (task) => {
        store.failures.set("update", cause);
        try {
          await task.progress("half");
        } finally {
          store.failures.clear();
        }
      });
      assert.equal((await store.raw(taskId))?.version, 1);
      assert.equal(operator.events.length, 1);
      const [event] = operator.events;
      assert.ok(event.type === "worker_error");
      assert.equal(event.outcome, "none");
      assert.ok(event.error instanceof StoreFailedError);
      assert.equal(event.error.cause, cause);
    }));

  it("writes nothing when the store fails under the result", () =>
    inWorld({}, async ({ tasks, store, operator }) => {
      const { taskId } = await tasks.createTask();
      await tasks.run(taskId, () => {
        store.failures.set("update", new Error("disk full"));
        return { done: true };
      });
      store.failures.clear();
      assert.equal((await store.raw(taskId))?.version, 1);
      const [event] = operator.events;
      assert.equal(event.type === "worker_error" && event.outcome, "none");
    }));

  const noOutcomes: [string, (taskId: string) => unknown][] = [
    ["a store that failed", () => new StoreFailedError("read")],
    ["a lifecycle that closes", () => new LifecycleClosedError("go on")],
    ["its own task being gone", (id) => new TaskNotFoundError(id)],
    [
      "a store that failed, as a cause",
      () =>
        new Error("x", {
          cause: new Error("y", { cause: new StoreFailedError("read") }),
        }),
    ],
    [
      "a store that is locked, in another copy of the package",
      () => Object.assign(new Error("locked"), { code: "ERR_STORE_LOCKED" }),
    ],
  ];
  for (const [what, make] of noOutcomes) {
    it(`writes nothing when its worker throws ${what}`, () =>
      inWorld({}, async ({ tasks, store, operator }) => {
        const { taskId } = await tasks.createTask();
        const error = make(taskId);
        await tasks.run(taskId, async (task) => {
          await task.progress("half");
          throw error;
        });
        const record = await store.raw(taskId);
        assert.equal(record?.status, "working");
        assert.equal(record?.version, 2);
        const [event] = operator.events;
        assert.ok(event.type === "worker_error");
        assert.equal(event.outcome, "none");
        assert.equal(event.error, error);
      }));
  }

  it("follows no cycle of causes", async () => {
    const error = new Error("round");
    error.cause = error;
    const { shown } = await ran(() => {
      throw error;
    });
    assert.deepEqual(resultOf(shown), broken("round"));
  });

  it("starts no worker on a task that does not exist or has ended, and says so", () =>
    inWorld({}, async ({ tasks, store, operator }) => {
      const { taskId: ended } = await tasks.createTask();
      await tasks.handle(ended).complete({ first: true });
      const before = await store.raw(ended);
      for (const taskId of ["unknown", ended]) {
        await tasks.run(taskId, () => assert.fail("started"));
      }
      assert.deepEqual(await store.raw(ended), before);
      const codes = operator.events.map((event) =>
        event.type === "worker_error" && event.outcome === "none" &&
        (event.error as { code?: unknown }).code
      );
      assert.deepEqual(codes, ["ERR_TASK_NOT_FOUND", "ERR_TASK_TERMINAL"]);
    }));

  it("ends a task that was cancelled before a restart without its worker", () =>
    inWorld({}, async (world) => {
      const { taskId } = await world.tasks.createTask();
      await world.tasks.cancelTask(taskId);
      const after = another(world);
      await after.run(taskId, () => assert.fail("started"));
      assert.equal((await after.getTask(taskId)).status, "cancelled");
      await after.close();
    }));

  it("starts no worker while the store cannot be read, and writes nothing", () =>
    inWorld({}, async ({ tasks, store, operator }) => {
      const { taskId } = await tasks.createTask();
      store.failures.set("get", new Error("EIO"));
      await tasks.run(taskId, () => assert.fail("started"));
      store.failures.clear();
      assert.equal((await tasks.getTask(taskId)).status, "working");
      const event = operator.events.find(({ type }) => type === "worker_error");
      assert.ok(event?.type === "worker_error");
      assert.equal(event.outcome, "none");
    }));

  it("after close() starts no worker, and says so", () =>
    inWorld({}, async ({ tasks, operator }) => {
      const { taskId } = await tasks.createTask();
      await tasks.close();
      await tasks.run(taskId, () => assert.fail("started"));
      const [event] = operator.events;
      assert.ok(event.type === "worker_error");
      assert.equal(event.outcome, "none");
      assert.ok(event.error instanceof LifecycleClosedError);
    }));

  it("tells the operator when the outcome of a throw cannot be stored", () => {
    class FullStore extends ProbeStore {
      override update(): Promise<never> {
        return Promise.reject(new Error("disk full"));
      }
    }
    return inWorld({ store: new FullStore() }, async (world) => {
      const { shown, events } = await ran(() => {
        throw new Error("jam");
      }, world);
      assert.equal(shown.status, "working");
      assert.deepEqual(events.map(({ type }) => type), [
        "error",
        "worker_error",
      ]);
      const [error, worker] = events;
      assert.equal(error.type === "error" && error.operation, "end a task");
      assert.equal(worker.type === "worker_error" && worker.outcome, "none");
    });
  });

  it("leaves no unhandled rejection, un-awaited as it is", () =>
    inWorld({}, async ({ tasks }) => {
      const unhandled: unknown[] = [];
      const note = (event: Event) => {
        event.preventDefault();
        unhandled.push(event);
      };
      globalThis.addEventListener?.("unhandledrejection", note);
      try {
        for (const [, error] of ordinary) {
          const { taskId } = await tasks.createTask();
          tasks.run(taskId, () => Promise.reject(error));
          tasks.run(taskId, () => {
            throw error;
          });
        }
        tasks.run("unknown", () => Promise.reject(new Error("x")));
        await new Promise((resolve) => setTimeout(resolve, 5));
      } finally {
        globalThis.removeEventListener?.("unhandledrejection", note);
      }
      assert.deepEqual(unhandled, []);
    }));
});
