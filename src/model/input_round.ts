/** How the open requests and the answers of a task change: patches, and nothing else. */

import {
  DuplicateInputKeyError,
  InvalidArgumentError,
  LimitExceededError,
  show,
  TaskEntryTooLargeError,
} from "../errors.ts";
import { fitsJson, jsonBytes, setOwn } from "./json.ts";
import {
  type InputRequest,
  type InputRequests,
  parseInputRequest,
} from "./input_request.ts";
import {
  type InputResponse,
  type InputResponses,
  parseInputResponse,
} from "./input_response.ts";
import type { TaskLimits } from "./limits.ts";
import type { TaskPatch, TaskRecord } from "./record.ts";

/**
 * Bytes that input leaves free in a record: for the error that ends it, so that
 * `fail` always fits (rule I13), and for what is small, such as a cancel.
 */
function reservedBytes(limits: TaskLimits): number {
  return Math.min(8 * 1024, Math.floor(limits.maxRecordBytes / 4));
}

/** The end of a task takes its input with it; the keys that it used stay (rule I5). */
export const NO_INPUT: TaskPatch = {
  inputRequests: undefined,
  inputResponses: undefined,
  takenInputKeys: undefined,
};

/**
 * Counts what a record has to hold at its end: what the end does not drop, and
 * room for an error.
 *
 * @param record The record.
 * @param limits The limits in force.
 * @returns The number of bytes.
 */
export function bytesToEnd(record: TaskRecord, limits: TaskLimits): number {
  const atEnd = { ...record, ...NO_INPUT, statusMessage: undefined };
  return jsonBytes(atEnd) + reservedBytes(limits);
}

/**
 * Tells whether a record that is to be created is small enough: for the store,
 * and to hold its end.
 *
 * @param record The record.
 * @param limits The limits in force.
 * @returns 0 if it is; else the bytes that it would need.
 */
export function bytesTooMany(record: TaskRecord, limits: TaskLimits): number {
  const { maxRecordBytes } = limits;
  if (fitsJson(record, maxRecordBytes - reservedBytes(limits))) return 0;
  const bytes = Math.max(jsonBytes(record), bytesToEnd(record, limits));
  return bytes > maxRecordBytes ? bytes : 0;
}

/**
 * Checks and copies the requests of one call.
 *
 * @param requests What the worker passed.
 * @param limits The limits in force.
 * @returns The requests, at least one.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: no object, or an empty one.
 * @throws {InvalidInputRequestError} `ERR_INVALID_INPUT_REQUEST`: one is no request that the protocol has.
 * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: a key is too long, or a request too deep.
 */
export function parseInputRequests(
  requests: unknown,
  limits: TaskLimits,
): InputRequests {
  if (
    typeof requests !== "object" || requests === null ||
    Array.isArray(requests)
  ) {
    throw new InvalidArgumentError(
      `Cannot request input: the requests are ${
        show(requests)
      }, an object of requests by key is needed`,
    );
  }
  const keys = Object.keys(requests);
  if (keys.length === 0) {
    throw new InvalidArgumentError(
      "Cannot request input: the object has no key, at least one request is needed",
    );
  }
  const parsed: Record<string, InputRequest> = {};
  for (const key of keys) {
    if (key.length > limits.maxInputKeyLength) {
      throw new LimitExceededError(
        "maxInputKeyLength",
        limits.maxInputKeyLength,
        `Cannot request input under key ${
          show(key)
        }: it has ${key.length} characters`,
      );
    }
    const request = (requests as Record<string, unknown>)[key];
    setOwn(parsed, key, parseInputRequest(key, request, limits));
  }
  return parsed;
}

/**
 * Opens requests on a task (rule I5).
 *
 * @param record The task as it is.
 * @param requests The new requests.
 * @param limits The limits in force.
 * @returns The change, `lastUpdatedAt` aside.
 * @throws {DuplicateInputKeyError} `ERR_DUPLICATE_INPUT_KEY`: a key was used before.
 * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: the task would have used too many keys.
 * @throws {TaskEntryTooLargeError} `ERR_ENTRY_TOO_LARGE`: the requests, or all keys so far, leave no room for the end.
 */
export function openRequests(
  record: TaskRecord,
  requests: InputRequests,
  limits: TaskLimits,
): TaskPatch {
  const used = new Set(record.usedInputKeys);
  for (const key of Object.keys(requests)) {
    if (used.has(key)) throw new DuplicateInputKeyError(record.taskId, key);
    used.add(key);
  }
  if (used.size > limits.maxInputKeys) {
    throw new LimitExceededError(
      "maxInputKeys",
      limits.maxInputKeys,
      `Cannot request input: the task would have used ${used.size} keys`,
    );
  }
  const patch: TaskPatch = {
    status: "input_required",
    inputRequests: merge(record.inputRequests, requests),
    usedInputKeys: [...used],
  };
  const next = { ...record, ...patch };
  const bytes = jsonBytes(next);
  const maxBytes = limits.maxRecordBytes - reservedBytes(limits);
  if (bytes > maxBytes) {
    throw new TaskEntryTooLargeError(record.taskId, bytes, maxBytes);
  }
  return patch;
}

/** What an update of a client comes to. */
export interface AppliedAnswers {
  /** The change, `lastUpdatedAt` aside; absent: nothing changes. */
  readonly patch?: TaskPatch;
  /** The keys whose answers are taken by it. */
  readonly taken: readonly string[];
  /** What is wrong, for each answer that was refused. */
  readonly problems: ReadonlyMap<string, string>;
}

/**
 * Takes a client's answers to requests that are open; all other keys are
 * ignored (specification, `tasks/update`).
 *
 * @param record The task as it is.
 * @param responses What the client sent, by key.
 * @param options The limits in force, and whether form answers are checked
 * against their schema.
 * @returns The change, and what was refused.
 */
export function applyAnswers(
  record: TaskRecord,
  responses: Readonly<Record<string, unknown>>,
  options: { readonly limits: TaskLimits; readonly checkAnswers: boolean },
): AppliedAnswers {
  const { limits, checkAnswers } = options;
  const open: Record<string, InputRequest> = {};
  const good: Record<string, InputResponse> = {};
  const problems = new Map<string, string>();
  let room: number | undefined;
  for (const [key, request] of Object.entries(record.inputRequests ?? {})) {
    if (!Object.hasOwn(responses, key)) {
      setOwn(open, key, request);
      continue;
    }
    const parsed = parseInputResponse(request, responses[key], {
      maxDepth: limits.maxDepth,
      checkAnswers,
    });
    let problem = "problem" in parsed ? parsed.problem : undefined;
    if ("response" in parsed) {
      room ??= limits.maxRecordBytes - jsonBytes(record) -
        reservedBytes(limits);
      const bytes = jsonBytes(parsed.response);
      // The request goes, the key moves, and is named again when it is taken.
      const growth = bytes - jsonBytes(request) + jsonBytes(key) + 1;
      if (growth <= Math.max(room, 0)) {
        room -= growth;
        setOwn(good, key, parsed.response);
      } else problem = `the answer takes ${bytes} bytes, too many for the task`;
    }
    if (problem !== undefined) {
      problems.set(key, problem);
      setOwn(open, key, request);
    }
  }
  const taken = Object.keys(good);
  if (taken.length === 0) return { taken, problems };
  const anyOpen = Object.keys(open).length > 0;
  return {
    taken,
    problems,
    patch: {
      status: anyOpen ? "input_required" : "working",
      inputRequests: anyOpen ? open : undefined,
      inputResponses: merge(record.inputResponses, good),
    },
  };
}

/**
 * Picks the answers to a set of keys.
 *
 * @param record The task.
 * @param keys The keys.
 * @returns The answers, or `undefined` while one is missing.
 */
export function answersTo(
  record: TaskRecord,
  keys: readonly string[],
): InputResponses | undefined {
  const answers: Record<string, InputResponse> = {};
  const stored = record.inputResponses ?? {};
  for (const key of keys) {
    if (!Object.hasOwn(stored, key)) return undefined;
    setOwn(answers, key, stored[key]);
  }
  return answers;
}

/**
 * Takes the answers that nobody has taken yet.
 *
 * @param record The task as it is.
 * @param spokenFor Whether a key is a waiting worker's, or was given to one.
 * @returns The change and the answers; `undefined` where there are none.
 */
export function takeAnswers(
  record: TaskRecord,
  spokenFor: (key: string) => boolean,
): { readonly patch: TaskPatch; readonly answers: InputResponses } | undefined {
  const taken = record.takenInputKeys ?? [];
  const before = new Set(taken);
  const keys = Object.keys(record.inputResponses ?? {})
    .filter((key) => !before.has(key) && !spokenFor(key));
  const answers = keys.length > 0 ? answersTo(record, keys) : undefined;
  return answers && { patch: { takenInputKeys: [...taken, ...keys] }, answers };
}

function merge<T>(
  first: Readonly<Record<string, T>> | undefined,
  second: Readonly<Record<string, T>>,
): Record<string, T> {
  const merged: Record<string, T> = {};
  for (const source of [first ?? {}, second]) {
    for (const [key, value] of Object.entries(source)) {
      setOwn(merged, key, value);
    }
  }
  return merged;
}
