/** Deno KV on every runtime: Deno's own on Deno, `@deno/kv` on Node and Bun. */

import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { DenoKv } from "../../deno_kv.ts";
import { memoryTmpdir } from "../../tools/test/temporary.ts";
import { runtime } from "./runner.ts";
import { removeDir } from "./wal_dir.ts";

/** A database that the tests may close. */
export type TestKv = DenoKv & Disposable & { close(): void };

/** The store writes bytes alone, which need no codec: a value that would is a fault. */
const CODECS = {
  encodeV8(value: unknown): Uint8Array {
    throw new Error(`a value is no bytes: ${value}`);
  },
  decodeV8(): unknown {
    throw new Error("a value was written that is no bytes");
  },
};

/**
 * Opens a database.
 *
 * @param path Its file, or `:memory:`.
 * @returns The handle.
 */
export async function openTestKv(path: string): Promise<TestKv> {
  if (runtime === "deno") return await Deno.openKv(path);
  const { openKv } = await import("@deno/kv");
  return await openKv(path, CODECS);
}

/** A database in a folder of its own. */
export interface KvFile {
  /** The file. */
  readonly path: string;
  /** Opens it, once more each time. */
  open(): Promise<TestKv>;
  /** Closes all handles, and deletes it. */
  remove(): void;
}

/**
 * Makes a place for a database.
 *
 * @returns The place.
 */
export function makeKvFile(): KvFile {
  const folder = mkdtempSync(join(memoryTmpdir(), "durable-tasks-"));
  const path = join(folder, "kv.db");
  const handles: TestKv[] = [];
  return {
    path,
    async open() {
      const kv = await openTestKv(path);
      handles.push(kv);
      return kv;
    },
    remove() {
      for (const kv of handles) kv.close();
      removeDir(folder);
    },
  };
}

/**
 * Runs a body with a database on a file.
 *
 * @param body Takes a handle, and the file.
 */
export async function withKvFile(
  body: (kv: TestKv, file: KvFile) => Promise<void>,
): Promise<void> {
  const file = makeKvFile();
  try {
    await body(await file.open(), file);
  } finally {
    file.remove();
  }
}

/**
 * Lists all that is in a database.
 *
 * @param kv The handle.
 * @returns The keys, written as JSON.
 */
export async function keysOf(kv: DenoKv): Promise<string[]> {
  const keys: string[] = [];
  const everything = { start: [new Uint8Array()], end: [Infinity] };
  for await (const { key } of kv.list(everything)) {
    keys.push(JSON.stringify(key));
  }
  return keys;
}
