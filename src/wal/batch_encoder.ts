/** Puts the pieces of a write together. */

import { Buffer } from "node:buffer";

/** A longer write makes a buffer of its own, which is not kept. */
const MOST_KEPT_BYTES = 8 * 1024 * 1024;

/** Encodes writes into one buffer, which grows. */
export class BatchEncoder {
  #buffer: Buffer = Buffer.allocUnsafe(64 * 1024);
  readonly #encoder = new TextEncoder();

  /**
   * Encodes a write.
   *
   * @param pieces Texts and bytes, in order.
   * @param bytes How many bytes they have together.
   * @returns The bytes, good until the next call.
   */
  encode(pieces: readonly (string | Uint8Array)[], bytes: number): Uint8Array {
    let buffer = this.#buffer;
    if (buffer.length < bytes) {
      buffer = Buffer.allocUnsafe(bytes + (bytes >> 1));
      if (bytes <= MOST_KEPT_BYTES) this.#buffer = buffer;
    }
    const encoded = this.#encodeInto(buffer, pieces);
    if (encoded.length === bytes) return encoded;
    throw new Error(`${encoded.length} bytes to write, ${bytes} expected`);
  }

  #encodeInto(
    buffer: Buffer,
    pieces: readonly (string | Uint8Array)[],
  ): Uint8Array {
    let at = 0;
    let text = "";
    const encode = () => {
      const into = at === 0 ? buffer : buffer.subarray(at);
      at += this.#encoder.encodeInto(text, into).written;
      text = "";
    };
    for (const piece of pieces) {
      if (typeof piece === "string") {
        text += piece;
        continue;
      }
      if (text) encode();
      buffer.set(piece, at);
      at += piece.length;
    }
    if (text) encode();
    return buffer.subarray(0, at);
  }
}
