/** What a tool is made of: its configuration, its worker, and what that gives. */

import type { TaskHandle } from "../engine/handle.ts";
import type {
  AuthInfoLike,
  RequestId,
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
    readonly annotations?: object;
    /** Metadata. */
    readonly _meta?: object;
  }
  | {
    /** A picture or a sound. */
    readonly type: "image" | "audio";
    /** Its bytes in base64. */
    readonly data: string;
    /** Its kind. */
    readonly mimeType: string;
    /** For whom it is, and how it matters. */
    readonly annotations?: object;
    /** Metadata. */
    readonly _meta?: object;
  }
  | {
    /** A resource that the client can read. */
    readonly type: "resource_link";
    /** Where. */
    readonly uri: string;
    /** Its name. */
    readonly name: string;
    /** Its name, for people. */
    readonly title?: string;
    /** What it is. */
    readonly description?: string;
    /** Its kind. */
    readonly mimeType?: string;
    /** Its size in bytes. */
    readonly size?: number;
    /** For whom it is, and how it matters. */
    readonly annotations?: object;
    /** Metadata. */
    readonly _meta?: object;
  }
  | {
    /** A resource itself. */
    readonly type: "resource";
    /** The resource. */
    readonly resource: object;
    /** For whom it is, and how it matters. */
    readonly annotations?: object;
    /** Metadata. */
    readonly _meta?: object;
  };

/** What a tool gives: the SDK's `CallToolResult`. */
export interface ToolResult {
  /** What the model reads. */
  readonly content?: readonly ToolContent[];
  /** What a program reads: any JSON, as the tool's output schema says. */
  readonly structuredContent?: unknown;
  /** Whether the tool failed, in a way that the model may learn of. */
  readonly isError?: boolean;
  /** Metadata. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** What a worker knows of the call. It is good as long as the worker runs. */
export interface TaskToolContext {
  /** Whether the call became a task; false: its client waits for the answer. */
  readonly deferred: boolean;
  /** The id of the request. */
  readonly requestId: RequestId;
  /** Who called, where the host's authentication says so. */
  readonly authInfo?: AuthInfoLike;
  /** The metadata of the request. */
  readonly meta: Readonly<Record<string, unknown>>;
}

/**
 * Does the work of a tool. What it returns is the result; what it throws is
 * read as {@linkcode TaskLifecycle.run} says.
 */
export type TaskToolWorker<Input extends SchemaLike | undefined> = (
  args: SchemaOutput<Input>,
  task: TaskHandle,
  ctx: TaskToolContext,
) => ToolResult | void | Promise<ToolResult | void>;

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
   * Whether the tool runs as a task only. A client that does not declare the
   * extension then gets -32021 instead of a result.
   *
   * @default false
   */
  readonly required?: boolean;
}

/** What `McpServer.registerTool` takes, and how the tool's tasks are created. */
export interface TaskToolConfig<Input extends SchemaLike | undefined> {
  /** The tool's name, for people. */
  readonly title?: string;
  /** What the tool does, for the model. */
  readonly description?: string;
  /** What the tool takes; the SDK checks it before the worker starts. */
  readonly inputSchema?: Input;
  /** What the tool gives as `structuredContent`. */
  readonly outputSchema?: SchemaLike;
  /** Hints for clients. */
  readonly annotations?: object;
  /** Icons for clients. */
  readonly icons?: readonly object[];
  /** Metadata. */
  readonly _meta?: Readonly<Record<string, unknown>>;
  /**
   * How the tool's tasks are created.
   *
   * @default {}
   */
  readonly task?: TaskToolTaskOptions;
}
