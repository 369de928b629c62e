/** Deletes what is expired, and parts that a writer left behind. */

import { DamageReports } from "../store/damage.ts";
import type { Connection } from "./connection.ts";
import { type Database, readManifest } from "./database.ts";
import { type Expiry, keyBytes, showKey } from "./keys.ts";
import {
  GRACE_MS,
  MAX_CHECKS,
  MAX_KEY_BYTES,
  MAX_MUTATIONS,
} from "./limits.ts";
import type { ResolvedDenoKvOptions } from "./options.ts";
import type { DenoKvCheck, DenoKvEntry, DenoKvKey } from "./shape.ts";

/** How many entries are looked at together. */
const CHUNK = 50;

/** How often a deletion is tried that others get in the way of. */
const TRIES = 5;

/** What is to be deleted, if it is still as it was read. */
interface Doomed {
  readonly expiry: Expiry;
  /** Whether it is a record that has expired; else only its place in the order of expiry is left. */
  readonly isRecord: boolean;
  readonly check: DenoKvCheck;
  readonly keys: readonly DenoKvKey[];
}

/** Sweeps a database. */
export class Sweeper {
  readonly #connection: Connection;
  readonly #database: Database;
  readonly #now: () => number;
  readonly #damage: DamageReports;

  /**
   * @param connection The connection to the database.
   * @param database Its records.
   * @param options The clock by which writers say when they began, and who is told of what cannot be read.
   */
  constructor(
    connection: Connection,
    database: Database,
    { now, onDamage }: Pick<ResolvedDenoKvOptions, "now" | "onDamage">,
  ) {
    this.#connection = connection;
    this.#database = database;
    this.#now = now;
    this.#damage = new DamageReports(onDamage);
  }

  /**
   * Deletes what expired more than the grace ago, and the parts of writers that
   * began more than the grace ago and have not come to an end.
   *
   * @param now The time by which records expire.
   * @returns How many records were deleted.
   */
  async sweep(now: number): Promise<number> {
    const { keys } = this.#database;
    let count = 0;
    await this.#connection.list(
      keys.expiringBefore(now - GRACE_MS),
      CHUNK,
      async (entries) => {
        const expiries = entries.map(({ key }) => keys.readExpiry(key));
        // Counted at once: what follows may fail, and be begun anew.
        await this.#deleteExpired(expiries, (deleted) => count += deleted);
      },
    );
    await this.#connection.list(keys.manifests(), CHUNK, async (entries) => {
      for (const entry of entries) await this.#deleteAbandoned(entry);
    });
    return count;
  }

  /** A writer that still lives notices that its manifest is gone, and begins anew: this is safe whatever the clocks say. */
  async #deleteAbandoned(
    { key, value, versionstamp }: DenoKvEntry,
  ): Promise<void> {
    const generation = this.#database.keys.readManifest(key);
    const manifest = readManifest(value);
    if (generation === undefined || !manifest) return;
    // One from far ahead is of a clock that was wrong: it would stay for good.
    if (Math.abs(this.#now() - manifest.at) < GRACE_MS) return;
    await this.#database.discard(generation, versionstamp!, manifest.count);
  }

  async #deleteExpired(
    expiries: readonly Expiry[],
    tally: (deleted: number) => void,
  ): Promise<void> {
    let left = expiries;
    for (let tries = 1; tries <= TRIES && left.length > 0; tries++) {
      const doomed = await this.#judge(left);
      const refused: Expiry[] = [];
      // One that others keep changing must not keep its neighbours.
      for (const batch of tries < TRIES ? batches(doomed) : singles(doomed)) {
        if (await this.#delete(batch)) {
          tally(batch.filter(({ isRecord }) => isRecord).length);
        } else refused.push(...batch.map(({ expiry }) => expiry));
      }
      left = refused;
    }
  }

  /** Reads records anew, and says what has to be deleted. */
  async #judge(expiries: readonly Expiry[]): Promise<Doomed[]> {
    const { keys } = this.#database;
    const found = await this.#database.readMany(expiries.map(({ id }) => id));
    return expiries.flatMap((expiry, i): Doomed[] => {
      const stored = found[i];
      const key = keys.record(expiry.id);
      if (stored instanceof Error) {
        // What cannot be read is not ours to delete.
        this.#damage.tell(showKey(key), stored);
        return [];
      }
      // Where the database has dropped a record by itself, its expiry is left,
      // also when another of its id has come.
      const isRecord = stored?.expiresAt === expiry.expiresAt;
      const parts = isRecord
        ? [...stored.pieces.values()].flatMap((piece) => keys.parts(piece))
        : [];
      const expiryKey = keys.expiry(expiry);
      return [{
        expiry,
        isRecord,
        check: { key, versionstamp: stored?.versionstamp ?? null },
        keys: isRecord ? [expiryKey, key, ...parts] : [expiryKey],
      }];
    });
  }

  async #delete(batch: readonly Doomed[]): Promise<boolean> {
    const { ok } = await this.#connection.commit((atomic) => {
      for (const { check, keys } of batch) {
        atomic.check(check);
        for (const key of keys) atomic.delete(key);
      }
    });
    return ok;
  }
}

/** Puts together what fits into one write. */
function batches(all: readonly Doomed[]): Doomed[][] {
  const made: Doomed[][] = [];
  let mutations = Infinity;
  let bytes = Infinity;
  for (const doomed of all) {
    const ownBytes = [doomed.check.key, ...doomed.keys]
      .reduce((sum, key) => sum + keyBytes(key), 0);
    mutations += doomed.keys.length;
    bytes += ownBytes;
    const last = made.at(-1);
    if (
      last && last.length < MAX_CHECKS && mutations <= MAX_MUTATIONS &&
      bytes <= MAX_KEY_BYTES
    ) {
      last.push(doomed);
    } else {
      made.push([doomed]);
      mutations = doomed.keys.length;
      bytes = ownBytes;
    }
  }
  return made;
}

function singles(all: readonly Doomed[]): Doomed[][] {
  return all.map((doomed) => [doomed]);
}
