/**
 * The parts of `@modelcontextprotocol/server` that the adapter touches, as
 * shapes: whichever copy of the SDK a program has, it fits.
 */

/** A request id of JSON-RPC. */
export type RequestId = string | number;

/** Who is calling, as the host's authentication found. */
export interface AuthInfoLike {
  /** The OAuth client. It is the program, not the person. */
  readonly clientId: string;
  /** What else the host knows; `sub` is the person, where there is one. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** The context in which the SDK calls a handler. */
export interface RequestContextLike {
  /** The request. */
  readonly mcpReq: {
    /** Its id. */
    readonly id: RequestId;
    /** Its method. */
    readonly method: string;
    /** Its metadata, without the protocol's own. */
    readonly _meta?: Readonly<Record<string, unknown>>;
    /** The protocol's own metadata; absent before revision 2026-07-28. */
    readonly envelope?: Readonly<Record<string, unknown>>;
    /** The answers that a call of an older revision is repeated with. */
    readonly inputResponses?: Readonly<Record<string, unknown>>;
    /** The state that a repeated call brings back. */
    requestState?(): unknown;
    /** Aborts when the request is cancelled, and also soon after its answer. */
    readonly signal: AbortSignal;
    /** Sends a notification that belongs to the request. */
    notify(notification: never): Promise<void>;
  };
  /** What is known of the HTTP request. */
  readonly http?: {
    /** Who is calling. */
    readonly authInfo?: AuthInfoLike;
  };
}

/** The low-level server of an `McpServer`. */
export interface ServerLike {
  /** Declares capabilities, before a client connects. */
  registerCapabilities(capabilities: never): void;
  /** Throws where a method has a handler. */
  assertCanSetRequestHandler(method: string): void;
  /** Answers a method. */
  setRequestHandler(method: string, schemas: never, handler: never): void;
  /** The revision that the connection speaks, once it does. */
  getNegotiatedProtocolVersion(): string | undefined;
  /** What a client of an older revision said it can do. */
  getClientCapabilities(): object | undefined;
  /** Serves one connection. */
  connect(transport: never): Promise<void>;
}

/** An `McpServer` of `@modelcontextprotocol/server`, from 2.3.0 on. */
export interface McpServerLike {
  /** The server under it. */
  readonly server: ServerLike;
  /** Registers a tool. */
  registerTool(name: string, config: never, callback: never): unknown;
}

/**
 * Seals the state of a call that asks its client, and opens it again: the SDK's
 * `createRequestStateCodec()` makes one.
 */
export interface RequestStateCodecLike {
  /** Seals. */
  mint(payload: never, ctx: never): Promise<string>;
  /** Opens; rejects what was not sealed so. */
  verify(state: string, ctx: never): Promise<unknown>;
}

/**
 * A schema that says what it makes of a value, and describes itself in JSON
 * Schema, which the SDK needs to list a tool: zod 4, ArkType and others, or
 * what the SDK's `fromJsonSchema()` makes.
 */
export interface SchemaLike {
  /** The Standard Schema interface. */
  readonly "~standard": {
    /** Checks a value. */
    readonly validate: (value: unknown) => unknown;
    /** Describes the schema for clients. */
    readonly jsonSchema: object;
    /** What the schema takes and gives, for the type checker alone. */
    readonly types?:
      | { readonly input: unknown; readonly output: unknown }
      | undefined;
  };
}

/** What a schema takes; without a schema, anything. */
export type SchemaInput<Schema extends SchemaLike | undefined> = Schema extends
  SchemaLike ? NonNullable<Schema["~standard"]["types"]>["input"]
  : unknown;

/** What a schema makes of a value; without a schema, an empty object. */
export type SchemaOutput<Schema extends SchemaLike | undefined> = Schema extends
  SchemaLike ? NonNullable<Schema["~standard"]["types"]>["output"]
  : Readonly<Record<string, never>>;
