/** How tasks are listened to. */

import type { TaskLifecycle } from "../engine/lifecycle.ts";
import { checkPositiveInteger } from "../model/limits.ts";
import { checkOptions, type NamesOf } from "../model/option_names.ts";
import { ListenRegistry } from "./listen_registry.ts";
import { ownerOf } from "./owner.ts";
import { checkHooks, checkLifecycle } from "./registration.ts";
import type { TaskErrorListener } from "./rpc_error.ts";
import type { RequestContextLike } from "./shapes.ts";

/**
 * The options of {@linkcode withTaskNotifications} and
 * {@linkcode withStdioTaskNotifications}.
 */
export interface TaskNotificationsOptions {
  /**
   * Names the owner of the tasks that a request may listen to (rule I16); the
   * same function that `attachTasks` has.
   *
   * @default the OAuth client and `extra.sub` of the request's `authInfo`;
   * {@linkcode ANONYMOUS_OWNER} without one
   */
  readonly owner?: (ctx: RequestContextLike) => string | undefined;
  /**
   * Milliseconds after which a comment keeps the connection of a stream open
   * that says nothing, over HTTP.
   *
   * @default 15_000
   */
  readonly keepAliveMs?: number;
  /**
   * Streams with tasks that one owner may have open at the same time. All
   * callers without authentication are one owner. The SDK's own limit
   * (`maxSubscriptions`) does not count them.
   *
   * @default 64
   */
  readonly maxStreamsPerOwner?: number;
  /**
   * Different tasks that one stream may be asked for.
   *
   * @default 100
   */
  readonly maxTaskIds?: number;
  /**
   * Hears of unexpected errors, of which clients learn nothing but "Internal
   * error", or that their stream ends.
   *
   * @default nothing
   */
  readonly onError?: TaskErrorListener;
}

const NAMES: NamesOf<TaskNotificationsOptions> = {
  owner: true,
  keepAliveMs: true,
  maxStreamsPerOwner: true,
  maxTaskIds: true,
  onError: true,
};

/** What all streams of a server share. */
export interface ListenHost {
  /** The engine. */
  readonly tasks: TaskLifecycle;
  /** Names the owner of a request. */
  readonly owner: (ctx: RequestContextLike) => string | undefined;
  /** Milliseconds between two comments. */
  readonly keepAliveMs: number;
  /** Different tasks of one stream. */
  readonly maxTaskIds: number;
  /** Who listens. */
  readonly registry: ListenRegistry;
  /** Hears of unexpected errors. */
  readonly onError: TaskErrorListener | undefined;
}

/**
 * Fills the options with their defaults.
 *
 * @param tasks The engine.
 * @param options The options of the host.
 * @returns What all streams share.
 * @throws {InvalidArgumentError} `ERR_INVALID_ARGUMENT`: an argument is wrong.
 */
export function listenHost(
  tasks: TaskLifecycle,
  options: TaskNotificationsOptions,
): ListenHost {
  checkLifecycle("tell of tasks", tasks);
  checkOptions("tell of tasks", options, NAMES);
  const { owner = ownerOf, onError } = options;
  checkHooks({ owner, onError });
  const {
    keepAliveMs = 15_000,
    maxStreamsPerOwner = 64,
    maxTaskIds = 100,
  } = options;
  return {
    tasks,
    owner,
    keepAliveMs: checkPositiveInteger("keepAliveMs", keepAliveMs),
    maxTaskIds: checkPositiveInteger("maxTaskIds", maxTaskIds),
    registry: new ListenRegistry(
      checkPositiveInteger("maxStreamsPerOwner", maxStreamsPerOwner),
    ),
    onError,
  };
}
