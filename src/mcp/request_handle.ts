/** The task handle of a call that does not become a task. */

import {
  InputUnavailableError,
  InvalidArgumentError,
  type JsonRpcError,
  show,
  TaskAlreadyTerminalError,
  TaskCancelled,
} from "../errors.ts";
import type { TaskHandle } from "../engine/handle.ts";
import type { InputResponses } from "../model/input_response.ts";
import type { JsonObject } from "../model/json.ts";
import { quiet } from "./quiet.ts";
import type { RequestContextLike } from "./shapes.ts";

/** How a worker ended a call. */
export type RequestOutcome =
  | { readonly status: "completed"; readonly result: JsonObject }
  | { readonly status: "failed"; readonly error: JsonRpcError }
  | { readonly status: "cancelled"; readonly message?: string };

/**
 * Lets the worker of a tool answer a request directly, for a client that knows
 * no tasks: nothing is stored, the signal is the request's, and an end that
 * the worker sets is the answer.
 */
export class RequestTaskHandle implements TaskHandle {
  /** An id that no store knows. */
  readonly taskId: string;
  /** Aborts with {@linkcode TaskCancelled} when the request is cancelled. */
  readonly signal: AbortSignal;
  readonly #ctx: RequestContextLike;
  readonly #cancel: () => void;
  #progress = 0;
  #outcome: RequestOutcome | undefined;

  /** @param ctx The context of the request. */
  constructor(ctx: RequestContextLike) {
    this.#ctx = ctx;
    this.taskId = crypto.randomUUID();
    const controller = new AbortController();
    this.signal = controller.signal;
    this.#cancel = () => controller.abort(new TaskCancelled(this.taskId));
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
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is no string.
   * @throws {TaskAlreadyTerminalError} `ERR_TASK_TERMINAL`: the call has ended.
   */
  progress(statusMessage: string): Promise<void> {
    return quiet(this.#notify(statusMessage));
  }

  async #notify(statusMessage: string): Promise<void> {
    this.#refuseIfEnded();
    if (typeof statusMessage !== "string") {
      throw new InvalidArgumentError(
        `Cannot use statusMessage: the value is ${
          show(statusMessage)
        }, a string is needed`,
      );
    }
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

  /** @throws {InputUnavailableError} `ERR_INPUT_UNAVAILABLE`: always. */
  requestInput(): Promise<InputResponses> {
    return quiet(Promise.reject(
      new InputUnavailableError(
        "Cannot request input: the client called the tool without the tasks extension, so it cannot be asked while it waits",
      ),
    ));
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
  // deno-lint-ignore require-await -- a refusal has to be a rejection
  async complete(result: JsonObject): Promise<void> {
    this.#end({ status: "completed", result });
  }

  /**
   * Answers the call with a JSON-RPC error.
   *
   * @param error The error.
   * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: it is none.
   * @throws {TaskAlreadyTerminalError} `ERR_TASK_TERMINAL`: the call has ended.
   */
  // deno-lint-ignore require-await -- a refusal has to be a rejection
  async fail(error: JsonRpcError): Promise<void> {
    if (
      !Number.isSafeInteger(error?.code) || typeof error.message !== "string"
    ) {
      throw new InvalidArgumentError(
        `Cannot fail: the error is ${
          show(error)
        }, an integer code and a string message are needed`,
      );
    }
    this.#end({ status: "failed", error });
  }

  /**
   * Ends the call without a result.
   *
   * @param statusMessage Why.
   * @throws {TaskAlreadyTerminalError} `ERR_TASK_TERMINAL`: the call has ended.
   */
  // deno-lint-ignore require-await -- a refusal has to be a rejection
  async cancelled(statusMessage?: string): Promise<void> {
    this.#end({
      status: "cancelled",
      ...(statusMessage !== undefined && { message: statusMessage }),
    });
  }

  #end(outcome: RequestOutcome): void {
    this.#refuseIfEnded();
    this.#outcome = outcome;
  }

  #refuseIfEnded(): void {
    if (this.#outcome) {
      throw new TaskAlreadyTerminalError(this.taskId, this.#outcome.status);
    }
  }
}
