/** Records in the database, their parts, and writes of both. */

import { StoreFailedError } from "../errors.ts";
import type { TaskRecord } from "../model/record.ts";
import type { Connection } from "./connection.ts";
import type { IdPart, Keys } from "./keys.ts";
import {
  DROP_AFTER_MS,
  LONGEST_EXPIRY_MS,
  MAX_PARTS,
  MAX_WRITE_VALUES,
} from "./limits.ts";
import type { DenoKvAtomic, DenoKvEntry } from "./shape.ts";
import {
  assemble,
  decode,
  type PieceName,
  type Plan,
  readValue,
  type Value,
} from "./value.ts";

/** A value with its version in the database. */
export interface Stored extends Value {
  /** Grows with each change. */
  readonly versionstamp: string;
}

/** How a write of a record ended. */
export type Outcome =
  /** It was made. */
  | "written"
  /** The record was not what it should have been, or its parts were taken: it has to be read again. */
  | "refused";

/** What a manifest holds. */
export interface Manifest {
  /** When it was written, in milliseconds since the epoch. */
  readonly at: number;
  /** How many parts there are at most. */
  readonly count: number;
}

/** The database. */
export class Database {
  /** Where things are. */
  readonly keys: Keys;
  readonly #connection: Connection;
  readonly #now: () => number;

  /**
   * @param connection The connection to it.
   * @param keys Where things are.
   * @param now The clock by which writers say when they began.
   */
  constructor(connection: Connection, keys: Keys, now: () => number) {
    this.#connection = connection;
    this.keys = keys;
    this.#now = now;
  }

  /**
   * Reads the value of a record.
   *
   * @param id The record.
   * @returns The value; `undefined` if there is none.
   */
  async read(id: IdPart): Promise<Stored | undefined> {
    return toStored(await this.#connection.get(this.keys.record(id)));
  }

  /**
   * Reads the values of some records.
   *
   * @param ids The records.
   * @returns The values, in the same order; an error for what cannot be read.
   */
  async readMany(
    ids: readonly IdPart[],
  ): Promise<(Stored | undefined | Error)[]> {
    const entries = await this.#connection.getMany(
      ids.map((id) => this.keys.record(id)),
    );
    return entries.map((entry) => {
      try {
        return toStored(entry);
      } catch (error) {
        return error as Error;
      }
    });
  }

  /**
   * Puts a record together.
   *
   * @param stored Its value.
   * @param wanted The pieces that are wanted, if there are such.
   * @returns The record; `undefined` if parts are gone: it was changed meanwhile.
   */
  async assemble(
    stored: Stored,
    wanted: (name: PieceName) => boolean,
  ): Promise<TaskRecord | undefined> {
    const texts = new Map<PieceName, string>();
    for (const [name, piece] of stored.pieces) {
      if (!wanted(name)) continue;
      const entries = await this.#connection.getMany(this.keys.parts(piece));
      const all = new Uint8Array(piece.bytes);
      let at = 0;
      for (const { value } of entries) {
        if (!(value instanceof Uint8Array)) return undefined;
        all.set(value, at);
        at += value.length;
      }
      texts.set(name, decode(all));
    }
    return assemble(stored, texts);
  }

  /**
   * Writes a record: its parts first, under a manifest that says that they
   * belong to nobody yet; then, in one step, the value that points to them.
   *
   * @param id The record.
   * @param plan What to write.
   * @param before What has to be there; `undefined`: nothing.
   * @returns Whether it was written.
   * @throws {StoreFailedError} `ERR_STORE_FAILED`: it was not, or nobody can tell.
   */
  async write(
    id: IdPart,
    plan: Plan,
    before: Stored | undefined,
  ): Promise<Outcome> {
    if (plan.parts.length === 0) return await this.#swap(id, plan, before);
    const manifest = await this.#writeParts(plan);
    if (manifest === undefined) return "refused";
    let outcome: Outcome | undefined;
    try {
      return outcome = await this.#swap(id, plan, before, manifest);
    } finally {
      if (outcome !== "written") {
        // What fails here is left to a sweep.
        await this.discard(plan.write, manifest, plan.parts.length)
          .catch(() => {});
      }
    }
  }

  /**
   * Deletes parts that belong to no record, with the manifest that says so.
   *
   * @param generation The write that they belong to.
   * @param manifest The version of the manifest.
   * @param count How many parts there are at most.
   * @returns Whether they were there, and still belonged to none.
   */
  async discard(
    generation: string,
    manifest: string,
    count: number,
  ): Promise<boolean> {
    const key = this.keys.manifest(generation);
    const { ok } = await this.#connection.commit((atomic) => {
      atomic.check({ key, versionstamp: manifest }).delete(key);
      for (let i = 0; i < count; i++) {
        atomic.delete(this.keys.part(generation, i));
      }
    });
    return ok;
  }

  /** Writes the value, if nothing has changed; the manifest goes, since the parts are its from then on. */
  async #swap(
    id: IdPart,
    plan: Plan,
    before: Stored | undefined,
    manifest?: string,
  ): Promise<Outcome> {
    const key = this.keys.record(id);
    let cause: unknown;
    try {
      const { ok } = await this.#connection.commit((atomic) => {
        atomic.check({ key, versionstamp: before?.versionstamp ?? null });
        if (manifest !== undefined) {
          const manifestKey = this.keys.manifest(plan.write);
          atomic.check({ key: manifestKey, versionstamp: manifest });
          atomic.delete(manifestKey);
        }
        atomic.set(key, plan.value, dropOptions(plan));
        this.#replace(atomic, id, plan, before);
      });
      if (ok) return "written";
    } catch (error) {
      cause = error;
    }
    return await this.#findOut(id, plan, cause);
  }

  /** Moves what belongs to a value from what it was to what it is. */
  #replace(
    atomic: DenoKvAtomic,
    id: IdPart,
    plan: Plan,
    before: Stored | undefined,
  ): void {
    const expiresBefore = before?.expiresAt ?? null;
    if (plan.expiresAt !== expiresBefore) {
      if (expiresBefore !== null) {
        atomic.delete(this.keys.expiry({ expiresAt: expiresBefore, id }));
      }
      if (plan.expiresAt !== null) {
        atomic.set(
          this.keys.expiry({ expiresAt: plan.expiresAt, id }),
          new Uint8Array(),
        );
      }
    }
    for (const [name, piece] of before?.pieces ?? []) {
      if (plan.pieces.get(name) === piece) continue;
      for (const key of this.keys.parts(piece)) atomic.delete(key);
    }
  }

  /** Looks what became of a write that was refused, or whose outcome is unknown (rule I9). */
  async #findOut(
    id: IdPart,
    { version, write }: Plan,
    cause: unknown,
  ): Promise<Outcome> {
    const cannotTell = (cause: unknown) =>
      new StoreFailedError("tell whether a change was stored", { cause });
    let found: Stored | undefined;
    try {
      found = await this.read(id);
    } catch (error) {
      throw cannotTell(cause ?? error);
    }
    const later = found ? found.version - version : -1;
    if (found?.writes[later] === write) return "written";
    if (cause === undefined) return "refused";
    if (found && later >= found.writes.length) throw cannotTell(cause);
    // Another writer's version stands where this one's would.
    if (later >= 0) return "refused";
    throw new StoreFailedError("store a change", { cause });
  }

  /** Writes parts; answers the version of their manifest, `undefined` if a sweep took it. */
  async #writeParts(
    { write: generation, parts }: Plan,
  ): Promise<string | undefined> {
    const key = this.keys.manifest(generation);
    const manifest = encodeManifest({
      at: this.#now(),
      count: parts.length,
    });
    let versionstamp: string | null = null;
    for (let from = 0; from < parts.length; from += MAX_WRITE_VALUES) {
      const commit = await this.#connection.commit((atomic) => {
        atomic.check({ key, versionstamp });
        if (from === 0) atomic.set(key, manifest);
        for (
          const [i, part] of parts.slice(from, from + MAX_WRITE_VALUES)
            .entries()
        ) {
          atomic.set(this.keys.part(generation, from + i), part);
        }
      });
      if (from === 0) {
        // A first try whose answer was lost has written it already.
        versionstamp = commit.ok
          ? commit.versionstamp
          : (await this.#connection.get(key)).versionstamp;
      } else if (!commit.ok) return undefined;
      if (versionstamp === null) return undefined;
    }
    return versionstamp ?? undefined;
  }
}

function toStored({ value, versionstamp }: DenoKvEntry): Stored | undefined {
  if (versionstamp === null) return undefined;
  return { ...readValue(value), versionstamp };
}

/**
 * When the database itself may drop a value: only a help, where nobody sweeps
 * any more. It counts from the last write, so it is never before the end of the
 * TTL, whatever a clock says; and what has parts is left to a sweep, since they
 * are not written again when a TTL is raised.
 */
function dropOptions({ ttlMs, pieces }: Plan): { expireIn?: number } {
  if (ttlMs === null || pieces.size > 0 || ttlMs > LONGEST_EXPIRY_MS) return {};
  return { expireIn: Math.ceil(Math.max(ttlMs, 0)) + DROP_AFTER_MS };
}

function encodeManifest(manifest: Manifest): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(manifest));
}

/**
 * Reads a manifest.
 *
 * @param value What the database has.
 * @returns The manifest; `undefined` if it is none.
 */
export function readManifest(value: unknown): Manifest | undefined {
  try {
    const { at, count } = JSON.parse(decode(value));
    const isSound = Number.isFinite(at) && Number.isSafeInteger(count) &&
      count <= MAX_PARTS;
    return isSound ? { at, count } : undefined;
  } catch {
    return undefined;
  }
}
