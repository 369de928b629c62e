/** What stands for an id where a key cannot hold it. */

/**
 * Hashes an id: SHA-256 over its UTF-16 code units, since in UTF-8 all lone
 * surrogates are one.
 *
 * @param taskId The id, any string.
 * @returns 32 bytes; another id has others.
 */
export async function hashId(taskId: string): Promise<Uint8Array> {
  const units = new Uint8Array(taskId.length * 2);
  for (let i = 0; i < taskId.length; i++) {
    const unit = taskId.charCodeAt(i);
    units[2 * i] = unit >> 8;
    units[2 * i + 1] = unit & 0xff;
  }
  return new Uint8Array(await crypto.subtle.digest("SHA-256", units));
}
