/** Which task expires next. */

/** A queue of ids by time. An id may be in it more than once, also with times that are no longer true. */
export class ExpiryQueue {
  /** A binary heap: no element is less than the one at half its index. */
  #times: number[] = [];
  #ids: string[] = [];

  /** How many entries there are. */
  get length(): number {
    return this.#times.length;
  }

  /**
   * Puts an id into the queue.
   *
   * @param taskId The id.
   * @param time When it expires; what never does is left out.
   */
  push(taskId: string, time: number): void {
    if (time === Infinity) return;
    const times = this.#times;
    const ids = this.#ids;
    let at = times.length;
    times.push(time);
    ids.push(taskId);
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (times[above] <= time) break;
      times[at] = times[above];
      ids[at] = ids[above];
      at = above;
    }
    times[at] = time;
    ids[at] = taskId;
  }

  /**
   * Tells what is due first.
   *
   * @returns Its time; `Infinity` if the queue is empty.
   */
  firstTime(): number {
    return this.#times.length > 0 ? this.#times[0] : Infinity;
  }

  /**
   * Takes what is due first out of the queue, which is not empty.
   *
   * @returns Its id.
   */
  pop(): string {
    const times = this.#times;
    const ids = this.#ids;
    const first = ids[0];
    const time = times.pop()!;
    const id = ids.pop()!;
    const length = times.length;
    if (length === 0) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= length) break;
      if (below + 1 < length && times[below + 1] < times[below]) below++;
      if (times[below] >= time) break;
      times[at] = times[below];
      ids[at] = ids[below];
      at = below;
    }
    times[at] = time;
    ids[at] = id;
    return first;
  }
}
