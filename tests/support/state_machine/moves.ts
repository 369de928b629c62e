/** The moves of a race, as plain data that shrinks and prints well. */

import fc from "../fast_check.ts";

/** What an actor does next. */
export type Move =
  | { readonly move: "progress" | "resume" | "get" }
  | { readonly move: "complete" | "fail" | "cancelled" | "cancel" }
  | { readonly move: "ask"; readonly keys: readonly number[] }
  | {
    readonly move: "answer";
    readonly picks: readonly {
      readonly key: number;
      readonly good: boolean;
      readonly variant: number;
    }[];
  }
  /** Another release puts a field of its own there. */
  | { readonly move: "raw" }
  /** The next update of this engine fails. */
  | { readonly move: "fault"; readonly when: "before" | "after" }
  | { readonly move: "clock"; readonly ms: number }
  /** So much time passes that the engines look at their tasks. */
  | { readonly move: "look" };

/** Somebody who makes one move after the other, or all at once. */
export interface Actor {
  readonly side: number;
  readonly atOnce: boolean;
  readonly moves: readonly Move[];
}

/** A race as it is generated. */
export interface Script {
  readonly actors: readonly Actor[];
  readonly delays: readonly number[];
}

const FEW_KEYS = 5;
const key = fc.nat({ max: FEW_KEYS - 1 });

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      move: fc.constantFrom("progress", "progress", "resume", "get", "get"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      move: fc.constantFrom(
        "complete",
        "fail",
        "cancelled",
        "cancel",
        "cancel",
      ),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      move: fc.constant("ask"),
      keys: fc.uniqueArray(key, { minLength: 1, maxLength: 2 }),
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      move: fc.constant("answer"),
      picks: fc.uniqueArray(
        fc.record({
          key,
          good: fc.oneof(
            { weight: 4, arbitrary: fc.constant(true) },
            { weight: 1, arbitrary: fc.constant(false) },
          ),
          variant: fc.nat({ max: 3 }),
        }),
        { minLength: 1, maxLength: 4, selector: (pick) => pick.key },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ move: fc.constantFrom("raw", "look") }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      move: fc.constant("fault"),
      when: fc.constantFrom("before", "after"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      move: fc.constant("clock"),
      ms: fc.constantFrom(-60_000, 60_000),
    }),
  },
);

const actor: fc.Arbitrary<Actor> = fc.record({
  side: fc.nat({ max: 1 }),
  atOnce: fc.boolean(),
  moves: fc.array(move, { minLength: 1, maxLength: 6 }),
});

/** Actors, and how long the store takes over each call and each answer. */
export const races: fc.Arbitrary<Script> = fc.record({
  actors: fc.array(actor, { minLength: 2, maxLength: 4 }),
  delays: fc.array(fc.constantFrom(0, 0, 0, 2, 25), {
    minLength: 1,
    maxLength: 40,
    size: "max",
  }),
});
