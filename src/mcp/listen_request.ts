/** What a client may listen to, of what it asks for. */

import type { TaskAccess } from "../engine/access.ts";
import {
  isLimitExceededError,
  isTaskNotFoundError,
  LimitExceededError,
  show,
} from "../errors.ts";
import { declaresTasks, missingTasks } from "./gate.ts";
import type { ListenHost } from "./listen_options.ts";
import type { ListenPlace } from "./listen_registry.ts";
import { RPC_CODES } from "./protocol.ts";
import { RpcError, toRpcError } from "./rpc_error.ts";
import type { AuthInfoLike, RequestContextLike, RequestId } from "./shapes.ts";

/** The method of a request that opens a stream of notifications. */
export const LISTEN_METHOD = "subscriptions/listen";

/** A request that asks for the notifications of tasks, well-formed or not. */
export interface ListenRequest {
  /** Its id, which is the subscription's. */
  readonly id: RequestId;
  /** Its parameters. */
  readonly params: {
    /** Its metadata, the protocol's own among them. */
    readonly _meta: Readonly<Record<string, unknown>>;
    /** What it asks for. */
    readonly notifications: {
      /** The tasks; of any type, since the SDK does not look at them. */
      readonly taskIds: unknown;
    };
  };
}

/** A request that was granted. */
export interface Granted {
  /**
   * The tasks that the client may listen to, in the order in which it named
   * them, each with the request that became it.
   */
  readonly tasks: ReadonlyMap<string, string>;
  /** In whose name. */
  readonly access: TaskAccess;
  /** The place that the stream has taken. */
  readonly place: ListenPlace;
}

/**
 * Tells whether a message asks for the notifications of tasks, in the revision
 * that has them.
 *
 * @param message A message.
 * @returns Whether it does.
 */
export function isListenRequest(message: unknown): message is ListenRequest {
  const { id, method, params } = (message ?? {}) as {
    readonly id?: unknown;
    readonly method?: unknown;
    readonly params?: {
      readonly _meta?: unknown;
      readonly notifications?: { readonly taskIds?: unknown } | null;
    } | null;
  };
  return method === LISTEN_METHOD && id !== undefined &&
    params?.notifications?.taskIds !== undefined &&
    typeof params._meta === "object" && params._meta !== null;
}

/**
 * Makes the context in which a host names the owner of a request: a request
 * that the SDK answers by itself has none.
 *
 * @param request The request.
 * @param signal Aborts when the client goes.
 * @param authInfo Who is calling.
 * @returns The context.
 */
export function listenContext(
  request: ListenRequest,
  signal: AbortSignal,
  authInfo?: AuthInfoLike,
): RequestContextLike {
  const meta = Object.entries(request.params._meta);
  const isProtocols = (key: string) =>
    key.startsWith("io.modelcontextprotocol/");
  return {
    mcpReq: {
      id: request.id,
      method: LISTEN_METHOD,
      _meta: Object.fromEntries(meta.filter(([key]) => !isProtocols(key))),
      envelope: Object.fromEntries(meta.filter(([key]) => isProtocols(key))),
      signal,
      notify: () => Promise.resolve(),
    },
    ...(authInfo && { http: { authInfo } }),
  };
}

/**
 * Decides what of a request is granted. Ids that are unknown, expired or
 * another owner's are left out, and nothing tells them apart (rule I16).
 *
 * @param host What all streams share.
 * @param request The request, which the SDK has found well-formed.
 * @param ctx Its context.
 * @returns What is granted; its place has to be given back.
 * @throws {RpcError} -32021: the client did not declare the extension; -32602:
 * the ids are none, or too many, or the owner has too many streams; -32603.
 */
export async function grant(
  host: ListenHost,
  request: ListenRequest,
  ctx: RequestContextLike,
): Promise<Granted> {
  if (!declaresTasks(ctx)) throw missingTasks(LISTEN_METHOD);
  let place: ListenPlace | undefined;
  try {
    const asked = checkTaskIds(
      request.params.notifications.taskIds,
      host.maxTaskIds,
    );
    const owner = host.owner(ctx);
    const access = owner === undefined ? {} : { owner };
    place = host.registry.enter(owner);
    const methods = await Promise.all(
      asked.map((taskId) => methodOf(host, taskId, access)),
    );
    const tasks = new Map<string, string>();
    for (const [i, method] of methods.entries()) {
      if (method !== undefined) tasks.set(asked[i], method);
    }
    return { tasks, access, place };
  } catch (error) {
    place?.leave();
    if (isLimitExceededError(error)) {
      const { code, limit, maximum, message } = error;
      const data = { code, limit, maximum };
      throw new RpcError(RPC_CODES.invalidParams, message, data);
    }
    throw toRpcError(error, { method: LISTEN_METHOD }, host.onError);
  }
}

/** A notification, as far as its reader looks into it. */
export interface Acknowledgement {
  /** The method. */
  readonly method?: string;
  /** The parameters. */
  readonly params?: object;
}

/**
 * Reads what the SDK honours.
 *
 * @param ack The SDK's acknowledgement.
 * @returns What it honours; `undefined` if the message is none.
 */
export function honouredBy(ack: Acknowledgement): object | undefined {
  if (ack.method !== "notifications/subscriptions/acknowledged") return;
  const params = ack.params as { readonly notifications?: unknown } | undefined;
  const honoured = params?.notifications;
  return typeof honoured === "object" && honoured !== null
    ? honoured
    : undefined;
}

/**
 * Puts what is granted beside what the SDK honours.
 *
 * @param ack The SDK's acknowledgement.
 * @param granted What is granted.
 * @returns The acknowledgement for the client.
 */
export function withTaskIds(ack: Acknowledgement, granted: Granted): object {
  const taskIds = [...granted.tasks.keys()];
  const notifications = { ...honouredBy(ack), taskIds };
  return { ...ack, params: { ...ack.params, notifications } };
}

/** The request that became a task; `undefined` if there is no task for the caller. */
async function methodOf(
  { tasks }: ListenHost,
  taskId: string,
  access: TaskAccess,
): Promise<string | undefined> {
  try {
    return await tasks.methodOf(taskId, access);
  } catch (error) {
    if (isTaskNotFoundError(error)) return undefined;
    throw error;
  }
}

/** The different ids that are asked for. */
function checkTaskIds(value: unknown, maxTaskIds: number): string[] {
  const problem = !Array.isArray(value)
    ? show(value)
    : value.every((id) => typeof id === "string")
    ? undefined
    : `an array with ${show(value.find((id) => typeof id !== "string"))}`;
  if (problem !== undefined) {
    throw new RpcError(
      RPC_CODES.invalidParams,
      `Cannot listen to tasks: notifications.taskIds is ${problem}, an array of strings is needed`,
    );
  }
  const ids = [...new Set(value as readonly string[])];
  if (ids.length > maxTaskIds) {
    throw new LimitExceededError(
      "maxTaskIds",
      maxTaskIds,
      `Cannot listen to ${ids.length} tasks on one stream`,
    );
  }
  return ids;
}
