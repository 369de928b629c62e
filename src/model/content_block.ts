/** The blocks that messages to and from a model are made of (revision 2026-07-28). */

import {
  allOf,
  anyObject,
  anything,
  boolean,
  type Check,
  integer,
  listOf,
  matching,
  objectOf,
  oneOf,
  optional,
  string,
  text,
  variants,
  weight,
} from "./shape.ts";
import type { JsonValue } from "./json.ts";

/** Who speaks, or who listens. */
export type Role = "user" | "assistant";

/** Hints about whom a block is for and how much it matters. */
export interface Annotations {
  /** Whom it is for. */
  readonly audience?: readonly Role[];
  /** From 0, optional, to 1, needed. */
  readonly priority?: number;
  /** ISO 8601; a date alone is fine. */
  readonly lastModified?: string;
}

/** A picture that a client may show beside a name. */
export interface Icon {
  /** An http, https or data URL. */
  readonly src: string;
  /** Its media type. */
  readonly mimeType?: string;
  /** Sizes in which it may be used, such as `48x48` or `any`. */
  readonly sizes?: readonly string[];
  /** The background it is made for. */
  readonly theme?: "light" | "dark";
}

/** Text. */
export interface TextContent {
  /** The kind of block. */
  readonly type: "text";
  /** The text. */
  readonly text: string;
  /** Hints for the client. */
  readonly annotations?: Annotations;
  /** Whatever else belongs to the block; any plain JSON. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** An image. */
export interface ImageContent {
  /** The kind of block. */
  readonly type: "image";
  /** The image in base64. */
  readonly data: string;
  /** Its media type. */
  readonly mimeType: string;
  /** Hints for the client. */
  readonly annotations?: Annotations;
  /** Whatever else belongs to the block; any plain JSON. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** A sound. */
export interface AudioContent {
  /** The kind of block. */
  readonly type: "audio";
  /** The sound in base64. */
  readonly data: string;
  /** Its media type. */
  readonly mimeType: string;
  /** Hints for the client. */
  readonly annotations?: Annotations;
  /** Whatever else belongs to the block; any plain JSON. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** A resource that may be read under its URI. */
export interface ResourceLink {
  /** The kind of block. */
  readonly type: "resource_link";
  /** The name of the resource. */
  readonly name: string;
  /** Where it is. */
  readonly uri: string;
  /** A name for people. */
  readonly title?: string;
  /** What it is. */
  readonly description?: string;
  /** Its media type. */
  readonly mimeType?: string;
  /** Its size in bytes, before any encoding. */
  readonly size?: number;
  /** Pictures for it. */
  readonly icons?: readonly Icon[];
  /** Hints for the client. */
  readonly annotations?: Annotations;
  /** Whatever else belongs to the block; any plain JSON. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** What is in a resource: text, or bytes in base64. */
export interface ResourceContents {
  /** Where the resource is. */
  readonly uri: string;
  /** Its media type. */
  readonly mimeType?: string;
  /** The text; either this or `blob`. */
  readonly text?: string;
  /** The bytes in base64; either this or `text`. */
  readonly blob?: string;
  /** Whatever else belongs to the resource; any plain JSON. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** A resource with what is in it. */
export interface EmbeddedResource {
  /** The kind of block. */
  readonly type: "resource";
  /** The resource. */
  readonly resource: ResourceContents;
  /** Hints for the client. */
  readonly annotations?: Annotations;
  /** Whatever else belongs to the block; any plain JSON. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** A block of what a tool gives back. */
export type ContentBlock =
  | TextContent
  | ImageContent
  | AudioContent
  | ResourceLink
  | EmbeddedResource;

/** A model asks for a tool to be called. */
export interface ToolUseContent {
  /** The kind of block. */
  readonly type: "tool_use";
  /** Names this use, for the result to refer to. */
  readonly id: string;
  /** The tool. */
  readonly name: string;
  /** The arguments; any plain JSON. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Whatever else belongs to the block; any plain JSON. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** What a tool gave back to a model. */
export interface ToolResultContent {
  /** The kind of block. */
  readonly type: "tool_result";
  /** The `id` of the use that it answers. */
  readonly toolUseId: string;
  /** The result in blocks. */
  readonly content: readonly ContentBlock[];
  /** The result as data: any JSON value, `null` and arrays too. */
  readonly structuredContent?: unknown;
  /**
   * Whether the tool failed.
   *
   * @default false
   */
  readonly isError?: boolean;
  /** Whatever else belongs to the block; any plain JSON. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** A block of a message to or from a model. */
export type SamplingMessageContentBlock =
  | TextContent
  | ImageContent
  | AudioContent
  | ToolUseContent
  | ToolResultContent;

/** Who speaks. */
export const role: Check = oneOf("user", "assistant");

/** An optional `_meta`. */
export const meta: Check = optional(anyObject);

/** A list of icons. */
export const icons: Check = listOf(objectOf({
  src: string,
  mimeType: optional(string),
  sizes: optional(listOf(string)),
  theme: optional(oneOf("light", "dark")),
}));

/** Bytes in base64, as forgivingly as `atob` reads it. */
const base64: Check = text("base64 is needed", isBase64);

const annotations: Check = optional(objectOf({
  audience: optional(listOf(role)),
  priority: optional(weight),
  lastModified: optional(string),
}));

const textBlock: Check = objectOf({ text: string, annotations, _meta: meta });

const dataBlock: Check = objectOf({
  data: base64,
  mimeType: string,
  annotations,
  _meta: meta,
});

const resourceLink: Check = objectOf({
  name: string,
  uri: string,
  title: optional(string),
  description: optional(string),
  mimeType: optional(string),
  size: optional(integer),
  icons: optional(icons),
  annotations,
  _meta: meta,
});

const embeddedResource: Check = objectOf({
  resource: allOf(
    objectOf({
      uri: string,
      mimeType: optional(string),
      text: optional(string),
      blob: optional(base64),
      _meta: meta,
    }),
    matching("an object with text or blob is needed", hasContents),
  ),
  annotations,
  _meta: meta,
});

const contentBlock: Check = variants("type", {
  text: textBlock,
  image: dataBlock,
  audio: dataBlock,
  resource_link: resourceLink,
  resource: embeddedResource,
});

/** The result of a tool; `structuredContent` may be anything. */
export const toolResult: Check = objectOf({
  content: optional(listOf(contentBlock)),
  isError: optional(boolean),
  _meta: meta,
});

/** A block of a message to or from a model. */
export const samplingContentBlock: Check = variants("type", {
  text: textBlock,
  image: dataBlock,
  audio: dataBlock,
  tool_use: objectOf({
    id: string,
    name: string,
    input: anyObject,
    _meta: meta,
  }),
  tool_result: objectOf({
    toolUseId: string,
    content: listOf(contentBlock),
    structuredContent: anything,
    isError: optional(boolean),
    _meta: meta,
  }),
});

function hasContents(value: JsonValue | undefined): boolean {
  const resource = value as { text?: unknown; blob?: unknown };
  return Object.hasOwn(resource, "text") || Object.hasOwn(resource, "blob");
}

function isBase64(text: string): boolean {
  let digits = text.replace(/[\t\n\f\r ]+/g, "");
  if (digits.length % 4 === 0) digits = digits.replace(/={1,2}$/, "");
  return digits.length % 4 !== 1 && !/[^A-Za-z0-9+/]/.test(digits);
}
