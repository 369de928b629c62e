/** What a broken store is listed as. */

import type { TaskStoreFactory } from "../../../testing.ts";
import type { TaskStoreTraits } from "../../../src/store/contract.ts";
import { factoryOf, SHARED, type StoreClass } from "./sound_store.ts";

/** A store with one fault. */
export interface BrokenStore {
  /** What is wrong with it. */
  readonly fault: string;
  /** The checks that are there to find it. */
  readonly foundBy: readonly string[];
  /** Makes it. */
  readonly factory: TaskStoreFactory;
}

/**
 * Lists a broken store.
 *
 * @param fault What is wrong with it.
 * @param foundBy The checks that are there to find it.
 * @param Store Its class.
 * @param traits What it says of itself.
 * @returns The store.
 */
export function broken(
  fault: string,
  foundBy: readonly string[],
  Store: StoreClass,
  traits: TaskStoreTraits = SHARED,
): BrokenStore {
  return { fault, foundBy, factory: factoryOf(Store, traits) };
}
