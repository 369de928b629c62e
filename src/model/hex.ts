/** Bytes as text. */

/**
 * Writes bytes as hexadecimal digits.
 *
 * @param bytes The bytes.
 * @returns Two digits for each.
 */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
