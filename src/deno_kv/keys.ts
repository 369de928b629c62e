/**
 * Where things are in the database. The names sort in this order, so that the
 * neighbour of a key is one of ours too: `@deno/kv` decodes the neighbour of a
 * key that it does not find.
 */

import { toHex } from "../model/hex.ts";
import { hashId } from "../model/id_hash.ts";
import { utf8Bytes } from "../model/json.ts";
import { MAX_ID_LENGTH } from "./limits.ts";
import type { DenoKvKey, DenoKvRange } from "./shape.ts";
import type { Piece } from "./value.ts";

/** What stands for an id in keys. */
export type IdPart = string | Uint8Array;

/** When a record expires. */
export interface Expiry {
  /** In milliseconds since the epoch. */
  readonly expiresAt: number;
  /** What stands for its id. */
  readonly id: IdPart;
}

/** The keys of one store. */
export class Keys {
  readonly #prefix: DenoKvKey;

  /** @param prefix What all keys begin with. */
  constructor(prefix: readonly string[]) {
    this.#prefix = prefix;
  }

  /**
   * The record of a task.
   *
   * @param id What stands for its id.
   * @returns The key.
   */
  record(id: IdPart): DenoKvKey {
    return [...this.#prefix, "record", id];
  }

  /**
   * A part of a record.
   *
   * @param generation The write that it belongs to.
   * @param index Which part.
   * @returns The key.
   */
  part(generation: string, index: number): DenoKvKey {
    return [...this.#prefix, "part", generation, index];
  }

  /**
   * All parts of a piece.
   *
   * @param piece The piece.
   * @returns The keys, in the order of the parts.
   */
  parts({ generation, first, count }: Piece): DenoKvKey[] {
    return Array.from(
      { length: count },
      (_, i) => this.part(generation, first + i),
    );
  }

  /**
   * What says that parts belong to no record yet.
   *
   * @param generation The write that they belong to.
   * @returns The key.
   */
  manifest(generation: string): DenoKvKey {
    return [...this.#prefix, "manifest", generation];
  }

  /**
   * What says when a record expires.
   *
   * @param expiry The record, and when.
   * @returns The key.
   */
  expiry({ expiresAt, id }: Expiry): DenoKvKey {
    return [...this.#prefix, "until", expiresAt, id];
  }

  /** All manifests; those of a store whose prefix goes on so may be among them. */
  manifests(): DenoKvRange {
    return {
      start: [...this.#prefix, "manifest", ""],
      // Numbers come after texts.
      end: [...this.#prefix, "manifest", -Infinity],
    };
  }

  /**
   * What expires before a time.
   *
   * @param time In milliseconds since the epoch.
   * @returns The range.
   */
  expiringBefore(time: number): DenoKvRange {
    return {
      // Texts come before numbers: they are of a store whose prefix goes on so.
      start: [...this.#prefix, "until", -Infinity],
      end: [...this.#prefix, "until", time],
    };
  }

  /**
   * Reads the key of {@linkcode expiry}.
   *
   * @param key The key.
   * @returns The record, and when.
   */
  readExpiry(key: readonly unknown[]): Expiry {
    const [expiresAt, id] = key.slice(-2);
    return { expiresAt: expiresAt as number, id: id as IdPart };
  }

  /**
   * Reads the key of {@linkcode manifest}.
   *
   * @param key The key.
   * @returns The generation; `undefined` if it is another store's.
   */
  readManifest(key: readonly unknown[]): string | undefined {
    const { length } = this.#prefix;
    return key.length === length + 2 ? key[length + 1] as string : undefined;
  }
}

/**
 * Writes a key, for people.
 *
 * @param key The key.
 * @returns JSON, with bytes as hexadecimal digits.
 */
export function showKey(key: DenoKvKey): string {
  return JSON.stringify(
    key.map((part) => part instanceof Uint8Array ? toHex(part) : part),
  );
}

/**
 * Makes what stands for an id in keys. An id is any string (S4), and a key is
 * not: it is encoded in UTF-8, which has no lone surrogates, and it has a limit.
 *
 * @param taskId The id.
 * @returns The id itself, or bytes made of it, which no other id has.
 */
export function idPartOf(taskId: string): IdPart | Promise<IdPart> {
  if (taskId.length <= MAX_ID_LENGTH && taskId.isWellFormed()) return taskId;
  return hashId(taskId);
}

/**
 * Counts the bytes of a key as the database encodes it.
 *
 * @param key The key.
 * @returns The number of bytes.
 */
export function keyBytes(key: DenoKvKey): number {
  let bytes = 0;
  for (const part of key) {
    if (typeof part === "number") bytes += 9;
    else if (typeof part === "string") bytes += 2 + textBytes(part);
    else bytes += 2 + 2 * part.length; // a zero takes two
  }
  return bytes;
}

/** Bytes of a string in a key, where a NUL takes two. */
function textBytes(text: string): number {
  return utf8Bytes(text) + text.split("\0").length - 1;
}
