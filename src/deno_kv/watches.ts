/** Reports of changes from the database. */

import type { IdPart, Keys } from "./keys.ts";
import { MAX_WATCHES } from "./limits.ts";
import type { DenoKv } from "./shape.ts";

/** Every stream of reports that is open. */
export class Watches {
  readonly #kv: DenoKv;
  readonly #keys: Keys;
  readonly #open: Set<() => void> = new Set();

  /**
   * @param kv The handle.
   * @param keys Where things are.
   */
  constructor(kv: DenoKv, keys: Keys) {
    this.#kv = kv;
    this.#keys = keys;
  }

  /**
   * Calls back when a record may have changed. Where there are too many
   * streams, or the database has none, it never does.
   *
   * @param idPart The record.
   * @param changed What to call.
   * @returns Ends it.
   */
  watch(idPart: IdPart | Promise<IdPart>, changed: () => void): () => void {
    if (!this.#kv.watch || this.#open.size >= MAX_WATCHES) return () => {};
    let cancel: (() => Promise<void>) | undefined;
    const end = () => {
      if (!this.#open.delete(end)) return;
      cancel?.().catch(() => {});
    };
    this.#open.add(end);
    const report = async () => {
      const id = await idPart;
      if (!this.#open.has(end)) return;
      const reader = this.#kv.watch!([this.#keys.record(id)]).getReader();
      cancel = () => reader.cancel();
      for (;;) {
        const { done } = await reader.read();
        if (done || !this.#open.has(end)) return;
        changed();
      }
    };
    // A stream that breaks off is no harm: changes are polled for too.
    report().catch(() => {}).finally(end);
    return end;
  }

  /** Ends all. */
  close(): void {
    for (const end of this.#open) end();
  }
}
