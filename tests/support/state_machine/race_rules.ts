/** What has to hold however calls meet. */

import type { TaskRecord } from "../../../mod.ts";
import { canonical } from "./canonical.ts";
import {
  BAD_ANSWER,
  CANCELLED,
  DUPLICATE_KEY,
  STORE_FAILED,
  TERMINAL,
} from "./model_task.ts";
import type { Made, Race } from "./race.ts";
import { answerOf, KEYS, objectFrom } from "./samples.ts";

const TERMINAL_STATES: readonly string[] = ["completed", "failed", "cancelled"];

/** Checks all rules on a race that is over. */
export function checkRace(race: Race): void {
  try {
    checkCommits(race);
    for (const made of race.made) checkCall(race, made);
    checkAnswersGiven(race);
    checkAsked(race);
    checkListeners(race);
    checkSignals(race);
  } catch (error) {
    (error as Error).message += `\ncommits:${
      race.commits.map(({ port, record }) => `\n  ${port} ${canonical(record)}`)
        .join("")
    }\ncalls:${
      race.made.map(({ n, side, move, from, to, call }) =>
        `\n  ${n} ${side} ${JSON.stringify(move)} ${from}-${to} ${call.text()}`
      ).join("")
    }`;
    throw error;
  }
}

function must(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new Error(rule);
}

function isTerminal({ status }: TaskRecord): boolean {
  return TERMINAL_STATES.includes(status);
}

function keysOf(of: object | undefined): string[] {
  return Object.keys(of ?? {});
}

/** The rules of the record, from each commit to the next. */
function checkCommits({ commits }: Race): void {
  for (const [index, { record }] of commits.entries()) {
    const what = `version ${record.version}`;
    must(record.version === index + 1, `${what} is commit ${index + 1} (I9)`);
    const open = keysOf(record.inputRequests);
    must(
      (record.status === "input_required") === (open.length > 0),
      `${what} is ${record.status} with open keys ${open}`,
    );
    must(
      record.inputRequests === undefined || open.length > 0,
      `${what} has inputRequests without a key`,
    );
    const answered = keysOf(record.inputResponses);
    must(
      open.every((key) => !answered.includes(key)),
      `${what} has keys that are open and answered`,
    );
    const used = record.usedInputKeys ?? [];
    must(new Set(used).size === used.length, `${what} used a key twice (I5)`);
    const taken = record.takenInputKeys ?? [];
    must(
      new Set(taken).size === taken.length &&
        taken.every((key) => answered.includes(key)),
      `${what} has taken ${taken} of ${answered}`,
    );
    if (isTerminal(record)) {
      must(
        open.length + answered.length + taken.length === 0,
        `${what} has ended and keeps its input`,
      );
    }
    const before = commits[index - 1]?.record;
    if (before) checkStep(before, record, what);
  }
}

function checkStep(before: TaskRecord, record: TaskRecord, what: string): void {
  must(
    !isTerminal(before) || onlyUnknownChanged(before, record),
    `${what} left a terminal state (I2)`,
  );
  must(
    Date.parse(record.lastUpdatedAt) >= Date.parse(before.lastUpdatedAt),
    `${what} went back in time (I4)`,
  );
  for (const key of before.usedInputKeys ?? []) {
    must(!!record.usedInputKeys?.includes(key), `${what} forgot key ${key}`);
  }
  must(
    before.cancelRequestedAt === undefined ||
      before.cancelRequestedAt === record.cancelRequestedAt,
    `${what} changed the cancel (I14)`,
  );
  if (before.cancelRequestedAt !== undefined) {
    must(
      newKeys(before, record).length === 0,
      `${what} asked after a cancel (I14)`,
    );
  }
  for (const [name, value] of Object.entries(before)) {
    if (!name.startsWith("x-")) continue;
    must(
      (record as unknown as Record<string, unknown>)[name] === value,
      `${what} lost ${name}`,
    );
  }
  if (isTerminal(record)) return;
  for (const [key, answer] of Object.entries(before.inputResponses ?? {})) {
    must(
      canonical(record.inputResponses?.[key]) === canonical(answer),
      `${what} lost the answer to ${key}`,
    );
  }
  for (const key of before.takenInputKeys ?? []) {
    must(!!record.takenInputKeys?.includes(key), `${what} untook ${key}`);
  }
}

function onlyUnknownChanged(before: TaskRecord, record: TaskRecord): boolean {
  const known = (one: TaskRecord) =>
    canonical(objectFrom(
      Object.entries(one).filter(([name]) =>
        name !== "version" && !name.startsWith("x-")
      ),
    ));
  return known(before) === known(record);
}

function newKeys(before: TaskRecord | undefined, record: TaskRecord): string[] {
  const used = before?.usedInputKeys ?? [];
  return (record.usedInputKeys ?? []).filter((key) => !used.includes(key));
}

/** The rules of one call and its answer. */
function checkCall(race: Race, made: Made): void {
  const { commits } = race;
  const { move, call, n, side, from, to } = made;
  const { outcome } = call;
  const what = `call ${n}, ${move.move}, ${call.text()}`;
  if (!outcome) {
    must(move.move === "ask", `${what} never ended`);
    return;
  }
  const code = outcome.ok ? undefined : outcome.code;
  if (code === STORE_FAILED) {
    must(race.faults > 0, `${what}: the store never failed`);
    return;
  }
  const now = commits[to - 1].record;
  const ended = isTerminal(now);
  const window = commits.slice(from - 1, to).map(({ record }) => record);
  const own = commits.filter(({ port }) => port === side)
    .map(({ record }) => record);
  const refused = (...codes: string[]) => {
    must(codes.includes(code!), `${what}: no such refusal`);
    if (code === TERMINAL) must(ended, `${what}: it had not ended`);
    if (code === CANCELLED) {
      must(
        now.cancelRequestedAt !== undefined || now.status === "cancelled",
        `${what}: it was not cancelled`,
      );
    }
  };
  switch (move.move) {
    case "raw":
      return;
    case "progress": {
      const text = `working ${n}`;
      const there = own.some(({ statusMessage }) => statusMessage === text);
      must(outcome.ok === there, `${what}: a commit is ${there}`);
      if (!outcome.ok) refused(TERMINAL);
      return;
    }
    case "complete":
    case "fail":
    case "cancelled": {
      const there = own.some((record) => isEndOf(record, made));
      must(outcome.ok === there, `${what}: a commit is ${there}`);
      if (!outcome.ok) refused(TERMINAL);
      return;
    }
    case "cancel":
      must(outcome.ok, `${what}: a cancel is acknowledged`);
      must(
        ended || now.cancelRequestedAt !== undefined,
        `${what}: nothing is stored (I14)`,
      );
      return;
    case "get": {
      must(outcome.ok, `${what}: the task is there`);
      const views = window.map(viewOf);
      must(
        views.includes(canonical(outcome.value)),
        `${what}: it never was so`,
      );
      return;
    }
    case "answer": {
      if (!outcome.ok) refused(BAD_ANSWER);
      const problems = outcome.ok
        ? []
        : [...(outcome.error as { problems: Map<string, string> }).problems
          .keys()];
      for (const { key: at, good } of move.picks) {
        const key = KEYS[at];
        const isOpen = (record: TaskRecord) =>
          keysOf(record.inputRequests).includes(key);
        if (problems.includes(key)) {
          must(!good, `${what}: the answer to ${key} was good`);
          must(window.some(isOpen), `${what}: ${key} was not open`);
        } else {
          must(!window.every(isOpen), `${what}: the answer to ${key} is lost`);
        }
      }
      return;
    }
    case "ask": {
      const keys = move.keys.map((at) => KEYS[at]);
      if (!outcome.ok) {
        refused(CANCELLED, TERMINAL, DUPLICATE_KEY);
        if (code === DUPLICATE_KEY) {
          must(
            keys.some((key) => now.usedInputKeys?.includes(key)),
            `${what}: no key was used`,
          );
        }
        return;
      }
      const stored = objectFrom(keys.map((key) => [key, answerIn(race, key)]));
      must(
        canonical(outcome.value) === canonical(stored),
        `${what}: not what was stored, ${canonical(stored)}`,
      );
      return;
    }
    case "resume":
      if (!outcome.ok) return refused(TERMINAL);
      for (const [key, answer] of Object.entries(outcome.value ?? {})) {
        must(
          canonical(answer) === canonical(answerIn(race, key)),
          `${what}: not what was stored`,
        );
        must(
          own.some(({ takenInputKeys }) => !!takenInputKeys?.includes(key)),
          `${what}: ${key} was not taken`,
        );
      }
      return;
  }
}

function isEndOf(record: TaskRecord, { move, n }: Made): boolean {
  switch (move.move) {
    case "complete":
      return record.status === "completed" && record.result?.n === n;
    case "fail":
      return record.status === "failed" &&
        record.error?.message === `failed ${n}` &&
        record.statusMessage === `failed ${n}`;
    default:
      return record.status === "cancelled" &&
        record.statusMessage === `cancelled ${n}`;
  }
}

/** The answer that was stored under a key. */
function answerIn({ commits }: Race, key: string): unknown {
  for (const { record } of commits) {
    const { inputResponses = {} } = record;
    if (Object.hasOwn(inputResponses, key)) return inputResponses[key];
  }
}

/** An answer that is stored was sent; each is given out once in a process, and to one `resumeInput()` in all. */
function checkAnswersGiven(race: Race): void {
  const sent = new Map<string, Set<string>>();
  for (const { move } of race.made) {
    if (move.move !== "answer") continue;
    for (const { key: at, good, variant } of move.picks) {
      if (!good) continue;
      const texts = sent.get(KEYS[at]) ?? new Set();
      sent.set(
        KEYS[at],
        texts.add(canonical(answerOf(KEYS[at], true, variant))),
      );
    }
  }
  for (const { record } of race.commits) {
    for (const [key, answer] of Object.entries(record.inputResponses ?? {})) {
      must(
        !!sent.get(key)?.has(canonical(answer)),
        `nobody has sent the answer to ${key}`,
      );
    }
  }
  const resumed = new Map<string, string>();
  for (const { move, call, side } of race.made) {
    if (move.move !== "resume" || !call.outcome?.ok) continue;
    for (const key of keysOf(call.outcome.value as object | undefined)) {
      must(!resumed.has(key), `two calls of resumeInput() got ${key}`);
      resumed.set(key, side);
    }
  }
  for (const { move, call, side } of race.made) {
    if (move.move !== "ask" || !call.outcome?.ok) continue;
    for (const at of move.keys) {
      must(
        resumed.get(KEYS[at]) !== side,
        `resumeInput() and requestInput() in ${side} both got ${KEYS[at]}`,
      );
    }
  }
  const lost = race.made.some(({ move, call }) =>
    move.move === "resume" && call.text() === STORE_FAILED
  );
  for (const { record } of race.commits) {
    for (const key of record.takenInputKeys ?? []) {
      must(lost || resumed.has(key), `${key} was taken and given to nobody`);
    }
  }
}

/** Who asks waits, and is told. */
function checkAsked({ commits, made }: Race): void {
  const stopped = commits.findIndex(({ record }) =>
    isTerminal(record) || record.cancelRequestedAt !== undefined
  );
  for (const { move, call, side, n } of made) {
    if (move.move !== "ask") continue;
    const keys = move.keys.map((at) => KEYS[at]);
    const what = `call ${n}, ask for ${keys}, ${call.text()}`;
    const asked = commits.findIndex(({ port, record }, index) =>
      port === side &&
      canonical(newKeys(commits[index - 1]?.record, record).sort()) ===
        canonical([...keys].sort())
    );
    const { outcome } = call;
    if (!outcome || outcome.ok) {
      must(asked >= 0, `${what}: it was never asked`);
    } else if (outcome.code === DUPLICATE_KEY) continue;
    const answered = commits.findIndex(({ record }) =>
      keys.every((key) => keysOf(record.inputResponses).includes(key))
    );
    if (outcome) continue;
    must(answered < 0, `${what}: the answers are there`);
    must(stopped < 0, `${what}: the task was stopped`);
  }
  // What this process itself has answered and acknowledged reaches its worker,
  // and what was answered in the record that it wrote into.
  for (const answer of made) {
    if (answer.move.move !== "answer" || !answer.call.outcome?.ok) continue;
    if (stopped >= 0 && stopped < answer.to) continue;
    const own = commits.slice(0, answer.to)
      .findLast(({ port }) => port === answer.side);
    const answered = keysOf(own?.record.inputResponses);
    for (const ask of made) {
      if (ask.side !== answer.side || ask.from >= answer.to) continue;
      if (ask.call.outcome?.ok || hasRival(made, ask)) continue;
      const keys = keysAsked(ask);
      must(
        keys.length === 0 || ask.call.text() === STORE_FAILED ||
          !keys.every((key) => answered.includes(key)),
        `call ${ask.n} was answered and did not learn of it`,
      );
    }
  }
}

function keysAsked({ move }: Made): string[] {
  return move.move === "ask" ? move.keys.map((at) => KEYS[at]) : [];
}

/** Whether another call asks under one of the same keys, so that one of the two is refused. */
function hasRival(made: readonly Made[], ask: Made): boolean {
  const keys = keysAsked(ask);
  return made.some((other) =>
    other !== ask && keysAsked(other).some((key) => keys.includes(key))
  );
}

/** Listeners hear what happened, in order; their own process's changes and the end for certain. */
function checkListeners({ commits, heard, faults }: Race): void {
  for (const [name, views] of heard) {
    let at = 0;
    const must_ = (holds: boolean, rule: string) =>
      must(
        holds,
        `listener in ${name}: ${rule}\nheard:${
          views.map((view) => `\n  ${view}`).join("")
        }`,
      );
    const entries = commits.map(({ port, record }) => ({
      version: record.version,
      view: viewOf(record),
      due: faults === 0 && port === name,
    })).filter(({ view }, index) =>
      index > 0 && view !== viewOf(commits[index - 1].record)
    );
    const lastSeen = entries.at(-1)?.view;
    for (const view of views) {
      while (at < entries.length && entries[at].view !== view) {
        must_(
          !entries[at].due,
          `version ${entries[at].version} was passed over`,
        );
        at++;
      }
      must_(at < entries.length, `unexpected ${view}`);
      at++;
    }
    must_(
      entries.slice(at).every(({ due }) => !due),
      "changes are missing at the end",
    );
    if (isTerminal(commits.at(-1)!.record)) {
      must_(views.at(-1) === lastSeen, "the end is missing");
    }
  }
}

/** A cancel reaches the worker wherever it runs, and so does the end. */
function checkSignals({ commits, aborted }: Race): void {
  const { port, record } = commits.at(-1)!;
  for (const [name, reason] of aborted) {
    const cancelled = record.cancelRequestedAt !== undefined ||
      record.status === "cancelled";
    if (!isTerminal(record)) {
      must(
        reason === (cancelled ? CANCELLED : undefined),
        `the signal in ${name} is ${reason}`,
      );
    } else if (port !== name && !hasLaterRaw(commits)) {
      must(
        reason === TERMINAL || (cancelled && reason === CANCELLED),
        `the signal in ${name} is ${reason} and the task has ended elsewhere`,
      );
    }
  }
}

/** Whether the last commit is not the one that ended the task. */
function hasLaterRaw(commits: Race["commits"]): boolean {
  const before = commits.at(-2)?.record;
  return before !== undefined && isTerminal(before);
}

/** What a client sees of a record: nothing that is not named here. */
function viewOf(record: TaskRecord): string {
  const shown = [
    "taskId",
    "status",
    "statusMessage",
    "createdAt",
    "lastUpdatedAt",
    "ttlMs",
    "pollIntervalMs",
    "inputRequests",
    "result",
    "error",
  ];
  return canonical({
    resultType: "complete",
    ...objectFrom(
      Object.entries(record).filter(([name]) => shown.includes(name)),
    ),
  });
}
