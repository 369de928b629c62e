/**
 * One round of a call that is answered with questions until all of them have
 * their answers (multi-round-trip requests, revision 2026-07-28). The client
 * calls again with its answers; the answers of earlier rounds travel with the
 * call, in a state that only the client keeps.
 *
 * The state is no secret and no proof. It holds the client's own answers,
 * each beside the digest of its question, and every answer is checked against
 * the question at hand like a fresh one. So a client that changes it gets no
 * further than by answering otherwise.
 */

import {
  DuplicateInputKeyError,
  InputPendingError,
  InvalidInputResponseError,
  LimitExceededError,
} from "../errors.ts";
import { toHex } from "../model/hex.ts";
import type { InputRequest, InputRequests } from "../model/input_request.ts";
import {
  type InputResponse,
  type InputResponses,
  type InputResponsesTo,
  parseInputResponse,
} from "../model/input_response.ts";
import { parseInputRequests } from "../model/input_round.ts";
import type { TaskLimits } from "../model/limits.ts";
import { checkInputResponses } from "./input_responses.ts";
import { RPC_CODES } from "./protocol.ts";
import type { Reply } from "./replies.ts";
import { RpcError } from "./rpc_error.ts";
import type { RequestContextLike, RequestStateCodecLike } from "./shapes.ts";

/** A question that was asked in an earlier round. */
interface Asked {
  /** The digest of the question. */
  readonly question: string;
  /** What the client answered; absent while it has not. */
  readonly answer?: unknown;
}

/** What rounds are made from. */
export interface RoundRules {
  /** The limits of the engine. */
  readonly limits: TaskLimits;
  /** Whether accepted form answers are checked against their schema. */
  readonly checkFormAnswers: boolean;
  /** Seals the state, where the host wants it sealed. */
  readonly requestState: RequestStateCodecLike | undefined;
}

/** What a call that asks is answered with. */
export interface InputRequiredResult {
  /** The kind of the answer. */
  readonly resultType: "input_required";
  /** The open questions. */
  readonly inputRequests: InputRequests;
  /** What the client sends back. */
  readonly requestState: string;
}

/** A round. */
export class Round {
  /** Names the call in errors; no store knows it. */
  readonly id: string = crypto.randomUUID();
  readonly #rules: RoundRules;
  readonly #known: ReadonlyMap<string, Asked>;
  readonly #asked: Map<string, Asked> = new Map();
  readonly #used: Set<string> = new Set();
  readonly #answers: Map<string, InputResponse> = new Map();
  readonly #open: Map<string, InputRequest> = new Map();
  readonly #problems: Map<string, string> = new Map();
  readonly #asking: Set<Promise<unknown>> = new Set();

  /**
   * @param rules What rounds are made from.
   * @param known What was asked before, with the answers that this call brings.
   */
  constructor(rules: RoundRules, known: ReadonlyMap<string, Asked>) {
    this.#rules = rules;
    this.#known = known;
  }

  /** Whether the call cannot be answered yet. */
  get isPending(): boolean {
    return this.#open.size > 0 || this.#problems.size > 0;
  }

  /** Every answer that was given out. */
  get answers(): InputResponses {
    return Object.fromEntries(this.#answers);
  }

  /**
   * Asks.
   *
   * @param requests Requests by key.
   * @returns The answers, where the client has given them all.
   * @throws {InputPendingError} `ERR_INPUT_PENDING`: the client has to be asked.
   * @throws {DuplicateInputKeyError} `ERR_DUPLICATE_INPUT_KEY`: a key was used before, now or with another question.
   * @throws {InvalidInputResponseError} `ERR_INVALID_INPUT_RESPONSE`: an answer does not fit.
   * @throws {InvalidInputRequestError} `ERR_INVALID_INPUT_REQUEST`: a request is wrong.
   * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: too many keys.
   */
  async ask<Requests extends InputRequests>(
    requests: Requests,
  ): Promise<InputResponsesTo<Requests>> {
    const asking = this.#ask(requests);
    this.#asking.add(asking);
    try {
      return await asking;
    } finally {
      this.#asking.delete(asking);
    }
  }

  async #ask<Requests extends InputRequests>(
    requests: Requests,
  ): Promise<InputResponsesTo<Requests>> {
    const { limits, checkFormAnswers: checkAnswers } = this.#rules;
    const parsed = Object.entries(parseInputRequests(requests, limits));
    this.#use(parsed.map(([key]) => key));
    const digests = await Promise.all(parsed.map(([, q]) => digestOf(q)));
    for (const [index, [key]] of parsed.entries()) {
      const known = this.#known.get(key);
      if (known && known.question !== digests[index]) {
        throw new DuplicateInputKeyError(this.id, key);
      }
    }
    const answers: [string, InputResponse][] = [];
    const problems = new Map<string, string>();
    for (const [index, [key, request]] of parsed.entries()) {
      const answer = this.#known.get(key)?.answer;
      this.#asked.set(key, { question: digests[index], answer });
      if (answer === undefined) {
        this.#open.set(key, request);
        continue;
      }
      const { maxDepth } = limits;
      const read = parseInputResponse(request, answer, {
        maxDepth,
        checkAnswers,
      });
      if ("problem" in read) problems.set(key, read.problem);
      else answers.push([key, read.response]);
    }
    if (problems.size > 0) {
      for (const [key, problem] of problems) this.#problems.set(key, problem);
      throw new InvalidInputResponseError(this.id, problems);
    }
    for (const [key, answer] of answers) this.#answers.set(key, answer);
    if (answers.length < parsed.length) throw new InputPendingError();
    return Object.fromEntries(answers) as InputResponsesTo<Requests>;
  }

  /** Before anything is awaited, so that of two calls with one key one is refused. */
  #use(keys: readonly string[]): void {
    for (const key of keys) {
      if (this.#used.has(key)) throw new DuplicateInputKeyError(this.id, key);
    }
    for (const key of keys) this.#used.add(key);
    const { maxInputKeys } = this.#rules.limits;
    if (this.#used.size > maxInputKeys) {
      throw new LimitExceededError(
        "maxInputKeys",
        maxInputKeys,
        `Cannot request input: the call would have used ${this.#used.size} keys`,
      );
    }
  }

  /**
   * Ends the round, once nobody is about to ask.
   *
   * @param ctx The request's context.
   * @returns The answer to the call; `undefined` if it asks for nothing.
   */
  async end(
    ctx: RequestContextLike,
  ): Promise<InputRequiredResult | Reply | undefined> {
    while (this.#asking.size > 0) await Promise.allSettled(this.#asking);
    if (this.#problems.size > 0) {
      const problems = [...this.#problems].map(([key, problem]) =>
        `${JSON.stringify(key)}: ${problem}`
      );
      const message = `Cannot take an answer: ${problems.join("; ")}`;
      return { error: new RpcError(RPC_CODES.invalidParams, message) };
    }
    if (this.#open.size === 0) return undefined;
    // In the order of the calls, whichever digest came first.
    const open = [...this.#used].filter((key) => this.#open.has(key))
      .map((key) => [key, this.#open.get(key)!] as const);
    const state = writeState(new Map([...this.#known, ...this.#asked]));
    const { requestState: codec } = this.#rules;
    return {
      resultType: "input_required",
      inputRequests: Object.fromEntries(open),
      requestState: codec
        ? await codec.mint(state as never, ctx as never)
        : JSON.stringify(state),
    };
  }
}

/**
 * Opens the round that a call is.
 *
 * @param rules What rounds are made from.
 * @param ctx The request's context.
 * @param responses The answers that the call brings, as they came.
 * @returns The round.
 * @throws {RpcError} -32602: the answers are no object, or the state is none
 * that was given out.
 */
export async function openRound(
  rules: RoundRules,
  ctx: RequestContextLike,
  responses: unknown,
): Promise<Round> {
  const known = await readState(rules, ctx);
  if (responses === undefined) return new Round(rules, known);
  const given = checkInputResponses(responses);
  // What was not asked is not answered: other keys are ignored.
  for (const [key, { question, answer }] of known) {
    if (answer === undefined && Object.hasOwn(given, key)) {
      known.set(key, { question, answer: given[key] });
    }
  }
  return new Round(rules, known);
}

/** The digest of a question, so that an answer counts for that question only. */
async function digestOf(request: InputRequest): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return toHex(digest.subarray(0, 16));
}

/** The state: by key the digest of the question, and the answer if there is one. */
type WrittenState = Readonly<Record<string, readonly [string, unknown?]>>;

function writeState(asked: ReadonlyMap<string, Asked>): WrittenState {
  return Object.fromEntries(
    [...asked].map(([key, { question, answer }]) => [
      key,
      answer === undefined ? [question] as const : [question, answer] as const,
    ]),
  );
}

async function readState(
  { requestState: codec, limits }: RoundRules,
  ctx: RequestContextLike,
): Promise<Map<string, Asked>> {
  let state = ctx.mcpReq.requestState?.();
  if (state === undefined) return new Map();
  try {
    // No text: the server's own hook has opened it already.
    if (typeof state === "string") {
      state = codec
        ? await codec.verify(state, ctx as never)
        : JSON.parse(state);
    }
    if (typeof state !== "object" || !state) throw new TypeError("no state");
    const entries = Object.entries(state as WrittenState);
    if (entries.length > limits.maxInputKeys) throw new RangeError("too many");
    return new Map(entries.map(([key, [question, answer]]) => {
      if (typeof question !== "string") throw new TypeError("no digest");
      return [key, { question, answer }];
    }));
  } catch {
    throw new RpcError(
      RPC_CODES.invalidParams,
      "Invalid or expired requestState",
      { reason: "invalid_request_state" },
    );
  }
}
