/** What stands for an id in keys, which have fewer bytes and characters than ids. */

import { toHex } from "../model/hex.ts";
import { hashId } from "../model/id_hash.ts";

/** Ids that stand there as they are. */
const PLAIN_ID = /^[\w-]{1,128}$/;
const ID_PART = /^(?:=[\w-]{1,128}|#[0-9a-f]{64})$/;

/**
 * What stands for an id: at most 129 bytes of ASCII, without a slash. An id
 * that is long or unusual is hashed.
 *
 * @param taskId The id, any string.
 * @returns Its part of a key; another id has another.
 */
export async function idPart(taskId: string): Promise<string> {
  if (PLAIN_ID.test(taskId)) return `=${taskId}`;
  return `#${toHex(await hashId(taskId))}`;
}

/**
 * Tells whether a text can be what {@linkcode idPart} gives. What has anything
 * before or behind it cannot.
 *
 * @param text The text.
 */
export function isIdPart(text: string): boolean {
  return ID_PART.test(text);
}
