import assert from "node:assert/strict";
import * as library from "../mod.ts";
import { describe, it } from "./support/runner.ts";

const { TASK_ERRORS } = library;
type Code = library.TaskErrorCode;

/** One of each, with what its message has to say. */
const SAMPLES: Readonly<Record<Code, readonly [error: Error, says: RegExp]>> = {
  ERR_TASK_NOT_FOUND: [new library.TaskNotFoundError("t-7"), /"t-7".*expired/],
  ERR_TASK_TERMINAL: [
    new library.TaskAlreadyTerminalError("t-7", "failed"),
    /"t-7".*already failed/,
  ],
  ERR_TASK_CANCELLED: [
    new library.TaskCancelled("t-7"),
    /"t-7".*cancelled\(\)/,
  ],
  ERR_TASK_FAILURE: [
    new library.TaskFailure({ code: -32001, message: "no such folder" }),
    /^no such folder$/,
  ],
  ERR_CONCURRENT_UPDATE: [
    new library.ConcurrentUpdateError("t-7", 3, 5),
    /"t-7".*version 3 was expected, 5 is stored/,
  ],
  ERR_DUPLICATE_TASK_ID: [
    new library.DuplicateTaskIdError("t-7"),
    /"t-7".*the id exists/,
  ],
  ERR_DUPLICATE_INPUT_KEY: [
    new library.DuplicateInputKeyError("t-7", "name"),
    /key "name" of task "t-7"/,
  ],
  ERR_INVALID_ARGUMENT: [
    new library.InvalidArgumentError("Cannot use ttlMs: the value is 0"),
    /ttlMs.*0/,
  ],
  ERR_NOT_JSON: [
    new library.NotJsonError("result.rows[3]", "an instance of Map"),
    /result\.rows\[3\]: it is an instance of Map; plain JSON is/,
  ],
  ERR_INVALID_INPUT_REQUEST: [
    new library.InvalidInputRequestError("name", "params is missing"),
    /key "name": params is missing/,
  ],
  ERR_INVALID_INPUT_RESPONSE: [
    new library.InvalidInputResponseError(
      "t-7",
      new Map([["a", "is 1"], ["b", "is missing"]]),
    ),
    /2 answers for task "t-7": "a": is 1; "b": is missing/,
  ],
  ERR_INPUT_UNAVAILABLE: [
    new library.InputUnavailableError("Cannot ask: no elicitation"),
    /no elicitation/,
  ],
  ERR_INPUT_PENDING: [new library.InputPendingError(), /will call again/],
  ERR_LIMIT_EXCEEDED: [
    new library.LimitExceededError("maxInputKeys", 20, "Cannot ask: 21 keys"),
    /21 keys: maxInputKeys is 20/,
  ],
  ERR_ENTRY_TOO_LARGE: [
    new library.TaskEntryTooLargeError("t-7", 901, 900),
    /"t-7".*takes 901 bytes, at most 900/,
  ],
  ERR_LIFECYCLE_CLOSED: [
    new library.LifecycleClosedError("create a task"),
    /create a task.*closed/,
  ],
  ERR_STORE_CLOSED: [
    new library.StoreClosedError("read a task"),
    /read a task.*closed/,
  ],
  ERR_STORE_LOCKED: [
    new library.StoreLockedError("/data/tasks"),
    /"\/data\/tasks".*another directory/,
  ],
  ERR_STORE_DAMAGED: [
    new library.StoreDamagedError("tasks.log", 31, "a line fails its checksum"),
    /"tasks\.log" at byte 31: a line fails/,
  ],
  ERR_STORE_FAILED: [
    new library.StoreFailedError("update a task", { cause: "EIO" }),
    /update a task: the store failed \(EIO\)$/,
  ],
};

/** What only bad arguments are. */
const TYPE_ERRORS: readonly Code[] = [
  "ERR_INVALID_ARGUMENT",
  "ERR_NOT_JSON",
  "ERR_INVALID_INPUT_REQUEST",
];

function predicateOf(code: Code): (error: unknown) => boolean {
  const name = `is${TASK_ERRORS[code].name}`;
  const predicate = (library as Record<string, unknown>)[name];
  assert.equal(typeof predicate, "function", `${name} is exported`);
  return predicate as (error: unknown) => boolean;
}

describe("TASK_ERRORS", () => {
  it("has an entry for each error class that is exported, and no other", () => {
    const classes = Object.entries(library).flatMap(([name, value]) => {
      const prototype = (value as { prototype?: unknown }).prototype;
      return prototype instanceof Error && name !== "TaskError" ? [name] : [];
    });
    const names = Object.values(TASK_ERRORS).map((entry) => entry.name);
    assert.deepEqual(names.toSorted(), classes.toSorted());
  });

  for (const [code, [error, says]] of Object.entries(SAMPLES)) {
    const entry = TASK_ERRORS[code as Code];
    it(`${code} is the code of ${entry.name}, which says what was wrong`, () => {
      assert.equal((error as { code?: unknown }).code, code);
      assert.equal(error.constructor.name, entry.name);
      assert.equal(error.name, entry.name);
      assert.match(error.message, says);
      assert.match(entry.remedy, /\.$/);
      assert.ok([-32602, -32603].includes(entry.rpcCode));
      const isTypeError = TYPE_ERRORS.includes(code as Code);
      assert.equal(error instanceof TypeError, isTypeError);
    });
  }

  it("has a predicate for each, which knows the errors of another copy", () => {
    for (const code of Object.keys(TASK_ERRORS) as Code[]) {
      const predicate = predicateOf(code);
      assert.ok(predicate(SAMPLES[code][0]), code);
      assert.ok(predicate({ code }), code);
      for (const other of Object.keys(TASK_ERRORS) as Code[]) {
        const inside = code === "ERR_INVALID_ARGUMENT" &&
          TYPE_ERRORS.includes(other);
        assert.equal(
          predicate(SAMPLES[other][0]),
          code === other || inside,
          `${predicate.name} of ${other}`,
        );
      }
      for (const nothing of [undefined, null, 5, "ERR_NOT_JSON", {}]) {
        assert.equal(predicate(nothing), false);
      }
    }
  });

  const failed = "Cannot read a task: the store failed";
  const reasons: readonly (readonly [cause: unknown, message: string])[] = [
    [undefined, failed],
    [new Error("disk on fire"), `${failed} (disk on fire)`],
    [
      Object.assign(new Error("ENOSPC: no space left on device, write"), {
        code: "ENOSPC",
      }),
      `${failed} (ENOSPC: no space left on device, write)`,
    ],
    [
      Object.assign(new Error("no such table"), { code: "ERR_SQLITE_ERROR" }),
      `${failed} (ERR_SQLITE_ERROR: no such table)`,
    ],
    [
      Object.assign(new AggregateError([]), { code: "ECONNREFUSED" }),
      `${failed} (ECONNREFUSED)`,
    ],
    [
      new TypeError("fetch failed", { cause: new Error("timed out") }),
      `${failed} (TypeError: fetch failed: timed out)`,
    ],
    [
      new library.StoreFailedError("write", { cause: new Error("EIO") }),
      `${failed} (Cannot write: the store failed (EIO))`,
    ],
    ["a text", `${failed} (a text)`],
    [{ odd: true }, `${failed} (an object)`],
  ];
  for (const [cause, message] of reasons) {
    it(`says why a store failed, and keeps its cause: ${message}`, () => {
      const error = new library.StoreFailedError("read a task", { cause });
      assert.equal(error.message, message);
      assert.equal(error.cause, cause);
    });
  }

  it("says why a store failed, whatever was thrown", () => {
    const circle: Error & { cause?: unknown } = new Error("round");
    circle.cause = circle;
    const bad = Object.defineProperty(new Error("x"), "message", {
      get: () => assert.fail("read"),
    });
    for (const cause of [circle, bad, new Error("x".repeat(1_000_000))]) {
      const { message } = new library.StoreFailedError("read", { cause });
      assert.ok(message.startsWith("Cannot read: the store failed ("));
      assert.ok(message.length < 1_000);
    }
  });

  it("leaves a path whole, however long it is", () => {
    const path = `/data/${"tasks/".repeat(100)}"mine"`;
    for (
      const { message } of [
        new library.StoreLockedError(path),
        new library.StoreDamagedError(path, 31, "a line fails its checksum"),
      ]
    ) assert.ok(message.includes(JSON.stringify(path)), message);
  });

  it("cuts what a caller sent, however long it is", () => {
    const { message } = new library.TaskNotFoundError("x".repeat(1_000_000));
    assert.ok(message.length < 300);
  });
});
