/** Scripts: what is done to a store, as data. */

import type { TaskPatch, TaskRecord } from "../../../mod.ts";
import { aPatch, aRecord, CREATED_MS } from "../records.ts";

/** When what a script lets expire is expired. */
export const EXPIRED_MS: number = CREATED_MS + 10;
/** When every record of a script is expired, those that stay too. */
export const END_MS: number = CREATED_MS + 10 ** 12;

/** What a change is about. */
export type Change = "progress" | "ask" | "answer" | "complete" | "expire";

/** One operation. What it cannot do any more (its task is not there) is left out. */
export type Operation =
  | { readonly do: "create"; readonly id: string; readonly size?: number }
  | {
    readonly do: "update" | "commit";
    readonly id: string;
    readonly change: Change;
    /** UTF-16 code units of filler, in a payload. */
    readonly size?: number;
  }
  | { readonly do: "get" | "head"; readonly id: string }
  | { readonly do: "sweep" | "compact" };

/** One step of a script. */
export type Step =
  | Operation
  /** All are under way at once, each begun so many turns of the promise queue after the one before. */
  | {
    readonly do: "together";
    readonly steps: readonly Operation[];
    readonly apart?: number;
    /** So many turns of the event loop, too. */
    readonly turns?: number;
  }
  /** Lets what goes on in the background go on for so many turns of the event loop. */
  | { readonly do: "idle"; readonly turns: number }
  /** The system writes everything back. */
  | { readonly do: "settle" }
  /** The store is closed and opened again. */
  | { readonly do: "reopen" }
  /** The process is killed in the middle of a write, of which so much is done, from 0 to 1; another opens what it finds. */
  | {
    readonly do: "kill";
    readonly during: readonly Operation[];
    readonly kept: number;
  };

/** Makes the record that a creation keeps. */
export function createdBy(id: string, serial: number, size = 0): TaskRecord {
  return aRecord(id, {
    ttlMs: END_MS - CREATED_MS,
    statusMessage: `made ${serial}`,
    owner: "somebody",
    ...(size > 0 ? { input: filler(id, serial, size) } : {}),
  });
}

/** Makes the patch of a change. */
export function patchOf(
  id: string,
  serial: number,
  change: Change,
  size = 40,
): TaskPatch {
  const text = filler(id, serial, size);
  switch (change) {
    case "progress":
      return { statusMessage: `é漢😀 ${serial}` };
    case "ask":
      return aPatch({
        status: "input_required",
        inputRequests: { [`key ${serial}`]: { method: "roots/list", text } },
        usedInputKeys: [`key ${serial}`],
      });
    case "answer":
      return aPatch({
        status: "working",
        inputRequests: undefined,
        inputResponses: { [`key ${serial}`]: { action: "accept", text } },
      });
    case "complete":
      return {
        status: "completed",
        statusMessage: undefined,
        inputRequests: undefined,
        inputResponses: undefined,
        result: { content: [{ type: "text", text }] },
      };
    case "expire":
      return { ttlMs: EXPIRED_MS - CREATED_MS };
  }
}

/** Text of which no part is like another's. */
function filler(id: string, serial: number, size: number): string {
  let text = "";
  for (let part = 0; text.length < size; part++) {
    text += `${id} ${serial} ${part} é漢😀 `;
  }
  return text.slice(0, size).replace(/[\uD800-\uDBFF]$/, "");
}

/** A generator of numbers that a seed determines. */
export type Random = (below: number) => number;

/**
 * Makes a generator of numbers.
 *
 * @param seed The seed.
 * @returns It gives whole numbers from 0 to below its argument.
 */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = state + 0x9E3779B9 | 0;
    let mixed = state ^ state >>> 16;
    mixed = Math.imul(mixed, 0x21F0AAAD);
    mixed = Math.imul(mixed ^ mixed >>> 15, 0x735A2D97);
    return ((mixed ^ mixed >>> 15) >>> 0) % below;
  };
}

/** A script that is as short as one can be that goes everywhere: every operation, new segments, a compaction, a torn tail, two openings. */
export const SHORT_SCRIPT: readonly Step[] = [
  {
    do: "together",
    apart: 2,
    steps: [
      { do: "create", id: "a" },
      { do: "create", id: "gone" },
      { do: "update", id: "gone", change: "expire" },
      { do: "update", id: "a", change: "ask" },
      { do: "create", id: "b", size: 200 },
    ],
  },
  { do: "commit", id: "b", change: "complete", size: 1_500 },
  {
    do: "kill",
    during: [
      { do: "sweep" },
      { do: "update", id: "a", change: "answer" },
      { do: "create", id: "c" },
    ],
    kept: 0.7,
  },
  { do: "settle" },
  {
    do: "together",
    turns: 1,
    steps: [
      { do: "compact" },
      { do: "update", id: "a", change: "progress" },
      { do: "sweep" },
      { do: "update", id: "a", change: "progress" },
      { do: "get", id: "b" },
      { do: "update", id: "a", change: "progress" },
    ],
  },
  { do: "update", id: "a", change: "complete", size: 100 },
];

/** A script in which more happens. */
export const LONG_SCRIPT: readonly Step[] = [
  { do: "create", id: "a" },
  {
    do: "together",
    steps: [
      { do: "create", id: "b", size: 300 },
      { do: "update", id: "a", change: "progress" },
      { do: "update", id: "a", change: "ask" },
      { do: "create", id: "gone" },
    ],
  },
  {
    do: "together",
    apart: 3,
    steps: [
      { do: "commit", id: "a", change: "answer" },
      { do: "get", id: "b" },
      { do: "update", id: "gone", change: "expire" },
      { do: "create", id: "c" },
      { do: "update", id: "a", change: "progress" },
    ],
  },
  { do: "update", id: "b", change: "complete", size: 1_500 },
  {
    do: "together",
    apart: 1,
    steps: [
      { do: "sweep" },
      { do: "update", id: "c", change: "progress" },
      { do: "get", id: "b" },
    ],
  },
  {
    do: "kill",
    during: [
      { do: "update", id: "a", change: "ask" },
      { do: "create", id: "e" },
    ],
    kept: 0.7,
  },
  { do: "create", id: "gone" },
  {
    do: "together",
    apart: 2,
    steps: [
      { do: "compact" },
      { do: "update", id: "a", change: "progress" },
      { do: "update", id: "c", change: "complete", size: 700 },
      { do: "create", id: "d" },
      { do: "get", id: "b" },
    ],
  },
  { do: "settle" },
  { do: "update", id: "c", change: "expire" },
  { do: "idle", turns: 4 },
  { do: "sweep" },
  { do: "update", id: "a", change: "complete", size: 900 },
  { do: "compact" },
  { do: "reopen" },
  { do: "update", id: "d", change: "progress" },
];

/**
 * Makes a script.
 *
 * @param random Where its choices come from.
 * @param length How many steps it has.
 * @returns The script.
 */
export function randomScript(random: Random, length: number): Step[] {
  const ids = Array.from({ length: 2 + random(7) }, (_, i) => `task ${i}`);
  const id = () => ids[random(ids.length)];
  const size = () => [0, 30, 200, 900, 5_000][random(5)];
  const changes: readonly Change[] = [
    "progress",
    "progress",
    "ask",
    "answer",
    "complete",
    "expire",
  ];
  const operation = (): Operation => {
    const dice = random(20);
    if (dice < 5) return { do: "create", id: id(), size: size() };
    if (dice < 15) {
      return {
        do: random(2) ? "update" : "commit",
        id: id(),
        change: changes[random(changes.length)],
        size: size(),
      };
    }
    if (dice < 17) return { do: random(2) ? "get" : "head", id: id() };
    return { do: dice < 19 ? "sweep" : "compact" };
  };
  return Array.from({ length }, (): Step => {
    const dice = random(20);
    if (dice < 10) {
      const steps = Array.from({ length: 2 + random(8) }, operation);
      return { do: "together", steps, apart: random(6), turns: random(3) >> 1 };
    }
    if (dice < 16) return operation();
    if (dice === 16) return { do: "idle", turns: 1 + random(5) };
    if (dice === 17) return { do: "settle" };
    if (dice === 18) return { do: "reopen" };
    const during = Array.from({ length: random(4) }, operation);
    return { do: "kill", during, kept: random(101) / 100 };
  });
}
