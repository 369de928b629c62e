/** The calls of one tick: how each is made on an engine, and what the rules say of it. */

import type { JsonValue } from "../../../mod.ts";
import { BAD_CALLS } from "./bad_calls.ts";
import { canonical } from "./canonical.ts";
import type { As, Op } from "./commands.ts";
import {
  BAD_ANSWER,
  type ModelTask,
  NOT_FOUND,
  Refusal,
} from "./model_task.ts";
import { Call } from "./probes.ts";
import { answerOf, KEYS, objectFrom, requestOf } from "./samples.ts";
import type { Side } from "./side.ts";
import type { World } from "./world.ts";

interface Answer {
  readonly value: unknown;
  readonly good: boolean;
}

/** A call that was made, with what the model needs to judge it. */
export interface Made {
  readonly op: Op;
  readonly task: ModelTask;
  readonly call: Call;
  /** What sets its texts apart from those of all others. */
  readonly n: number;
  readonly answers: ReadonlyMap<string, Answer>;
}

const ACKNOWLEDGED = 'ok {"resultType":"complete"}';
const DONE = "ok undefined";

/** Makes a call. */
export function makeCall(world: World, side: Side, op: Op): Made {
  const task = world.task(op.task);
  const n = world.count();
  const answers = op.op === "answer" ? answersOf(task, op) : new Map();
  const call = new Call(start(side, op, task, n, answers));
  return { op, task, call, n, answers };
}

function start(
  side: Side,
  op: Op,
  task: ModelTask,
  n: number,
  answers: ReadonlyMap<string, Answer>,
): Promise<unknown> {
  const { tasks } = side;
  const { taskId } = task;
  switch (op.op) {
    case "progress":
      return side.handle(task, false).progress(`working ${n}`, op.patch);
    case "ask":
      return side.handle(task, op.fresh).requestInput(
        objectFrom(op.keys.map((key) => [KEYS[key], requestOf(KEYS[key])])),
      );
    case "answer":
      return tasks.updateTask(
        taskId,
        objectFrom([...answers].map(([key, { value }]) => [key, value])),
        accessOf(task, op.as),
      );
    case "resume":
      return side.handle(task, op.fresh).resumeInput();
    case "cancel":
      return tasks.cancelTask(taskId, accessOf(task, op.as));
    case "get":
      return tasks.getTask(taskId, accessOf(task, op.as));
    case "complete":
      return side.handle(task, op.fresh).complete(resultOf(n, -0));
    case "fail":
      return side.handle(task, false).fail(errorOf(n));
    case "cancelled":
      return side.handle(task, false).cancelled(
        op.message ? `cancelled ${n}` : undefined,
      );
    case "bad":
      return badCall(op.which).call({
        tasks,
        task: side.handle(task, false),
        taskId,
        owner: task.owner,
      });
  }
}

/**
 * Applies a call to the model and compares how it ended.
 *
 * @param by The engine that made it; `undefined` if its change was made by
 * nobody who knows, so that only the record follows.
 */
export function judgeCall(
  world: World,
  by: Side | undefined,
  made: Made,
): void {
  const expected = apply(world, by, made);
  if (by && expected) expectCall(made.op.op, made.call, ...expected);
}

/** Compares how a call ended. */
export function expectCall(
  what: string,
  call: Call,
  ...expected: readonly string[]
): void {
  const actual = call.text();
  if (actual !== undefined && expected.includes(actual)) return;
  throw new Error(
    `${what} gave ${actual ?? "no answer"} and not ${expected.join(" or ")}${
      call.outcome?.ok === false
        ? `\n  ${(call.outcome.error as Error)?.message}`
        : ""
    }`,
  );
}

/** Changes the model; the texts that the call may end with, if that is known now. */
function apply(
  world: World,
  by: Side | undefined,
  made: Made,
): readonly string[] | undefined {
  const { op, task, call, n } = made;
  const { now } = world;
  switch (op.op) {
    case "bad":
      return [badCall(op.which).code];
    case "progress": {
      const refusal = task.refusal(now);
      if (refusal) return refusal.codes;
      task.statusMessage = `working ${n}`;
      if (op.patch?.ttlMs !== undefined) {
        task.ttlMs = op.patch.ttlMs;
        const only = task.ttlBy === undefined || task.ttlBy === by?.name;
        task.ttlBy = by && only ? by.name : "several";
      }
      if (op.patch?.pollIntervalMs !== undefined) {
        task.pollIntervalMs = op.patch.pollIntervalMs;
      }
      task.touch(now);
      world.changed(by, task);
      return [DONE];
    }
    case "ask": {
      const keys = op.keys.map((key) => KEYS[key]);
      const refusal = world.ask(by, task, keys);
      if (refusal) return refusal.codes;
      by?.wait(task, keys, call);
      return undefined;
    }
    case "answer":
      return applyAnswer(world, by, made, op.as);
    case "resume":
      if (by) applyResume(world, by, made);
      return undefined;
    case "cancel": {
      const refusal = hidden(task, op.as, now);
      if (refusal) return refusal.codes;
      if (!task.terminal && task.cancelRequestedAt === undefined) {
        task.cancelRequestedAt = now;
        task.version++;
        world.cancelled(by, task);
      }
      return [ACKNOWLEDGED];
    }
    case "get": {
      // A read waits for no write, so among several calls it may see any state.
      if (accessOf(task, op.as)?.owner !== task.owner) return [NOT_FOUND];
      return [
        ...(call.outcome?.ok ? [call.text()!] : []),
        ...(task.exists(now) ? [] : [NOT_FOUND]),
      ];
    }
    case "complete":
      return end(world, by, task, () => {
        task.result = resultOf(n);
        task.end("completed", now);
      });
    case "fail":
      return end(world, by, task, () => {
        task.error = errorOf(n);
        task.statusMessage = `failed ${n}`;
        task.end("failed", now);
      });
    case "cancelled":
      return end(world, by, task, () => {
        if (op.message) task.statusMessage = `cancelled ${n}`;
        task.end("cancelled", now);
      });
  }
}

function end(
  world: World,
  by: Side | undefined,
  task: ModelTask,
  change: () => void,
): readonly string[] {
  const refusal = task.refusal(world.now);
  if (refusal) return refusal.codes;
  change();
  world.ended(by, task);
  return [DONE];
}

function applyAnswer(
  world: World,
  by: Side | undefined,
  { task, call, answers }: Made,
  as: As,
): readonly string[] {
  const refusal = hidden(task, as, world.now);
  if (refusal) return refusal.codes;
  const open = [...answers].filter(([key]) => task.open.has(key));
  const good = open.filter(([, answer]) => answer.good);
  const bad = open.filter(([, answer]) => !answer.good).map(([key]) => key);
  if (good.length > 0) {
    task.answer(
      new Map(good.map(([key, { value }]) => [key, value])),
      world.now,
    );
    world.answered(by, task);
  }
  if (bad.length === 0) return [ACKNOWLEDGED];
  if (by && call.outcome?.ok === false) {
    const { problems } = call.outcome.error as {
      problems?: ReadonlyMap<string, string>;
    };
    const named = canonical([...problems?.keys() ?? []].sort());
    if (named !== canonical(bad.sort())) {
      throw new Error(
        `the wrong answers were ${bad} and the error has ${named}`,
      );
    }
  }
  return [BAD_ANSWER];
}

/** Which of the answers that may be given were, the engine decides; the model follows. */
function applyResume(world: World, by: Side, { task, call }: Made): void {
  const refusal = task.refusal(world.now);
  if (refusal) {
    expectCall("resumeInput()", call, ...refusal.codes);
    return;
  }
  const untaken = [...task.answers.keys()].filter((key) =>
    !task.taken.has(key)
  );
  const state = (key: string) => by.keyState(task, key);
  const may = untaken.filter((key) => state(key) !== "held");
  const must = untaken.filter((key) => state(key) === "free");
  const given = call.outcome?.ok && call.outcome.value
    ? Object.keys(call.outcome.value)
    : [];
  const fits = must.every((key) => given.includes(key)) &&
    given.every((key) => may.includes(key));
  const keys = fits ? given : must;
  expectCall(
    "resumeInput()",
    call,
    keys.length === 0
      ? DONE
      : `ok ${
        canonical(objectFrom(keys.map((key) => [key, task.answers.get(key)])))
      }`,
  );
  if (keys.length === 0) return;
  for (const key of keys) task.taken.add(key);
  task.version++;
}

/** What a client is told of a task that is not there for it. */
function hidden(task: ModelTask, as: As, now: number): Refusal | undefined {
  const owner = accessOf(task, as)?.owner;
  if (!task.exists(now) || owner !== task.owner) return new Refusal(NOT_FOUND);
}

function accessOf(task: ModelTask, as: As): { owner?: string } | undefined {
  if (as === "nobody") return undefined;
  return { owner: as === "other" ? "eve" : task.owner };
}

function answersOf(
  task: ModelTask,
  op: Op & { op: "answer" },
): ReadonlyMap<string, Answer> {
  const open = [...task.open.keys()];
  return new Map(op.picks.map(({ aimed, slot, good, variant }) => {
    const from = aimed && open.length > 0 ? open : KEYS;
    const key = from[slot % from.length];
    return [key, { value: answerOf(key, good, variant), good }];
  }));
}

function badCall(which: number): typeof BAD_CALLS[number] {
  return BAD_CALLS[which % BAD_CALLS.length];
}

/** A result with what JSON would change or an assignment would lose; `zero` is what is kept. */
function resultOf(n: number, zero: 0 | -0 = 0): Record<string, JsonValue> {
  return objectFrom<JsonValue>([
    ["content", []],
    ["n", n],
    ["zero", zero],
    ["__proto__", 7],
  ]);
}

function errorOf(n: number): { code: number; message: string; data: unknown } {
  return {
    code: -32000,
    message: `failed ${n}`,
    data: objectFrom([["__proto__", [1]]]),
  };
}
