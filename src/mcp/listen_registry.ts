/** Who listens, so that nobody has too many streams and all of them can be ended. */

import { LimitExceededError } from "../errors.ts";

/** A place that a stream of an owner takes. */
export interface ListenPlace {
  /** Calls the function when the registry is closed, or now if it is. */
  onClose(end: () => void): void;
  /** Gives the place back; once is enough. */
  leave(): void;
}

/** The streams of a server by owner. */
export class ListenRegistry {
  readonly #maxStreamsPerOwner: number;
  readonly #places: Map<string | undefined, Set<ListenPlace>> = new Map();
  readonly #ends: Map<ListenPlace, () => void> = new Map();
  #closed = false;

  /** @param maxStreamsPerOwner Streams that one owner may have. */
  constructor(maxStreamsPerOwner: number) {
    this.#maxStreamsPerOwner = maxStreamsPerOwner;
  }

  /**
   * Takes a place.
   *
   * @param owner The owner; `undefined` is one of its own.
   * @returns The place.
   * @throws {LimitExceededError} `ERR_LIMIT_EXCEEDED`: the owner has too many.
   */
  enter(owner: string | undefined): ListenPlace {
    const places = this.#places.get(owner) ?? new Set();
    if (places.size >= this.#maxStreamsPerOwner) {
      throw new LimitExceededError(
        "maxStreamsPerOwner",
        this.#maxStreamsPerOwner,
        "Cannot listen to tasks: the caller has too many streams open; close one, or poll tasks/get",
      );
    }
    this.#places.set(owner, places);
    const place: ListenPlace = {
      onClose: (end) => {
        if (this.#closed) end();
        else this.#ends.set(place, end);
      },
      leave: () => {
        this.#ends.delete(place);
        places.delete(place);
        if (places.size === 0 && this.#places.get(owner) === places) {
          this.#places.delete(owner);
        }
      },
    };
    places.add(place);
    return place;
  }

  /** Ends every stream in good order, and those to come. */
  close(): void {
    this.#closed = true;
    for (const end of [...this.#ends.values()]) end();
  }
}
