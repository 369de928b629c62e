import assert from "node:assert/strict";
import {
  MemoryTaskStore,
  TaskLifecycle,
  type TaskLifecycleOptions,
} from "../../mod.ts";
import { describe, it } from "../support/runner.ts";
import { inWorld, ProbeStore, refuses } from "../support/engine_world.ts";

describe("I1 durable creation", () => {
  it("createTask() resolves only after the store has kept the task", () =>
    inWorld({}, async ({ tasks, store }) => {
      const release = store.hold("create");
      let created = false;
      const creating = tasks.createTask().then((task) => {
        created = true;
        return task;
      });
      await store.get("nothing");
      assert.equal(created, false);
      release();
      const { taskId } = await creating;
      assert.equal((await store.raw(taskId))?.status, "working");
    }));

  it("getTask() finds the task at once, with the same id and working", () =>
    inWorld({}, async ({ tasks }) => {
      const created = await tasks.createTask();
      const shown = await tasks.getTask(created.taskId);
      assert.equal(shown.taskId, created.taskId);
      assert.equal(shown.status, "working");
    }));

  it("createTask() gives a flat result without any payload", () =>
    inWorld({}, async ({ tasks, clock }) => {
      const created = await tasks.createTask({
        ttlMs: 90_000,
        pollIntervalMs: 250,
        statusMessage: "Queued",
        owner: "ada",
        method: "prompts/get",
      });
      const at = new Date(clock.time).toISOString();
      assert.deepEqual(created, {
        resultType: "task",
        taskId: created.taskId,
        status: "working",
        statusMessage: "Queued",
        createdAt: at,
        lastUpdatedAt: at,
        ttlMs: 90_000,
        pollIntervalMs: 250,
      });
    }));

  it("createTask() takes the defaults of the options", () =>
    inWorld(
      { defaultTtlMs: 77_000, defaultPollIntervalMs: 333 },
      async ({ tasks }) => {
        const { ttlMs, pollIntervalMs } = await tasks.createTask();
        assert.deepEqual({ ttlMs, pollIntervalMs }, {
          ttlMs: 77_000,
          pollIntervalMs: 333,
        });
      },
    ));

  it("createTask() has an hour and a second where nobody says otherwise", () =>
    inWorld({}, async ({ tasks, store }) => {
      const created = await tasks.createTask();
      assert.equal(created.ttlMs, 3_600_000);
      assert.equal(created.pollIntervalMs, 1_000);
      assert.equal("statusMessage" in created, false);
      const record = await store.raw(created.taskId);
      assert.equal(record?.method, "tools/call");
      assert.equal(record?.version, 1);
      assert.equal("owner" in record, false);
    }));

  it("createTask() takes null for no TTL and for no poll interval", () =>
    inWorld({}, async ({ tasks }) => {
      const created = await tasks.createTask({
        ttlMs: null,
        pollIntervalMs: null,
      });
      assert.equal(created.ttlMs, null);
      assert.equal("pollIntervalMs" in created, false);
    }));

  it("createTask() leaves nothing behind when the store fails, and says why", () =>
    inWorld({ limits: { maxTasks: 1 } }, async ({ tasks, store }) => {
      const cause = new Error("disk on fire");
      store.failures.set("create", cause);
      const error = await refuses(
        () => tasks.createTask(),
        "ERR_STORE_FAILED",
        /^Cannot create a task: the store failed \(disk on fire\)$/,
      );
      assert.equal(error.cause, cause);
      store.failures.clear();
      await tasks.createTask();
    }));

  it("createTask() refuses an id that exists, and the first task stands", () =>
    inWorld({ generateTaskId: () => "same" }, async ({ tasks, store }) => {
      await tasks.createTask({ statusMessage: "first" });
      const before = await store.raw("same");
      await refuses(
        () => tasks.createTask({ statusMessage: "second" }),
        "ERR_DUPLICATE_TASK_ID",
        /"same"/,
      );
      assert.deepEqual(await store.raw("same"), before);
    }));
});

describe("I6 unguessable ids", () => {
  it("createTask() makes 1,000 different ids of 122 random bits", () =>
    inWorld({}, async ({ tasks }) => {
      const ids = new Set<string>();
      for (let i = 0; i < 1_000; i++) {
        const { taskId } = await tasks.createTask();
        assert.match(
          taskId,
          /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        );
        ids.add(taskId);
      }
      assert.equal(ids.size, 1_000);
    }));

  for (const [what, id] of [["", ""], ["a number", 42], ["undefined"]]) {
    it(`createTask() refuses ${what || "an empty id"} from generateTaskId`, () =>
      inWorld(
        { generateTaskId: () => id as string },
        async ({ tasks, store }) => {
          await refuses(
            () => tasks.createTask(),
            "ERR_INVALID_ARGUMENT",
            /^Cannot use generateTaskId\(\): it gave .+, an unguessable string is needed$/,
          );
          assert.equal(store.calls.create, 0);
        },
      ));
  }
});

describe("TaskLifecycle", () => {
  it("does nothing when it is made: no clock, no timer, no id, no store", async () => {
    const store = new ProbeStore();
    const real = globalThis.setTimeout;
    let timers = 0;
    globalThis.setTimeout = ((...args: Parameters<typeof real>) => {
      timers++;
      return real(...args);
    }) as typeof real;
    try {
      const never = () => {
        throw new Error("called");
      };
      new TaskLifecycle({ store, now: never, generateTaskId: never });
      await Promise.resolve();
    } finally {
      globalThis.setTimeout = real;
    }
    assert.equal(timers, 0);
    assert.deepEqual(store.calls, {
      create: 0,
      get: 0,
      update: 0,
      sweep: 0,
      close: 0,
    });
  });

  const bad: Record<string, [unknown, RegExp]> = {
    "no options": [undefined, /the options are undefined/],
    "null": [null, /the options are null/],
    "no store": [{}, /store is undefined, a TaskStore is needed$/],
    "a store that is a Map": [{ store: new Map() }, /without create\(\)/],
    "a store that cannot sweep": [{
      store: Object.assign(new MemoryTaskStore(), { sweep: 7 }),
    }, /without sweep\(\)/],
  };
  const meant: Record<string, string> = {
    defaultTTLMs: "defaultTtlMs",
    sweepInterval: "sweepIntervalMs",
    onEvents: "onEvent",
    limit: "limits",
  };
  for (const [name, right] of Object.entries(meant)) {
    bad[`an option that is not: ${name}`] = [
      { store: new MemoryTaskStore(), [name]: 5 },
      new RegExp(`no option "${name}"; did you mean ${right}\\?$`),
    ];
  }
  bad["an option that is like none"] = [
    { store: new MemoryTaskStore(), colour: 5 },
    /no option "colour"; there are store, defaultTtlMs, .+, onEvent$/,
  ];
  bad["a limit that is not"] = [
    { store: new MemoryTaskStore(), limits: { maxTasksPerUser: 5 } },
    /no limit "maxTasksPerUser"; did you mean maxTasksPerOwner\?$/,
  ];
  const wrong: Record<string, unknown[]> = {
    defaultTtlMs: [0, -1, 1.5, NaN, Infinity, "x", 2n],
    defaultPollIntervalMs: [0, 0.5, -3, NaN, "x"],
    sweepIntervalMs: [0, -5, NaN, 0.1, Infinity, "x"],
    observeIntervalMs: [0, -5, NaN, 0.1, Infinity, "x"],
    checkFormAnswers: ["no", 0, null],
    now: [42, "x"],
    generateTaskId: [42, "x"],
    onEvent: [42, "x", null],
    limits: [42, "x", null],
  };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      bad[`${name}: ${typeof value === "string" ? `"${value}"` : value}`] = [{
        store: new MemoryTaskStore(),
        [name]: value,
      }, new RegExp(`Cannot (use|set) ${name}.*: the .+ (is|are) .+ needed`)];
    }
  }
  for (const [what, [options, message]] of Object.entries(bad)) {
    it(`refuses ${what}`, () =>
      refuses(
        // deno-lint-ignore require-await -- a constructor throws
        async () => new TaskLifecycle(options as TaskLifecycleOptions),
        "ERR_INVALID_ARGUMENT",
        message,
      ).then(() => {}));
  }

  for (const time of [NaN, Infinity, 8.64e15 + 1, undefined, "x"]) {
    it(`createTask() refuses a clock that gives ${time}`, () =>
      inWorld({ now: () => time as number }, async ({ tasks, store }) => {
        await refuses(
          () => tasks.createTask(),
          "ERR_INVALID_ARGUMENT",
          /^Cannot use now\(\): it gave .+, milliseconds since the epoch/,
        );
        assert.equal(store.calls.create, 0);
      }));
  }

  it("takes a clock finer than a millisecond", () =>
    inWorld({ now: () => 1_800_000_000_000.75 }, async ({ tasks }) => {
      const { createdAt } = await tasks.createTask();
      assert.equal(createdAt, "2027-01-15T08:00:00.000Z");
    }));
});
