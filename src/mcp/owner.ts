/** Whom a task belongs to (rule I16). */

import type { RequestContextLike } from "./shapes.ts";

/**
 * The owner of tasks whose caller is not authenticated: over stdio, or over
 * HTTP without `authInfo`. All such callers are one.
 */
export const ANONYMOUS_OWNER = "anonymous";

/**
 * Names the owner of the tasks of a request: the OAuth client together with
 * the person, `extra.sub`, where the host's authentication gives one.
 *
 * @param ctx The request's context.
 * @returns The owner; {@linkcode ANONYMOUS_OWNER} for a caller who is not
 * authenticated.
 */
export function ownerOf(ctx: RequestContextLike): string {
  const authInfo = ctx.http?.authInfo;
  if (!authInfo) return ANONYMOUS_OWNER;
  return JSON.stringify([authInfo.clientId, authInfo.extra?.sub ?? null]);
}
