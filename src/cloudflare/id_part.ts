/** What stands for an id in keys, which have fewer bytes and characters than ids. */

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
  return PLAIN_ID.test(taskId) ? `=${taskId}` : `#${await hash(taskId)}`;
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
