/** The task handle of a call that does not become a task. */

import {
  InputPendingError,
  type JsonRpcError,
  TaskAlreadyTerminalError,
  TaskCancelled,
} from "../errors.ts";
import { Ends } from "../engine/ends.ts";
import type { ProgressPatch, TaskHandle } from "../engine/handle.ts";
import {
  checkStatusMessage,
  parseError,
  parseProgress,
} from "../engine/handle_arguments.ts";
import { quiet } from "../engine/quiet.ts";
import type { InputRequests } from "../model/input_request.ts";
import type {
  InputResponses,
  InputResponsesTo,
} from "../model/input_response.ts";
import type { JsonObject } from "../model/json.ts";
import type { TaskLimits } from "../model/limits.ts";
import { requireInputCapabilities } from "./client_input.ts";
import type { Round } from "./round.ts";
import type { RequestContextLike } from "./shapes.ts";

/** How a worker ended a call. */
export type RequestOutcome =
  | { readonly status: "completed"; readonly result: JsonObject }
  | { readonly status: "failed"; readonly error: JsonRpcError }
  | { readonly status: "cancelled"; readonly message?: string };

/**
 * Lets the worker of a tool answer a request directly, for a client that knows
 * no tasks: nothing is stored, the signal is the request's, and an end that
 * the worker sets is the answer. What the worker asks ends the call too: the
 * client calls again with its answers, and the worker runs from its start.
 */
export class RequestTaskHandle implements TaskHandle {
  /** An id that no store knows. */
  readonly taskId: string;
  /**
   * Aborts with {@linkcode TaskCancelled} when the request is cancelled, and
   * with {@linkcode InputPendingError} when the client has to be asked.
   */
  readonly signal: AbortSignal;
  /** The ends that the worker has set. */
  readonly ends: Ends = new Ends();
  readonly #ctx: RequestContextLike;
  readonly #round: Round;
  readonly #capabilities: Readonly<Record<string, unknown>>;
  readonly #limits: TaskLimits;
  readonly #controller: AbortController = new AbortController();
  readonly #cancel: () => void;
  #progress = 0;
  #outcome: RequestOutcome | undefined;

  /**
   * @param ctx The context of the request.
   * @param round The round of questions that the call is.
   * @param capabilities What the client can be asked for.
   * @param limits The limits of the engine.
   */
  constructor(
    ctx: RequestContextLike,
    round: Round,
    capabilities: Readonly<Record<string, unknown>>,
    limits: TaskLimits,
  ) {
    this.#ctx = ctx;
    this.#round = round;
    this.#capabilities = capabilities;
    this.#limits = limits;
    this.taskId = round.id;
    this.signal = this.#controller.signal;
    this.#cancel = () => this.#controller.abort(new TaskCancelled(this.taskId));
    if (ctx.mcpReq.signal.aborted) this.#cancel();
    else ctx.mcpReq.signal.addEventListener("abort", this.#cancel);
  }

  /** How the worker ended the call, once it did. */
  get outcome(): RequestOutcome | undefined {
    return this.#outcome;
  }

  /** Lets go of the request, whose own signal aborts soon after its answer. */
  release(): void {
    this.#ctx.mcpReq.signal.removeEventListener("abort", this.#cancel);
  }

  /**
   * Sends a progress notification, if the request asked for them. It may be
   * left un-awaited.
   *
   * @param statusMessage What to tell the client.
   * @param patch Checked as in a task; there is nothing that it changes.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an argument is wrong.
   * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: the message or the TTL is too long.
   * @throws {TaskAlreadyTerminalError} `ERR_TASK_TERMINAL`: the call has ended.
   */
  progress(statusMessage: string, patch: ProgressPatch = {}): Promise<void> {
    return quiet(this.#notify(statusMessage, patch));
  }

  async #notify(statusMessage: string, patch: ProgressPatch): Promise<void> {
    this.#refuseIfEnded();
    parseProgress(statusMessage, patch, this.#limits);
    const progressToken = this.#ctx.mcpReq._meta?.progressToken;
    if (progressToken === undefined) return;
    const notify = this.#ctx.mcpReq.notify as (n: unknown) => Promise<void>;
    try {
      await notify({
        method: "notifications/progress",
        params: {
          progressToken,
          progress: ++this.#progress,
          message: statusMessage,
        },
      });
    } catch {
      // Progress is a hint: a client that is gone must not end the work.
    }
  }

  /**
   * Gives the answers that the client has called again with, or ends this run
   * of the worker with the questions.
   *
   * @param requests Requests by key.
   * @throws {InputPendingError} `ERR_INPUT_PENDING`: the client has to be asked.
   * @throws {InputUnavailableError} `ERR_INPUT_UNAVAILABLE`: it cannot be asked for this.
   * @throws {DuplicateInputKeyError} `ERR_DUPLICATE_INPUT_KEY`: a key was used before.
   * @throws {InvalidInputRequestError} `ERR_INVALID_INPUT_REQUEST`: a request is wrong.
   * @throws {TaskAlreadyTerminalError} `ERR_TASK_TERMINAL`: the call has ended.
   */
  requestInput<const Requests extends InputRequests>(
    requests: Requests,
  ): Promise<InputResponsesTo<Requests>> {
    return quiet(this.#ask(requests));
  }

  async #ask<Requests extends InputRequests>(
    requests: Requests,
  ): Promise<InputResponsesTo<Requests>> {
    if (this.#outcome) this.#refuseIfEnded();
    requireInputCapabilities(requests, this.#capabilities);
    try {
      return await this.#round.ask(requests);
    } catch (error) {
      if (this.#round.isPending) this.#controller.abort(error);
      throw error;
    }
  }

  /** Gives nothing: there is no earlier run. */
  resumeInput(): Promise<InputResponses | undefined> {
    return Promise.resolve(undefined);
  }

  /**
   * Answers the call.
   *
   * @param result The result.
   * @throws {TaskAlreadyTerminalError} `ERR_TASK_TERMINAL`: the call has ended.
   */
  complete(result: JsonObject): Promise<void> {
    return this.#end(() => ({ status: "completed", result }));
  }

  /**
   * Answers the call with a JSON-RPC error.
   *
   * @param error The error.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is none.
   * @throws {NotJsonError} `ERR_NOT_JSON`: it is not plain JSON.
   * @throws {TaskAlreadyTerminalError} `ERR_TASK_TERMINAL`: the call has ended.
   */
  fail(error: JsonRpcError): Promise<void> {
    return this.#end(() => ({
      status: "failed",
      error: parseError(error, this.#limits.maxDepth),
    }));
  }

  /**
   * Ends the call without a result.
   *
   * @param statusMessage Why.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is no string.
   * @throws {TaskAlreadyTerminalError} `ERR_TASK_TERMINAL`: the call has ended.
   */
  cancelled(statusMessage?: string): Promise<void> {
    return this.#end(() => ({
      status: "cancelled",
      ...(statusMessage !== undefined &&
        { message: checkStatusMessage(statusMessage, this.#limits) }),
    }));
  }

  #end(outcome: () => RequestOutcome): Promise<void> {
    // deno-lint-ignore require-await -- a refusal has to be a rejection
    return this.ends.track(async () => {
      const end = outcome();
      this.#refuseIfEnded();
      this.#outcome = end;
    });
  }

  #refuseIfEnded(): void {
    if (this.#round.isPending) throw new InputPendingError();
    if (this.#outcome) {
      throw new TaskAlreadyTerminalError(this.taskId, this.#outcome.status);
    }
  }
}
