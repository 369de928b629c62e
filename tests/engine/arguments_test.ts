import assert from "node:assert/strict";
import {
  type InputRequest,
  type JsonObject,
  type JsonRpcError,
  type ProgressPatch,
  type TaskErrorCode,
  TaskFailure,
  type TaskHandle,
  type TaskLifecycle,
} from "../../mod.ts";
import { describe, it } from "../support/runner.ts";
import {
  ask,
  inWorld,
  refuses,
  settled,
  throws,
  unchanged,
} from "../support/engine_world.ts";

/** Any value in the place of a typed argument. */
// deno-lint-ignore no-explicit-any -- every kind of wrong value
const any = (value: unknown): any => value;

const say = (value: unknown) =>
  typeof value === "string"
    ? `"${value}"`
    : value !== null && typeof value === "object"
    ? JSON.stringify(value)
    : String(value);

describe("createTask() refuses", () => {
  const wrong: Record<string, unknown[]> = {
    ttlMs: [0, -1, 1.5, NaN, Infinity, "x", true, 2 ** 53],
    pollIntervalMs: [0, 0.5, -2, NaN, "x", {}],
    statusMessage: [42, null, {}],
    owner: [42, null, ["ada"]],
    method: [42, null, {}],
  };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      it(`${name}: ${say(value)}`, () =>
        inWorld({}, async ({ tasks, store }) => {
          await refuses(
            () => tasks.createTask(any({ [name]: value })),
            "ERR_INVALID_ARGUMENT",
            new RegExp(`^Cannot use ${name}: the value is .+, .+ is needed$`),
          );
          assert.equal(store.calls.create, 0);
        }));
    }
  }
  for (const init of [null, 42, "x", true]) {
    it(`${say(init)} in the place of its argument`, () =>
      inWorld({}, async ({ tasks, store }) => {
        await refuses(
          () => tasks.createTask(any(init)),
          "ERR_INVALID_ARGUMENT",
          /^Cannot create a task: the options are .+, an object such as/,
        );
        assert.equal(store.calls.create, 0);
      }));
  }
});

/** What a misspelt option is refused with. */
const meant = (name: string, right: string) =>
  new RegExp(`: there is no option "${name}"; did you mean ${right}\\?$`);

describe("an option that is misspelt", () => {
  const misspelt: Readonly<
    Record<
      string,
      readonly [
        message: RegExp,
        call: (tasks: TaskLifecycle, taskId: string) => unknown,
      ]
    >
  > = {
    "createTask()": [
      meant("ttlMS", "ttlMs"),
      (tasks) => tasks.createTask(any({ ttlMS: 5 })),
    ],
    "getTask()": [
      meant("onwer", "owner"),
      (tasks, id) => tasks.getTask(id, any({ onwer: "ada" })),
    ],
    "updateTask()": [
      meant("Owner", "owner"),
      (tasks, id) => tasks.updateTask(id, {}, any({ Owner: "ada" })),
    ],
    "cancelTask()": [
      meant("owners", "owner"),
      (tasks, id) => tasks.cancelTask(id, any({ owners: "ada" })),
    ],
    "progress()": [
      meant("pollInterval", "pollIntervalMs"),
      (tasks, id) => tasks.handle(id).progress("m", any({ pollInterval: 5 })),
    ],
    "onTaskChanged()": [
      meant("onend", "onEnd"),
      (tasks, id) => tasks.onTaskChanged(id, () => {}, any({ onend() {} })),
    ],
    "close()": [
      meant("grace", "graceMs"),
      (tasks) => tasks.close(any({ grace: 5 })),
    ],
  };
  for (const [verb, [message, call]] of Object.entries(misspelt)) {
    it(`is refused by ${verb}, and nothing changes`, () =>
      inWorld({}, async ({ tasks, store }) => {
        const { taskId } = await tasks.createTask();
        await unchanged(store, taskId, () =>
          refuses(
            async () => await call(tasks, taskId),
            "ERR_INVALID_ARGUMENT",
            message,
          ));
        await tasks.getTask(taskId);
      }));
  }
});

describe("a verb refuses", () => {
  const verbs: Record<
    string,
    (tasks: TaskLifecycle, taskId: string, access?: unknown) => Promise<unknown>
  > = {
    "getTask()": (tasks, id, access) => tasks.getTask(id, any(access)),
    "updateTask()": (tasks, id, access) =>
      tasks.updateTask(id, {}, any(access)),
    "cancelTask()": (tasks, id, access) => tasks.cancelTask(id, any(access)),
  };
  for (const [verb, call] of Object.entries(verbs)) {
    for (const id of [undefined, null, 42, {}, ["a"]]) {
      it(`${verb}: the id ${say(id)}`, () =>
        inWorld({}, async ({ tasks, store }) => {
          await refuses(
            () => call(tasks, any(id)),
            "ERR_INVALID_ARGUMENT",
            /^Cannot find a task: the id is .+, a string is needed$/,
          );
          assert.equal(store.calls.get, 0);
        }));
    }
    for (const access of [null, 42, "ada", true]) {
      it(`${verb}: the access ${say(access)}`, () =>
        inWorld({}, async ({ tasks, store }) => {
          const { taskId } = await tasks.createTask();
          await unchanged(store, taskId, () =>
            refuses(
              () => call(tasks, taskId, access),
              "ERR_INVALID_ARGUMENT",
              /^Cannot use access: the options are .+, an object such as/,
            ));
        }));
    }
    for (const owner of [null, 42, {}, ["ada"]]) {
      it(`${verb}: the owner ${say(owner)}`, () =>
        inWorld({}, async ({ tasks, store }) => {
          const { taskId } = await tasks.createTask();
          await unchanged(store, taskId, () =>
            refuses(
              () => call(tasks, taskId, { owner }),
              "ERR_INVALID_ARGUMENT",
              /^Cannot use access.owner: the value is .+, a string is needed$/,
            ));
        }));
    }
    it(`${verb}: an id that is unknown`, () =>
      inWorld({}, async ({ tasks }) => {
        await refuses(
          () => call(tasks, "nobody-knows-me"),
          "ERR_TASK_NOT_FOUND",
          /"nobody-knows-me"/,
        );
      }));
    for (const id of ["__proto__", "constructor", "toString", ""]) {
      it(`${verb}: the unknown id ${say(id)}`, () =>
        inWorld({}, async ({ tasks }) => {
          await refuses(() => call(tasks, id), "ERR_TASK_NOT_FOUND");
        }));
    }
  }

  for (const responses of [undefined, null, [], ["a"], "x", 42, true]) {
    it(`updateTask(): the inputResponses ${say(responses)}`, () =>
      inWorld({}, async ({ tasks, store }) => {
        const { taskId } = await tasks.createTask();
        await tasks.handle(taskId).progress("on my way");
        await unchanged(store, taskId, () =>
          refuses(
            () => tasks.updateTask(taskId, responses),
            "ERR_INVALID_ARGUMENT",
            /^Cannot update a task: inputResponses is .+, an object of answers by key is needed$/,
          ));
      }));
  }

  it("handle(), run() and onTaskChanged(): an id that is no string, at once", () =>
    inWorld({}, async ({ tasks }) => {
      const message = /^Cannot find a task: the id is 42, a string is needed$/;
      throws(() => tasks.handle(any(42)), "ERR_INVALID_ARGUMENT", message);
      throws(
        () => tasks.run(any(42), () => {}),
        "ERR_INVALID_ARGUMENT",
        message,
      );
      throws(
        () => tasks.onTaskChanged(any(42), () => {}),
        "ERR_INVALID_ARGUMENT",
        message,
      );
      await settled();
    }));

  it("run(): a worker that is no function, and the task goes on", () =>
    inWorld({}, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      // deno-lint-ignore require-await -- checks the record before and after
      await unchanged(store, taskId, async () => {
        throws(
          () => tasks.run(taskId, any({ run: 1 })),
          "ERR_INVALID_ARGUMENT",
          /^Cannot run a worker: the value is an object, a function is needed$/,
        );
      });
    }));

  it("onTaskChanged(): a listener that is no function", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      throws(
        () => tasks.onTaskChanged(taskId, any("x")),
        "ERR_INVALID_ARGUMENT",
        /^Cannot listen to a task: the listener is "x", a function is needed$/,
      );
    }));

  for (const graceMs of [-1, NaN, "x", null, 1n]) {
    it(`close(): the grace ${say(graceMs)}, and stays open`, () =>
      inWorld({}, async ({ tasks }) => {
        await refuses(
          () => tasks.close(any({ graceMs })),
          "ERR_INVALID_ARGUMENT",
          /^Cannot close: graceMs is .+, milliseconds from 0 are needed$/,
        );
        await tasks.createTask();
      }));
  }
  for (const options of [null, 42, "x"]) {
    it(`close(): the options ${say(options)}, and stays open`, () =>
      inWorld({}, async ({ tasks }) => {
        await refuses(
          () => tasks.close(any(options)),
          "ERR_INVALID_ARGUMENT",
          /^Cannot close: the options are .+, an object such as/,
        );
        await tasks.createTask();
      }));
  }
});

describe("I11 plain JSON: a handle refuses", () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const notJson: Record<string, unknown> = {
    "a Map": new Map([["a", 1]]),
    "a Set": new Set([1]),
    "a Date": new Date(0),
    "a cycle": cycle,
    "a bigint": 1n,
    "undefined": undefined,
    "undefined in an array": [1, undefined],
    "a hole": [1, , 2],
    "NaN": NaN,
    "Infinity": Infinity,
    "a class instance": new (class Point {
      x = 1;
    })(),
    "a function": () => 1,
    "a symbol": Symbol("s"),
    "an Error": new Error("x"),
    "a Uint8Array": new Uint8Array(2),
  };
  const where: Record<
    string,
    (task: TaskHandle, value: unknown) => Promise<unknown>
  > = {
    "complete()": (task, value) => task.complete(any({ deep: [value] })),
    "fail()": (task, value) =>
      task.fail({ code: -32_099, message: "m", data: { deep: [value] } }),
    "requestInput()": (task, value) =>
      task.requestInput({
        key: any({ method: "roots/list", params: { deep: [value] } }),
      }),
  };
  for (const [method, call] of Object.entries(where)) {
    for (const [what, value] of Object.entries(notJson)) {
      it(`${method}: ${what}`, () =>
        inWorld({}, async ({ tasks, store }) => {
          const { taskId } = await tasks.createTask();
          const task = tasks.handle(taskId);
          await unchanged(store, taskId, () =>
            refuses(
              () => call(task, value),
              "ERR_NOT_JSON",
              /^Cannot store .*deep.*: it is .+; plain JSON is/,
            ));
        }));
    }
    it(`${method}: a hundred thousand levels, without a RangeError`, () =>
      inWorld({}, async ({ tasks, store }) => {
        const { taskId } = await tasks.createTask();
        const task = tasks.handle(taskId);
        let deep: unknown = 0;
        for (let i = 0; i < 100_000; i++) deep = [deep];
        await unchanged(
          store,
          taskId,
          () =>
            refuses(
              () => call(task, deep),
              "ERR_LIMIT_EXCEEDED",
              /maxDepth is 128/,
            ),
        );
      }));
  }

  it("complete() stores -0 as 0", () =>
    inWorld({}, async ({ tasks, store }) => {
      const { taskId } = await tasks.createTask();
      await tasks.handle(taskId).complete({ zero: -0, list: [-0] });
      const record = await store.raw(taskId);
      assert.deepEqual(record?.result, { zero: 0, list: [0] });
      assert.ok(Object.is(record?.result?.zero, 0));
    }));

  it("complete() keeps names that objects are born with as data", () =>
    inWorld({}, async ({ tasks }) => {
      const { taskId } = await tasks.createTask();
      const text =
        '{"__proto__":{"polluted":1},"constructor":2,"toString":3,"":4}';
      await tasks.handle(taskId).complete(JSON.parse(text) as JsonObject);
      const shown = await tasks.getTask(taskId);
      assert.equal(shown.status, "completed");
      assert.equal(JSON.stringify(any(shown).result), text);
      assert.equal(any({}).polluted, undefined);
    }));
});

describe("fail() takes what a worker could throw to the same end", () => {
  const given: Readonly<Record<string, Error>> = {
    "a TaskFailure": new TaskFailure({
      code: -32_001,
      message: "no such folder",
      data: { folder: "x" },
    }),
    "a ProtocolError": Object.assign(new Error("no such folder"), {
      name: "ProtocolError",
      code: -32_001,
      data: { folder: "x" },
    }),
  };
  for (const [what, error] of Object.entries(given)) {
    it(what, () =>
      inWorld({}, async ({ tasks }) => {
        const { taskId } = await tasks.createTask();
        await tasks.handle(taskId).fail(any(error));
        const task = await tasks.getTask(taskId);
        assert.deepEqual(task.status === "failed" && task.error, {
          code: -32_001,
          message: "no such folder",
          data: { folder: "x" },
        });
      }));
  }
});

describe("a handle refuses", () => {
  const results = [undefined, null, 42, "x", [], [1], true];
  const errors: [unknown, RegExp][] = [
    [{}, /code undefined and message undefined; an integer code/],
    [{ code: 1.5, message: "m" }, /code 1.5/],
    [{ code: "E", message: "m" }, /code "E"/],
    [{ code: -32_000 }, /message undefined/],
    [{ code: -32_000, message: 7 }, /message 7/],
    [null, /the error is null, a JSON-RPC error such as \{ code: -32603, /],
    [undefined, /the error is undefined, a JSON-RPC error/],
    ["boom", /the error is "boom", a JSON-RPC error/],
    [
      new Error("no such folder"),
      /the error is an Error that says "no such folder", a JSON-RPC error such as \{ code: -32603, message: .+ \} is needed; .*isError$/,
    ],
    [
      new DOMException("too late", "TimeoutError"),
      /the error is an Error that says "too late"/,
    ],
    [[], /an array of 0/],
  ];
  type Case = readonly [
    string,
    TaskErrorCode,
    RegExp,
    (task: TaskHandle) => unknown,
  ];
  const calls: readonly Case[] = [
    ...results.map((value) =>
      [
        `complete(): the result ${say(value)}`,
        "ERR_INVALID_ARGUMENT",
        /^Cannot store result: the value is .+, a plain JSON object is needed$/,
        (task: TaskHandle) => task.complete(any(value)),
      ] as const
    ),
    ...errors.map(([value, message]) =>
      [
        `fail(): the error ${say(value)}`,
        "ERR_INVALID_ARGUMENT",
        message,
        (task: TaskHandle) => task.fail(value as JsonRpcError),
      ] as const
    ),
    ...[undefined, null, 42, {}].map((value) =>
      [
        `progress(): the message ${say(value)}`,
        "ERR_INVALID_ARGUMENT",
        /^Cannot use statusMessage: the value is .+, a string is needed$/,
        (task: TaskHandle) => task.progress(any(value)),
      ] as const
    ),
    ...[null, 42, "x"].map((value) =>
      [
        `progress(): the patch ${say(value)}`,
        "ERR_INVALID_ARGUMENT",
        /^Cannot report progress: the options are .+, an object such as/,
        (task: TaskHandle) => task.progress("m", any(value)),
      ] as const
    ),
    ...[0, -1, 1.5, NaN, Infinity, "x"].map((value) =>
      [
        `progress(): ttlMs ${say(value)}`,
        "ERR_INVALID_ARGUMENT",
        /^Cannot use ttlMs: the value is .+, a whole number above 0 is needed$/,
        (task: TaskHandle) =>
          task.progress("m", { ttlMs: value } as ProgressPatch),
      ] as const
    ),
    ...[0, 0.5, null, "x"].map((value) =>
      [
        `progress(): pollIntervalMs ${say(value)}`,
        "ERR_INVALID_ARGUMENT",
        /^Cannot use pollIntervalMs: the value is /,
        (task: TaskHandle) =>
          task.progress("m", any({ pollIntervalMs: value })),
      ] as const
    ),
    ...[null, 42, {}].map((value) =>
      [
        `cancelled(): the message ${say(value)}`,
        "ERR_INVALID_ARGUMENT",
        /^Cannot use statusMessage: the value is /,
        (task: TaskHandle) => task.cancelled(any(value)),
      ] as const
    ),
    ...[undefined, null, 42, "x", [], [ask()]].map((value) =>
      [
        `requestInput(): the requests ${say(value)}`,
        "ERR_INVALID_ARGUMENT",
        /^Cannot request input: the requests are .+, an object of requests by key is needed$/,
        (task: TaskHandle) => task.requestInput(any(value)),
      ] as const
    ),
    [
      "requestInput(): no request at all",
      "ERR_INVALID_ARGUMENT",
      /the object has no key, at least one request is needed/,
      (task) => task.requestInput({}),
    ],
    ...[{ method: "ping" }, { method: "elicitation/create" }, {}].map((
      value,
    ) =>
      [
        `requestInput(): the request ${say(value)}`,
        "ERR_INVALID_INPUT_REQUEST",
        /^Cannot request input under key "bad": .+ is needed/,
        (task: TaskHandle) =>
          task.requestInput({ good: ask(), bad: value as InputRequest }),
      ] as const
    ),
  ];
  for (const [what, code, message, call] of calls) {
    it(what, () =>
      inWorld({}, async ({ tasks, store }) => {
        const { taskId } = await tasks.createTask();
        const task = tasks.handle(taskId);
        await task.progress("so far");
        await unchanged(
          store,
          taskId,
          () => refuses(() => call(task) as Promise<unknown>, code, message),
        );
      }));
  }
});
