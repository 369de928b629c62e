/** The storage of a Durable Object with somebody who watches, or holds it to the limits of production. */

import assert from "node:assert/strict";
import type {
  DurableObjectReadWrite,
  DurableObjectStorageBinding,
} from "../../src/cloudflare/shape.ts";

/** A call of the storage, or of a transaction. */
export interface StorageCall {
  readonly method: keyof DurableObjectReadWrite | "transaction";
  /** The keys that it names. */
  readonly keys: readonly string[];
  /** What it writes. */
  readonly values: readonly unknown[];
}

/** Calls `before` ahead of each call, and waits for it; what that throws, the call does. */
export function watchStorage(
  storage: DurableObjectStorageBinding,
  before: (call: StorageCall) => void | Promise<void>,
): DurableObjectStorageBinding {
  const readWrite = (inner: DurableObjectReadWrite): DurableObjectReadWrite => {
    const watched = async <T>(
      method: StorageCall["method"],
      keys: readonly string[],
      values: readonly unknown[],
      run: () => Promise<T>,
    ) => {
      await before({ method, keys, values });
      return await run();
    };
    return {
      get: (keys) => watched("get", keys, [], () => inner.get(keys)),
      list: (options) =>
        watched("list", [], [options], () => inner.list(options)),
      put: (entries) =>
        watched(
          "put",
          Object.keys(entries),
          Object.values(entries),
          () => inner.put(entries),
        ),
      delete: (keys) => watched("delete", keys, [], () => inner.delete(keys)),
      getAlarm: () => watched("getAlarm", [], [], () => inner.getAlarm()),
      setAlarm: (time) =>
        watched("setAlarm", [], [time], () => inner.setAlarm(time)),
      deleteAlarm: () =>
        watched("deleteAlarm", [], [], () => inner.deleteAlarm()),
    };
  };
  return {
    ...readWrite(storage),
    async transaction(body) {
      await before({ method: "transaction", keys: [], values: [] });
      return await storage.transaction((txn) => body(readWrite(txn)));
    },
  };
}

/**
 * The storage, which refuses what production would and local workerd does not:
 * by the limits of the back end without SQLite, which are the narrower ones.
 */
export function limitStorage(
  storage: DurableObjectStorageBinding,
): DurableObjectStorageBinding {
  return watchStorage(storage, ({ method, keys, values }) => {
    assert.ok(keys.length <= 128, `${method}: ${keys.length} keys`);
    for (const key of keys) {
      const bytes = new TextEncoder().encode(key).length;
      assert.ok(bytes <= 2_048, `${method}: a key of ${bytes} bytes`);
      assert.ok(key.isWellFormed(), `${method}: a key with a lone surrogate`);
    }
    if (method !== "put") return;
    for (const value of values) {
      const bytes = storedBytes(value);
      assert.ok(bytes <= 128 * 1024, `${method}: a value of ${bytes} bytes`);
    }
  });
}

/** How many bytes a value takes when it is stored; rather too many than too few. */
export function storedBytes(value: unknown): number {
  if (value instanceof Uint8Array) return value.buffer.byteLength + 32;
  if (typeof value === "string") return 2 * value.length + 8;
  if (typeof value !== "object" || value === null) return 16;
  return Object.entries(value).reduce(
    (sum, [key, member]) => sum + storedBytes(key) + storedBytes(member),
    16,
  );
}
