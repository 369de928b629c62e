/** What a tool is made of: its configuration, its worker, and what that gives. */

import type { TaskHandle } from "../engine/handle.ts";
import type { InputRequests } from "../model/input_request.ts";
import type {
  InputResponses,
  InputResponsesTo,
} from "../model/input_response.ts";
import type {
  AuthInfoLike,
  RequestId,
  SchemaInput,
  SchemaLike,
  SchemaOutput,
} from "./shapes.ts";

/** A block of a tool's content. */
export type ToolContent =
  | {
    /** A text. */
    readonly type: "text";
    /** The text. */
    readonly text: string;
    /** For whom it is, and how it matters. */
    readonly annotations?: object | undefined;
    /** Metadata. */
    readonly _meta?: object | undefined;
  }
  | {
    /** A picture or a sound. */
    readonly type: "image" | "audio";
    /** Its bytes in base64. */
    readonly data: string;
    /** Its kind. */
    readonly mimeType: string;
    /** For whom it is, and how it matters. */
    readonly annotations?: object | undefined;
    /** Metadata. */
    readonly _meta?: object | undefined;
  }
  | {
    /** A resource that the client can read. */
    readonly type: "resource_link";
    /** Where. */
    readonly uri: string;
    /** Its name. */
    readonly name: string;
    /** Its name, for people. */
    readonly title?: string | undefined;
    /** What it is. */
    readonly description?: string | undefined;
    /** Its kind. */
    readonly mimeType?: string | undefined;
    /** Its size in bytes. */
    readonly size?: number | undefined;
    /** For whom it is, and how it matters. */
    readonly annotations?: object | undefined;
    /** Metadata. */
    readonly _meta?: object | undefined;
  }
  | {
    /** A resource itself. */
    readonly type: "resource";
    /** The resource. */
    readonly resource: object;
    /** For whom it is, and how it matters. */
    readonly annotations?: object | undefined;
    /** Metadata. */
    readonly _meta?: object | undefined;
  };

/**
 * What a tool gives: the SDK's `CallToolResult`, which says of its optional
 * members that they may be undefined.
 */
export interface ToolResult {
  /** What the model reads. */
  readonly content?: readonly ToolContent[] | undefined;
  /** What a program reads: any JSON, as the tool's output schema says. */
  readonly structuredContent?: unknown;
  /** Whether the tool failed, in a way that the model may learn of. */
  readonly isError?: boolean | undefined;
  /** Metadata. */
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * What the worker of a tool gives: with an output schema, `structuredContent`
 * as the schema takes it, or a failure.
 */
export type TaskToolResult<Output extends SchemaLike | undefined> =
  Output extends SchemaLike ?
      | ToolResult & { readonly structuredContent: SchemaInput<Output> }
      | ToolResult & { readonly isError: true }
    : ToolResult;

/**
 * What it takes to run a call's worker again, in another process too: plain
 * JSON, for the host to keep.
 */
export interface TaskToolCall {
  /** The arguments as they came, before the tool's schema made something of them. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What the client can be asked for. */
  readonly clientCapabilities: Readonly<Record<string, unknown>>;
  /** What the client answered before the task was created. */
  readonly answers: InputResponses;
}

/** What a worker knows of the call. */
export interface TaskToolContext {
  /** Whether the call became a task; false: its client waits for the answer. */
  readonly deferred: boolean;
  /** The answers to what {@linkcode TaskToolConfig.before} asked, by key. */
  readonly answers: InputResponses;
  /** What it takes to run the worker again; see {@linkcode toolWorker}. */
  readonly call: TaskToolCall;
  /** The id of the request; absent where the worker is run again. */
  readonly requestId?: RequestId;
  /**
   * Who called, where the host's authentication says so; absent where the
   * worker is run again.
   */
  readonly authInfo?: AuthInfoLike;
  /** The metadata of the request; empty where the worker is run again. */
  readonly meta: Readonly<Record<string, unknown>>;
}

/**
 * Does the work of a tool. What it returns is the result; what it throws is
 * read as {@linkcode TaskLifecycle.run} says.
 *
 * For a client that does not declare the extension it runs while the client
 * waits. `requestInput()` then ends that run with the question: the client
 * calls again with the answer and the worker runs again **from its start**,
 * where the same question gets that answer. So do nothing before a question
 * that must not be done twice, and ask the same questions each time.
 */
export type TaskToolWorker<
  Input extends SchemaLike | undefined,
  Output extends SchemaLike | undefined = undefined,
> = (
  args: SchemaOutput<Input>,
  task: TaskHandle,
  ctx: TaskToolContext,
) => TaskToolResult<Output> | void | Promise<TaskToolResult<Output> | void>;

/** What a tool can do before its call becomes a task. */
export interface TaskToolPrelude extends Omit<TaskToolContext, "answers"> {
  /** Aborts when the request is cancelled, or its connection drops. */
  readonly signal: AbortSignal;
  /**
   * Asks the client. Without all answers this run ends here: the client calls
   * again with them, and the prelude runs again from its start.
   *
   * @param requests Requests by key; the worker cannot use the same keys.
   * @returns The answers, which the worker gets too.
   * @throws {InputPendingError} `ERR_INPUT_PENDING`: the client has to be asked.
   * @throws {InputUnavailableError} `ERR_INPUT_UNAVAILABLE`: it cannot be asked for this.
   * @throws {DuplicateInputKeyError} `ERR_DUPLICATE_INPUT_KEY`: a key was used before.
   * @throws {InvalidInputRequestError} `ERR_INVALID_INPUT_REQUEST`: a request is wrong.
   */
  requestInput<const Requests extends InputRequests>(
    requests: Requests,
  ): Promise<InputResponsesTo<Requests>>;
}

/** How the tasks of a tool are created. */
export interface TaskToolTaskOptions {
  /**
   * Milliseconds from creation after which the task no longer exists; `null`
   * for ever.
   *
   * @default the lifecycle's `defaultTtlMs`
   */
  readonly ttlMs?: number | null;
  /**
   * How often a client should poll, in milliseconds.
   *
   * @default the lifecycle's `defaultPollIntervalMs`
   */
  readonly pollIntervalMs?: number;
  /**
   * Which clients can call the tool: `"optional"` all of them, where one that
   * does not declare the extension waits for the result; `"required"` only
   * those that declare it, where any other gets -32021.
   *
   * @default "optional"
   */
  readonly support?: "optional" | "required";
}

/**
 * What `McpServer.registerTool` takes, and how the tool's tasks are created.
 *
 * @example Ask first, and only then create the task
 * ```ts
 * import { McpServer } from "@modelcontextprotocol/server";
 * import { z } from "zod";
 * import { MemoryTaskStore, TaskLifecycle } from "@mcp-durable/tasks";
 * import { attachTasks } from "@mcp-durable/tasks/mcp";
 *
 * const tasks = new TaskLifecycle({ store: new MemoryTaskStore() });
 * const mcp = new McpServer({ name: "files", version: "1.0.0" });
 * attachTasks(mcp, tasks).registerTool("delete_all", {
 *   inputSchema: z.object({ folder: z.string() }),
 *   before: async ({ folder }, { requestInput }) => {
 *     const { sure } = await requestInput({
 *       sure: {
 *         method: "elicitation/create",
 *         params: {
 *           message: `Delete all of ${folder}?`,
 *           requestedSchema: { type: "object", properties: {} },
 *         },
 *       },
 *     });
 *     if (sure.action === "accept") return;
 *     return { content: [{ type: "text", text: "Nothing was deleted" }] };
 *   },
 * }, async ({ folder }, task) => {
 *   await task.progress(`deleting ${folder}`);
 *   return { content: [{ type: "text", text: `Deleted all of ${folder}` }] };
 * });
 * await tasks.close();
 * ```
 */
export interface TaskToolConfig<
  Input extends SchemaLike | undefined,
  Output extends SchemaLike | undefined = SchemaLike | undefined,
> {
  /**
   * The tool's name, for people.
   *
   * @default none, and clients show `name`
   */
  readonly title?: string;
  /**
   * What the tool does, for the model.
   *
   * @default none
   */
  readonly description?: string;
  /**
   * What the tool takes; the SDK checks it before the worker starts.
   *
   * @default the tool takes no arguments
   */
  readonly inputSchema?: Input;
  /**
   * What the tool gives as `structuredContent`.
   *
   * @default nothing is said, and nothing is checked
   */
  readonly outputSchema?: Output;
  /**
   * Hints for clients.
   *
   * @default none
   */
  readonly annotations?: object;
  /**
   * Icons for clients.
   *
   * @default none
   */
  readonly icons?: readonly object[];
  /**
   * Asks for OAuth scopes before a call is answered, as the SDK does.
   *
   * @default none
   */
  readonly scopeChallenge?: (context: never) => unknown;
  /**
   * Metadata.
   *
   * @default none
   */
  readonly _meta?: Readonly<Record<string, unknown>>;
  /**
   * How the tool's tasks are created.
   *
   * @default {}
   */
  readonly task?: TaskToolTaskOptions;
  /**
   * Runs while the client waits, before the call becomes a task, and for a
   * client without tasks before the worker. What it returns answers the call;
   * if it returns nothing, the work begins. What it throws answers the call
   * too, as in the worker. It may ask: see {@linkcode TaskToolPrelude}.
   *
   * @default nothing
   */
  readonly before?: (
    args: SchemaOutput<Input>,
    prelude: TaskToolPrelude,
  ) => ToolResult | void | Promise<ToolResult | void>;
}
