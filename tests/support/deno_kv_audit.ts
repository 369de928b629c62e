/** Accounts for every key that a store on Deno KV has in its database. */

import assert from "node:assert/strict";
import type { DenoKv, DenoKvKey } from "../../deno_kv.ts";
import { type IdPart, Keys } from "../../src/deno_kv/keys.ts";
import { readValue } from "../../src/deno_kv/value.ts";
import { keysOf } from "./deno_kv.ts";

/**
 * Asserts that there are the records, what belongs to them, and nothing else.
 *
 * @param kv The handle.
 * @param prefix The prefix of the store.
 * @returns How many records, and how many parts there are.
 */
export async function assertAccounted(
  kv: DenoKv,
  prefix: readonly string[] = ["mcp-durable-tasks"],
): Promise<{ records: number; parts: number }> {
  const keys = new Keys(prefix);
  const expected: DenoKvKey[] = [];
  let records = 0;
  let parts = 0;
  const range = { start: [...prefix, "record"], end: [...prefix, "recorda"] };
  for await (const { key, value } of kv.list(range)) {
    const id = key.at(-1) as IdPart;
    const { expiresAt, pieces } = readValue(value);
    expected.push(key as DenoKvKey);
    records++;
    if (expiresAt !== null) expected.push(keys.expiry({ expiresAt, id }));
    for (const piece of pieces.values()) {
      expected.push(...keys.parts(piece));
      parts += piece.count;
    }
  }
  assert.deepEqual(
    (await keysOf(kv)).sort(),
    expected.map((key) => JSON.stringify(key)).sort(),
  );
  return { records, parts };
}
