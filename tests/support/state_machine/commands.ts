/** The commands of the state machine, as plain data that shrinks and prints well. */

import fc from "../fast_check.ts";
import type { CreateTaskInit, ProgressPatch } from "../../../mod.ts";
import { KEYS } from "./samples.ts";

/** One answer of an update. */
export interface Pick {
  /** Whether `slot` counts open keys, where there are any, or all. */
  readonly aimed: boolean;
  readonly slot: number;
  readonly good: boolean;
  readonly variant: number;
}

/** In whose name a client asks: the owner's, another's, or nobody's. */
export type As = "owner" | "other" | "nobody";

/** A call that an engine takes; several may be made in one tick. */
export type Op =
  | {
    readonly op: "progress";
    readonly task: number;
    readonly patch?: ProgressPatch;
  }
  | {
    readonly op: "ask";
    readonly task: number;
    readonly keys: readonly number[];
    readonly fresh: boolean;
  }
  | {
    readonly op: "answer";
    readonly task: number;
    readonly picks: readonly Pick[];
    readonly as: As;
  }
  | { readonly op: "resume"; readonly task: number; readonly fresh: boolean }
  | { readonly op: "cancel"; readonly task: number; readonly as: As }
  | { readonly op: "get"; readonly task: number; readonly as: As }
  | { readonly op: "complete"; readonly task: number; readonly fresh: boolean }
  | { readonly op: "fail"; readonly task: number }
  | {
    readonly op: "cancelled";
    readonly task: number;
    readonly message: boolean;
  }
  | { readonly op: "bad"; readonly task: number; readonly which: number };

/** What a worker that `run()` starts does. */
export const WORKERS = [
  "returns",
  "returns nothing",
  "reports, then returns",
  "ends it, then returns",
  "ends it, then throws",
  "throws TaskFailure",
  "throws ProtocolError",
  "throws a JSON-RPC code",
  "throws at once",
  "throws an Error",
  "throws code 14",
  "throws undefined",
  "throws null",
  "throws a text",
  "throws a store error",
  "throws a closed lifecycle",
  "returns a Map",
  "asks",
  "asks and reports, and forgets it",
  "waits for its signal",
] as const;

/** One step. */
export type Command =
  | {
    readonly step: "calls";
    readonly side: number;
    readonly ops: readonly Op[];
  }
  | {
    readonly step: "create";
    readonly side: number;
    readonly init: CreateTaskInit;
  }
  | {
    readonly step: "fault";
    readonly side: number;
    readonly op: Op;
    readonly when: "before" | "after";
  }
  | {
    readonly step: "run";
    readonly side: number;
    readonly task: number;
    readonly worker: typeof WORKERS[number];
    readonly key: number;
  }
  | {
    readonly step: "listen";
    readonly side: number;
    readonly task: number;
    readonly throws: boolean;
  }
  | { readonly step: "unlisten"; readonly pick: number }
  | {
    readonly step: "raw";
    readonly task: number;
    readonly what: "unknown" | "ahead" | "stale";
  }
  | { readonly step: "clock"; readonly ms: number }
  | { readonly step: "pass"; readonly ms: number }
  | { readonly step: "look" }
  | { readonly step: "sweep" }
  | { readonly step: "stale"; readonly pick: number; readonly which: number }
  | { readonly step: "restart"; readonly side: number };

const task = fc.nat({ max: 1 });
const side = fc.nat({ max: 1 });
/** Mostly one engine, so that what only one process may do is seen often. */
const mainly = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, {
  weight: 1,
  arbitrary: side,
});
const as = fc.oneof(
  { weight: 8, arbitrary: fc.constant<As>("owner") },
  { weight: 1, arbitrary: fc.constantFrom<As>("other", "nobody") },
);
const ttlMs = fc.constantFrom(
  1,
  10,
  5_000,
  59_999,
  60_000,
  200_000,
  40 * 86_400_000,
  null,
);
const pollIntervalMs = fc.constantFrom(1, 250, 5_000);

const pick: fc.Arbitrary<Pick> = fc.record({
  aimed: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, {
    weight: 1,
    arbitrary: fc.constant(false),
  }),
  slot: fc.nat({ max: KEYS.length - 1 }),
  good: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, {
    weight: 1,
    arbitrary: fc.constant(false),
  }),
  variant: fc.nat({ max: 11 }),
});

const patch = fc.record({ ttlMs, pollIntervalMs }, { requiredKeys: [] });

const op: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant("progress" as const),
      task,
      patch: fc.option(patch, { nil: undefined, freq: 2 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant("ask" as const),
      task,
      keys: fc.uniqueArray(fc.nat({ max: KEYS.length - 1 }), {
        minLength: 1,
        maxLength: 3,
      }),
      fresh: fc.boolean(),
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      op: fc.constant("answer" as const),
      task,
      picks: fc.array(pick, { maxLength: 3 }),
      as,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant("resume" as const),
      task,
      fresh: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ op: fc.constant("cancel" as const), task, as }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant("get" as const), task, as }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant("complete" as const),
      task,
      fresh: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant("fail" as const), task }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant("cancelled" as const),
      task,
      message: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant("bad" as const),
      task,
      which: fc.nat({ max: 31 }),
    }),
  },
);

/** What a task is created with. */
export const init: fc.Arbitrary<CreateTaskInit> = fc.record({
  ttlMs: fc.oneof({ weight: 2, arbitrary: fc.constant(200_000) }, {
    weight: 1,
    arbitrary: ttlMs,
  }),
  pollIntervalMs: fc.option(pollIntervalMs, { nil: null }),
  statusMessage: fc.constantFrom("queued", ""),
  owner: fc.constantFrom("ada", "__proto__"),
}, { requiredKeys: [] });

/** The calls of one tick. */
export const calls: fc.Arbitrary<readonly Op[]> = fc.oneof(
  { weight: 3, arbitrary: op.map((one) => [one]) },
  { weight: 1, arbitrary: fc.array(op, { minLength: 2, maxLength: 5 }) },
);

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.record({
      step: fc.constant("calls" as const),
      side: mainly,
      ops: calls,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ step: fc.constant("create" as const), side, init }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      step: fc.constant("fault" as const),
      side: mainly,
      op,
      when: fc.constantFrom("before" as const, "after" as const),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      step: fc.constant("run" as const),
      side: mainly,
      task,
      worker: fc.oneof(
        fc.constantFrom(...WORKERS),
        fc.constant("asks" as const),
      ),
      key: fc.nat({ max: KEYS.length - 1 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.constant("listen" as const),
      side: mainly,
      task,
      throws: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      step: fc.constant("unlisten" as const),
      pick: fc.nat({ max: 5 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.constant("raw" as const),
      task,
      what: fc.constantFrom(
        "unknown" as const,
        "ahead" as const,
        "stale" as const,
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      step: fc.constant("clock" as const),
      ms: fc.constantFrom(-60_000, -1, 1, 60_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      step: fc.constant("pass" as const),
      ms: fc.constantFrom(1, 9, 1_000, 61_000),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ step: "look" as const }) },
  { weight: 1, arbitrary: fc.constant({ step: "sweep" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      step: fc.constant("stale" as const),
      pick: fc.nat({ max: 5 }),
      which: fc.nat({ max: 7 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      step: fc.constant("restart" as const),
      side: mainly,
    }),
  },
);

/** A run: what the tasks start with, then the steps. */
export interface Script {
  readonly inits: readonly CreateTaskInit[];
  readonly commands: readonly Command[];
}

/** Runs of at most so many steps. */
export function scripts(maxLength: number): fc.Arbitrary<Script> {
  return fc.record({
    inits: fc.array(init, { minLength: 1, maxLength: 2 }),
    commands: fc.array(command, { maxLength, size: "max" }),
  });
}
