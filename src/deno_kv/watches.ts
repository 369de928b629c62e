/** Reports of changes from the database. */

import type { IdPart, Keys } from "./keys.ts";
import { MAX_WATCHES } from "./limits.ts";
import type { DenoKv } from "./shape.ts";

/** Every stream of reports that is open. */
export class Watches {
  readonly #kv: DenoKv;
  readonly #keys: Keys;
  readonly #open: Set<() => void> = new Set();
  #closed = false;

  /**
   * @param kv The handle.
   * @param keys Where things are.
   */
  constructor(kv: DenoKv, keys: Keys) {
    this.#kv = kv;
    this.#keys = keys;
  }

  /**
   * Whether the database can be watched. That of `@deno/kv` 0.14 blocks the
   * event loop for good where one of several streams has ended, and keeps its
   * process from exiting.
   */
  get supported(): boolean {
    const { navigator } = globalThis;
    return this.#kv.watch !== undefined &&
      navigator?.userAgent?.startsWith("Deno/");
  }

  /**
   * Calls back when a record may have changed. Where there are too many
   * streams, it never does.
   *
   * @param idPart The record.
   * @param changed What to call.
   * @returns Ends it.
   */
  watch(idPart: IdPart | Promise<IdPart>, changed: () => void): () => void {
    if (this.#closed || this.#open.size >= MAX_WATCHES) return () => {};
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
    this.#closed = true;
    for (const end of this.#open) end();
  }
}
