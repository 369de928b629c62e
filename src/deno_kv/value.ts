/**
 * How a record becomes a value of the database. Up to 64 KiB it is one value;
 * of a larger one the fields that may be large go out into parts, each with
 * parts of its own, so that a change rewrites what it touches and no more.
 */

import { expiresAt } from "../model/expiry.ts";
import { jsonBytes, setOwn } from "../model/json.ts";
import {
  PAYLOAD_FIELDS,
  type PayloadField,
  type TaskRecord,
} from "../model/record.ts";
import { MAX_PARTS, MAX_VALUE_BYTES } from "./limits.ts";

/** How many writers a value remembers: as many writes may follow one whose outcome is unknown, and it is found out. */
const REMEMBERED_WRITES = 4;

const FORMAT = 1;

/** A record as any object. */
export type Fields = Readonly<Record<string, unknown>>;

/** What is kept in parts: a field, or all that is not a {@linkcode PayloadField} together. */
export type PieceName = PayloadField | "rest";

/** Where a piece is. */
export interface Piece {
  /** The write that its parts belong to. */
  readonly generation: string;
  /** Its first part. */
  readonly first: number;
  /** How many parts. */
  readonly count: number;
  /** Bytes of its JSON. */
  readonly bytes: number;
}

/** Pieces by their names. */
export type Pieces = ReadonlyMap<PieceName, Piece>;

/** A value, read. */
export interface Value {
  /** The version of the record. */
  readonly version: number;
  /** When it expires, in milliseconds since the epoch; `null`: never. */
  readonly expiresAt: number | null;
  /** Who wrote this version, and those before it. */
  readonly writes: readonly string[];
  /** What is kept in parts. */
  readonly pieces: Pieces;
  /** All other fields; none where they are a piece themselves. */
  readonly fields: Fields;
}

/** What has to be written for a record. */
export interface Plan {
  /** Of the record. */
  readonly version: number;
  /** When it expires, in milliseconds since the epoch; `null`: never. */
  readonly expiresAt: number | null;
  /** For how long it lives, in milliseconds; `null`: for ever. */
  readonly ttlMs: number | null;
  /** The name of the write, and of the generation of its parts. */
  readonly write: string;
  /** The value. */
  readonly value: Uint8Array<ArrayBuffer>;
  /** The new parts. */
  readonly parts: readonly Uint8Array<ArrayBuffer>[];
  /** What is in parts then, new ones or old. */
  readonly pieces: Pieces;
  /** Bytes of the record's JSON. */
  readonly recordBytes: number;
}

/** What is known of a write before it is planned. */
export interface PlanInit {
  /** The record. What it has of `kept` is passed over. */
  readonly record: TaskRecord;
  /** Pieces that stay as they are. */
  readonly kept: Pieces;
  /** A name that no other write has. */
  readonly write: string;
  /** Who wrote the versions before. */
  readonly writesBefore: readonly string[];
}

interface Member {
  readonly name: PayloadField;
  readonly text: string;
}

/**
 * Plans a write.
 *
 * @param init What is to be written.
 * @returns The value and the parts.
 */
export function planWrite(init: PlanInit): Plan {
  const { record, kept, write } = init;
  const { version, ttlMs } = record;
  const at = expiresAt(record);
  const frame = {
    format: FORMAT,
    version,
    expiresAt: Number.isFinite(at) ? at : null,
    writes: [write, ...init.writesBefore].slice(0, REMEMBERED_WRITES),
  };
  const encoder = new TextEncoder();
  const pieces = new Map(kept);
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const { rest, payloads } = texts(record, kept);

  /** The value with what is inside now, and how many bytes are not of the record. */
  const compose = () => {
    const head = JSON.stringify({ ...frame, pieces: listPieces(pieces) });
    const before = `${head.slice(0, -1)},"fields":`;
    const fields = pieces.has("rest") ? "{}" : join(rest, payloads);
    return { before, text: `${before}${fields}}` };
  };
  const moveOut = (name: PieceName, text: string) => {
    const bytes = encoder.encode(text);
    const piece = {
      generation: write,
      first: parts.length,
      bytes: bytes.length,
    };
    for (let from = 0; from < bytes.length; from += MAX_VALUE_BYTES) {
      parts.push(bytes.subarray(from, from + MAX_VALUE_BYTES));
    }
    const count = parts.length - piece.first;
    pieces.set(name, { ...piece, count });
  };

  payloads.sort((a, b) => b.text.length - a.text.length);
  let value: Uint8Array<ArrayBuffer> | undefined;
  let inside = 0;
  while (!value) {
    const { before, text } = compose();
    // A code unit is a byte at least: what cannot fit need not be encoded.
    if (text.length <= MAX_VALUE_BYTES) {
      const bytes = encoder.encode(text);
      if (bytes.length <= MAX_VALUE_BYTES) {
        value = bytes;
        inside = bytes.length - before.length - 1;
        break;
      }
    }
    const largest = payloads.shift();
    if (largest) moveOut(largest.name, largest.text);
    else moveOut("rest", rest);
  }
  return {
    version,
    expiresAt: frame.expiresAt,
    ttlMs,
    write,
    value,
    parts,
    pieces,
    recordBytes: sizeOf(inside, pieces),
  };
}

/** Bytes of a record's JSON, of which so many are in the value itself. */
function sizeOf(inside: number, pieces: Pieces): number {
  let bytes = pieces.has("rest") ? 0 : inside;
  for (const [name, piece] of pieces) {
    bytes += piece.bytes;
    if (name !== "rest") bytes += `,"${name}":`.length;
  }
  return bytes;
}

/**
 * Counts the bytes of a record's JSON.
 *
 * @param value Its value.
 * @returns The number of bytes.
 */
export function recordBytesOf({ fields, pieces }: Value): number {
  return sizeOf(jsonBytes(fields), pieces);
}

function texts(
  record: TaskRecord,
  kept: Pieces,
): { rest: string; payloads: Member[] } {
  const rest: Record<string, unknown> = { ...record };
  const payloads: Member[] = [];
  for (const name of PAYLOAD_FIELDS) {
    const text = kept.has(name) ? undefined : JSON.stringify(rest[name]);
    if (text !== undefined) payloads.push({ name, text });
    delete rest[name];
  }
  return { rest: JSON.stringify(rest), payloads };
}

/** Puts members into the text of an object that has some. */
function join(rest: string, payloads: readonly Member[]): string {
  const members = payloads.map(({ name, text }) => `,"${name}":${text}`);
  return `${rest.slice(0, -1)}${members.join("")}}`;
}

/** The pieces as the value lists them. */
function listPieces(pieces: Pieces): unknown[] {
  return [...pieces].map(([name, { generation, first, count, bytes }]) => [
    name,
    generation,
    first,
    count,
    bytes,
  ]);
}

/**
 * Reads a value.
 *
 * @param value What the database has.
 * @returns The same, read.
 * @throws {Error} It is none of ours, or of a later release.
 */
export function readValue(value: unknown): Value {
  const read = JSON.parse(decode(value)) ?? {};
  const { format, version, expiresAt, writes, pieces, fields } = read;
  if (format !== FORMAT) {
    throw new Error(
      `the format of the value is ${format}, and this release reads ${FORMAT}`,
    );
  }
  const isSound = Number.isSafeInteger(version) &&
    (expiresAt === null || typeof expiresAt === "number") &&
    Array.isArray(writes) && typeof fields === "object" && fields !== null &&
    Array.isArray(pieces) && pieces.every(isPiece);
  if (!isSound) throw new Error("the value is damaged");
  return {
    version,
    expiresAt,
    writes,
    pieces: new Map(
      (pieces as ListedPiece[]).map(
        ([name, generation, first, count, bytes]) => [
          name,
          { generation, first, count, bytes },
        ],
      ),
    ),
    fields,
  };
}

/** A piece as a value lists it. */
type ListedPiece = [
  name: PieceName,
  generation: string,
  first: number,
  count: number,
  bytes: number,
];

const PIECE_NAMES: ReadonlySet<unknown> = new Set([...PAYLOAD_FIELDS, "rest"]);

/** What is none would have a sweep delete any number of keys. */
function isPiece(listed: unknown): boolean {
  if (!Array.isArray(listed)) return false;
  const [name, generation, first, count, bytes] = listed as ListedPiece;
  return PIECE_NAMES.has(name) && typeof generation === "string" &&
    Number.isSafeInteger(first) && first >= 0 &&
    Number.isSafeInteger(bytes) && count <= MAX_PARTS &&
    count === Math.ceil(bytes / MAX_VALUE_BYTES);
}

/**
 * Puts the record together.
 *
 * @param value The value.
 * @param pieces The texts of those pieces that are wanted.
 * @returns The record, without the pieces that are not.
 */
export function assemble(
  value: Value,
  pieces: ReadonlyMap<PieceName, string>,
): TaskRecord {
  const record: Record<string, unknown> = { ...value.fields };
  for (const [name, text] of pieces) {
    const read = JSON.parse(text);
    if (name !== "rest") record[name] = read;
    else for (const key of Object.keys(read)) setOwn(record, key, read[key]);
  }
  return record as unknown as TaskRecord;
}

/**
 * Reads a text.
 *
 * @param value The bytes that the database has.
 * @returns The text.
 * @throws {Error} It is none.
 */
export function decode(value: unknown): string {
  if (!(value instanceof Uint8Array)) {
    throw new Error("the value is not one that this store has written");
  }
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
    .decode(value);
}
