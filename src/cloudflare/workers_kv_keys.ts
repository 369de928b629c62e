/** The keys under which the store on Workers KV keeps tasks. */

/** Ids that stand in a key as they are. */
const PLAIN_ID = /^[\w-]{1,128}$/;
/** What follows the prefix. Nothing else does, so that a longer prefix is another store. */
const REST = /^(?:=[\w-]{1,128}|#[0-9a-f]{64})$/;

/**
 * The key of a task. An id may be any string, and a key has 512 bytes of UTF-8:
 * what is long or unusual stands there as its hash.
 *
 * @param prefix What it begins with.
 * @param taskId The id.
 * @returns Its key; another id has another.
 */
export async function keyOf(prefix: string, taskId: string): Promise<string> {
  return PLAIN_ID.test(taskId)
    ? `${prefix}=${taskId}`
    : `${prefix}#${await hash(taskId)}`;
}

/**
 * Tells whether a key that begins with the prefix is one of a task.
 *
 * @param prefix What it begins with.
 * @param key The key.
 */
export function isKey(prefix: string, key: string): boolean {
  return REST.test(key.slice(prefix.length));
}

/** SHA-256 over the UTF-16 code units: in UTF-8 all lone surrogates are one. */
async function hash(text: string): Promise<string> {
  const bytes = new Uint8Array(text.length * 2);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    bytes[2 * i] = unit >> 8;
    bytes[2 * i + 1] = unit & 0xff;
  }
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
