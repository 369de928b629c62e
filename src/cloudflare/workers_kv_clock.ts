/** The time that passes between two writes: not the time that tasks are dated by. */

/** A clock that only goes forward, and waits. */
export interface KvClock {
  /** Milliseconds since whenever. */
  now(): number;
  /**
   * Waits.
   *
   * @param ms How long at most.
   * @param until What ends it sooner. It does not reject.
   */
  wait(ms: number, until?: Promise<void>): Promise<void>;
  /** A number from 0 to 1, for pauses that are not to meet. */
  random(): number;
}

/** The clock of the runtime. */
export const runtimeClock: KvClock = {
  now: () => performance.now(),
  wait: (ms, until) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      until?.then(() => {
        clearTimeout(timer);
        resolve();
      });
    }),
  random: () => Math.random(),
};
