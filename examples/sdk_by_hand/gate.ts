/** Which requests may speak of tasks, whose tasks they are, and what a client learns of an error. */
import {
  type AuthInfo,
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  type Result,
  type ServerContext,
  type StandardSchemaV1,
} from "@modelcontextprotocol/server";
import { TASK_ERRORS, type TaskErrorCode } from "@mcp-durable/tasks";

/** The id of the extension. */
export const TASKS = "io.modelcontextprotocol/tasks";

/** The parameters of `tasks/*`, checked by hand: any Standard Schema does. */
export const TASK_PARAMS: StandardSchemaV1<unknown, { taskId: string }> = {
  "~standard": {
    version: 1,
    vendor: "by-hand",
    validate(value) {
      const { taskId } = Object(value) as { taskId?: unknown };
      return typeof taskId === "string"
        ? { value: { taskId } }
        : { issues: [{ message: "a string is needed", path: ["taskId"] }] };
    },
  },
};

/** The part of a request's metadata that says what its client can do. */
type Envelope = Readonly<Record<string, unknown>> | undefined;

/** What a client can do: it says so with each request. */
interface Capabilities {
  readonly extensions?: Readonly<Record<string, unknown>>;
  readonly elicitation?: { readonly form?: object; readonly url?: object };
}

function capabilitiesOf(envelope: Envelope): Capabilities {
  return (envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {}) as Capabilities;
}

/** Whether a request's metadata declares the extension. */
export function declares(envelope: Envelope): boolean {
  return typeof capabilitiesOf(envelope).extensions?.[TASKS] === "object";
}

/** Whether the client can be shown a form: it must not be sent what it did not declare. */
export function showsForms(ctx: ServerContext): boolean {
  const { elicitation } = capabilitiesOf(ctx.mcpReq.envelope as Envelope);
  return elicitation !== undefined && (!!elicitation.form || !elicitation.url);
}

/** Whether the answer to a request may be a task. */
export function declaresTasks(ctx: ServerContext): boolean {
  return declares(ctx.mcpReq.envelope as Envelope);
}

/** Whose tasks a caller's are; without authentication all callers are one. */
export function principal(authInfo: AuthInfo | undefined): string {
  if (!authInfo) return "anonymous";
  return JSON.stringify([authInfo.clientId, authInfo.extra?.sub ?? null]);
}

/** Whose tasks a request is about. */
export function ownerOf(ctx: ServerContext): string {
  return principal(ctx.http?.authInfo);
}

/** What a client that did not declare the extension is answered with: -32021. */
export function missingTasks(): MissingRequiredClientCapabilityError {
  return new MissingRequiredClientCapabilityError({
    requiredCapabilities: { extensions: { [TASKS]: {} } },
  });
}

/** Answers one method of the extension. */
type Answer = (
  params: { taskId: string },
  owner: string,
  ctx: ServerContext,
) => Promise<object>;

/** A handler that lets through only who declares the extension, and hides what is the host's own. */
export function guarded(
  answer: Answer,
): (params: { taskId: string }, ctx: ServerContext) => Promise<Result> {
  return async (params, ctx) => {
    if (!ctx.mcpReq.envelope) {
      throw new ProtocolError(-32601, "Method not found"); // An older revision.
    }
    if (!declaresTasks(ctx)) throw missingTasks();
    try {
      return await answer(params, ownerOf(ctx), ctx) as Result;
    } catch (error) {
      const { code, message } = error as Error & { code?: TaskErrorCode };
      const known = code === undefined ? undefined : TASK_ERRORS[code];
      if (known?.rpcCode === -32602) throw new ProtocolError(-32602, message);
      console.error(error);
      throw new ProtocolError(-32603, "Internal error");
    }
  };
}
