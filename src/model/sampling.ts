/** What a server may ask the client's model (revision 2026-07-28). */

import {
  type Icon,
  icons,
  meta,
  type Role,
  role,
  samplingContentBlock,
  type SamplingMessageContentBlock,
} from "./content_block.ts";
import {
  anyObject,
  boolean,
  type Check,
  integer,
  listOf,
  number,
  objectOf,
  oneOf,
  oneOrList,
  optional,
  string,
  weight,
} from "./shape.ts";

/** The conversation so far, and how to go on. */
export interface CreateMessageRequestParams {
  /** The messages, oldest first. */
  readonly messages: readonly SamplingMessage[];
  /** The most tokens to sample. */
  readonly maxTokens: number;
  /** A system prompt that the client may use. */
  readonly systemPrompt?: string;
  /**
   * Whose context the client may add.
   *
   * @default "none"
   */
  readonly includeContext?: "none" | "thisServer" | "allServers";
  /** How freely to sample. */
  readonly temperature?: number;
  /** Texts at which to stop. */
  readonly stopSequences?: readonly string[];
  /** For the provider of the model; any plain JSON. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Which model would be best. */
  readonly modelPreferences?: ModelPreferences;
  /** The tools that the model may ask for. */
  readonly tools?: readonly Tool[];
  /** How the model uses the tools. */
  readonly toolChoice?: ToolChoice;
  /** Whatever else belongs to the request; any plain JSON. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** One message to or from a model. */
export interface SamplingMessage {
  /** Who speaks. */
  readonly role: Role;
  /** What is said: one block, or several. */
  readonly content:
    | SamplingMessageContentBlock
    | readonly SamplingMessageContentBlock[];
  /** Whatever else belongs to the message; any plain JSON. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** Which model would be best. The client decides. */
export interface ModelPreferences {
  /** Names or parts of names, the best first. */
  readonly hints?: readonly ModelHint[];
  /** How much a low price matters, 0 to 1. */
  readonly costPriority?: number;
  /** How much speed matters, 0 to 1. */
  readonly speedPriority?: number;
  /** How much ability matters, 0 to 1. */
  readonly intelligencePriority?: number;
}

/** A model that would do. */
export interface ModelHint {
  /** A name, or a part of one. */
  readonly name?: string;
}

/** How a model uses the tools. */
export interface ToolChoice {
  /**
   * `auto`: as it likes; `required`: at least once; `none`: not at all.
   *
   * @default "auto"
   */
  readonly mode?: "auto" | "required" | "none";
}

/** A tool that a model may ask for. */
export interface Tool {
  /** Its name. */
  readonly name: string;
  /** A name for people. */
  readonly title?: string;
  /** What it does. */
  readonly description?: string;
  /** The JSON Schema of its arguments, which are an object. */
  readonly inputSchema: ToolInputSchema;
  /** The JSON Schema of its structured result, of any type. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  /** Hints about how it behaves. */
  readonly annotations?: ToolAnnotations;
  /** Pictures for it. */
  readonly icons?: readonly Icon[];
  /** Whatever else belongs to the tool; any plain JSON. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** The JSON Schema of a tool's arguments. */
export interface ToolInputSchema {
  /** Arguments are an object. */
  readonly type: "object";
  /** The dialect of JSON Schema. */
  readonly $schema?: string;
  /** Any other keyword; any plain JSON. */
  readonly [keyword: string]: unknown;
}

/** Hints about how a tool behaves; not to be trusted. */
export interface ToolAnnotations {
  /** A name for people. */
  readonly title?: string;
  /**
   * It changes nothing.
   *
   * @default false
   */
  readonly readOnlyHint?: boolean;
  /**
   * It may destroy something.
   *
   * @default true
   */
  readonly destructiveHint?: boolean;
  /**
   * Calling it again with the same arguments changes no more.
   *
   * @default false
   */
  readonly idempotentHint?: boolean;
  /**
   * It reaches beyond what is known.
   *
   * @default true
   */
  readonly openWorldHint?: boolean;
}

const tool: Check = objectOf({
  name: string,
  title: optional(string),
  description: optional(string),
  inputSchema: objectOf({ type: oneOf("object"), $schema: optional(string) }),
  outputSchema: optional(objectOf({ $schema: optional(string) })),
  annotations: optional(objectOf({
    title: optional(string),
    readOnlyHint: optional(boolean),
    destructiveHint: optional(boolean),
    idempotentHint: optional(boolean),
    openWorldHint: optional(boolean),
  })),
  icons: optional(icons),
  _meta: meta,
});

/** The parameters of `sampling/createMessage`. */
export const samplingParams: Check = objectOf({
  messages: listOf(objectOf({
    role,
    content: oneOrList(samplingContentBlock),
    _meta: meta,
  })),
  maxTokens: integer,
  systemPrompt: optional(string),
  includeContext: optional(oneOf("none", "thisServer", "allServers")),
  temperature: optional(number),
  stopSequences: optional(listOf(string)),
  metadata: optional(anyObject),
  modelPreferences: optional(objectOf({
    hints: optional(listOf(objectOf({ name: optional(string) }))),
    costPriority: optional(weight),
    speedPriority: optional(weight),
    intelligencePriority: optional(weight),
  })),
  tools: optional(listOf(tool)),
  toolChoice: optional(objectOf({
    mode: optional(oneOf("auto", "required", "none")),
  })),
  _meta: meta,
});
